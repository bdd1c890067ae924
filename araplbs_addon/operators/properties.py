"""Converts the options of araplbs/model/options.py to operator properties, and draws them."""

from dataclasses import fields
from inspect import get_annotations

import bpy
from araplbs.base.option_table import within_limits
from araplbs.model.options import Options
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..languages.translate import OURS


def _property(option, default, update):
    about = option.metadata
    common = {
        "name": about["name"],
        "description": about["description"],
        "default": default,
        "options": set(),  # the options cannot be animated
        "update": update,
        "translation_context": OURS,
    }
    if "choices" in about:
        return EnumProperty(items=about["choices"], **common)
    if about.get("path"):
        if bpy.app.version >= (4, 5):  # needed and supported since 4.5
            common["options"] = {"PATH_SUPPORTS_BLEND_RELATIVE"}
        return StringProperty(subtype="FILE_PATH", **common)
    if isinstance(option.default, bool):
        return BoolProperty(**common)
    limits = {"min": about["min"], "max": about["max"]}
    limits["soft_max"] = about.get("soft_max", about["max"])
    if isinstance(option.default, int):
        return IntProperty(**limits, **common)
    if about.get("angle"):
        return FloatProperty(subtype="ANGLE", **limits, **common)
    decimals = about.get("decimals", 3)
    return FloatProperty(precision=decimals, step=10 ** (2 - decimals), **limits, **common)


def option_properties(table=Options, update=None, **defaults):
    """Returns {name: property} for all options, as annotations of an operator or of a
    group of settings. update: called with the properties and the context when a property
    changes."""
    options = table(**defaults)
    return {o.name: _property(o, getattr(options, o.name), update) for o in fields(table)}


def option_names(table=Options):
    return [option.name for option in fields(table)]


BESIDE = ("only_selected_bones", "directory")  # properties of the panel that are not options


def split(layout):
    """The layout, set to show property names next to their values and no keyframe dots."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout


class OptionProperties:
    """Mix-in for an operator. A class with an option_table has a property for each of its
    options."""

    __annotations__ = option_properties()
    option_table = Options
    own_options = ()  # options of the panel that mean something else here

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "option_table" in vars(cls):
            cls.__annotations__ = option_properties(cls.option_table) | get_annotations(cls)

    def take_settings(self, context):
        """Takes the options that the caller does not pass from the panel. For use in invoke()."""
        settings = context.scene.araplbs
        shown = (settings, settings.joints, settings.transfer, settings.comparison)
        for name in (*option_names(self.option_table), *BESIDE):
            if not hasattr(self, name) or name in self.own_options:
                continue
            if not self.properties.is_property_set(name):
                for group in shown:
                    if name in group.bl_rna.properties:
                        setattr(self, name, getattr(group, name))
                        break

    def read_options(self):
        return options_of(self, self.option_table)


def bone_choice():
    """Returns a new property at each call."""
    return BoolProperty(
        name="Only Selected Bones",
        description="Change only the weights of bones selected in Pose mode. If off, every bone "
        "gets new weights, selected or not",
        options=set(),
    )


class BoneChoice:
    """Mix-in for an operator on weights."""

    __annotations__ = {"only_selected_bones": bone_choice()}


class WeightOptions(BoneChoice, OptionProperties):
    """Mix-in for an operator with the options of Auto-weight. Draws the options in `first`, the
    purpose of the weights in five rows, and all other options in closed boxes."""

    first = ()

    def draw(self, _context):
        layout = split(self.layout)
        for name in (*self.first, *MAIN):
            layout.prop(self, name)
        for title, draw in (("Poses", _draw_pose_options), ("Expert", draw_expert_options)):
            header, body = layout.panel(f"ARAPLBS_{title.lower()}", default_closed=True)
            header.label(text=title)
            if body:
                draw(body, self)


class ListedOptions(OptionProperties):
    """Mix-in for an operator with options of its own. Draws all of them."""

    def draw(self, _context):
        layout = split(self.layout)
        for name in option_names(self.option_table):
            layout.prop(self, name)


def options_of(properties, table=Options):
    """The options that an operator's properties contain."""
    return table(**{o.name: within_limits(o, getattr(properties, o.name)) for o in fields(table)})


MAIN = ("max_influences", "bone_spring_stiffness", "symmetric", "link_parts", "rigid_parts")
SAMPLED = (
    "pose_count",
    "swing",
    "twist",
    "limb_twist",
    "reach_poses",
    "seed",
    "use_joint_limits",
    "through_rig",
)


def _draw_pose_options(layout, properties):
    column = layout.column(align=True)
    for name in SAMPLED:
        column.prop(properties, name)
    layout.prop(properties, "animation")
    column = layout.column(align=True)
    column.active = properties.animation != "NONE"
    column.prop(properties, "animation_frames")


def draw_expert_options(layout, properties):
    """Draws options that require some knowledge of the weight computation, but never options that
    belong only to the paper's method."""
    layout.prop(properties, "volume")
    if properties.volume == "FILE":
        layout.prop(properties, "tet_file")
        layout.prop(properties, "tet_space")
    layout.prop(properties, "initial")
    advanced = [option.name for option in fields(Options) if option.metadata.get("advanced")]
    for name in ("pose_weight", *advanced):
        layout.prop(properties, name, text=SHORT.get(name))


# Labels that a sidebar of its initial width would cut off.
SHORT = {"pose_weight": "Anim. Weight", "rigid_influences": "Bones per Part"}
