"""Manages the presets of the operator in the sidebar: finds the current preset, and loads, adds and
removes presets. The functions use the same files as the operator's own preset menu in Blender."""

from functools import lru_cache
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from araplbs.disk.presets import ORDER, is_in_use, preset_text, read_preset
from bl_operators.presets import AddPresetBase
from bpy.path import display_name
from bpy.props import StringProperty
from bpy.types import Menu, Operator

from ...languages.translate import translated
from ...operators.properties import option_names
from ...operators.settings import settings_of
from .operator import IDNAME

SUBDIR = f"operator/{IDNAME}"
CUSTOM = "Custom"
LOAD = "object.araplbs_load_preset"
ADD = "object.araplbs_add_preset"
REMOVE = "object.araplbs_remove_preset"

# What a user sees with each preset, compared with the default.
ABOUT = {
    **dict.fromkeys(
        ("Game 4", "Unity", "Godot", "Roblox", "VRChat"),
        "The default settings, with at most 4 bones per vertex",
    ),
    **dict.fromkeys(
        ("Game 8", "Unreal"),
        "At most 8 bones per vertex. The skin stretches slightly less than with 4",
    ),
    "Mobile": "At most 2 bones per vertex. Armpits, hips, knuckles and the neck stretch much more",
    "Soft": "Bends spread over more skin and stretch less. Limbs drift farther from their bones",
    "Crisp": "Bends are narrow and have sharp borders, with more stretch at the joints. Limbs keep "
    "their shape and stay on their bones",
    "Film": "Any number of bones per vertex. Bends spread wide, with the least stretch. Limbs "
    "drift farther from their bones",
    "As published (2018 paper)": "The method of the 2018 paper, for comparison. The skin stretches "
    "more than with Blender's automatic weights",
}


def preset_files():
    """Returns {name: file}: the add-on's presets in their order, then the user's presets."""
    folders = bpy.utils.preset_paths(SUBDIR)
    files = {_name(file): file for folder in folders for file in Path(folder).glob("*.py")}
    count = len(ORDER)
    order = {name: at for at, name in enumerate(ORDER)}
    return dict(sorted(files.items(), key=lambda entry: (order.get(entry[0], count), entry[0])))


def _name(file):
    return display_name(file.name, title_case=False)


@lru_cache(maxsize=64)
def _read(file, _written):
    return read_preset(file)


def _values(file):
    """The values of a preset file; {} if it cannot be read."""
    try:
        return _read(file, file.stat().st_mtime_ns)
    except (Refused, OSError, SyntaxError, ValueError):
        return {}


def preset_in_use(settings):
    """The name of the preset that matches these settings. The preset loaded last takes precedence
    over the first one that matches. CUSTOM if none matches."""
    files = preset_files()
    names = [settings.preset, *files] if settings.preset in files else list(files)
    return next((name for name in names if is_in_use(_values(files[name]), settings)), CUSTOM)


class VIEW3D_MT_araplbs_presets(Menu):
    """Presets for game engines, film and other uses"""

    bl_label = "Presets"
    preset_subdir = SUBDIR
    preset_operator = LOAD

    def draw(self, context):
        now = preset_in_use(settings_of(context))
        for name, file in preset_files().items():
            icon = "CHECKMARK" if name == now else "BLANK1"
            self.layout.operator(LOAD, text=name, icon=icon).filepath = str(file)


class OBJECT_OT_araplbs_load_preset(Operator):
    """Use the settings of this preset"""

    bl_idname = LOAD
    bl_label = "Load Auto-weight Preset"
    bl_options = {"INTERNAL", "UNDO"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    menu_idname: StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    @classmethod
    def description(cls, _context, properties):
        about = ABOUT.get(_name(Path(properties.filepath)))
        return translated(about) if about else None

    def execute(self, context):
        preset = f"Preset '{display_name(self.filepath, title_case=False)}'"
        try:
            values = read_preset(self.filepath)
        except (Refused, SyntaxError, ValueError) as error:
            raise Refused(f"{preset}: {error}") from error
        wrong = set_all(settings_of(context), values)
        if wrong:
            raise Refused(
                f"{preset}: this version has no {wrong} {values[wrong]!r}; nothing was loaded"
            )
        settings_of(context).preset = _name(Path(self.filepath))
        return {"FINISHED"}


class OBJECT_OT_araplbs_add_preset(AddPresetBase, Operator):
    """Add the settings of the tab to the presets"""

    bl_idname = ADD
    bl_label = "Add Auto-weight Preset"
    preset_menu = "VIEW3D_MT_araplbs_presets"
    preset_subdir = SUBDIR

    def add(self, context, filepath):
        settings = settings_of(context)
        values = {name: getattr(settings, name) for name in option_names()}
        Path(filepath).write_text(preset_text(values), encoding="utf-8")
        settings.preset = _name(Path(filepath))


class OBJECT_OT_araplbs_remove_preset(Operator):
    """Remove the preset in use"""

    bl_idname = REMOVE
    bl_label = "Remove Auto-weight Preset"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        name = preset_in_use(settings_of(context))
        if name in ORDER or name == CUSTOM:
            raise Refused("Only your own presets can be removed")
        return True

    def execute(self, context):
        settings = settings_of(context)
        preset_files()[preset_in_use(settings)].unlink()
        settings.preset = ""
        return {"FINISHED"}


def set_all(settings, values):
    """Sets all options in the values, or none of them. Returns the name of an option that cannot be
    set, or None."""
    names = [name for name in option_names() if name in values]
    old_values = {name: getattr(settings, name) for name in names if settings.is_property_set(name)}
    for name in names:
        try:
            setattr(settings, name, values[name])
        except (TypeError, ValueError, OverflowError):
            for option in names:
                settings.property_unset(option)
            for option, value in old_values.items():
                setattr(settings, option, value)
            return name
    return None


CLASSES = (
    OBJECT_OT_araplbs_load_preset,
    OBJECT_OT_araplbs_add_preset,
    OBJECT_OT_araplbs_remove_preset,
    VIEW3D_MT_araplbs_presets,
)
