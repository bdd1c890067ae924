"""Defines the settings in the sidebar, which are stored in the scene and therefore saved with the
file.

Operators started by a button, a menu or a key use these settings. Scripts get the operators'
defaults. The stretch colors and the selection of the worst vertices also use these settings."""

import bpy
from bpy.props import PointerProperty, StringProperty

from .last_report import report_of
from .properties import bone_choice, option_names, option_properties, options_of


class ARAPLBS_settings(bpy.types.PropertyGroup):
    """One property for each of the Options, and further properties of the tab. Features add their
    own."""

    __annotations__ = option_properties() | {
        "only_selected_bones": bone_choice(),
        "preset": StringProperty(options={"HIDDEN"}),  # the preset that was loaded last
    }

    @property
    def last_report(self):
        """The report of the last run in this scene, as a dictionary in the form that the command
        line writes, or None. The report is not saved."""
        return report_of(self.id_data)


def settings_of(context):
    return context.scene.araplbs


def present_options(context):
    """The Options that the panel displays."""
    return options_of(settings_of(context))


def own_properties(table, update=None):
    """Returns {name: property} for the options of a feature that Auto-weight does not have."""
    declared = option_properties(table, update)
    return {name: prop for name, prop in declared.items() if name not in option_names()}


CLASSES = (ARAPLBS_settings,)
PROPERTIES = ((bpy.types.Scene, "araplbs", PointerProperty(type=ARAPLBS_settings)),)
