"""Finds what is under the mouse: a place on a mesh, its nearest vertex, and the bones that move
this vertex."""

import numpy as np
from araplbs.reports.bone_shares import shares
from bpy_extras import view3d_utils

from ..poses.posed import posed_vertices


def ray_of(region, view, at):
    """Returns (origin, direction) in world space for a pixel of the region."""
    origin = view3d_utils.region_2d_to_origin_3d(region, view, at)
    return origin, view3d_utils.region_2d_to_vector_3d(region, view, at)


def ray_cast(context, evaluated, at):
    """The result of Blender's ray_cast(), in object space, for a pixel of the region."""
    origin, direction = ray_of(context.region, context.region_data, at)
    back = evaluated.matrix_world.inverted_safe()
    start = back @ origin
    return evaluated.ray_cast(start, (back @ (origin + direction) - start).normalized())


def nearest_vertex(ob, evaluated, place, face, depsgraph):
    """The object's vertex nearest to a position on a face of the evaluated mesh."""
    mesh = evaluated.data
    if len(mesh.vertices) == len(ob.data.vertices):
        corners = mesh.polygons[face].vertices
        return min(corners, key=lambda vertex: (mesh.vertices[vertex].co - place).length)
    points = posed_vertices(ob, depsgraph)
    there = np.array(evaluated.matrix_world @ place)
    return int(np.square(points - there).sum(1).argmin())


def shares_of(ob, armature, vertex):
    """Returns [(bone, share)] of a vertex, the largest share first. Only groups of deform bones
    count."""
    names, bones = [group.name for group in ob.vertex_groups], armature.data.bones
    found = [
        (names[entry.group], entry.weight)
        for entry in ob.data.vertices[vertex].groups
        if entry.group < len(names) and names[entry.group] in bones
    ]
    return shares([(name, weight) for name, weight in found if bones[name].use_deform])
