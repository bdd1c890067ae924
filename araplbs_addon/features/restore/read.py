"""Finds the meshes that Keep Weights and Restore Weights work on, and reads the data of these
meshes."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.mirror_modifier import image_rows, reflect
from araplbs.character.problem import join_geometry
from araplbs.features.restore.restore import Now, opposite_groups
from araplbs.features.restore.stored import Kept, KeptEdit
from araplbs.model.sparse_weights import make_sparse_weights

from ...blender.data.binding import armature_modifier
from ...blender.data.edits import OF_NO_BONE, read_values
from ...blender.read.read_mesh import (
    named_entries_in_steps,
    read_shape_in_steps,
    reflections_of,
    refuse_mesh,
)
from ...blender.read.targets import find_targets


def find_keepable(context):
    """The Targets of both operators. Raises Refused with the required user action."""
    if context.mode != "OBJECT":
        raise Refused("Available only in Object mode")
    return find_targets(context)


def refuse_shared(objects):
    """Raises Refused for meshes that cannot be written or that occur twice."""
    taken = {}
    for ob in objects:
        refuse_mesh(ob)
        if ob.data in taken:
            raise Refused(f"'{ob.name}' shares its mesh with '{taken[ob.data].name}'")
        taken[ob.data] = ob


def read_kept_in_steps(ob, armature, skeleton, view_layer):
    """The Kept of a mesh, as a generator of short steps. Raises Refused if the mesh has nothing to
    restore."""
    if not ob.data.polygons:
        raise Refused(f"'{ob.name}' has no faces: its weights could not be restored later")
    names, (owner, group, weight) = yield from named_entries_in_steps(ob)
    known = (group < len(names)) & (weight > 0)  # files can contain entries of deleted groups
    rows = make_sparse_weights(len(ob.data.vertices), owner[known], group[known], weight[known])
    deform = {n for n, d in zip(skeleton.names, skeleton.deform, strict=True) if d}
    if not np.isin(rows.bones, [k for k, name in enumerate(names) if name in deform]).any():
        raise Refused(f"'{ob.name}' has no weights for the bones of '{armature.name}'")
    mesh = yield from read_shape_in_steps(ob, armature, view_layer)
    reflections = reflections_of(ob, view_layer, armature_modifier(ob, armature))
    whole = reflect(mesh.vertices, mesh.triangles, mesh.edges, reflections)
    geometry = join_geometry([mesh], [whole])
    yield
    edits = []
    for item in ob.data.araplbs.edits:
        values = read_values(ob.data, item)[whole.source]
        if item.kind == "LINK" or item.kind not in OF_NO_BONE:
            values[len(ob.data.vertices) :] = 0  # mirror images have other ends and bones
        edits.append(KeptEdit(item.name, item.kind, item.bone, item.use, values))
    which = np.flatnonzero(skeleton.deform)
    return Kept(
        name=ob.name,
        armature=armature.name,
        vertices=geometry["vertices"],
        triangles=geometry["triangles"],
        groups=names,
        rows=image_rows(rows, whole, opposite_groups(names, skeleton)),
        bones=[skeleton.names[k] for k in which],
        heads=skeleton.heads[which],
        tails=skeleton.tails[which],
        edits=edits,
    )


def read_now_in_steps(ob, armature, view_layer):
    """The Now of a mesh, as a generator of short steps."""
    mesh = yield from read_shape_in_steps(ob, armature, view_layer)
    locked = {}
    if any(group.lock_weight for group in ob.vertex_groups):
        names, (owner, group, weight) = yield from named_entries_in_steps(ob)
        for each in ob.vertex_groups:
            if each.lock_weight:
                own = group == names.index(each.name)
                locked[each.name] = np.bincount(owner[own], weight[own], len(mesh.vertices))
    return Now(mesh, locked)
