"""The tab during a session, with progress, Accept and Cancel, brushes and corrections."""

from ..features.edits.tools import TOOLS
from ..languages.translate import translated
from ..operators.live_operator import (
    OBJECT_OT_araplbs_accept,
    OBJECT_OT_araplbs_restore,
    session_facts,
)
from ..operators.session import current_session
from ..operators.settings import settings_of
from ..operators.sidebar import abreast, draw_named, grid_of_two
from .bones_panel import draw_corrections, draw_for_selected, draw_rigid, is_masked


def draw_session_buttons(layout, in_tab=False):
    """Draws Accept and Cancel. Draws nothing if no session is running."""
    if not current_session():
        return
    row = abreast(layout, "Accept", "Cancel", icons=True) if in_tab else layout.row(align=True)
    row.operator(OBJECT_OT_araplbs_accept.bl_idname, icon="CHECKMARK")
    row.operator(OBJECT_OT_araplbs_restore.bl_idname, icon="X")


def draw_session(layout, context):
    """Draws the session in at most ten rows."""
    session = current_session()
    layout.use_property_split = False
    _draw_facts(layout, session)
    row = layout.column()
    row.scale_y = 1.5
    draw_session_buttons(row, in_tab=True)
    if session.moves_joints:
        return
    _draw_settings(layout, context)
    ob = context.active_object
    if context.mode != "PAINT_WEIGHT":
        layout.label(text="Brushes need Weight Paint mode", icon="INFO")
    else:
        masked = is_masked(ob)  # brushes remain in the toolbar
        grid = (draw_for_selected if masked else _draw_brushes)(layout, context, ob)
        draw_rigid(grid, ob, text="Rigid Parts")  # short, because it has half of the width
    if ob and ob.type == "MESH":
        draw_corrections(layout, ob, rows=2)


def _draw_facts(layout, session):
    """Draws the first and the last fact. The view and the status bar show all of them."""
    first, *others = session_facts(session)
    row = abreast(layout, first, *others[-1:])
    row.label(text=translated(first), icon="PLAY")
    if others:
        last = row.row()
        last.alignment = "RIGHT"
        last.label(text=translated(others[-1]))


def _draw_settings(layout, context):
    """Draws the settings that take effect at once. All others are hidden until the session ends."""
    column = layout.column(align=True)
    column.use_property_split, column.use_property_decorate = True, False
    settings = settings_of(context)
    draw_named(column, settings, "max_influences")
    draw_named(column, settings, "bone_spring_stiffness", slider=True)
    column.prop(context.window_manager, "araplbs_errors", text="Colors")


def _draw_brushes(layout, context, _ob):
    now = context.workspace.tools.from_space_view3d_mode(context.mode)
    grid = grid_of_two(layout, *(tool.short for tool in TOOLS))
    for tool in TOOLS:
        depress = bool(now and now.idname == tool.bl_idname)
        button = grid.operator("wm.tool_set_by_id", text=tool.short, depress=depress)
        button.name = tool.bl_idname
    return grid
