"""The operator "Deform With"."""

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.deform_with import (
    ARMATURE,
    DEFORMERS,
    DeformWithOptions,
    deform_with_summary,
)
from araplbs.reports.report import names_in_line
from bpy.types import Operator

from ...blender.data.binding import BONES, CENTERS_OLD, DEFORMER, armature_of, deform_nodes
from ...blender.read.targets import find_posing
from ...operators.properties import ListedOptions, option_names
from ...operators.sidebar import draw_wrapped
from ...operators.work import WorkOperator
from .task import DeformWithTask

IDNAME = "object.araplbs_deform_with"


class OBJECT_OT_araplbs_deform_with(WorkOperator, ListedOptions, Operator):
    """Choose the deformer of the selected meshes. Geometry Nodes take the place of the Armature \
modifier, which is switched off as long as another deformer is chosen"""

    bl_idname = IDNAME
    bl_label = "Deform With"
    option_table = DeformWithOptions
    own_options = tuple(option_names(DeformWithOptions))
    task_kind = DeformWithTask
    summary = staticmethod(deform_with_summary)
    doing = "Centering"
    find = staticmethod(find_posing)

    @classmethod
    def poll(cls, context):
        if not hasattr(bpy.types, "GeometryNodeBoneInfo"):
            raise Refused(
                "Needs Blender 5.2 or later: in earlier versions, Geometry Nodes cannot read bones"
            )
        return super().poll(context)

    @classmethod
    def draw_choice(cls, layout, context):
        ob = context.active_object
        nodes = deform_nodes(ob) if ob and ob.type == "MESH" else None
        chosen = nodes.node_group[DEFORMER] if nodes else ARMATURE
        name = next(name for each, name, _about in DEFORMERS if each == chosen)
        row = layout.row()
        row.label(text="Deform With")
        row.operator_menu_enum(cls.bl_idname, "deformer", text=name)
        reason = nodes and _outdated(ob, nodes)
        if reason:
            draw_wrapped(layout, context, reason, icon="ERROR")


def _outdated(ob, nodes):
    """The reason why the deformer must be chosen again, or None."""
    armature = armature_of(ob)
    bones = armature.data.bones if armature else ()
    lost = [f"'{name}'" for name in nodes.node_group.get(BONES, ()) if name not in bones]
    if lost:
        names = names_in_line(lost)
        return f"Bones were renamed or removed, so choose the deformer again: {names}"
    if CENTERS_OLD in ob.data:
        return "The weights are newer than the centers of rotation: choose them again"
    return None


CLASSES = (OBJECT_OT_araplbs_deform_with,)
