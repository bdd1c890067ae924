"""No word of the tab is cut off at the initial width of the sidebar, in any of seven languages."""

from contextlib import contextmanager, suppress
from unittest import SkipTest

import bpy
import doors
import labels
import numpy as np
import scenes
import test_doors
from driver import open_sidebar, region

sidebar = scenes.addon("operators.sidebar")
translated = scenes.addon("languages.translate").translated
LANGUAGES = ("en_US", "de_DE", "es", "fr_FR", "ja_JP", "ko_KR", "zh_HANS")
ROOMS = [room for room in (*test_doors.TAB, *test_doors.BELOW) if room[0] != "preset"]
NARROW = 220  # pixels
SCROLLER = 1.6  # units of a list that its bar and edges take


class Trees:
    """[(name, layout as introspect() returns it, width)] of panels and rows of lists that are drawn
    in a `with` block."""

    def __enter__(self):
        self.found, self._before = [], []
        self.begun = self.ended = 0  # a draw() that fails does not end
        for kind in scenes.addon("panels.classes").CLASSES:
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


FINGERS = [
    f"mixamorig:{side}Hand{finger}{joint}"
    for side in ("Left", "Right")
    for finger in ("Thumb", "Index", "Middle", "Ring", "Pinky")
    for joint in "1234"
]


def scene_of_rows():
    """Control bones and findings with the names of an imported character."""
    rig = scenes.add_armature()
    scenes.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    edited = rig.data.edit_bones
    for number, name in enumerate(FINGERS):
        bone = edited.new(name)
        bone.head, bone.tail = (number, 0, 0), (number, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    bones = [bone for bone in rig.data.bones if bone.name in FINGERS]
    for bone in bones:
        bone.araplbs_control = "SERVED"
    tube = scenes.add_tube()
    scenes.bind(tube, rig)
    findings, kind = (
        scenes.package("features.check.findings"),
        scenes.addon("blender.data.references"),
    )
    made = [
        findings.Finding(which, 0.9, 0, rig.data.bones.find(name), np.arange(4), 1.0, "words")
        for name in FINGERS
        for which in ("STRETCH", "COLLAPSE", "INTERSECTION")
    ]
    made += [findings.Finding("STRETCH", 0.5, 0, -1, np.arange(3), 1.0, "words")] * 2
    of = kind.Reference.to
    found = scenes.addon("features.check.findings_list").found
    found.keep(made, [b.name for b in rig.data.bones], of(rig), [of(tube)], None)
    scenes.select(rig)
    return rig


def test_a_row_frames_what_it_names(ui):
    """A click on a row of either list selects, and turns the view to it."""
    yield from open_sidebar(ui)
    rig, manager = scene_of_rows(), bpy.context.window_manager
    view = ui.area().spaces.active.region_3d
    with ui.override():
        manager.araplbs_control_bone = rig.data.bones.find(FINGERS[12])
    yield 3
    assert rig.data.bones.active.name == FINGERS[12]
    assert (view.view_location - rig.data.bones[FINGERS[12]].center).length < 0.1
    with ui.override():
        manager.araplbs_check.active = len(FINGERS) * 3
    yield 3
    tube = bpy.data.objects["Tube"]
    center = sum((tube.data.vertices[k].co for k in range(1, 3)), tube.data.vertices[0].co) / 3
    assert (view.view_location - center).length < 0.3 and view.view_distance < 5
