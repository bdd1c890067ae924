"""Turns the 3D view to vertices of a mesh, from a side from which they are visible."""

import numpy as np
from mathutils import Vector

from ...blender.data.mesh_shape import triangle_vertices
from ...blender.poses.posed import posed_vertices
from .findings_list import found

DISTANCE = 2.0  # distance of the eye, in sizes of the viewed region
LEAST = 0.12  # share of the mesh size; smaller regions are shown with their surroundings
ENOUGH = 0.35  # cosine: a surface turned to the eye by at least this is visible


def view_of(context):
    """The RegionView3D of the current space or else of the first 3D view in the window; None if
    there is no 3D view."""
    space = context.space_data
    if not space or space.type != "VIEW_3D":
        areas = context.window.screen.areas if context.window else ()
        area = next((area for area in areas if area.type == "VIEW_3D"), None)
        space = area.spaces.active if area else None
    return space.region_3d if space else None


def places_of(context, finding, ob):
    """Returns ((k, 3) points in world space, (3,) the direction that the surface faces) for a
    finding; None if the finding has no position. A finding without vertices is shown at its bone,
    which is visible from any side."""
    if len(finding.vertices):
        return vertex_places(context, ob, finding.vertices)
    armature = found.armature.get()
    bone = armature.pose.bones.get(found.bone(finding))
    if not bone:
        return None
    return np.array([armature.matrix_world @ end for end in (bone.head, bone.tail)]), np.zeros(3)


def vertex_places(context, ob, vertices):
    """Like places_of(), for vertices of a mesh."""
    points = posed_vertices(ob, context.evaluated_depsgraph_get())
    triangles = triangle_vertices(ob.data)
    chosen = np.zeros(len(points), bool)
    chosen[vertices] = True
    corners = points[triangles[chosen[triangles].any(1)]]
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(0)
    length = np.linalg.norm(facing)
    return points[vertices], facing / length if length else facing


def look_at(context, ob, places):
    """Turns the view to these places. Does nothing without a 3D view, as in a script, or without
    places."""
    view = view_of(context)
    if not view or places is None:
        return
    points, facing = places
    low, high = points.min(0), points.max(0)
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
    toward = np.array(view.view_rotation @ Vector((0, 0, 1)))
    if facing.any() and facing @ toward < ENOUGH:
        view.view_rotation = Vector(facing.tolist()).to_track_quat("Z", "Y")
    view.view_location = Vector(((low + high) / 2).tolist())
    size = float(np.linalg.norm(ob.dimensions))
    view.view_distance = DISTANCE * max(float(np.linalg.norm(high - low)), LEAST * size)
