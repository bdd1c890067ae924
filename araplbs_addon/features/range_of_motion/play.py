"""The operator "Play Range of Motion", which plays the poses of Range of Motion in the viewport
without an action."""

import time
from dataclasses import fields

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.features.range_of_motion import MotionOptions, in_turn
from bpy.props import StringProperty
from bpy.types import Operator

from ...blender.data.bones import upward
from ...blender.data.references import Reference
from ...blender.poses.pose_rig import channels_of_bones, set_channels
from ...blender.rig.rig_relations import owner_of
from ...operators.guard import handing_over
from ...operators.modal_operator import ModalOperator
from ...operators.session import refuse_session
from ...operators.settings import present_options
from ...operators.work import STEP
from ...preferences import preferred_threads
from .operator import find_armature
from .task import MotionTask

IDNAME = "object.araplbs_play_motion"
POSE = 0.45  # seconds from one pose to the next
SKIP = {"RIGHT_ARROW": 1, "LEFT_ARROW": -1}  # keys that go to the next or the previous part


class OBJECT_OT_araplbs_play_motion(ModalOperator, Operator):
    """Play the range of motion in the viewport: arms, legs, spine and fingers in turn, then a \
walk. The view can be moved while it plays. The right arrow key goes to the next part. Esc \
restores your pose. No action is created"""

    bl_idname = IDNAME
    bl_label = "Play Range of Motion"
    bl_options = {"INTERNAL"}  # nothing is left to undo
    places = (("VIEW3D_PT_araplbs_poses", 5), ("VIEW3D_MT_pose", 45))
    icon = "PLAY"
    every = 1 / 30

    bone: StringProperty(
        name="Bone", description="Only the motion of this bone. If empty, of all bones"
    )
    _player = _reading = None

    @classmethod
    def poll(cls, context):
        refuse_session()
        find_armature(context)
        return True

    def invoke(self, context, _event):
        if bpy.ops.object.araplbs_own_pose.poll():
            with handing_over():
                bpy.ops.object.araplbs_own_pose()
        if context.screen and context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        targets, options = find_armature(context), present_options(context)
        own = {
            f.name: getattr(options, f.name)
            for f in fields(MotionOptions)
            if hasattr(options, f.name)
        }
        self._armature = Reference.to(targets.armature)
        self._task = MotionTask(MotionOptions(**own, combinations=0), preferred_threads(context))
        self._reading = self._task.read_in_steps(targets, context.view_layer)
        return self.begin_waiting(context)

    def turn(self, context):
        if self._reading:
            self._read(context)
        else:
            self._player.show(time.monotonic() - self._begun)
            self.show_status(context)
        return None

    def _read(self, context):
        end = time.monotonic() + STEP
        while time.monotonic() < end:
            try:
                next(self._reading)
            except StopIteration:
                self._reading, read = None, self._task.reading
                poses = in_turn(read.motion, read.skeleton, upward(self._armature.get()), self.bone)
                if not poses:
                    raise Refused(
                        f"No control turns '{self.bone or self._armature.name}'"
                    ) from None
                self._player = Player(self._armature, poses, read.motion.rest)
                self._begun = time.monotonic()
                return

    def status(self, _context):
        return f"{self._player.text}   |   Right arrow: next" if self._player else "Reading rig"

    def hear(self, context, event):
        if self._player and event.type in SKIP and event.value == "PRESS":
            self._begun -= self._player.skip(SKIP[event.type])
            return {"RUNNING_MODAL"}
        return super().hear(context, event)

    def say_cancelled(self):
        return {"CANCELLED"}

    def let_go(self, context):
        if self._reading:
            self._reading.close()
        player, self._reading, self._player = self._player, None, None
        if player:
            player.put_back()


class Player:
    """Poses of an armature, and the armature's own pose. poses: see in_turn(); rest: the values of
    all channels at rest."""

    def __init__(self, armature, poses, rest):
        self._armature, self._poses, self._rest = armature, poses, rest
        ob = armature.get()
        self._own, self._position = channels_of_bones(ob), ob.data.pose_position
        self._others = {key: _read(ob, *key) for key in rest}
        ob.data.pose_position = "POSE"
        self._at, self._shown = 0.0, set(rest)

    @property
    def text(self):
        part, name, _pose = self._poses[int(self._at) % len(self._poses)]
        return part if part == name else f"{part}: {name}"

    def show(self, seconds):
        """Shows the pose at this time. The motion repeats."""
        self._at = seconds / POSE
        number, share = int(self._at), self._at % 1.0
        share = share * share * (3 - 2 * share)
        before = self._poses[(number - 1) % len(self._poses)][2] if number else {}
        after = self._poses[number % len(self._poses)][2]
        ob, now = self._armature.get(), {*before, *after}
        for key in self._shown | now:
            rest = self._rest[key]
            one, other = (np.array(each.get(key, rest), float) for each in (before, after))
            if key[1] == "rotation_quaternion" and one @ other < 0:
                other = -other
            _write(ob, *key, (1 - share) * one + share * other)
        self._shown = now

    def skip(self, step):
        """Returns the seconds from now to the begin of the next or previous part."""
        names, count = [part for part, _name, _pose in self._poses], len(self._poses)
        number = int(self._at) % count
        begins = [k for k in range(count) if not k or names[k] != names[k - 1]]
        part = max(k for k, begin in enumerate(begins) if begin <= number) + step
        goal = begins[part % len(begins)] + count * (part // len(begins))
        return (goal + int(self._at) - number) * POSE - self._at * POSE

    def put_back(self):
        ob = self._armature.find()
        if not ob or not ob.pose:
            return
        for key, value in self._others.items():
            _write(ob, *key, np.array(value))
        set_channels(ob, self._own)
        ob.data.pose_position = self._position


def _read(armature, owner, name):
    if name.startswith("["):
        return (float(owner_of(armature, owner)[name[2:-2]]),)
    value = getattr(armature.pose.bones[owner], name)
    return (value,) if isinstance(value, float) else tuple(value)


def _write(armature, owner, name, values):
    if name.startswith("["):
        owner = owner_of(armature, owner)
        owner[name[2:-2]] = type(owner[name[2:-2]])(round(float(values[0])))
        armature.update_tag()
    elif owner in armature.pose.bones:
        single = isinstance(getattr(armature.pose.bones[owner], name), float)
        value = float(values[0]) if single else values.tolist()
        setattr(armature.pose.bones[owner], name, value)


CLASSES = (OBJECT_OT_araplbs_play_motion,)
