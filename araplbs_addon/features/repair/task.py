"""The task that repairs findings: read, solve their regions, write."""

import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.mesh import Mesh, used_bones
from araplbs.character.pose_sets import checked_poses, measured_poses
from araplbs.features.check.findings import Finding
from araplbs.features.repair.repair import RepairInput, repair
from araplbs.features.repair.report import EVERY_KIND, repair_report
from araplbs.model.options import Options
from araplbs.model.sparse_weights import SparseWeights
from araplbs.skeleton.poses import Poses
from araplbs.skeleton.skeleton import Skeleton
from araplbs.solvers.weigh import without_controls_in_steps
from bpy.types import Object, ViewLayer

from ...blender.poses.read_poses import poses_of_actions
from ...blender.read.control_bones import leave_out_of_armature_in_steps
from ...blender.read.read_mesh import refuse_mesh
from ...blender.read.targets import Targets
from ...blender.rig.rig_poses import given_poses_in_steps
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.edit_mode import flush_edit_mode, write_in_edit_mode
from ...blender.write.write_weights import write_weights
from ...task import Task
from ..check.task import CheckTask

CHANGED = "'{}' has changed since it was checked: check it again"


class Judged(NamedTuple):
    """How a weighting was judged: its Options, the names of its bones, the Poses in which its
    problems were sought, and those in which its stretch was measured."""

    options: Options
    bones: list[str]
    poses: Poses | None
    measured: Poses


@dataclass(frozen=True)
class Reading:
    """The input of repairs, in addition to the data of the CheckTask."""

    meshes: list[Mesh]  # without a mask that shows only one finding
    refusals: list[str | None]  # for each mesh, why its weights cannot be changed, or None
    skeleton: Skeleton
    poses: Any  # those of the file or the rig
    started: float


class RepairTask(Task):
    """A repair that leaves vertices outside the regions of findings unchanged.

    checked: the CheckTask that read all data. repaired: the
    araplbs.features.repair.repair.Repaired.
    """

    repaired = None

    def __init__(
        self,
        options: Options,
        threads: int = 0,
        kinds: Collection[str] = EVERY_KIND,
        known: list[Finding] | None = None,
        wanted: Sequence[bool] | None = None,
        judged: Judged | None = None,
    ) -> None:
        """kinds: the kinds of findings to repair. known: the findings of a CheckTask that has read
        the same objects; wanted (a bool for each): whether to repair it. Without `known`, all
        findings are computed first. judged: how a weighting was judged, to judge its repair in the
        same way."""
        super().__init__(replace(options, volume="NONE", start_from="FRESH"), threads)
        self.kinds, self.known, self.wanted, self._judged = kinds, known, wanted, judged
        self.checked = CheckTask(judged.options if judged else options, threads)
        self._actions = None

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        started = time.perf_counter()
        flush_edit_mode([ob for ob in targets.meshes if ob.mode == "EDIT"])
        checked = self.checked
        yield from checked.read_in_steps(targets, view_layer)
        self.warnings = checked.warnings
        if len(checked.objects) != len(targets.meshes) and self.known is not None:
            raise Refused(CHANGED.format(targets.meshes[0].name))
        armature, objects = checked.find_objects()
        self._actions = poses_of_actions(armature, checked.problem.skeleton, view_layer)
        yield
        meshes, found = checked.reading.meshes, checked.problem.skeleton
        skeleton = replace(found, taken_in=found.taken_in | used_bones(meshes, found))

        def leave_out(
            _meshes: list[Mesh], skeleton: Skeleton
        ) -> Steps[tuple[list[Mesh], Skeleton]]:
            _left, skeleton = yield from leave_out_of_armature_in_steps(
                armature, objects, meshes, skeleton, view_layer, self.threads
            )
            return meshes, skeleton

        _meshes, skeleton = yield from without_controls_in_steps(
            meshes, skeleton, self.options, leave_out, self.threads
        )
        poses = yield from given_poses_in_steps(armature, skeleton, self.options, view_layer)
        self.reading = Reading(
            [self._unmasked(*each) for each in enumerate(meshes)],
            [_why_not(ob) for ob in objects],
            skeleton,
            poses,
            started,
        )

    def _unmasked(self, index: int, mesh: Mesh) -> Mesh:
        """Ignores a mask that shows only one known finding, as after a click on that finding."""
        if mesh.locked_vertices is None:
            return mesh
        shown = np.flatnonzero(~mesh.locked_vertices)
        for finding in self.known or ():
            if finding.mesh == index and np.array_equal(np.unique(finding.vertices), shown):
                return replace(mesh, locked_vertices=None)
        return mesh

    def solve(self, progress: Listener | None = None) -> None:
        read, checked = self.reading, self.checked
        checked.judged_poses, measured = self._poses()
        source = RepairInput(
            checked.problem,
            read.meshes,
            read.refusals,
            checked.judged_poses,
            checked.options,
            read.skeleton,
            read.poses,
            self.options,
            measured,
            self._actions,
        )
        self.repaired = repair(source, self._wants, self.known, self.threads, progress)

    def _poses(self) -> tuple[Poses, Poses | None]:
        """The Poses in which problems are sought, and those in which a weighting was measured."""
        problem, judged = self.checked.problem, self._judged
        known = judged and judged.bones == list(problem.skeleton.names)
        if known and judged.poses is not None:
            return judged.poses, judged.measured
        poses = checked_poses(problem, self.checked.options)
        if not judged:
            return poses, None
        return poses, judged.measured if known else measured_poses(problem, judged.options)

    @property
    def is_changed(self) -> bool:
        """Whether any weights were written."""
        return any(changed.any() for changed in self.repaired.changed)

    @property
    def rows(self) -> SparseWeights:
        """All weights after the repair."""
        return self.checked.problem.join(self.repaired.weights)

    def _wants(self, finding: Finding) -> bool:
        if self.wanted is not None:
            at = next(k for k, each in enumerate(self.known) if each is finding)
            if not self.wanted[at]:
                return False
        return finding.kind in self.kinds

    def apply(self) -> dict[str, Any]:
        armature, objects = self.checked.find_objects()
        problem, started = self.checked.problem, self.reading.started
        with all_or_nothing(objects, made=None) if self.is_changed else nullcontext():
            written = self._write(objects)
            return repair_report(
                armature.name, problem, self.repaired, written, started, self.options
            )

    def _write(self, objects: list[Object]) -> list[dict[str, Any]]:
        read, done, written = self.reading, self.repaired, []
        for k, (ob, mesh, rows, changed) in enumerate(
            zip(objects, read.meshes, done.weights, done.changed, strict=True)
        ):
            facts = {"changed": 0, "removed": 0, "new_groups": 0}
            if changed.any():
                _groups, bones, _vertices = self.checked.reading.selections[k]
                used = np.zeros(len(bones), bool)
                used[rows.bones[changed[rows.vertices] & (rows.weights > 0)]] = True
                if any(reflection.flip for reflection in mesh.reflections):
                    used |= used[read.skeleton.opposite] & read.skeleton.deform
                write = write_in_edit_mode if ob.mode == "EDIT" else write_weights
                facts = write(ob, rows, read.skeleton.names, used & bones, bones, changed)
            written.append({"name": ob.name, "vertices": len(changed), **facts})
        return written


def _why_not(ob: Object) -> str | None:
    """The reason why the weights of an object cannot be changed, or None."""
    try:
        refuse_mesh(ob)
    except Refused as reason:
        return str(reason)
    return None
