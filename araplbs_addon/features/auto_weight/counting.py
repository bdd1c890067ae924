"""Counts the visible problems of a live session's result in a thread. The session ends without
waiting for the count."""

from functools import partial

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.check.before_after import gains
from bpy.types import Operator

from ...operators.background import in_background
from ...preferences import preferred_threads
from .outcome import OfOutcome, outcome_at_hand

STOP = "object.araplbs_stop_counting"


def count_problems(outcome, task):
    """Starts counting the problems in a thread, which adds them to the facts of an Outcome. task:
    the WeightingTask."""
    problem, rows, options = task.problem, task.solution.rows, task.options
    before = problem.present(task.reading.meshes)
    threads = preferred_threads(bpy.context)
    after = task.solution.report["deformation"]["after"]

    def work(progress):
        return gains(problem, before, rows, after, options, threads, progress)

    outcome.counting = in_background(work, partial(take_count, outcome))


def take_count(outcome, worker):
    outcome.counting = None
    if worker.result:
        facts, outcome.findings, outcome.judged = worker.result
        outcome.facts |= facts


class OBJECT_OT_araplbs_stop_counting(OfOutcome, Operator):
    """Stop counting the visible problems. Check Weights finds them later"""

    bl_idname = STOP
    bl_label = "Stop Counting"
    bl_options = {"INTERNAL"}

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
