"""The task of Reduce Bones: read, choose and solve, write."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from araplbs.base.arrays import Bools
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.pose_sets import pose_set
from araplbs.features.reduce_bones.order import Order, removal_order
from araplbs.features.reduce_bones.reduce_bones import (
    Fewer,
    reduce_bones,
    reduce_bones_report,
    reduce_bones_warnings,
)
from araplbs.skeleton.poses import Poses
from bpy.types import Object, ViewLayer

from ...blender.data.bones import bone_in, chosen_bones
from ...blender.data.object_targets import constraints_of, followed_bones
from ...blender.poses.pose_sources import action_curves
from ...blender.read.read_mesh import refuse_mesh
from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.deform_flags import deform_off
from ...blender.write.write_weights import drop_groups, write_weights
from ...task import Task
from ..check.task import CheckTask


@dataclass(frozen=True)
class Reading:
    """The data that is read in addition to the data of the CheckTask."""

    wanted: Bools
    unused: Bools  # Deform is on, but excluded as control bones
    poses: Poses
    started: float


class ReduceBonesTask(Task):
    done: Fewer | None = None

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        started, armature = time.perf_counter(), targets.armature
        if armature.data.library or armature.data.override_library:
            raise Refused(f"'{armature.name}' is linked from another file: make it local first")
        for ob in targets.meshes:
            refuse_mesh(ob)
            if any(group.lock_weight for group in ob.vertex_groups):
                raise Refused(f"'{ob.name}' has locked vertex groups: unlock them first")
        self.checked = CheckTask(self.options.posing(), self.threads)
        yield from self.checked.read_in_steps(targets, view_layer)
        self.warnings = self.checked.warnings
        skeleton = self.checked.problem.skeleton
        if skeleton.flexible:
            raise Refused(
                f"'{armature.name}' has bendy or stretching bones: convert them to plain bones "
                "first (Bendy Bones to Bones)"
            )
        wanted = chosen_bones(armature) & skeleton.deform
        flagged = np.array([bone.use_deform for bone in armature.data.bones], bool)
        poses = pose_set(self.checked.problem, self.checked.options)
        self.reading = Reading(wanted, flagged & ~skeleton.deform, poses, started)

    def solve(self, progress: Listener | None = None) -> None:
        problem, read = self.checked.problem, self.reading
        self.done = reduce_bones(
            problem.arguments["vertices"],
            problem.arguments["triangles"],
            self.checked.rows,
            problem.skeleton,
            read.poses.transforms,
            self.options,
            read.wanted,
            problem.arguments["edges"],
            self.threads,
            progress,
            read.unused,
        )

    def apply(self) -> dict[str, Any]:
        assert self.done
        armature, objects = self.checked.find_objects()
        skeleton, gone = self.checked.problem.skeleton, self.done.gone
        parts = self.checked.problem.split(self.done.rows)
        names = [skeleton.names[bone] for bone in np.flatnonzero(gone)]
        with all_or_nothing(objects, armature), deform_off(armature, names):
            written = []
            for ob, rows in zip(objects, parts, strict=True):
                bones, every = skeleton.deform, np.ones(rows.count, bool)
                groups = bones & ~gone & np.isin(np.arange(len(bones)), rows.bones)
                facts = write_weights(ob, rows, skeleton.names, groups, bones, every)
                written.append({"name": ob.name, **facts})
            uses = bone_uses(armature, names)
            report = reduce_bones_report(
                armature.name, skeleton, self.done, written, uses, self.options
            )
            for ob in objects:
                drop_groups(ob, armature, names)
        self.warnings += reduce_bones_warnings(report)
        return report


class BoneOrderTask(ReduceBonesTask):
    """A task that reads like Reduce Bones but solves no weights and changes nothing. `order` lists
    the bones that would be removed."""

    order: Order | None = None

    def solve(self, progress: Listener | None = None) -> None:
        problem, read = self.checked.problem, self.reading
        self.order = removal_order(
            problem.arguments["vertices"],
            self.checked.rows,
            problem.skeleton,
            read.poses.transforms,
            self.options,
            read.wanted,
            read.unused,
        )

    def apply(self) -> dict[str, Any]:
        armature, _objects = self.checked.find_objects()
        return {"armature": armature.name}


def bone_uses(armature: Object, names: list[str]) -> list[str]:
    """Returns [line] about constraints, children and drivers that depend on these bones and must be
    handled before the bones are deleted."""
    wanted, lines = set(names), []
    for ob in bpy.data.objects:
        if ob.parent == armature and ob.parent_type == "BONE" and ob.parent_bone in wanted:
            lines.append(
                f"'{ob.parent_bone}' is the parent of '{ob.name}': it stays in the armature"
            )
        for owner in (ob, *(ob.pose.bones if ob.pose else ())):
            for constraint in constraints_of(owner):
                lines += [
                    f"'{name}' is the target of '{constraint.name}' of '{owner.name}': it stays in "
                    "the armature"
                    for name in sorted(followed_bones(constraint, armature) & wanted)
                ]
    for name in names:
        held = [constraint.name for constraint in constraints_of(armature.pose.bones[name])]
        if held:
            lines.append(f"'{name}' has its own constraints: {', '.join(held)}")
    curves = [curve for action in bpy.data.actions for _slot, curve in action_curves(action)]
    animated = sorted(wanted & {bone_in(curve.data_path) for curve in curves})
    if animated:
        shown = ", ".join(f"'{name}'" for name in animated[:8])
        more = f" and {len(animated) - 8} more" if len(animated) > 8 else ""
        lines.append(f"Keys of {shown}{more} no longer move skin")
    return lines
