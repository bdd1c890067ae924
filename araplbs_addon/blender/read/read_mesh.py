"""Reads an undeformed mesh object as a Mesh, with its locked weights."""

import hashlib
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from araplbs.base.affine import inverse
from araplbs.base.refusal import Refused
from araplbs.base.steps import finish
from araplbs.character.mesh import Mesh
from araplbs.character.mirror_modifier import Reflection
from araplbs.model.group_entries import bone_weights

from ..data.binding import armature_modifier, bone_it_hangs_on
from ..data.bones import rest_digest
from ..data.edits import read_edits
from ..data.mesh_shape import (
    at_corners,
    coordinates_of,
    corner_edges,
    corner_vertices,
    edge_vertices,
    points_of,
    triangle_vertices,
    values_of,
)
from ..data.rest_transforms import moved_by, world_matrices
from .read_deformer import read_deformer

FLAT = 1e-6  # volume between unit axes: in single precision, less is the same as 0
VERTICES_A_STEP = 1024  # vertices whose groups take a few ms to read or write


def refuse_mesh(ob):
    """Raises Refused if the weights of this object cannot be changed."""
    refuse_linked(ob)
    if not ob.data.vertices:
        raise Refused(f"'{ob.name}' has no vertices")


def refuse_linked(ob):
    """Raises Refused if an object or its data belongs to another file."""
    for data in (ob, ob.data):
        if data.library:
            raise Refused(f"'{ob.name}' is linked from another file: make it local first")
        if data.override_library:
            raise Refused(f"'{ob.name}' is a library override: make it local first")


def refuse_edited(*objects):
    """Raises Refused if a mesh is in Edit mode, which keeps its own data. In scripts, and in
    windows without Lock Object Modes, the active object may be another one."""
    for ob in objects:
        if ob and getattr(ob.data, "is_editmode", False):
            raise Refused(f"'{ob.name}' is in Edit mode: exit Edit mode first")


def read_mesh(*arguments):
    """Runs read_mesh_in_steps() at once."""
    return finish(read_mesh_in_steps(*arguments))


def read_mesh_in_steps(ob, armature, skeleton, view_layer, painting, not_meant, weights=None):
    """The Mesh of an object, as a generator of short steps.

    The object has passed refuse_mesh(). painting: honor the paint mask. not_meant (m,) bool: bones
    that are locked in addition to bones with a locked group. weights: the object's
    present_weights(); if omitted, they are read only if something is locked. Raises Refused if
    there is nothing to weight, or if the coordinates are not usable.
    """
    locked = not_meant | locked_bones(ob, skeleton)
    if locked[skeleton.deform].all():
        raise Refused(f"'{ob.name}': the vertex groups of all deform bones are locked")
    mask = masked_vertices(ob.data) if painting else None
    if mask is not None and mask.all():
        raise Refused(f"'{ob.name}': no vertex is selected, but the paint mask is on")
    has_locks = locked[skeleton.deform].any() or mask is not None
    if has_locks and weights is None:
        weights = present_weights(ob, skeleton)
    yield
    shape = yield from read_shape_in_steps(ob, armature, view_layer)
    edits, held_on = read_edits(ob.data, skeleton.names), _held_on(ob, armature, skeleton, shape)
    return replace(
        shape,
        reflections=reflections_of(ob, view_layer, armature_modifier(ob, armature)),
        weights=weights,
        locked_bones=locked if has_locks else None,
        locked_vertices=mask,
        edits=edits.held_on_bone(held_on, len(shape.vertices)) if held_on >= 0 else edits,
        held_on=held_on,
        deformer=read_deformer(ob, armature),
    )


def _held_on(ob, armature, skeleton, shape):
    """The deform bone that carries the mesh as a whole, or -1 for none. A mesh that surrounds most
    of the bones that do not carry meshes is their skin, even if another bone carries the mesh."""
    name = bone_it_hangs_on(ob, armature)
    place = skeleton.names.index(name) if name in skeleton.names else -1
    if place < 0 or not skeleton.deform[place]:
        return -1
    hung = [c for c in armature.children if c.type == "MESH" and c.parent_type == "BONE"]
    carrying = {name, *(child.parent_bone for child in hung)}
    bare = skeleton.deform & ~np.isin(skeleton.names, list(carrying))
    joints, points = skeleton.heads[bare], shape.points
    around = ((joints > points.min(axis=0)) & (joints < points.max(axis=0))).all(axis=1)
    return -1 if around.any() and 2 * around.sum() >= bare.sum() else place


