"""The way to the manual: a button, and F1 over anything of ours."""

import bpy

WEBSITE = "https://extensions.blender.org/add-ons/araplbs/"  # as in the manifest
OURS = (
    "bpy.ops.object.araplbs*",
    "bpy.ops.wm.araplbs*",
    "bpy.types.araplbs*",
    "bpy.types.scene.araplbs*",
    "bpy.types.bone.araplbs*",
    "bpy.types.windowmanager.araplbs*",
    "bpy.types.material.araplbs*",
)


def draw_button(layout, text=""):
    layout.operator("wm.url_open", text=text, icon="HELP", emboss=bool(text)).url = WEBSITE


def manual_map():
    return WEBSITE, tuple((pattern, "") for pattern in OURS)


def register():
    bpy.utils.register_manual_map(manual_map)


def unregister():
    bpy.utils.unregister_manual_map(manual_map)
