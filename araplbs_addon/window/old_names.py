"""Supports the names that operators and settings had before version 0.3. Scripts, shortcuts and
presets that use these names work for one more version, with a warning. The settings of saved files
are converted when the files are loaded."""

from inspect import unwrap

import bpy
from araplbs.base.old_names import OPTIONS
from bpy.app.handlers import persistent
from bpy.props import FloatProperty, IntProperty

OPERATORS = {
    "object.araplbs_weight_new": "object.araplbs_new_vertices",
    "object.araplbs_optimize_joints": "object.araplbs_joints",
    "object.araplbs_quantize_weights": "object.araplbs_quantize",
    "object.araplbs_transfer_weights": "object.araplbs_transfer",
    "object.araplbs_bendy_to_bones": "object.araplbs_bendy",
}


def old_operators(classes):
    """Operators under their old names, which show a message about the new name and run the current
    operators."""
    present = {getattr(cls, "bl_idname", None): cls for cls in classes}
    return [_old_operator(present[new], old) for old, new in OPERATORS.items()]


def _old_operator(cls, old):
    def warn(operator):
        new = cls.bl_idname
        names = ("bpy.ops." + old, "bpy.ops." + new)
        operator.report({"WARNING"}, " -> ".join(names))

    def execute(self, context):
        warn(self)
        return unwrap(cls.execute)(self, context)

    def invoke(self, context, event):
        warn(self)
        return unwrap(cls.invoke)(self, context, event)

    members = {
        "bl_idname": old,
        "bl_options": {*getattr(cls, "bl_options", ()), "INTERNAL"},
        "__doc__": cls.__doc__,
        "__module__": __name__,
        "places": (),
    }
    if hasattr(cls, "execute"):
        members["execute"] = execute
    if hasattr(cls, "invoke"):
        members["invoke"] = invoke
    return type("OBJECT_OT_" + old.partition(".")[2], (cls,), members)


def old_properties(options, **more):
    """Returns {old name: property} for the options that have an old name. In a group of settings,
    the old property accesses the current one. In an operator (is_operator=True), Blender does not
    let a property set another one, so the old property is separate. See old_values()."""
    present = {option.name: option for option in options}
    return {
        old: _old_property(present[new], **more) for old, new in OPTIONS.items() if new in present
    }


def _old_property(option, *, is_operator=False):
    name, kind = option.name, IntProperty if isinstance(option.default, int) else FloatProperty
    access = {
        "get": lambda self: getattr(self, name),
        "set": lambda self, value: setattr(self, name, value),
    }
    return kind(
        name=option.metadata["name"],
        description=option.metadata["description"],
        options={"HIDDEN", "SKIP_SAVE"},
        **({} if is_operator else access),
    )


def old_values(operator):
    """Returns {current name: value} for the properties that an operator receives under old
    names."""
    given = getattr(operator, "properties", None)
    if given is None:
        return {}
    return {
        new: getattr(operator, old)
        for old, new in OPTIONS.items()
        if old in given.bl_rna.properties and given.is_property_set(old)
    }


def take_over(group):
    """Converts values that an older version has stored under old names in this group of
    properties."""
    stored = (
        group.bl_system_properties_get() if hasattr(group, "bl_system_properties_get") else group
    )
    for old, new in OPTIONS.items():
        if stored and old in stored and new in group.bl_rna.properties:
            if new not in stored:
                setattr(group, new, stored[old])
            del stored[old]


@persistent
def _after_load(*_file):
    for scene in bpy.data.scenes:
        if scene.library is None:
            take_over(scene.araplbs)
            take_over(scene.araplbs.joints)


HANDLERS = (("load_post", _after_load),)
