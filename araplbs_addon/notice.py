"""What stands in the preferences when the native module cannot be loaded: nothing else works
without it then, so nothing else is registered."""

import bpy

from . import __package__ as addon_package


def native_module_error():
    """Why the native module cannot be imported, None if it can."""
    try:
        import araplbs  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


class ARAPLBS_notice(bpy.types.AddonPreferences):
    bl_idname = addon_package

    def draw(self, _context):
        column = self.layout.column()
        column.label(text="The native module of this extension cannot be loaded:", icon="ERROR")
        for line in (native_module_error() or "it can now: restart Blender").splitlines():
            column.label(text=line)
        column.label(text="Install the extension again, from a zip made for this system.")


def register():
    bpy.utils.register_class(ARAPLBS_notice)


def unregister():
    bpy.utils.unregister_class(ARAPLBS_notice)


def is_registered():
    return ARAPLBS_notice.is_registered
