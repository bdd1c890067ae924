"""The tasks of Keep Weights and Restore Weights. Restore Weights works on meshes that have
changed."""

import time
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.steps import Steps
from araplbs.disk.outputs import refuse_foreign
from araplbs.features.restore.report import keep_report, restore_report, restore_warnings
from araplbs.features.restore.restore import Now, Restored, kept_for, restore
from araplbs.features.restore.stored import FILE, Kept, read_kept, write_kept
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.binding import bind
from ...blender.data.edits import copy_edits, restore_edits
from ...blender.data.opened_file import path_of
from ...blender.data.references import Subjects
from ...blender.read.read_armature import read_armature
from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...task import Task
from .read import read_kept_in_steps, read_now_in_steps, refuse_shared
from .stored import keep_on, kept_on, refuse_linked, write_edits


class KeepTask(Task):
    """A task that only reads and has nothing to solve. alone: whether its file contains only the
    meshes of this task."""

    path = ""
    alone = True

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        """See Task; reading: the armature's name and the Kept of each mesh."""
        self.warnings = list(targets.skipped)
        view_layer.update()
        armature = targets.armature
        if self.options.file:
            self.path = path_of(self.options.file)
            refuse_foreign(self.path, FILE)
        else:
            refuse_linked(armature)
        skeleton = read_armature(armature, use_joint_limits=False)
        kept = []
        for ob in targets.meshes:
            kept.append((yield from read_kept_in_steps(ob, armature, skeleton, view_layer)))
        self.reading = Subjects.of(armature, targets.meshes), kept

    def solve(self, progress: Listener | None = None) -> None:
        """Does nothing."""

    def apply(self) -> dict[str, Any]:
        subjects, kept = self.reading
        armature, _objects = subjects.find()
        report = keep_report(armature.name, kept, self.path)
        if not self.path:
            keep_on(armature, kept)
        elif self.alone:
            keep_together([self])
        return report


class KeepOneOfSeveral(KeepTask):
    """Keeps the weights of one of several armatures in a .blend file. The function keep_together()
    writes one file for all armatures."""

    alone = False


def keep_together(tasks: list[KeepTask]) -> None:
    """Writes the results of all applied tasks to one file of kept weights, completely or not at
    all."""
    if tasks and tasks[0].path:
        write_kept(tasks[0].path, [each for task in tasks for each in task.reading[1]])


@dataclass(frozen=True)
class Reading:
    subjects: Subjects
    skeleton: Skeleton
    kept: list[Kept]
    meshes: list[Now]
    started: float


class RestoreTask(Task):
    done: list[Restored] = ()  # type: ignore[assignment]

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        started = time.perf_counter()
        self.warnings = list(targets.skipped)
        view_layer.update()
        armature = targets.armature
        kept = read_kept(path_of(self.options.file)) if self.options.file else kept_on(armature)
        others = {ob.name for ob in bpy.data.objects if ob.type == "ARMATURE" and ob != armature}
        kept = kept_for(armature.name, others, kept)
        skeleton = read_armature(armature, use_joint_limits=False)
        refuse_shared(targets.meshes)
        yield
        meshes = []
        for ob in targets.meshes:
            meshes.append((yield from read_now_in_steps(ob, armature, view_layer)))
        subjects = Subjects.of(armature, targets.meshes)
        self.reading = Reading(subjects, skeleton, kept, meshes, started)

    def solve(self, progress: Listener | None = None) -> None:
        read = self.reading
        self.done = restore(
            read.kept, read.meshes, read.skeleton, self.options, self.threads, progress
        )

    def apply(self) -> dict[str, Any]:
        """See Task. Also binds meshes that are not bound yet."""
        armature, objects = self.find_objects()
        pairs = zip(objects, self.done, strict=True)
        before = [(ob, copy_edits(ob.data)) for ob, each in pairs if each.edits]
        with all_or_nothing(objects, armature, made=False):
            try:
                written = [
                    self._write(armature, ob, now, each)
                    for ob, now, each in zip(objects, self.reading.meshes, self.done, strict=True)
                ]
                started = self.reading.started
                report = restore_report(armature.name, self.done, self.options, written, started)
            except BaseException:
                for ob, edits in before:
                    restore_edits(ob.data, edits)
                raise
        self.warnings += restore_warnings(report)
        return report

    def _write(self, armature: Object, ob: Object, now: Now, each: Restored) -> dict[str, Any]:
        """Writes the restored weights. A bone that had no weight at the time of keeping receives
        none."""
        skeleton = self.reading.skeleton
        deform = [n for n, d in zip(skeleton.names, skeleton.deform, strict=True) if d]
        names = [*each.groups, *(name for name in deform if name not in each.groups)]
        free = np.array([name not in now.locked for name in names], bool)
        kept = np.arange(len(names)) < len(each.groups)
        every = np.ones(len(ob.data.vertices), bool)
        facts = write_weights(ob, each.rows, names, free & kept, free, every)
        if each.edits:
            write_edits(ob, each.edits)
        locked = [name for name in each.groups if name in now.locked]
        return {"name": ob.name, "locked": locked, "bound": bind(ob, armature), **facts}