def read_weighted_in_steps(ob, armature, view_layer, weights):
    """The Mesh of an object that keeps its current `weights`, as a generator of short steps. The
    object may belong to another file. Raises Refused if the coordinates are not usable."""
    shape = yield from read_shape_in_steps(ob, armature, view_layer)
    return replace(
        shape,
        reflections=reflections_of(ob, view_layer, armature_modifier(ob, armature)),
        weights=weights,
    )


def read_shape_in_steps(ob, armature, view_layer):
    """The Mesh of an object without weights and related data, as a generator of short steps. Raises
    Refused if the coordinates are not usable."""
    vertices = coordinates(ob)
    refuse_infinite(ob, vertices)
    matrix = matrix_between(ob, armature, view_layer)
    yield
    triangles = triangle_vertices(ob.data)
    yield
    edges = _loose_edges(ob.data)
    yield
    return Mesh(ob.name_full, vertices, triangles, edges, matrix)


def read_topology(ob):
    """The Mesh of an object in its own space: vertices, triangles and loose edges."""
    triangles, edges = triangle_vertices(ob.data), _loose_edges(ob.data)
    return Mesh(ob.name_full, coordinates(ob), triangles, edges, np.eye(4))


def refuse_infinite(ob, vertices):
    """Raises Refused for coordinates (n, 3) that are not finite."""
    finite = np.isfinite(vertices).all(axis=1)
    if not finite.all():
        bad = int(np.flatnonzero(~finite)[0])
        raise Refused(f"'{ob.name}' has coordinates that are not finite (first: vertex {bad})")


def coordinates(ob):
    keys = ob.data.shape_keys
    points = coordinates_of(keys.reference_key) if keys else points_of(ob.data)
    return points.astype(np.float64)


def _loose_edges(mesh):
    """(e, 2) edges that belong to no face."""
    loose = np.ones(len(mesh.edges), bool)
    loose[corner_edges(mesh)] = False
    return edge_vertices(mesh)[loose]


def matrix_between(ob, armature, view_layer):
    """The matrix (4, 4) from mesh space to armature space. A mesh that follows bones is placed as
    it would be with the bones at rest. Raises Refused if a mesh cannot be weighted at this
    position."""
    posing = moved_by(ob, armature) if moved_by(ob) else ()
    objects = (armature, ob)
    matrices = world_matrices(objects, view_layer, posing)
    for each, matrix in zip(objects, matrices, strict=True):
        refuse_place(each, matrix)
    return inverse(matrices[0]) @ matrices[1]


def refuse_place(ob, matrix):
    """Raises Refused if an object-to-world matrix is not invertible."""
    if not np.isfinite(matrix).all():
        raise Refused(f"'{ob.name}' has a transform that is not finite")
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)
    if sizes.min() <= 0 or abs(np.linalg.det(matrix[:3, :3] / sizes)) < FLAT:
        raise Refused(f"'{ob.name}' has a scale of zero, or axes that lie in one plane")


def locked_bones(ob, skeleton):
    """(m,) bool: deform bones whose vertex group is locked."""
    locked = {group.name for group in ob.vertex_groups if group.lock_weight}
    return np.array([name in locked for name in skeleton.names]) & skeleton.deform


def refuse_locked(mesh, skeleton, bones):
    """Raises Refused if the vertex group of one of these bones (m,) bool is locked."""
    locked = np.flatnonzero(locked_bones(mesh, skeleton) & bones)
    if len(locked):
        name = skeleton.names[locked[0]]
        raise Refused(f"The vertex group '{name}' of '{mesh.name}' is locked: unlock it first")


def masked_vertices(mesh):
    """(n,) bool: vertices that the paint mask excludes; None if no mask is active."""
    if mesh.use_paint_mask_vertex:
        return ~values_of(mesh.vertices, "select", bool)
    if not mesh.use_paint_mask:
        return None
    masked = np.ones(len(mesh.vertices), bool)
    faces = values_of(mesh.polygons, "select", bool)
    masked[corner_vertices(mesh)[at_corners(mesh, faces)]] = False
    return masked


