"""The settings of the sidebar panel: the properties that the operator Auto-weight was last used
with, which Blender keeps."""

from .auto_weight import IDNAME
from .properties import options_of


def settings_of(context, idname=IDNAME):
    """The properties that an operator was last used with."""
    return context.window_manager.operator_properties_last(idname)


def present_options(context):
    """The Options that the panel shows."""
    return options_of(settings_of(context))
