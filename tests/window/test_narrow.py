"""The tab in a sidebar of the initial width, and in one that was narrowed with the mouse: no word
may be cut off. Blender's layouts tell this up to 4.5; later, pictures are made for inspection."""

from unittest import SkipTest

import bpy
import doors
import numpy as np
import test_doors
from driver import open_sidebar, region, still, when_named
from test_labels import NARROW, ROOMS, languages, look_in_all_rooms

EDGES = (0, 9)  # pixels from the edge of the region at which it may be taken
LOOKED_AT = ("en_US", "de_DE", "ja_JP")


def make_narrow(ui, width=NARROW):
    """Drags the left edge of the sidebar."""
    for edge in EDGES:
        side = region(ui, "UI")
        x, y = side.x + edge, side.y + side.height // 4
        end = x + side.width - width
        for at in (x - 20, x):
            ui.event("MOUSEMOVE", "NOTHING", at=(at, y))
            yield 5
        ui.event("LEFTMOUSE", "PRESS", at=(x, y))
        yield 5
        for at in np.linspace(x, end, 6).astype(int).tolist():
            ui.event("MOUSEMOVE", "NOTHING", at=(at, y))
            yield 5
        ui.event("LEFTMOUSE", "RELEASE", at=(end, y))
        yield from still(ui)
        if side.width < width + 5:
            return


def test_narrow_sidebar(ui):
    """Each room at the initial width of the sidebar and in a narrow one, in languages with long
    words and with wide letters."""
    when_named()
    yield from open_sidebar(ui)
    with languages() as view:
        for width in (region(ui, "UI").width, NARROW):
            view.language = LOOKED_AT[0]
            yield from make_narrow(ui, width)
            assert abs(region(ui, "UI").width - width) < 5
            for name, set_up, below in ROOMS:
                view.language = LOOKED_AT[0]
                with test_doors.only_below(below), doors.undrawn():
                    yield from test_doors.enter(ui, set_up)
                    for language in LOOKED_AT:
                        view.language = language
                        region(ui, "UI").tag_redraw()
                        yield 6
                        ui.picture(f"sidebar-{width}-{name}-{language}")
                    yield from test_doors.leave(ui)


def test_no_word_is_cut_in_a_narrow_sidebar(ui):
    when_named()
    if bpy.app.version >= (5, 0):
        raise SkipTest("introspect() of layouts crashes there")
    yield from open_sidebar(ui)
    yield from make_narrow(ui)
    yield from look_in_all_rooms(ui, LOOKED_AT)
