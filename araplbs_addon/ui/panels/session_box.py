"""The tab while a session runs: how far it is, Accept and Cancel, brushes and corrections."""

from ...languages.translate import translated
from ...live.session import current_session
from ...operators.base.live import (
    OBJECT_OT_araplbs_accept,
    OBJECT_OT_araplbs_restore,
    session_facts,
)
from ...operators.base.settings import settings_of
from ..views import error_view
from ..views.tools import TOOLS
from .bones_panel import draw_corrections


def draw_session_buttons(layout):
    """Nothing where no session is running."""
    if not current_session():
        return
    row = layout.row(align=True)
    row.operator(OBJECT_OT_araplbs_accept.bl_idname, icon="CHECKMARK")
    row.operator(OBJECT_OT_araplbs_restore.bl_idname, icon="X")


def draw_session(layout, context):
    session = current_session()
    layout.use_property_split = False
    column = layout.column(align=True)
    for number, fact in enumerate(session_facts(session)):
        column.label(text=translated(fact), icon="BLANK1" if number else "PLAY")
    row = layout.column()
    row.scale_y = 1.5
    draw_session_buttons(row)
    if session.moves_joints:
        return
    _draw_settings(layout, context)
    _draw_brushes(layout, context)
    error_view.draw_choice(layout, context)
    ob = context.active_object
    if ob and ob.type == "MESH":
        draw_corrections(layout, context)


def _draw_settings(layout, context):
    """Settings that act at once; all others wait for the end of the session, out of sight."""
    column = layout.column(align=True)
    column.use_property_split, column.use_property_decorate = True, False
    settings = settings_of(context)
    column.prop(settings, "max_influences")
    column.prop(settings, "truss", slider=True)


def _draw_brushes(layout, context):
    if context.mode != "PAINT_WEIGHT":
        layout.label(text="Brushes: in Weight Paint mode", icon="INFO")
        return
    now = context.workspace.tools.from_space_view3d_mode(context.mode)
    column = layout.column(align=True)
    for tool in TOOLS:
        depress = bool(now and now.idname == tool.bl_idname)
        button = column.operator("wm.tool_set_by_id", text=tool.short, depress=depress)
        button.name = tool.bl_idname
