"""The layout of texts in a sidebar of any width: line breaks, and the items that share a row."""

from types import SimpleNamespace

import bpy
import pytest
from rows_of import Rows
from scenes import addon

sidebar = addon("operators.sidebar")


def wide(text):
    """The number of letters, in which East Asian letters count twice."""
    return len(text) + len(sidebar.WIDE.findall(text))


@pytest.mark.parametrize(
    ("text", "room", "lines"),
    [
        ("Stretch in poses 12.6 %", 21, ["Stretch in poses", "12.6 %"]),
        ("Stretch in poses 10.0 → 20.0 %", 25, ["Stretch in poses", "10.0 → 20.0 %"]),
        ("ポーズでのストレッチ 10.0 → 20.0 %", 32, ["ポーズでのストレッチ", "10.0 → 20.0 %"]),
        ("9 → 3件の問題", 9, ["9 → 3件の", "問題"]),
        ("1 vertex has more than 4", 12, ["1 vertex has", "more than 4"]),
        ("3rd bone of 2", 9, ["3rd bone", "of 2"]),
    ],
)
def test_numbers_stay_together(text, room, lines):
    assert sidebar.wrapped(text, room, wide) == lines


def test_a_popover_has_its_own_width():
    """A popover has 14 units, whatever the width of the sidebar in which its button is."""
    side = SimpleNamespace(type="UI", width=600)
    wide = SimpleNamespace(region=side, region_popup=None, preferences=bpy.context.preferences)
    popover = SimpleNamespace(**vars(wide) | {"region_popup": side})
    assert sidebar.text_room(popover) < 280 * sidebar.unit(wide) / 20 < sidebar.text_room(wide)
    assert bpy.types.VIEW3D_PT_araplbs_check.bl_ui_units_x == sidebar.POPOVER


def in_a_narrow_panel(monkeypatch, units):
    monkeypatch.setattr(sidebar, "text_room", lambda context: units * sidebar.unit(context))


@pytest.mark.parametrize(("units", "is_beside"), [(20, True), (5, False)])
def test_a_button_has_a_row_of_its_own_before_words_are_broken(monkeypatch, units, is_beside):
    in_a_narrow_panel(monkeypatch, units)
    layout = Rows()
    sidebar.draw_wrapped(layout, bpy.context, "1 bone without skin", "INFO", beside="Select")
    assert [part.kind for part in layout.parts] == (["row"] if is_beside else ["column", "row"])


@pytest.mark.parametrize(("more", "is_beside"), [(0.2, True), (-0.2, False)])
def test_two_buttons_take_the_width_of_two(monkeypatch, more, is_beside):
    texts, unit = ["chest", "hips"], sidebar.unit(bpy.context)
    width = sum(map(sidebar.text_width, ["Button.2:", *texts])) / unit
    in_a_narrow_panel(monkeypatch, width + len(texts) * sidebar.AROUND + more)
    layout = Rows()
    sidebar.draw_wrapped(layout, bpy.context, "Button.2: spine", "BLANK1", beside=texts)
    assert [part.kind for part in layout.parts] == (["row"] if is_beside else ["column", "row"])


@pytest.mark.parametrize(("units", "rows"), [(20, 1), (6, 2)])
def test_a_name_goes_above_a_value_that_needs_the_width(monkeypatch, units, rows):
    in_a_narrow_panel(monkeypatch, units)
    layout = Rows()
    sidebar.draw_named(layout, bpy.context.scene.araplbs.transfer, "sources")
    assert layout.count == rows


@pytest.mark.parametrize(("units", "lines"), [(20, 1), (3, 3)])
def test_a_checkbox_has_as_many_lines_as_it_needs(monkeypatch, units, lines):
    in_a_narrow_panel(monkeypatch, units)
    layout = Rows()
    text = "Only Selected Bones"
    sidebar.draw_checkbox(layout, bpy.context.scene.araplbs, "only_selected_bones", text)
    assert " ".join(layout.words).strip() == text and layout.count == lines


@pytest.mark.parametrize(("units", "words"), [(20, ["Long Name"]), (1, ["Long", "Name", "OK"])])
def test_a_button_has_a_short_text_below_its_name(monkeypatch, units, words):
    in_a_narrow_panel(monkeypatch, units)
    layout = Rows()
    sidebar.draw_narrow(layout, "object.araplbs_select_worst", "Long Name", "OK")
    assert layout.words == words


@pytest.mark.parametrize(("units", "kind"), [(20, "row"), (2, "column")])
def test_buttons_stand_abreast_if_both_fit(monkeypatch, units, kind):
    in_a_narrow_panel(monkeypatch, units)
    layout = Rows()
    assert sidebar.abreast(layout, "Accept", "Cancel", icons=True).kind == kind


FINGERS = [
    f"{side}Hand{f}{k}" for side in ("Left", "Right") for f in ("Ring", "Index") for k in "1234"
]
PLACES = {
    "mixamo": [(f"mixamorig:{name}", "Not Needed") for name in (*FINGERS, "HeadTop_End")],
    "sides": [(f"upperarm{end}", kind) for end in ("_l", "_r", "_twist_01_l", "_twist_01_r")
              for kind in ("Stretch", "Collapse", "Skin Through Cloth")],
    "same": [("body", "Stretch"), ("body", "Stretch"), ("body", "Speckle"), ("hair", "Stretch")],
    "wide": [(name, "ストレッチ") for name in FINGERS],
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("letters", [8, 14, 22, 60])
def test_no_two_rows_look_the_same(name, letters):
    """Rows fit, differ, and keep the end of the place, in which the side or the number stands."""
    rows, room = tuple(PLACES[name]), sidebar.text_width("x" * letters)
    texts = sidebar.row_texts(rows, room)
    assert len(set(texts)) == len(texts) == len(rows)
    if letters > 8:  # with less room, rows are numbered
        assert all(sidebar.text_width(text) <= room for text in texts)
        for text, (place, _about) in zip(texts, rows, strict=True):
            shown = text.rsplit(": ", 1)[0]
            assert shown.endswith(place[-2:]) or name == "same", (text, place)
    if letters == 60:
        assert texts[0] == ": ".join(rows[0])
