"""No word of the tab is cut off at the initial width of the sidebar, in any of seven languages."""

from contextlib import contextmanager, suppress
from unittest import SkipTest

import bpy
import doors
import labels
import scenes
import test_doors
from driver import open_sidebar, region

sidebar = scenes.addon("window.sidebar")
translated = scenes.addon("languages.translate").translated
LANGUAGES = ("en_US", "de_DE", "es", "fr_FR", "ja_JP", "ko_KR", "zh_HANS")
ROOMS = [room for room in (*test_doors.TAB, *test_doors.BELOW) if room[0] != "preset"]
SCROLLER = 1.6  # units of a list that its bar and edges take


class Trees:
    """[(name, layout as introspect() returns it, width)] of panels and rows of lists that are drawn
    in a `with` block."""

    def __enter__(self):
        self.found, self._before = [], []
        self.begun = self.ended = 0  # a draw() that fails does not end
        for kind in scenes.addon("ui.panels").CLASSES:
            name = "draw_item" if issubclass(kind, bpy.types.UIList) else "draw"
            self._before.append((kind, name, getattr(kind, name)))
            setattr(kind, name, self._watched(kind, getattr(kind, name), name == "draw_item"))
        self._before.append((sidebar, "wrapped", sidebar.wrapped))
        sidebar.wrapped = self._noting(sidebar.wrapped)
        self._before.append((sidebar, "grid_columns", sidebar.grid_columns))
        sidebar.grid_columns = self._noting_columns(sidebar.grid_columns)
        return self

    def _noting_columns(self, grid_columns):
        def noting(texts):
            found = grid_columns(texts)
            labels.columns[translated(texts[0])] = found
            return found

        return noting

    def _noting(self, wrapped):
        def noting(text, room):
            lines = wrapped(text, room)
            if room <= sidebar.text_room(bpy.context):
                labels.with_icon.update(lines)
            return lines

        return noting

    def _watched(self, kind, draw, in_list):
        def note(context, layout, edges):
            width = labels.panel_width(context.region) - edges * labels.unit()
            with suppress(SyntaxError):  # of texts that end with a quote
                self.found.append((kind.__name__, layout.introspect(), width))

        def draw_panel(drawn, context):
            self.begun += 1
            draw(drawn, context)
            self.ended += 1
            note(context, drawn.layout, 0)

        def draw_item(drawn, context, layout, data, item, icon, active, prop, index=0):
            draw(drawn, context, layout, data, item, icon, active, prop, index)
            note(context, layout, SCROLLER)

        return draw_item if in_list else draw_panel  # Blender counts their arguments

    def __exit__(self, *_error):
        for kind, name, draw in self._before:
            setattr(kind, name, draw)

    def cut(self):
        return sorted(
            {(name, t) for name, tree, w in self.found for t in labels.cut_words(tree, w)}
        )


@contextmanager
def languages():
    view = bpy.context.preferences.view
    before = view.language
    try:
        view.language = LANGUAGES[-1]
    except TypeError:
        raise SkipTest("this Blender has no languages") from None
    try:
        yield view
    finally:
        view.language = before


def test_no_word_is_cut(ui):
    if bpy.app.version >= (5, 0):
        raise SkipTest("introspect() of layouts crashes there")
    yield from open_sidebar(ui)
    yield from look_in_all_rooms(ui, LANGUAGES)


def look_in_all_rooms(ui, shown):
    cut, drawn = set(), 0
    with test_doors.little_drawn(ui), languages() as view, Trees() as trees:
        for name, set_up, below in ROOMS:
            view.language = LANGUAGES[0]
            with test_doors.only_below(below), doors.undrawn():
                yield from test_doors.enter(ui, set_up)
                for language in shown:
                    trees.found.clear()
                    view.language = language
                    region(ui, "UI").tag_redraw()
                    yield 4
                    drawn += len(trees.found)
                    cut |= {(language, name, *each) for each in trees.cut()}
                yield from test_doors.leave(ui)
    lines = [" | ".join(each) for each in sorted(cut)]
    print("\n".join(f"CUT {line}" for line in lines))
    assert drawn >= len(ROOMS) * len(shown) and trees.begun == trees.ended
    assert not cut, f"{len(cut)} of {drawn} drawings: {lines[:20]}"
