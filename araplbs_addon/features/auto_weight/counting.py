"""Counts the visible problems of a live session's result in a thread. The session ends without
waiting for the count."""

import bpy
from araplbs.base.refusal import Refused
from araplbs.base.worker import Worker
from araplbs.features.check.before_after import gains
from bpy.types import Operator

from ...blender.data.views import redraw_sidebars, redraw_views
from ...preferences import preferred_threads
from .outcome import OfOutcome, outcome_at_hand

STOP = "object.araplbs_stop_counting"
EVERY = 0.1  # seconds between two checks of the thread

_counted = []  # Outcomes whose problems are being counted


def count_problems(outcome, task):
    """Starts counting the problems in a thread, which adds them to the facts of an Outcome. task:
    the WeightingTask."""
    problem, rows, options = task.problem, task.solution.rows, task.options
    before = problem.present(task.reading.meshes)
    threads = preferred_threads(bpy.context)
    after = task.solution.report["deformation"]["after"]

    def work(progress):
        return gains(problem, before, rows, after, options, threads, progress)

    _count(outcome, work)


def _count(outcome, work):
    outcome.counting = Worker(work)
    _counted.append(outcome)
    if not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=EVERY)


def look():
    """Takes the finished results. Returns the number of seconds to wait for the rest, None if
    everything is done."""
    for outcome in _counted.copy():
        worker = outcome.counting
        if worker.running:
            redraw_sidebars()  # shows its progress
            continue
        _counted.remove(outcome)
        outcome.counting = None
        if worker.result:
            facts, outcome.findings, outcome.judged = worker.result
            outcome.facts |= facts
        redraw_views()
    return EVERY if _counted else None


class OBJECT_OT_araplbs_stop_counting(OfOutcome, Operator):
    """Stop counting the visible problems. Check Weights finds them later"""

    bl_idname = STOP
    bl_label = "Stop Counting"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        super().poll(context)
        if not outcome_at_hand(context).counting:
            raise Refused("Nothing is being counted")
        return True

    def execute(self, context):
        outcome_at_hand(context).counting.cancel()
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_stop_counting,)
# Passes the key on if nothing is being counted.
KEYS = (("3D_View_Generic", "VIEW_3D", STOP, "ESC", "PRESS", {}),)


def unregister():
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    while _counted:
        _counted.pop().counting.cancel()
