"""Loads an operator preset into the settings that the sidebar panel shows."""

from bpy.path import display_name
from bpy.props import StringProperty
from bpy.types import Operator

from ..core.presets import preset_values
from .properties import option_names
from .settings import settings_of


class OBJECT_OT_araplbs_load_preset(Operator):
    """Use the settings of this preset"""

    bl_idname = "object.araplbs_load_preset"
    bl_label = "Load Auto-weight Preset"
    bl_options = {"INTERNAL", "UNDO"}  # noqa: RUF012

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "HIDDEN"})
    menu_idname: StringProperty(options={"SKIP_SAVE", "HIDDEN"})

    def execute(self, context):
        try:
            with open(self.filepath, encoding="utf-8") as file:
                values = preset_values(file.read())
        except (OSError, SyntaxError, ValueError) as error:
            self.report({"ERROR"}, f"Preset '{display_name(self.filepath)}': {error}")
            return {"CANCELLED"}
        if "attach" in values:  # of version 0.1.0, see retired.py
            values.setdefault("paper_constraints", values["attach"])
        for name in values.keys() & option_names():
            setattr(settings_of(context), name, values[name])
        return {"FINISHED"}
