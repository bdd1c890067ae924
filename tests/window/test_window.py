"""The extension is available in a Blender with a window, and the tests can control the window and
take pictures."""

import bpy
from driver import looks


@looks
def test_input_and_picture(ui):
    assert "bl_ext.user_default.araplbs" in bpy.context.preferences.addons
    ui.event("MOUSEMOVE", "NOTHING")
    yield
    ui.key("A", alt=True)  # deselects all
    yield 5
    assert not bpy.context.selected_objects
    assert ui.picture("window", needed=True).stat().st_size > 10_000
