"""Shows a notice in the preferences and in the sidebar if the native module cannot be used. No
other part works without the module, so no other part is registered."""

import textwrap

import bpy

from . import __package__ as addon_package

_WIDTH = {"preferences": 100, "sidebar": 34}  # characters that fit on a line
sentence = ""  # set when the add-on was enabled


def _draw(layout, width):
    column = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(sentence, width)):
        column.label(text=line, icon="NONE" if number else "ERROR")


class ARAPLBS_notice(bpy.types.AddonPreferences):
    bl_idname = addon_package

    def draw(self, _context):
        _draw(self.layout, _WIDTH["preferences"])


class VIEW3D_PT_araplbs_notice(bpy.types.Panel):
    bl_label = "Auto-weight (ARAP)"
    bl_category = "Auto-weight"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, _context):
        _draw(self.layout, _WIDTH["sidebar"])


CLASSES = (ARAPLBS_notice, VIEW3D_PT_araplbs_notice)


def register(problem):
    """Displays the sentence `problem`, if there is one. Returns whether there is one."""
    global sentence
    sentence = problem
    if not sentence:
        return False
    print(sentence, flush=True)
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    return True


def unregister():
    """Returns whether there was a notice."""
    if not is_registered():
        return False
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    return True


def is_registered():
    return ARAPLBS_notice.is_registered
