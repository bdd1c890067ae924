"""Stores the poses of a copied rig as frames of an action.

When a bone is set, Blender copies the whole rig for the evaluation. In film rigs, this copy takes
longer than evaluating all constraints. Evaluating a frame avoids the copy.
"""

import bpy

from ..poses.flexible_bones import BENT, NEUTRAL
from ..poses.motion_action import CONSTANT, channels_of
from ..poses.pose_sources import play_action
from .rig_relations import owner_of

STEP = 1 / 32  # share of a frame, in which other animated data hardly moves
TURN = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


class Frames:
    """The motion of a copied rig in several poses, each stored under a key that the caller chooses.
    The first pose is the current one."""

    def __init__(self, copy, bones, switches):
        """bones: {name: whether it is bendy} of the posed bones; switches: [(path of an owner,
        name)]."""
        self.copy, self.switches, self.numbers, self.poses = copy, switches, {}, []
        self.paths = {}  # for each bone: [(property, path)]
        for name, bendy in bones.items():
            posed = copy.pose.bones[name]
            path = posed.path_from_id()
            self.paths[name] = [(each, f"{path}.{each}") for each in channels(posed, bendy)]
        self.add(None, bones)

    @staticmethod
    def can_play(switches):
        """Whether all switches belong to bones or to the armature object itself rather than to
        other data."""
        return all(owner.startswith("pose.") or not owner for owner, _name in switches)

    def add(self, key, names):
        """Adds the current pose of the copy; names: the bones that are not at rest in this pose."""
        values = {}
        for owner, name in self.switches:
            path = f'{owner}["{bpy.utils.escape_identifier(name)}"]'
            values[path, 0] = float(owner_of(self.copy, owner)[name])
        for bone in names:
            posed = self.copy.pose.bones[bone]
            for name, path in self.paths[bone]:
                value = getattr(posed, name)
                for index, x in enumerate([value] if isinstance(value, float) else value):
                    values[path, index] = x
        self.numbers[key] = len(self.poses)
        self.poses.append(values)

    def play(self):
        """Creates an action from these poses and makes the copy play it. Returns the action."""
        data = self.copy.animation_data or self.copy.animation_data_create()
        action = bpy.data.actions.new("Auto-weight")
        slot, bag = channels_of(action, self.copy)
        for (path, index), rest in self.poses[0].items():
            keys, before = [], None
            for number, pose in enumerate(self.poses):
                value = pose.get((path, index), rest)
                if value != before:
                    keys += self._frame(number), value
                before = value
            curve = bag.fcurves.new(path, index=index)
            curve.keyframe_points.add(len(keys) // 2)
            curve.keyframe_points.foreach_set("co", keys)
            curve.keyframe_points.foreach_set("interpolation", [CONSTANT] * (len(keys) // 2))
            curve.update()
        data.use_nla = False
        play_action(data, action, slot)
        return action

    def show(self, key, view_layer):
        """Evaluates the pose with this key."""
        view_layer.id_data.frame_float = self._frame(self.numbers[key])
        view_layer.update()

    @staticmethod
    def _frame(number):
        return 1 + number * STEP


def channels(posed, bendy):
    """The names of the channels that define the pose of a bone."""
    turn = TURN.get(posed.rotation_mode, "rotation_euler")
    return ["location", turn, "scale", *(BENT if bendy else ())]


def neutral_of(name, count):
    """The values of a channel at rest."""
    if name in NEUTRAL:
        value = NEUTRAL[name]
        return value if isinstance(value, tuple) else (value,)
    return {
        "location": (0.0,) * 3,
        "scale": (1.0,) * 3,
        "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
        "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    }.get(name, (0.0,) * count)
