"""Provides access to the 3D views of all windows."""

import bpy


def _views():
    for window in bpy.context.window_manager.windows:
        yield from (area for area in window.screen.areas if area.type == "VIEW_3D")


def redraw_views():
    for area in _views():
        area.tag_redraw()


def redraw_sidebars():
    for area in _views():
        for region in area.regions:
            if region.type == "UI":
                region.tag_redraw()
