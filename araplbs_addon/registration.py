"""Registers all parts of the add-on with Blender if the native module works."""

from pathlib import Path

import bpy

from . import cli, features, operators
from .blender.data import edits
from .blender.read import control_bones, read_armature
from .blender.write import deform_flags
from .languages import translate
from .operators.guard import guarded
from .panels import bones_panel, menus, overlay
from .panels.classes import CLASSES as PANELS
from .parts import begin, end, is_part
from .preferences import ARAPLBS_preferences

CLASSES = (
    ARAPLBS_preferences,
    edits.ARAPLBS_edit,
    edits.ARAPLBS_mesh,
    *operators.classes(),
    *features.classes(),
    *PANELS,
)

# Registered after the classes and unregistered before them.
PARTS = (
    translate,
    read_armature,
    control_bones,
    deform_flags,
    edits,
    *operators.parts(),
    *filter(is_part, features.modules()),
    bones_panel,
    menus,
    overlay,
    cli,
)

PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        if issubclass(cls, bpy.types.Operator):
            cls.bl_translation_context = translate.OURS
        bpy.utils.register_class(guarded(cls))
    for part in PARTS:
        begin(part)
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    for part in reversed(PARTS):
        end(part)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
