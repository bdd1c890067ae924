"""The options of core/options.py as properties of an operator, and how they are laid out."""

from dataclasses import fields

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..core.options import Options


def _property(option, default, update):
    about = option.metadata
    common = {
        "name": about["name"],
        "description": about["description"],
        "default": default,
        "options": set(),  # nothing here can be animated
        "update": update,
    }
    if "choices" in about:
        return EnumProperty(items=about["choices"], **common)
    if about.get("path"):
        if bpy.app.version >= (4, 5):  # which warns without it, and knows it since then
            common["options"] = {"PATH_SUPPORTS_BLEND_RELATIVE"}
        return StringProperty(subtype="FILE_PATH", **common)
    if isinstance(option.default, bool):
        return BoolProperty(**common)
    limits = {"min": about["least"], "max": about["most"]}
    limits["soft_max"] = about.get("soft_most", about["most"])
    if isinstance(option.default, int):
        return IntProperty(**limits, **common)
    if about.get("angle"):
        return FloatProperty(subtype="ANGLE", **limits, **common)
    decimals = about.get("decimals", 3)
    return FloatProperty(precision=decimals, step=10 ** (2 - decimals), **limits, **common)


def option_properties(table=Options, update=None, **defaults):
    """{name: property} of all options, for the annotations of an operator. update: called with the
    properties and the context when one is changed."""
    options = table(**defaults)
    return {o.name: _property(o, getattr(options, o.name), update) for o in fields(table)}


def option_names(table=Options):
    return [option.name for option in fields(table)]


class OptionProperties:
    """To be mixed into an operator."""

    __annotations__ = option_properties()
    option_table = Options
    own_options = ()  # those that do not begin as the panel has them

    def take_settings(self, context):
        """For invoke(): what the caller does not say is as the panel shows it."""
        settings = context.scene.araplbs
        for name in option_names(self.option_table):
            if name in self.own_options or self.properties.is_property_set(name):
                continue
            places = (settings, settings.joints, settings.transfer)
            place = next(place for place in places if name in place.bl_rna.properties)
            setattr(self, name, getattr(place, name))

    def read_options(self):
        return options_of(self, self.option_table)


def options_of(properties, table=Options):
    """The options that an operator's properties hold."""
    return table(**{o.name: _within_limits(o, getattr(properties, o.name)) for o in fields(table)})


def _within_limits(option, value):
    """A property of 180 degrees is pi in single precision, which is more than pi."""
    if "least" in option.metadata:
        return min(max(value, option.metadata["least"]), option.metadata["most"])
    return value


def draw_result_options(layout, properties):
    layout.prop(properties, "max_influences")
    layout.prop(properties, "truss")
    layout.prop(properties, "link_parts")
    layout.prop(properties, "symmetric")
    layout.prop(properties, "rigid_parts")


def draw_pose_options(layout, properties, found=None):
    """found: blender/pose_sources.Found, which is told, too."""
    column = layout.column(align=True)
    column.prop(properties, "pose_count")
    column.prop(properties, "swing")
    column.prop(properties, "twist")
    column.prop(properties, "reach_poses")
    column.prop(properties, "seed")
    layout.prop(properties, "use_joint_limits")
    layout.prop(properties, "through_rig")
    layout.prop(properties, "animation")
    if found:
        lack = found.lacks(properties.animation)
        row = layout.row()
        row.alert = bool(lack)
        row.label(text=lack or f"In this file: {found}", icon="ERROR" if lack else "INFO")
    column = layout.column(align=True)
    column.active = properties.animation != "NONE"
    column.prop(properties, "animation_frames")
    column.prop(properties, "pose_weight")


def draw_advanced_options(layout, properties):
    layout.prop(properties, "volume")
    if properties.volume == "FILE":
        layout.prop(properties, "tet_file")
        layout.prop(properties, "tet_space")
    layout.prop(properties, "initial")
    for option in fields(Options):
        if option.metadata.get("advanced"):
            layout.prop(properties, option.name)
