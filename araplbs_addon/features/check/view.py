"""Draws the selected finding in the 3D view: the vertices, which are visible even through skin, and
a label at the end of a line."""

import gpu
import numpy as np
from araplbs.features.check.kinds import KIND_OF
from bpy_extras import view3d_utils

from ...blender.poses.posed import posed_vertices
from ...languages.translate import translated
from ...operators.drawing import draw_box, draw_lines, draw_points, draw_text, text_size
from .findings_list import found

FOUND = (1.0, 0.2, 1.0, 1.0)  # differs from all colors of weights and stretch
BEHIND = (1.0, 0.2, 1.0, 0.3)  # for hidden vertices
SIZE = 6  # pixels
LEADER = (48, 40)  # pixels from the finding to its name
TEXT_SIZE, PADDING = 13, 5
SHADE, TEXT = (0.08, 0.08, 0.08, 0.75), (1.0, 1.0, 1.0, 1.0)

_shown = []  # (center in world space, text) of the last drawing in the scene


def chosen(context):
    """(Finding, object), or None if none should be displayed."""
    check = context.window_manager.araplbs_check
    if not check.show or not 0 <= check.active < len(found.findings) or found.out_of_date:
        return None
    finding = found.findings[check.active]
    ob = found.objects[finding.mesh].get()
    return (finding, ob) if ob.visible_get() else None


def draw(context):
    """Draws in scene space. In Edit mode, Blender itself displays the selection."""
    _shown.clear()
    which = chosen(context)
    if not which or which[1].mode == "EDIT" or not len(which[0].vertices):
        return
    finding, ob = which
    points = posed_vertices(ob, context.evaluated_depsgraph_get())[finding.vertices]
    draw_points(points, [BEHIND] * len(points), SIZE, through=True)
    draw_points(points, [FOUND] * len(points), SIZE)
    # The center itself may lie off the surface.
    near_center = points[np.square(points - points.mean(0)).sum(1).argmin()]
    label = f"{translated(KIND_OF[finding.kind].name)}: {found.place(finding)}"
    _shown.append((near_center, label))


def draw_name(context):
    """Draws the label in pixels of the region, after draw()."""
    for place, text in _shown:
        at = view3d_utils.location_3d_to_region_2d(
            context.region, context.region_data, place.tolist()
        )
        if at is not None:
            _draw_name(context, at, text)


def _draw_name(context, at, text):
    scale = context.preferences.system.ui_scale
    width, height = text_size(text, TEXT_SIZE * scale)
    end = np.array(at) + np.array(LEADER) * scale
    most = np.array([context.region.width - width, context.region.height - height]) - 2 * PADDING
    end = np.clip(end, 2 * PADDING, np.maximum(most, 2 * PADDING))
    gpu.state.blend_set("ALPHA")
    draw_lines([(*at, 0.0), (*end, 0.0)], FOUND, 1.5)
    (x, y), pad = end, PADDING
    draw_box(x, y - pad, width + 2 * pad, height + 2 * pad, SHADE)
    gpu.state.blend_set("NONE")
    draw_text(text, x + pad, y, TEXT_SIZE * scale, TEXT)
