"""Defines the settings of Compare Methods in the sidebar, which are stored in the scene."""

import bpy
from araplbs.features.compare.options import CompareOptions
from bpy.props import PointerProperty

from ...window.properties import folder_property
from ...window.settings import ARAPLBS_settings, own_properties


class ARAPLBS_compare_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(CompareOptions) | {"directory": folder_property()}


CLASSES = (ARAPLBS_compare_settings,)
PROPERTIES = ((ARAPLBS_settings, "comparison", PointerProperty(type=ARAPLBS_compare_settings)),)
