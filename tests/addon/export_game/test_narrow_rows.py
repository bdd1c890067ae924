"""The rows of the panel "Export" in a narrow tab: no name is cut."""

import bpy
import pytest
from scenes import addon, select, tube_and_rig

LETTER, UNIT = 7, 20  # pixels


class Layout:
    """Records the labels, and the buttons with their icons."""

    def __init__(self):
        self.drawn = []

    def column(self, **_options):
        return self

    row = column

    def label(self, text, icon="NONE", **_options):
        self.drawn.append((text, icon))

    def operator(self, _name, text, icon):
        self.drawn.append((text, icon))

    def operator_menu_enum(self, _name, _property, text, icon):
        self.drawn.append((text, icon))


def rows(monkeypatch, room):
    """The rows drawn in a panel with space for this many letters between its edges."""
    sidebar = addon("window.sidebar")
    width = (room + sidebar.LEAST_AROUND * UNIT / LETTER) * LETTER
    monkeypatch.setattr(sidebar, "text_width", lambda text: len(text) * LETTER)
    monkeypatch.setattr(sidebar, "unit", lambda _context: UNIT)
    monkeypatch.setattr(sidebar, "panel_room", lambda _context: width)
    monkeypatch.setattr(sidebar, "text_room", lambda _context: width)
    monkeypatch.setattr(sidebar, "wrapped", lambda text, _room: text.split())
    layout = Layout()
    layout.operator_context = None
    addon("ui.menus").draw_rows(layout, "VIEW3D_PT_araplbs_export")
    return layout.drawn


def test_wide(monkeypatch):
    drawn = rows(monkeypatch, 40)
    assert ("Export for Games...", "EXPORT") in drawn and len(drawn) == 5
    assert ("Bendy Bones to Bones", "GROUP_BONE") in drawn
    assert all(icon != "NONE" for _text, icon in drawn)


def test_without_icons(monkeypatch):
    """The icon is dropped first. It takes the space of three letters."""
    drawn = rows(monkeypatch, 20)
    assert ("Bendy Bones to Bones", "NONE") in drawn
    assert any(text == "Quantize Weights" and icon != "NONE" for text, icon in drawn)


@pytest.mark.parametrize("room", [10, 15, 18])
def test_names_above_short_buttons(monkeypatch, room):
    drawn = [text for text, _icon in rows(monkeypatch, room)]
    assert drawn[:5] == ["Export", "for", "Games...", "Export", *drawn[4:5]]
    at = drawn.index("New Bones")
    assert drawn[at - 4 : at] == ["Bendy", "Bones", "to", "Bones"]
    assert "Poses" in drawn


def test_the_influences_of_a_material(monkeypatch):
    """The name is on a line of its own, and a long name is shortened."""
    tube, _rig = tube_and_rig()
    tube.data.materials.append(bpy.data.materials.new("A material with a long name"))
    select(tube)
    panel, said = addon("ui.export_panel"), []
    monkeypatch.setattr(panel, "draw_rows", lambda *_: None)
    monkeypatch.setattr(panel, "panel_room", lambda _context: 100)
    monkeypatch.setattr(panel, "draw_named", lambda *_, text: said.append(text))
    drawn = type("Panel", (), {"layout": Layout()})()
    panel.VIEW3D_PT_araplbs_export.draw(drawn, bpy.context)
    (text,) = said
    assert text.startswith("Max") and text.endswith("name") and len(text) < 20
