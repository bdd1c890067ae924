"""Shows poses as frames of the action that Range of Motion created."""

import bpy
import numpy as np

from ..data.references import Reference
from .own_motion import is_motion_of
from .pose_rig import channels_of_bones, set_channels

# Fraction of the skeleton size by which the rig's controls may miss a pose.
CLOSE = 1e-3


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