def reflections_of(ob, view_layer, until=None):
    """The Reflections of the Mirror modifiers that come before the modifier `until`."""
    reflections = []
    for modifier in ob.modifiers:
        if modifier == until:
            break
        if modifier.type != "MIRROR" or not (modifier.show_viewport or modifier.show_render):
            continue
        to_plane = np.eye(4)
        if modifier.mirror_object:
            objects = (modifier.mirror_object, ob)
            plane, own = world_matrices(objects, view_layer, moved_by(*objects))
            refuse_place(modifier.mirror_object, plane)
            to_plane = inverse(plane) @ own
        for axis in range(3):
            # With Bisect, the mesh already exists on both sides, and one side is cut away.
            if not modifier.use_axis[axis] or modifier.use_bisect_axis[axis]:
                continue
            flip = np.eye(4)
            flip[axis, axis] = -1
            reflections.append(
                Reflection(
                    matrix=inverse(to_plane) @ flip @ to_plane,
                    merge=modifier.merge_threshold if modifier.use_mirror_merge else None,
                    flip=modifier.use_mirror_vertex_groups,
                )
            )
    return reflections


def group_entries(mesh, which=None):
    """All vertex group entries: (vertices, groups, weights) as arrays, with vertices ascending; or
    only the entries of the vertices `which` (k,)."""
    return finish(group_entries_in_steps(mesh, which))


def group_entries_in_steps(mesh, which=None):
    """Like group_entries(), as a generator of short steps.

    Blender has no bulk access to the entries. This loop is the fastest method that changes nothing.
    The loop keeps no references to vertices, because thousands of new references would make
    Python's garbage collector scan all existing objects.
    """
    found, which = [], np.arange(len(mesh.vertices)) if which is None else which
    for begin in range(0, max(1, len(which)), VERTICES_A_STEP):
        vertices, groups, weights, every = [], [], [], mesh.vertices
        for i in which[begin : begin + VERTICES_A_STEP].tolist():
            elements = every[i].groups
            if elements:
                for element in elements:
                    vertices.append(i)
                    groups.append(element.group)
                    weights.append(element.weight)
        found.append([np.array(vertices, np.int64), np.array(groups, np.int64), np.array(weights)])
        yield
    return tuple(map(np.concatenate, zip(*found, strict=True)))


class NamedEntries(NamedTuple):
    """The group_entries() of an object, and the names of its groups at the time of reading. Groups
    are numbered in list order, and other code may change this order at any time."""

    names: list[str]
    entries: tuple[np.ndarray, np.ndarray, np.ndarray]

    def are_of(self, ob):
        """Whether an object's groups still have these numbers."""
        return group_names(ob) == self.names


def group_names(ob):
    return [group.name for group in ob.vertex_groups]


def named_entries(ob):
    return NamedEntries(group_names(ob), group_entries(ob.data))


def named_entries_in_steps(ob):
    """Like named_entries(), as a generator of short steps. Reading starts again if a group is
    moved, renamed or removed between two steps, so the result reflects the groups at the last
    step."""
    while True:
        names, steps = group_names(ob), group_entries_in_steps(ob.data)
        try:
            while group_names(ob) == names:
                next(steps)
                yield
        except StopIteration as end:
            return NamedEntries(names, end.value)


def present_weights(ob, skeleton, read=None):
    """The SparseWeights that deform bones have now or, if `read` is given, in these
    NamedEntries."""
    names, entries = named_entries(ob) if read is None else read
    bones = {name: i for i, name in enumerate(skeleton.names) if skeleton.deform[i]}
    return bone_weights(names, entries, bones, len(ob.data.vertices))


def weight_state(ob):
    """The state of a mesh object: vertices, their positions, all weights, and group names."""
    state = hashlib.blake2b(coordinates(ob).tobytes(), digest_size=16)
    for array in group_entries(ob.data):
        state.update(array.tobytes())
    state.update("\n".join(group.name for group in ob.vertex_groups).encode())
    return state.hexdigest()


def bone_state(armature):
    """The state of an armature: names, positions, and which bones deform."""
    return *(bone.name for bone in armature.data.bones), rest_digest(armature)
