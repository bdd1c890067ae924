"""Refuses bendy-bone conversions that are not possible, and finds the meshes that a conversion
would change."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line

from ...blender.data.binding import (
    armature_modifiers,
    armature_of,
    is_armature_child,
    is_deformed_by,
)
from ...blender.read.read_mesh import matrix_between, refuse_linked, refuse_mesh


def refuse_armature(armature):
    """Raises Refused if bones cannot be added to this armature object."""
    refuse_linked(armature)
    users = [ob.name for ob in bpy.data.objects if ob.data == armature.data]
    if len(users) > 1:
        raise Refused(f"{names_in_line(users)} share one armature: make it single-user first")


def deformed_meshes(armature):
    """The mesh objects whose groups move with the armature, one object for each mesh."""
    found = {}
    for ob in bpy.data.objects:
        if not is_deformed_by(ob, armature):
            continue
        if ob.type != "MESH":
            raise Refused(f"'{ob.name}' is deformed by '{armature.name}' and is not a mesh")
        if is_armature_child(ob, armature):
            raise Refused(
                f"'{ob.name}' is deformed by its parent '{armature.name}', which uses Bone "
                "Envelopes: give it an Armature modifier and a parent of type Object"
            )
        modifiers = armature_modifiers(ob, armature)
        if any(modifier.use_bone_envelopes for modifier in modifiers):
            raise Refused(f"'{ob.name}' is deformed by Bone Envelopes: turn them off first")
        if any(modifier.use_vertex_groups for modifier in modifiers):
            found.setdefault(ob.data, ob)
    return list(found.values())


def refuse_groups(ob, armature, view_layer):
    """Raises Refused if the groups of a mesh cannot be changed, or are also used elsewhere."""
    refuse_mesh(ob)
    if ob.data.is_editmode:
        raise Refused(f"'{ob.name}' is in Edit mode")
    place = matrix_between(ob, armature, view_layer)
    for other in bpy.data.objects:
        if other.data != ob.data or other == ob:
            continue
        if is_deformed_by(other, armature):
            if not np.allclose(matrix_between(other, armature, view_layer), place, atol=1e-6):
                raise Refused(
                    f"'{ob.name}' and '{other.name}' share one mesh, but are in different "
                    "places: make it single-user first"
                )
        elif armature_of(other):
            raise Refused(
                f"'{ob.name}' and '{other.name}' share one mesh, but not the armature: make it "
                "single-user first"
            )


def refuse_one_sided(ob, armature, new, locked):
    """Raises Refused if a Mirror modifier would look for groups of new bones that do not exist. For
    each vertex that it creates, the modifier uses the weights of the group with the flipped name.

    new: {bendy bone: its new bones}. locked: {bone left alone: the mesh with the locked group}.
    """
    users = [other for other in bpy.data.objects if other.data == ob.data]
    if not any(_swaps_groups(user, armature) for user in users):
        return
    for name, names in new.items():
        other = bpy.utils.flip_name(name)
        if other == name or name not in ob.vertex_groups or other not in ob.vertex_groups:
            continue
        if new.get(other) != [bpy.utils.flip_name(n) for n in names]:
            why = f" (its group in '{locked[other]}' is locked)" if other in locked else ""
            raise Refused(
                f"The Mirror modifier of '{ob.name}' swaps '{name}' and '{other}'{why}: convert "
                "both into the same number of bones, or apply the modifier first"
            )


def _swaps_groups(ob, armature):
    """Whether the armature deforms the result of a Mirror modifier of this object with the groups
    of the other side."""
    swaps = False
    for modifier in ob.modifiers:
        if modifier.type == "MIRROR" and modifier.use_mirror_vertex_groups:
            shown = modifier.show_viewport or modifier.show_render
            swaps = swaps or (shown and any(modifier.use_axis))
        elif modifier.type == "ARMATURE" and modifier.object == armature and swaps:
            return True
    return False
