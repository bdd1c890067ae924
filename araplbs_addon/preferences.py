"""The preferences of the add-on."""

from bpy.props import IntProperty
from bpy.types import AddonPreferences

from . import __package__ as addon_package


class ARAPLBS_preferences(AddonPreferences):
    bl_idname = addon_package

    threads: IntProperty(
        name="Threads",
        description="Processors that are used for weighting, 0 for all of them",
        default=0,
        min=0,
        max=256,
    )

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "threads")


def preferred_threads(context):
    addon = context.preferences.addons.get(addon_package)
    return addon.preferences.threads if addon else 0
