"""Turns off Deform for bones, and turns it on again when weights need these bones.
Bone.araplbs_reduced records whether the add-on turned off a bone's Deform, and is saved with the
file."""

from contextlib import contextmanager

import bpy


@contextmanager
def deform_off(armature, names):
    """Turns off Deform for these bones, and turns it on again if the block raises an exception."""
    bones = [armature.data.bones[name] for name in names]
    _set(bones, False)
    try:
        yield
    except BaseException:
        _set(bones, True)
        raise


def deform_on_again(armature, names):
    """Turns on Deform for the bones with these names that deform_off() turned off."""
    bones = [armature.data.bones.get(name) for name in names]
    _set([bone for bone in bones if bone and bone.araplbs_reduced and not bone.use_deform], True)


def _set(bones, deforms):
    for bone in bones:
        bone.use_deform = deforms
        if deforms:
            bone.property_unset("araplbs_reduced")  # leaves no trace in the file
        else:
            bone.araplbs_reduced = True


REDUCED = bpy.props.BoolProperty(
    name="Reduced",
    description="Auto-weight (ARAP) turned off Deform. Restoring earlier weights turns it on again",
    options={"HIDDEN"},
)
PROPERTIES = ((bpy.types.Bone, "araplbs_reduced", REDUCED),)
