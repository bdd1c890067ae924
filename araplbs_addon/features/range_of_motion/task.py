"""The task of Range of Motion. The task reads poses from a copy of the rig and writes an action."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.directions import read_directions_in_steps
from araplbs.features.range_of_motion import (
    Motion,
    curves,
    motion_report,
    motion_warnings,
    unmoved,
)
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.binding import is_deformed_by
from ...blender.data.bones import upward
from ...blender.data.references import Subjects
from ...blender.poses.motion_action import refuse_action, write_action
from ...blender.read.control_bones import is_left_out
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import read_shape_in_steps
from ...blender.read.targets import Targets
from ...blender.rig.rig_copy import NotDrivable
from ...task import Task
from .rig import motion_in_steps

FIRST = 1  # frame


@dataclass(frozen=True)
class Reading:
    subjects: Subjects
    skeleton: Skeleton
    motion: Motion
    started: float


class MotionTask(Task):
    keys: Any = None

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        started, armature = time.perf_counter(), targets.armature
        self.warnings = list(targets.skipped)
        refuse_action(armature)
        view_layer.update()
        skeleton = read_armature(armature, self.options.use_joint_limits)
        left_out = np.array([is_left_out(bone) for bone in armature.data.bones], bool)
        if not (skeleton.deform & ~left_out).any():
            raise Refused(f"'{armature.name}' has no deform bones that Auto-weight can use")
        skeleton = replace(skeleton, deform=skeleton.deform & ~left_out)
        yield
        skeleton = yield from self._directed_in_steps(armature, skeleton, view_layer)
        try:
            motion = yield from motion_in_steps(armature, skeleton, self.options, upward(armature))
        except NotDrivable as reason:
            raise Refused(f"The rig of '{armature.name}' could not be posed: {reason}") from None
        self.reading = Reading(Subjects.of(armature, []), skeleton, motion, started)

    def _directed_in_steps(
        self, armature: Object, skeleton: Skeleton, view_layer: ViewLayer
    ) -> Steps[Skeleton]:
        """The Skeleton with the bone directions that Auto-weight finds from the meshes that the
        bones move."""
        meshes = []
        for ob in view_layer.objects:
            if ob.type == "MESH" and ob.data.polygons and is_deformed_by(ob, armature):
                try:
                    meshes.append((yield from read_shape_in_steps(ob, armature, view_layer)))
                except Refused:  # no weights can be computed either
                    continue
        if not meshes:
            return skeleton
        return (yield from read_directions_in_steps(meshes, skeleton, "AUTOMATIC", self.threads))

    def solve(self, progress: Listener | None = None) -> None:
        motion = self.reading.motion
        self.keys = curves([pose for _name, pose in motion.poses], motion.rest)

    def apply(self) -> dict[str, Any]:
        read, spacing = self.reading, self.options.spacing
        (armature, _meshes), motion = self.find_objects(), read.motion
        refuse_action(armature)
        frames = FIRST + spacing * np.arange(len(motion.poses))
        markers = [("Rest", FIRST), *motion.markers(frames)]
        keys = [(*key, frames[which], values) for *key, which, values in self.keys]
        name = f"{armature.name} Range of Motion"
        action, before = write_action(armature, name, keys, markers)
        for scene in armature.users_scene:
            scene.frame_end = max(scene.frame_end, int(frames[-1]))
        wanted = self.options.acts and not motion.acts
        still = unmoved(read.skeleton, motion.moved)
        self.warnings += motion_warnings(still, before, wanted, motion.broken)
        return motion_report(
            armature.name,
            action.name,
            motion,
            frames,
            read.skeleton,
            time.perf_counter() - read.started,
            self.options,
            self.warnings,
        )
