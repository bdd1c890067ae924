"""Defines the preferences of the add-on."""

from bpy.props import BoolProperty, IntProperty
from bpy.types import AddonPreferences

from . import __package__ as addon_package
from .manual_pages import first_page, has_pages


class ARAPLBS_preferences(AddonPreferences):
    bl_idname = addon_package

    expert: BoolProperty(
        name="Expert Settings",
        description="Show the Expert panel in the tab, with pose sampling, the weights that the "
        "optimization starts from, and other settings that require knowledge of the method",
    )
    threads: IntProperty(
        name="Threads",
        description="Number of processors used for weighting; 0 for all of them",
        default=0,
        min=0,
        max=256,
    )

    def draw(self, _context):
        layout = self.layout
        row = layout.row()
        row.label(
            text="Find the add-on in the 3D Viewport's sidebar (N), on the Auto-weight tab",
            icon="INFO",
        )
        if has_pages():
            row.operator("wm.url_open", text="Open Manual", icon="HELP").url = first_page()
        layout.use_property_split = True
        layout.prop(self, "expert")
        layout.prop(self, "threads")
        layout.operator("wm.araplbs_report_problem", icon="URL")


CLASSES = (ARAPLBS_preferences,)


def preferred_threads(context):
    addon = context.preferences.addons.get(addon_package)
    return addon.preferences.threads if addon else 0


def shows_expert(context):
    addon = context.preferences.addons.get(addon_package)
    return bool(addon and addon.preferences.expert)
