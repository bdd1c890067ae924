"""The panel "Clothes and LODs", which copies weights and shape keys from one mesh to others."""

from araplbs.base.refusal import Refused
from araplbs.base.sentence import Sentence
from araplbs.reports.report import names_in_line
from bpy.types import Panel

from ..blender.read.transfer_targets import find_transfer_targets
from ..features.restore import keep
from ..features.restore import operator as restore
from ..features.transfer import operator as transfer
from ..features.transfer_shapes import operator as shapes
from ..operators.settings import settings_of
from ..operators.sidebar import Closed, abreast, draw_large, draw_named, draw_wrapped
from .menus import draw_rows


class VIEW3D_PT_araplbs_clothes(Closed, Panel):
    bl_label = "Clothes and LODs"
    own_modes = ("OBJECT",)

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context).transfer
        try:
            targets = find_transfer_targets(context, settings.sources)
        except Refused as reason:
            draw_wrapped(layout, context, str(reason), icon="INFO")
        else:
            column = layout.column(align=True)
            sources, meshes = (
                names_in_line([ob.name_full for ob in objects])
                for objects in (targets.sources, targets.meshes)
            )
            start = Sentence("From: {sources}", sources=sources)
            end = Sentence("To: {meshes}", meshes=meshes)
            for line in (start, end):
                draw_wrapped(column, context, line, icon="MESH_DATA")
        row, _button = draw_large(
            layout, transfer.IDNAME, text="Transfer", icon="MOD_DATA_TRANSFER"
        )
        shown = bool(transfer.shown)
        row.operator(transfer.SHOW, text="", icon="HIDE_OFF" if shown else "HIDE_ON", depress=shown)
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(shapes.IDNAME, text="Shape Keys", icon="SHAPEKEY_DATA").sliders = "NONE"
        row.operator(shapes.IDNAME, text="", icon="DRIVER").sliders = "FOLLOW"
        draw_rows(layout, VIEW3D_PT_araplbs_clothes.__name__)
        row = abreast(layout, "Keep Weights", "Restore")
        row.operator(keep.IDNAME)
        row.operator(restore.IDNAME, text="Restore")
        draw_named(layout, settings, "sources")
        layout.prop(settings, "distance")
