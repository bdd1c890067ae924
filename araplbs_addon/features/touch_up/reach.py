"""The operator "Reach of Bone", which moves the border of a bone's weights with the mouse."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.features.touch_up import with_reach
from bpy.props import FloatProperty, StringProperty
from bpy.types import Operator

from ...blender.read.read_armature import opposite_bone, read_armature
from ...blender.read.read_mesh import (
    locked_bones,
    masked_vertices,
    named_entries,
    present_weights,
    refuse_mesh,
)
from ...blender.read.targets import find_posing
from ...blender.write.weight_slots import WeightSlot
from ...blender.write.write_weights import write_weights
from ...operators.modal_operator import moves_view, show_status
from ...operators.work import poll_bones

IDNAME = "object.araplbs_reach"
WHOLE = 300  # pixels of the mouse, times the scale of the interface, for a reach of 1


class OBJECT_OT_araplbs_reach(Operator):
    """Move the mouse to the right to let the active bone move more of the surface, or to the left \
to let it move less. The neighboring bones take the rest. Click to keep the weights; Esc restores \
them. X Mirror includes the bone on the other side"""

    bl_idname = IDNAME
    bl_label = "Reach of Bone"
    bl_options = {"REGISTER", "UNDO", "BLOCKING"}

    bone: StringProperty(
        name="Bone", description="Name of the bone. If empty, the active bone is used"
    )
    reach: FloatProperty(
        name="Reach",
        description="Above 0, the bone moves more of the surface; below 0, it moves less",
        min=-1.0,
        max=1.0,
        subtype="FACTOR",
    )
    _parts = ()

    @classmethod
    def poll(cls, context):
        return poll_bones(context)

    def execute(self, context):
        self._read(context)
        self._write()
        return {"FINISHED"}

    def invoke(self, context, event):
        self.bone = ""
        self._read(context)
        self.reach, self._begin = 0.0, event.mouse_x
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("MOVE_X")
        self._tell(context)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "MOUSEMOVE":
            whole = WHOLE * (context.preferences.system.ui_scale or 1.0)
            self.reach = float(np.clip((event.mouse_x - self._begin) / whole, -1, 1))
            self._write()
            self._tell(context)
        elif event.type in {"LEFTMOUSE", "RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            self._end(context)
            return {"FINISHED"}
        elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.abandon(context)
            return {"CANCELLED"}
        elif moves_view(event):
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        self.abandon(context)

    def abandon(self, context):
        """See guard.py."""
        for part in self._parts:
            part.put_back()
        self._end(context)

    def _end(self, context):
        self._parts = ()
        context.window.cursor_modal_restore()
        show_status(context)

    def _tell(self, context):
        text = f"{self.bone}: reach {100 * self.reach:+.0f} %   |   Click: keep   |   Esc: cancel"
        show_status(context, text)

    def _read(self, context):
        targets = find_posing(context)
        armature = targets.armature
        skeleton = read_armature(armature, False)
        self.bone = self.bone or _active(context, armature, targets)
        if self.bone not in skeleton.names:
            raise Refused(f"'{armature.name}' has no bone '{self.bone}'")
        parts = []
        for ob in targets.meshes:
            refuse_mesh(ob)
            mirrors = ob.data.use_mirror_x if targets.painting else armature.pose.use_mirror_x
            names = {self.bone, opposite_bone(armature, self.bone) if mirrors else self.bone}
            part = _Part(ob, skeleton, names, targets.painting)
            if part.vertices.any():
                parts.append(part)
        if not parts:
            raise Refused(f"No vertex shares '{self.bone}' with another bone that is not locked")
        self._parts = parts

    def _write(self):
        for part in self._parts:
            part.write(self.reach)


def _active(context, armature, targets):
    """The name of the bone that the artist works on."""
    if targets.painting:
        group = targets.meshes[0].vertex_groups.active
        name = group.name if group else ""
    else:
        bone = armature.data.bones.active
        name = bone.name if bone else ""
    if not name:
        raise Refused("No bone is active: click one")
    return name


class _Part:
    """A mesh with its weights from before. vertices (n,) bool: those that change."""

    def __init__(self, ob, skeleton, names, painting):
        known = named_entries(ob)
        self._slot, self._names = WeightSlot(ob, known), skeleton.names
        self._rows = present_weights(ob, skeleton, known)
        self._free = skeleton.deform & ~locked_bones(ob, skeleton)
        self._bones = np.array([name in names for name in skeleton.names]) & self._free
        own = self._bones[self._rows.bones]
        other = self._free[self._rows.bones] & ~own
        count, at = self._rows.count, self._rows.vertices
        masked = masked_vertices(ob.data) if painting else None
        self.vertices = np.bincount(at[own], minlength=count) > 0
        self.vertices &= np.bincount(at[other], minlength=count) > 0
        if masked is not None:
            self.vertices &= ~masked

    def write(self, reach):
        rows = with_reach(self._rows, self._bones, self._free, reach)
        none = np.zeros(len(self._names), bool)
        write_weights(self._slot.object(), rows, self._names, none, self._free, self.vertices)

    def put_back(self):
        self._slot.put()


CLASSES = (OBJECT_OT_araplbs_reach,)
