"""The operator "Bendy Bones to Bones"."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy.types import Operator

from ..blender.bendy import bendy_bones, convert, refuse_armature, selected_bones
from ..core.errors import Refused
from ..core.report import names_in_line
from ..session import current_session

IDNAME = "object.araplbs_bendy_to_bones"
MODES = {"OBJECT", "POSE", "EDIT_ARMATURE"}
GAME_INFLUENCES = 4  # of a vertex, in most engines and in the glTF exporter unless told otherwise


class OBJECT_OT_araplbs_bendy_to_bones(Operator):
    """Replace what bendy bones do to meshes by plain bones with vertex groups of their own, for \
export to games. The bendy bones stay as controls that the new bones follow"""

    bl_idname = IDNAME
    bl_label = "Bendy Bones to Bones (ARAP)"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    only_selected: BoolProperty(
        name="Selected Only",
        description="In Pose and Edit mode: only the selected bones, not all of the armature",
        default=True,
    )
    count: IntProperty(
        name="Bones",
        description="Bones for each bendy bone. 0: as many as it has segments and one, which moves "
        "the mesh exactly as before; others are approximate",
        default=0,
        min=0,
        soft_max=33,
    )
    parameter: EnumProperty(
        name="Along Bone",
        description="Where along the bone a vertex is",
        items=(
            ("BLENDER", "As Blender Deforms", "What the bendy bone itself goes by"),
            ("GROUP", "Vertex Group", "The weight in a group: 0 at the head, 1 at the tail"),
        ),
    )
    group: StringProperty(
        name="Group",
        description="Vertex group with the place along the bone; 0 for vertices that are not in it",
    )
    hierarchy: EnumProperty(
        name="Parents",
        description="What the new bones are children of, for what is exported. It does not change "
        "how they move",
        items=(
            (
                "PARENT",
                "Deform Bone Above",
                "All of them: no scale of one is passed to the next, which formats without shear "
                "could not hold",
            ),
            (
                "CHAIN",
                "Each Other",
                "Each is the parent of the next. Exact in glTF as long as bones are not scaled "
                "more across than along",
            ),
        ),
    )

    @classmethod
    def poll(cls, context):
        reason = refuse_context(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "only_selected")
        layout.prop(self, "count")
        layout.prop(self, "parameter")
        if self.parameter == "GROUP":
            layout.prop(self, "group")
        layout.prop(self, "hierarchy")

    def execute(self, context):
        armature, mode = context.active_object, context.mode
        selected = selected_bones(armature)
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            done = self.convert(context, armature, selected if mode != "OBJECT" else None)
        except Refused as reason:
            if mode != "OBJECT":
                bpy.ops.object.mode_set(mode="POSE" if mode == "POSE" else "EDIT")
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        # Undo of Edit mode knows the bones alone, so it is not the mode to end in.
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode="POSE")
        self.tell(done)
        return {"FINISHED"}

    def convert(self, context, armature, selected):
        if self.count == 1:
            raise Refused("One bone cannot bend: give 2 or more, or 0 for an exact conversion")
        if self.parameter == "GROUP" and not self.group:
            raise Refused("Name the vertex group that says where along the bone a vertex is")
        names = bendy_bones(armature)
        if not names:
            raise Refused(
                f"'{armature.name}' has no bendy bones: none that deforms has more than 1 segment"
            )
        if self.only_selected and selected is not None:
            names = [name for name in names if name in selected]
            if not names:
                raise Refused("No bendy bone that deforms is selected")
        group = self.group if self.parameter == "GROUP" else ""
        return convert(
            armature, names, context.view_layer, self.count, group, self.hierarchy == "CHAIN"
        )

    def tell(self, done):
        for bone, ob in done.locked.items():
            self.report(
                {"WARNING"}, f"'{bone}' is left as it was: its vertex group in '{ob}' is locked"
            )
        for ob, group in done.kept_groups:
            self.report({"WARNING"}, f"'{ob}': the vertex group '{group}' stays, it has other uses")
        if done.most_influences > GAME_INFLUENCES:
            self.report(
                {"WARNING"},
                f"There are vertices with {done.most_influences} influences: exporters keep "
                f"{GAME_INFLUENCES} unless told otherwise",
            )
        if done.sheared:
            self.report(
                {"WARNING"},
                f"{len(done.sheared)} of the new bones shear in this pose (first: "
                f"'{done.sheared[0]}'), which glTF cannot hold",
            )
        self.report({"INFO"}, summary(done))


def refuse_context(context):
    """Why the operator cannot run here, or None."""
    armature = context.active_object
    if not armature or armature.type != "ARMATURE":
        return "The active object is not an armature"
    if context.mode not in MODES:
        return "Works in Object, Pose and Edit mode"
    if current_session():
        return "A refining session is running: accept or cancel it first"
    if not armature.visible_get():
        return f"'{armature.name}' is hidden"
    try:
        refuse_armature(armature)
    except Refused as reason:
        return str(reason)
    return None


def summary(done):
    """One line for people."""
    bones = sum(len(names) for names in done.names.values())
    one = len(done.names) == 1
    line = f"{len(done.names)} bendy bone{'' if one else 's'} became {bones} bones"
    if not done.meshes:
        return f"{line}; no mesh has their vertex groups"
    line += f", with groups in {names_in_line(done.meshes)}"
    if not done.difference:
        return f"{line}; no visible mesh shows the difference"
    worst = max(done.difference, key=done.difference.get)
    return (
        f"{line}; in this pose no vertex moved by more than {done.difference[worst]:.1e} of the "
        f"size of '{worst}'"
    )
