"""Puts a rig into a pose in which its weights were measured, if possible a frame of the action that
Range of Motion created, and restores the rig's own pose."""

import bpy
import numpy as np
from mathutils import Matrix

from ..data.bones import local_to_pose
from ..data.object_targets import constraints_of
from ..data.references import Reference
from .own_motion import is_motion_of

# Fraction of the skeleton size by which the rig's controls may miss a pose.
CLOSE = 1e-3
TURNS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")


class PosedRig:
    """An armature in a pose other than its own. transforms: {bone: (3, 4) from rest in armature
    space}; bones that are not listed follow their parents. Constraints are off until the armature's
    own pose is restored."""

    def __init__(self, armature, transforms):
        self.armature = Reference.to(armature)
        self._position = armature.data.pose_position
        self._own = channels_of_bones(armature)
        self._muted = [
            (posed.name, constraint.name)
            for posed in armature.pose.bones
            for constraint in constraints_of(posed)
            if not constraint.mute
        ]
        self.pose(transforms)

    @property
    def name(self):
        return self.armature.name

    def pose(self, transforms):
        """Applies the pose. Raises Refused if the armature has changed since then."""
        armature = self.armature.get()
        armature.data.pose_position = "POSE"
        self._mute(armature, True)
        places = {}
        for bone in armature.data.bones:  # parents first
            above, basis = bone.parent and places[bone.parent.name], Matrix()
            if bone.name in transforms:
                transform = np.vstack([transforms[bone.name], (0, 0, 0, 1)])
                wanted = Matrix(transform.tolist()) @ bone.matrix_local
                basis = local_to_pose(bone, wanted, above, invert=True)
            armature.pose.bones[bone.name].matrix_basis = basis
            places[bone.name] = local_to_pose(bone, basis, above)

    def put_back(self):
        """Restores the armature's own pose. Raises Refused if the armature has changed since
        then."""
        armature = self.armature.get()
        set_channels(armature, self._own)
        self._mute(armature, False)
        armature.data.pose_position = self._position

    def _mute(self, armature, muted):
        for bone, name in self._muted:
            posed = armature.pose.bones.get(bone)
            if posed and name in posed.constraints:
                posed.constraints[name].mute = muted


def channels_of_bones(armature):
    """The armature's pose as {bone: {channel: value}}."""
    return {
        posed.name: {
            "rotation_mode": posed.rotation_mode,
            **{name: tuple(getattr(posed, name)) for name in (*TURNS, "location", "scale")},
        }
        for posed in armature.pose.bones
    }


def set_channels(armature, channels):
    """Sets the channels of the bones that still exist."""
    for posed in armature.pose.bones:
        for name, value in channels.get(posed.name, {}).items():
            setattr(posed, name, value)


class PosedFrame:
    """An armature in a frame of its action, with its previous frame and pose stored."""

    def __init__(self, scene, armature, frame):
        self._scene, self.armature = scene.name, Reference.to(armature)
        self._frame = scene.frame_current, scene.frame_subframe
        self._own = channels_of_bones(armature)
        scene.frame_set(frame)

    def put_back(self):
        """Restores the frame and the pose. Raises Refused if the armature has changed since
        then."""
        armature, scene = self.armature.get(), bpy.data.scenes.get(self._scene)
        if scene:
            scene.frame_set(self._frame[0], subframe=self._frame[1])
        set_channels(armature, self._own)


def posed_frame(context, armature, number, transforms):
    """The PosedFrame of combination `number`, if the armature plays the action and the deform bones
    match transforms {bone: (3, 4) from rest in armature space}. Otherwise None, and nothing is
    changed."""
    data = armature.animation_data
    action = data and data.action
    if not action or not is_motion_of(action, armature) or armature.data.pose_position != "POSE":
        return None
    marker = action.pose_markers.get(f"Combination {number + 1}")
    if marker is None:
        return None
    found = PosedFrame(context.scene, armature, marker.frame)
    context.view_layer.update()
    bones = armature.data.bones
    size = np.ptp(
        [bone.head_local for bone in bones] + [bone.tail_local for bone in bones], 0
    ).max()
    near = [[CLOSE] * 3 + [CLOSE * max(size, 1)]] * 3  # rotations and positions
    for name, wanted in transforms.items():
        there = armature.pose.bones[name].matrix @ bones[name].matrix_local.inverted()
        if (np.abs(np.array(there)[:3] - wanted) > near).any():
            found.put_back()
            return None
    return found
