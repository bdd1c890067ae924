"""Counts the visible problems of a result in a thread after a live session, which ends without
waiting for them."""

from dataclasses import replace

import bpy
from araplbs.base.worker import Worker
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import gains
from araplbs.measures.deformation import measured_report

from ...blender.data.views import redraw_views
from ...blender.read.read_mesh import present_weights
from ...blender.read.targets import Targets
from ...preferences import preferred_threads
from ..check.task import CheckTask
from .outcome import BEFORE

EVERY = 0.1  # seconds between two looks at the thread

_counted = []  # Outcomes whose problems are being counted


def count_problems(outcome, task):
    """Adds the problems to the facts of an Outcome, in a moment. task: the WeightingTask."""
    problem, rows, options = task.problem, task.solution.rows, task.options
    before = problem.present(task.reading.meshes)
    threads = preferred_threads(bpy.context)
    after = task.solution.report["deformation"]["after"]

    def work(progress):
        return gains(problem, before, rows, after, options, threads, progress)

    _count(outcome, work)


def count_again(outcome, context):
    """Counts the problems of the weights that the meshes of an Outcome have now, next to those of
    before."""
    objects = [each.get() for each in outcome.objects]
    options, threads = outcome.options, preferred_threads(context)
    task = CheckTask(options, threads)
    task.read(Targets(outcome.armature.get(), objects), context.view_layer)
    problem, skeleton = task.problem, task.problem.skeleton
    slots = {slot.object().session_uid: slot for slot in outcome.slots[BEFORE]}
    earlier = [
        replace(mesh, weights=present_weights(ob, skeleton, slots[ob.session_uid].read()))
        for mesh, ob in zip(task.reading.meshes, task.find_objects()[1], strict=True)
    ]
    before, rows = problem.present(earlier), task.rows

    def work(progress):
        poses = measured_poses(problem, options)
        report = measured_report(problem, rows, poses, threads=threads)
        return gains(problem, before, rows, report, options, threads, progress)

    _count(outcome, work)


def _count(outcome, work):
    outcome.counting = Worker(work)
    _counted.append(outcome)
    if not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=EVERY)


def look():
    """Takes what is done; the number of seconds to wait for the rest, None if all is done."""
    for outcome in _counted.copy():
        worker = outcome.counting
        if worker.running:
            continue
        _counted.remove(outcome)
        outcome.counting = None
        if worker.result:
            facts, outcome.findings, poses = worker.result
            outcome.facts |= facts
            outcome.poses = poses.transforms
        redraw_views()
    return EVERY if _counted else None


def unregister():
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    while _counted:
        _counted.pop().counting.cancel()


def register():
    """Nothing is counted yet."""
