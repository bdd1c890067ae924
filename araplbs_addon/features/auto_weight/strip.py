"""Draws the image strip of the Result box: joints in their worst poses, with the state before above
the state after. When the box is first drawn, a thread renders the images with the same renderer as
the report page."""

from functools import partial

import numpy as np
from araplbs.reports.worst_poses import SIDE, worst_poses
from bpy.utils import previews

from ...operators.background import in_background
from ...operators.sidebar import LEAST_OF_GRID, panel_room, row_texts, unit
from ...preferences import preferred_threads
from .show_worst import IDNAME as SHOW_WORST

SCALE = 2.8  # size of an icon: four icons fit into a sidebar of its initial width
PLAY = "object.araplbs_play_motion"  # of the feature Range of Motion
EDGES = 0.6  # units: the edges of the box around the strip

_previews = []  # the collection of images, created when needed
_making = []  # the Worker that renders images


def draw(layout, context, outcome):
    """Draws nothing while the images are being rendered or if they are missing."""
    icons = icons_of(context, outcome)
    if not icons:
        return
    row = layout.row(align=True)
    room = panel_room(context) - EDGES * unit(context)
    room = room / len(icons) - LEAST_OF_GRID * unit(context)
    names = row_texts(tuple((seen.bone, "") for seen in outcome.seen), room)
    for index, (name, both) in enumerate(zip(names, icons, strict=True)):
        column = row.column(align=True)
        for icon in both:
            if icon:
                column.template_icon(icon_value=icon, scale=SCALE)
        column.operator(SHOW_WORST, text=name, translate=False).index = index


def icons_of(context, outcome):
    if not outcome.icons and outcome.to_draw and not _making:
        _render(outcome, preferred_threads(context))
    return outcome.icons


def _render(outcome, threads):
    """Starts the thread that renders the images."""
    (problem, before, after, poses), outcome.to_draw = outcome.to_draw, None
    to_world = np.array(outcome.armature.get().matrix_world.to_3x3().normalized())
    up = to_world.T[:, 2] if np.isfinite(to_world).all() else np.array((0.0, 0.0, 1.0))

    def work(progress):
        return worst_poses(problem, before, after, poses, up, to_world, threads, progress)

    _making.append(in_background(work, partial(_take, outcome, outcome.token)))


def _take(outcome, token, worker):
    _making.clear()
    if worker.error:
        raise worker.error
    outcome.seen = worker.result
    if token == outcome.token:
        outcome.icons = [tuple(map(_as_icon, joint.pictures)) for joint in outcome.seen]


def _as_icon(pixels):
    if pixels is None:
        return 0
    if not _previews:
        _previews.append(previews.new())
    collection = _previews[0]
    preview = collection.new(str(len(collection)))
    preview.image_size = SIDE, SIDE
    preview.image_pixels_float.foreach_set((pixels[::-1].astype(np.float32) / 255).ravel())
    return preview.icon_id


def unregister():
    _making.clear()
    while _previews:
        previews.remove(_previews.pop())
