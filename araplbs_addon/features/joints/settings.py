"""Defines the settings of Optimize Joints in the sidebar, which are stored in the scene."""

import bpy
from araplbs.features.joints.options import JointOptions
from bpy.props import PointerProperty

from ...window.settings import ARAPLBS_settings, own_properties


class ARAPLBS_joint_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(JointOptions)


CLASSES = (ARAPLBS_joint_settings,)
PROPERTIES = ((ARAPLBS_settings, "joints", PointerProperty(type=ARAPLBS_joint_settings)),)
