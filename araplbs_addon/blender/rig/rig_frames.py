"""Poses of a copy of a rig as frames of an action.

Where a bone is set, Blender copies the whole rig for the evaluation, with all of its constraints:
in film rigs that takes longer than they do. A frame is evaluated without.
"""

import bpy

from ..poses.flexible_bones import BENT
from ..poses.motion_action import CONSTANT, channels_of
from .rig_relations import owner_of

STEP = 1 / 32  # of a frame, so that what else is animated stays about where it is
TURN = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


class Frames:
    """What a copy does in some poses, each with a key of the caller's; first what it does now."""

    def __init__(self, copy, bones, switches):
        """bones: [(name, is it bendy)] that are posed; switches: [(path of an owner, name)]."""
        self.copy, self.switches, self.numbers = copy, switches, {}
        self.bones = [(copy.pose.bones[name], bendy) for name, bendy in bones]
        self.values = {}  # (path, index): [value]
        self.paths = [
            (posed, [(name, f"{posed.path_from_id()}.{name}") for name in channels(posed, bendy)])
            for posed, bendy in self.bones
        ]
        self.add(None)

    @staticmethod
    def can_play(switches):
        """Of what an armature has beside its bones and itself, none."""
        return all(owner.startswith("pose.") or not owner for owner, _name in switches)

    def add(self, key):
        """The pose that the copy is in now."""
        self.numbers[key] = len(self.numbers)
        for owner, name in self.switches:
            path = f'{owner}["{bpy.utils.escape_identifier(name)}"]'
            self._add(path, -1, float(owner_of(self.copy, owner)[name]))
        for posed, properties in self.paths:
            for name, path in properties:
                value = getattr(posed, name)
                for index, x in enumerate([value] if isinstance(value, float) else value):
                    self._add(path, index, x)

    def _add(self, path, index, value):
        self.values.setdefault((path, index), []).append(value)

    def play(self):
        """Gives the copy an action of these; the action. What is always the same stays."""
        data = self.copy.animation_data or self.copy.animation_data_create()
        action = bpy.data.actions.new("Auto-weight")
        slot, bag = channels_of(action, self.copy)
        frames = [self._frame(number) for number in self.numbers.values()]
        for (path, index), values in self.values.items():
            if min(values) == max(values):
                continue
            curve = bag.fcurves.new(path, index=max(index, 0))
            points = curve.keyframe_points
            points.add(len(frames))
            points.foreach_set("co", [x for pair in zip(frames, values, strict=True) for x in pair])
            points.foreach_set("interpolation", [CONSTANT] * len(frames))
            curve.update()
        data.use_nla = False
        data.action = action
        if slot is not None:
            data.action_slot = slot
        return action

    def show(self, key, view_layer):
        """Evaluates that pose."""
        view_layer.id_data.frame_float = self._frame(self.numbers[key])
        view_layer.update()

    @staticmethod
    def _frame(number):
        return 1 + number * STEP


def channels(posed, bendy):
    """Names of what says how a bone is posed."""
    turn = TURN.get(posed.rotation_mode, "rotation_euler")
    return ["location", turn, "scale", *(BENT if bendy else ())]
