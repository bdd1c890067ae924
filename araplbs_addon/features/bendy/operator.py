"""The operator "Bendy Bones to Bones"."""

import math
import time

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.bendy.report import converted_summary, converted_warnings
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy.types import Operator

from ...blender.data.bones import selected_bones
from ...languages.translate import inform, warn
from ...operators.modal_operator import ModalOperator
from ...operators.properties import split
from ...operators.session import refuse_session
from .parameters import bendy_bones, convert_in_steps
from .refusals import refuse_armature

IDNAME = "object.araplbs_bendy"
PATIENCE = 0.4  # seconds for which a window may freeze before it gives the reason
TURN = 0.1  # seconds of work between two turns of the window
MODES = {"OBJECT", "POSE", "EDIT_ARMATURE"}


class OBJECT_OT_araplbs_bendy(ModalOperator, Operator):
    """Replace bendy bones with plain bones that have their own vertex groups, for export to \
games. The bendy bones stay as controls that the new bones follow"""

    bl_idname = IDNAME
    bl_label = "Bendy Bones to Bones (ARAP)"
    bl_options = {"REGISTER", "UNDO"}
    places = (
        ("VIEW3D_MT_pose", 20),
        ("VIEW3D_MT_edit_armature", 10),
        ("VIEW3D_PT_araplbs_export", 20),
    )
    icon = "GROUP_BONE"
    row_text, row_short = "Bendy Bones to Bones", "New Bones"

    only_selected: BoolProperty(
        name="Selected Only",
        description="In Pose and Edit mode, convert only the selected bones of the armature",
        default=True,
    )
    count: IntProperty(
        name="Bones",
        description="Number of bones per bendy bone. 0 uses segments + 1, an exact conversion "
        "if Along Bone is As Blender Deforms. Other counts approximate it",
        default=0,
        min=0,
        soft_max=33,
    )
    parameter: EnumProperty(
        name="Along Bone",
        description="How the position of a vertex along the bone is found",
        items=(
            ("BLENDER", "As Blender Deforms", "The parameter that the bendy bone itself uses"),
            ("GROUP", "Vertex Group", "The weight in a group: 0 at the head, 1 at the tail"),
            (
                "DIFFUSED",
                "Along the Mesh",
                "From the head to the tail, following heat that spreads along the mesh "
                "and does not jump to nearby folds",
            ),
        ),
    )
    group: StringProperty(
        name="Group",
        description="Vertex group that gives the position along the bone; 0 for vertices not in it",
    )
    hierarchy: EnumProperty(
        name="Parents",
        description="Parents of the new bones, for export. They do not affect how the bones move",
        items=(
            (
                "PARENT",
                "Deform Bone Above",
                "All new bones have the same parent, so no bone inherits scale from another. "
                "Inherited scale can cause shear, which many formats cannot store",
            ),
            (
                "CHAIN",
                "Chain",
                "Each bone is the parent of the next. Exact in glTF as long as bones are not "
                "scaled more across than along their length",
            ),
        ),
    )

    every = 0.01
    _mode = _steps = None

    @classmethod
    def poll(cls, context):
        refuse_session()
        refuse_context(context)
        return True

    def draw(self, _context):
        layout = split(self.layout)
        layout.prop(self, "only_selected")
        layout.prop(self, "count")
        layout.prop(self, "parameter")
        if self.parameter == "GROUP":
            layout.prop(self, "group")
        layout.prop(self, "hierarchy")

    def execute(self, context):
        """Runs at once: for scripts, background mode, and the panel "Adjust Last Operation"."""
        self.begin(context)
        return self.go_on()

    def invoke(self, context, _event):
        """Runs in a window: longer work shows its progress and can be cancelled."""
        self.begin(context)
        result = self.go_on(PATIENCE)
        if result:
            return result
        context.window.cursor_modal_set("WAIT")
        return self.begin_waiting(context)

    def turn(self, context):
        result = self.go_on(TURN)
        if result:
            self.end_waiting(context)
        return result

    def let_go(self, context):
        """Undoes unfinished work."""
        if self._steps:
            self._steps.close()
            self.restore_mode()
            self._steps = None
        if self._timer and context.window:
            context.window.cursor_modal_restore()

    def begin(self, context):
        """Sets the steps of the work, with the armature in Object mode."""
        self._mode, armature = context.mode, context.active_object
        selected = selected_bones(armature) if context.mode != "OBJECT" else None
        self._steps = self.convert(context, armature, selected)
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")

    def go_on(self, seconds=math.inf):
        """Works for this time. Returns the operator's result, or None if work remains."""
        end = time.perf_counter() + seconds
        try:
            next(self._steps)
            while time.perf_counter() < end:
                next(self._steps)
        except StopIteration as last:
            self._steps = None
            # Undo in Edit mode only covers the bones, so the work must not end in this mode.
            if self._mode != "OBJECT":
                bpy.ops.object.mode_set(mode="POSE")
            self.tell(last.value)
            return {"FINISHED"}
        return None

    def restore_mode(self):
        if self._mode not in {None, "OBJECT"}:
            bpy.ops.object.mode_set(mode="POSE" if self._mode == "POSE" else "EDIT")

    def convert(self, context, armature, selected):
        """Converts bendy bones, as a generator of steps. selected: names of the selected bones, or
        None for all."""
        if self.count == 1:
            raise Refused("A single bone cannot bend: use 2 or more, or 0 for an exact conversion")
        if self.parameter == "GROUP" and not self.group:
            raise Refused("Choose the vertex group that gives the position along the bone")
        names = bendy_bones(armature)
        if not names:
            raise Refused(
                f"'{armature.name}' has no bendy bones: no deform bone has more than 1 segment"
            )
        if self.only_selected and selected is not None:
            names = [name for name in names if name in selected]
            if not names:
                raise Refused("No deforming bendy bone is selected")
        return (
            yield from convert_in_steps(
                armature,
                names,
                context.view_layer,
                self.count,
                self.parameter,
                self.group,
                self.hierarchy == "CHAIN",
            )
        )

    def tell(self, done):
        for line in converted_warnings(done):
            warn(self, line)
        inform(self, converted_summary(done))


def refuse_context(context):
    """Raises Refused if the operator cannot run in this context."""
    armature = context.active_object
    if not armature or armature.type != "ARMATURE":
        raise Refused("The active object is not an armature")
    if context.mode not in MODES:
        raise Refused("Available only in Object, Pose and Edit modes")
    if not armature.visible_get():
        raise Refused(f"'{armature.name}' is hidden")
    refuse_armature(armature)


CLASSES = (OBJECT_OT_araplbs_bendy,)
