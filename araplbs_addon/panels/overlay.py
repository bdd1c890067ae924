"""Draws edits, strokes, and the numbers and the energy curve of a session over the 3D view."""

from contextlib import suppress

import blf
import bpy
import gpu
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.measures.strain_colors import FULL_SCALE, share_colors, strain_colors
from araplbs.measures.thinned import thinned
from gpu_extras.batch import batch_for_shader

from ..blender.data.edits import read_values
from ..blender.poses.posed import posed_vertices
from ..features.check import view as finding_view
from ..features.edits import hover
from ..features.edits.brush import current_stroke, image_of, tied_vertices
from ..features.joints import ghosts as joint_ghosts
from ..features.transfer.shown_matches import shown as shown_matches
from ..operators import deformer_view, error_view
from ..operators.drawing import draw_box, draw_lines, draw_points, draw_text, text_size
from ..operators.live_operator import session_facts
from ..operators.session import current_session

MARGIN = 20
CURVE = (200, 64)  # pixels
SCALE_STEPS = 41  # number of steps in the drawn stretch scale
TEXT_SIZE = 12
LINE_HEIGHT = 18
WHITE, SHADE = (1.0, 1.0, 1.0, 0.95), (0.08, 0.08, 0.08, 0.65)
LINE, HELD = (1.0, 0.75, 0.2, 1.0), (1.0, 0.75, 0.2, 1.0)
RELEASED, ADDED, REMOVED = (0.6, 0.6, 0.6, 0.8), (0.2, 0.9, 0.4, 1.0), (0.95, 0.2, 0.2, 1.0)
POINT_SIZE = 5
ITEM_SIZE, ITEM_OPACITY = 4, 0.8  # for a correction's dots, which leave weights visible
LEAST_RISE = 0.2  # smallest change that fills the curve's height, as a share of the largest stretch
LEAST_SHADE = 0.2  # opacity of a vertex whose tie has hardly any strength left

_handles = []


def draw_view():
    """Draws in scene space."""
    error_view.view.draw()
    deformer_view.view.draw()
    context = bpy.context
    if context.space_data.overlay.show_overlays:
        with suppress(Refused, ReferenceError):  # the displayed data was just deleted
            _draw_matches(context)
            finding_view.draw(context)
            _draw_edits(context)
            session = current_session()
            if session and session.moves_joints and session.frame:
                joint_ghosts.draw(session)


def draw_pixels():
    """Draws in pixels of the region."""
    context = bpy.context
    if context.space_data.overlay.show_overlays:
        finding_view.draw_name(context)
        hover.draw(context)
    session = current_session()
    x, y = context.region.width - _sidebar_width(context) - CURVE[0] - MARGIN, MARGIN
    if context.window_manager.araplbs_errors in error_view.OF_STRETCH:
        y = _draw_scale(x, y)
    if session and session.frame and session.state != "ENDED":
        y = _draw_curve(session.frame, x, y)
        for text in reversed(session_facts(session)):
            y = _draw_text(text, x, y)


def _sidebar_width(context):
    """The total width of the regions that cover the right side of the view. "Adjust Last Operation"
    is on the left and does not count."""
    if not context.preferences.system.use_region_overlap:
        return 0
    return sum(r.width for r in context.area.regions if r.type == "UI" and r.width > 1)


def _draw_text(text, x, y):
    blf.enable(0, blf.SHADOW)
    blf.shadow(0, 3, 0, 0, 0, 0.9)
    draw_text(text, x, y + 4, TEXT_SIZE, WHITE)
    blf.disable(0, blf.SHADOW)
    return y + LINE_HEIGHT


def _draw_scale(x, y):
    gpu.state.blend_set("ALPHA")
    scale = strain_colors(np.linspace(0, FULL_SCALE, SCALE_STEPS)) / 255
    across = np.linspace(x, x + CURVE[0], SCALE_STEPS)
    points = [(at, side) for at in across for side in (y, y + 10)]
    shades = [(*color, 1.0) for color in scale.tolist() for _side in range(2)]
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch_for_shader(shader, "TRI_STRIP", {"pos": points, "color": shades}).draw(shader)
    gpu.state.blend_set("NONE")
    _draw_text("0 %", x, y + 12)
    end = f"{100 * FULL_SCALE:.0f} % and more"
    _draw_text(end, x + CURVE[0] - text_size(end, TEXT_SIZE)[0], y + 12)
    text = error_view.view.message or "Stretch"
    return _draw_text(text, x, y + 12 + LINE_HEIGHT) + 6


