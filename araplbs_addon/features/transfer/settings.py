"""Defines the settings of Transfer Weights in the sidebar, which are stored in the scene."""

import bpy
from araplbs.features.transfer.options import TransferOptions
from bpy.props import PointerProperty

from ...window.settings import ARAPLBS_settings, own_properties
from .shown_matches import outdate_matches


class ARAPLBS_transfer_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(TransferOptions, outdate_matches)


CLASSES = (ARAPLBS_transfer_settings,)
PROPERTIES = ((ARAPLBS_settings, "transfer", PointerProperty(type=ARAPLBS_transfer_settings)),)
