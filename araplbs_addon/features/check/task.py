"""The task of Check Weights on one armature and its meshes. The task reads and checks, and writes
nothing."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.mesh import Mesh
from araplbs.character.pose_sets import checked_poses
from araplbs.features.check.check import check
from araplbs.features.check.report import check_report
from araplbs.model.options import Options
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.binding import armature_modifier
from ...blender.read.control_bones import is_left_out
from ...blender.read.targets import Targets
from ...weighting import WeightingTask

# The options that the check uses.
CHECKED = {
    *("max_influences", "symmetric", "swing", "twist", "limb_twist", "reach_poses", "seed"),
    *("use_joint_limits", "bone_directions", "through_rig", "animation", "animation_frames"),
}
POSES = 12  # random poses: enough for every joint to bend both ways, in a tenth of the time of 80


class CheckTask(WeightingTask):
    """A WeightingTask in which apply() changes nothing. findings: the result of solve() in the
    judged_poses. rows: the SparseWeights of the problem in the file."""

    reads_weights = True

    def __init__(self, options: Options, threads: int = 0) -> None:
        """Only the Options with names in CHECKED are used."""
        plain: dict[str, Any] = {
            "volume": "NONE",
            "rigid_parts": "OFF",
            "start_from": "FRESH",
            "control_bones": "INCLUDE",  # weights of every bone, control bones included
            "pose_count": POSES,
        }
        super().__init__(replace(options, **plain), threads)

    def _read_skeleton(self, armature: Object) -> Skeleton:
        self.left_out = np.array([is_left_out(bone) for bone in armature.data.bones], bool)
        return super()._read_skeleton(armature)

    def _take(self, objects: list[Object], meshes: list[Mesh], skeleton: Skeleton) -> Skeleton:
        """Takes a bone that Auto-weight has excluded as a deform bone only if it has weights."""
        used = np.zeros(len(skeleton.names), bool)
        for mesh in meshes:
            used[mesh.weights.bones] = True
        return replace(skeleton, deform=skeleton.deform & (used | ~self.left_out))

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        yield from super().read_in_steps(targets, view_layer)
        self.rows = self.problem.present(self.reading.meshes)

    def refuse_object(self, ob: Object, armature: Object) -> None:
        """Accepts linked meshes, which can be checked. An object parented to a bone needs no
        weights."""
        if not ob.data.vertices:
            raise Refused(f"'{ob.name}' has no vertices")
        has_groups = any(group.name in armature.data.bones for group in ob.vertex_groups)
        if not has_groups and not armature_modifier(ob, armature):
            raise Refused(f"'{ob.name}' has neither an Armature modifier nor bone weights")

    def solve(self, progress: Listener | None = None) -> None:
        """Stores the findings. progress: see araplbs.features.check.check."""
        start = time.perf_counter()
        self.judged_poses = poses = checked_poses(self.problem, self.options)
        self.findings = check(self.problem, self.rows, poses, self.options, self.threads, progress)
        self.seconds = time.perf_counter() - start

    def apply(self) -> dict[str, Any]:
        """Returns the report."""
        name = self.armature.get().name
        options = {name: getattr(self.options, name) for name in sorted(CHECKED)}
        return check_report(name, self.problem, self.findings, self.seconds, options)