def _draw_curve(frame, x, y):
    """Draws the stretch so far. For joints, the energies on a logarithmic scale."""
    width, height = CURVE
    gpu.state.blend_set("ALPHA")
    draw_box(x, y, width, height, SHADE)
    values = np.array(frame.curve) if frame.curve else np.log(np.maximum(frame.energies, 1e-12))
    if len(values) == 1:
        values = values.repeat(2)  # no change yet
    if len(values) > 1:
        least = LEAST_RISE * values.max() if frame.curve else 1e-9
        rise = (values - values.min()) / max(np.ptp(values), least)
        across = np.linspace(0.03, 0.97, len(values))
        up = y + (0.1 + 0.8 * rise) * height
        points = np.column_stack([x + across * width, up, np.zeros(len(up))])
        draw_lines(points, LINE, 2.0, "LINE_STRIP")
    gpu.state.blend_set("NONE")
    return y + height + 4


def _draw_matches(context):
    """Draws the vertices that take the weights of another mesh, and those that are filled in."""
    for reference, matched in shown_matches:
        with suppress(Refused):
            points = posed_vertices(reference.get(), context.evaluated_depsgraph_get())
            draw_points(points, np.where(matched[:, None], ADDED, REMOVED), POINT_SIZE - 1)


def _draw_edits(context):
    """Draws the points of the active edit, the vertices tied to the active bone, links, and the
    stroke in progress."""
    ob = context.active_object
    if not ob or ob.type != "MESH" or ob.mode != "WEIGHT_PAINT":
        return
    stroke = current_stroke()
    ties = _ties(context, ob)
    mesh = ob.data
    if not stroke and ties is None and not mesh.araplbs.edits:
        return
    points = posed_vertices(ob, context.evaluated_depsgraph_get())
    for item in mesh.araplbs.edits:
        if item.kind == "LINK" and item.use:
            _line(points[np.flatnonzero(read_values(mesh, item))])
    if 0 <= mesh.araplbs.active < len(mesh.araplbs.edits):
        item = mesh.araplbs.edits[mesh.araplbs.active]
        for each in (item, image_of(ob, item)):
            if each:
                _draw_item(context, mesh, each, points)
    if ties:
        vertices, held, released = ties
        shades = np.tile(HELD, (len(vertices), 1))
        shades[:, 3] = LEAST_SHADE + (1 - LEAST_SHADE) * held
        shades[released] = RELEASED
        draw_points(points[vertices], shades, POINT_SIZE + 1)
    if stroke:
        for touched in (stroke.touched, stroke.mirrored):
            draw_points(points[touched], [WHITE] * len(touched), POINT_SIZE - 1)
            if stroke.kind == "LINK":
                _line(points[touched])


def _ties(context, ob):
    """The tied_vertices() of the session, while the tool that releases them is active."""
    tool = context.workspace.tools.from_space_view3d_mode("PAINT_WEIGHT")
    if not tool or tool.idname != "araplbs.release":
        return None
    return tied_vertices(current_session(), ob)


def _line(points):
    if len(points) == 2:
        draw_lines(points, LINE, 3.0)
        draw_points(points, [LINE] * 2, POINT_SIZE + 2)


def _draw_item(context, mesh, item, points):
    values = read_values(mesh, item)
    vertices = np.flatnonzero(values)
    if item.kind == "WEIGHT":
        shades = share_colors(values[vertices] - 1)
    elif item.kind == "INFLUENCE":
        shades = [ADDED if value > 0 else REMOVED for value in values[vertices]]
    elif item.kind == "SMOOTH":
        shades = share_colors(values[vertices])
    else:
        shades = [RELEASED] * len(vertices)
    region = context.region
    shades, places = np.array(shades, np.float32).reshape(-1, 4), points[vertices]
    shades[:, 3] *= ITEM_OPACITY
    few = thinned(places, context.region_data.perspective_matrix, region.width, region.height)
    draw_points(places[few], shades[few], ITEM_SIZE)


def register():
    add = bpy.types.SpaceView3D.draw_handler_add
    _handles.append(add(draw_view, (), "WINDOW", "POST_VIEW"))
    _handles.append(add(draw_pixels, (), "WINDOW", "POST_PIXEL"))


def unregister():
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
