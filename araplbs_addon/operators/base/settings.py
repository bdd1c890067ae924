"""The settings that the sidebar panel shows: kept in the scene, so saved with the file.

Operators that are started by a button, a menu or a key begin with them; scripts get the defaults of
the operators. The deformation error and the choice of the worst vertices go by them, too."""

import bpy
from araplbs.comparison.compare import CompareOptions
from araplbs.solvers.joints import JointOptions
from araplbs.tools.transfer import TransferOptions
from bpy.props import PointerProperty, StringProperty

from .last_report import report_of
from .properties import bone_choice, folder_property, option_names, option_properties, options_of
from .shown_matches import outdate_matches


class ARAPLBS_joint_settings(bpy.types.PropertyGroup):
    __annotations__ = {
        name: prop
        for name, prop in option_properties(JointOptions).items()
        if name not in option_names()
    }


class ARAPLBS_transfer_settings(bpy.types.PropertyGroup):
    __annotations__ = {
        name: prop
        for name, prop in option_properties(TransferOptions, outdate_matches).items()
        if name not in option_names()
    }


class ARAPLBS_compare_settings(bpy.types.PropertyGroup):
    __annotations__ = {
        name: prop
        for name, prop in option_properties(CompareOptions).items()
        if name not in option_names()
    } | {"directory": folder_property()}


class ARAPLBS_settings(bpy.types.PropertyGroup):
    """One property for each of the Options, and further properties of the tab."""

    __annotations__ = option_properties() | {
        "only_selected_bones": bone_choice(),
        "preset": StringProperty(options={"HIDDEN"}),  # the one that was loaded last
        "joints": PointerProperty(type=ARAPLBS_joint_settings),
        "transfer": PointerProperty(type=ARAPLBS_transfer_settings),
        "comparison": PointerProperty(type=ARAPLBS_compare_settings),
    }

    @property
    def last_report(self):
        """The report of the last run in this scene, a dictionary as the command line writes it, or
        None. It is not saved."""
        return report_of(self.id_data)


def settings_of(context):
    return context.scene.araplbs


def present_options(context):
    """The Options that the panel shows."""
    return options_of(settings_of(context))


CLASSES = (
    ARAPLBS_joint_settings,
    ARAPLBS_transfer_settings,
    ARAPLBS_compare_settings,
    ARAPLBS_settings,
)


def register():
    bpy.types.Scene.araplbs = PointerProperty(type=ARAPLBS_settings)


def unregister():
    del bpy.types.Scene.araplbs
