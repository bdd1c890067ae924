"""Registers all parts of the add-on with Blender if the native module works."""

from pathlib import Path

import bpy

from . import cli, features, operators, parts, preferences
from .blender.data import edits
from .blender.poses import own_motion
from .blender.read import control_bones, read_armature
from .blender.write import deform_flags
from .languages import translate
from .operators.guard import guarded
from .panels import bones_panel, classes, menus, overlay

MODULES = (
    *(preferences, translate, read_armature, control_bones, deform_flags, edits, own_motion),
    *parts.modules_in(operators),
    *features.modules(),
    *(classes, bones_panel, menus, overlay, cli),
)
CLASSES = parts.classes_of(MODULES)
PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        if issubclass(cls, bpy.types.Operator):
            guarded(cls).bl_translation_context = translate.OURS
    parts.register(MODULES)
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    parts.unregister(MODULES)
