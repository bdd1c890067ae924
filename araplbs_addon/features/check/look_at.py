"""Turns the 3D view to vertices of a mesh, from a side from which they are visible, and back."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from mathutils import Vector

from ...blender.data.mesh_shape import triangle_vertices
from ...blender.poses.posed import posed_vertices
from .findings_list import found

DISTANCE = 2.0  # distance of the eye, in sizes of the viewed region
LEAST = 0.12  # share of the mesh size; smaller regions are shown with their surroundings
CLIP = 0.01, 10.0  # clip distances that show the region, as multiples of the eye's distance
ENOUGH = 0.35  # cosine: a surface turned to the eye by at least this is visible


def space_of(context):
    """The current space or else the first 3D view in the window; None if there is no 3D view."""
    space = context.space_data
    if not space or space.type != "VIEW_3D":
        areas = context.window.screen.areas if context.window else ()
        area = next((area for area in areas if area.type == "VIEW_3D"), None)
        space = area.spaces.active if area else None
    return space


def view_of(context):
    """The RegionView3D of space_of(); None if there is no 3D view."""
    space = space_of(context)
    return space.region_3d if space else None


class OwnView:
    """A 3D view as the artist has set it, to be restored after look_at()."""

    _OF_SPACE = "clip_start", "clip_end"
    _OF_VIEW = (
        *("view_perspective", "view_rotation", "view_location", "view_distance"),
        "is_orthographic_side_view",  # last, because setting the rotation clears it
    )

    def __init__(self, space):
        self._space = space.as_pointer()
        self._of_space = _values(space, self._OF_SPACE)
        self._of_view = _values(space.region_3d, self._OF_VIEW)

    def put_back(self):
        """Does nothing if the view is no longer open."""
        for screen in bpy.data.screens:
            for space in (space for area in screen.areas for space in area.spaces):
                if space.as_pointer() == self._space and space.type == "VIEW_3D":
                    _set(space, self._of_space)
                    _set(space.region_3d, self._of_view)


def _values(data, names):
    values = {name: getattr(data, name) for name in names}
    return {name: v.copy() if hasattr(v, "copy") else v for name, v in values.items()}


def _set(data, values):
    for name, value in values.items():
        if getattr(data, name) != value:
            setattr(data, name, value)


def refuse_unseen(context, ob):
    """Raises Refused if the 3D view cannot show the object."""
    space = space_of(context)
    if space and not ob.visible_in_viewport_get(space):
        raise Refused(f"'{ob.name}' is hidden in this view")


def places_of(context, finding, ob):
    """Returns ((k, 3) points in world space, (3,) the direction that the surface faces) for a
    finding; None if the finding has no position. A finding without vertices is shown at its bone,
    which is visible from any side."""
    if len(finding.vertices):
        return vertex_places(context, ob, finding.vertices)
    return bone_places(found.armature.get(), found.bone(finding))


def bone_places(armature, name):
    """Like places_of(), for a bone."""
    bone = armature.pose.bones.get(name)
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
    space = space_of(context)
    if not space or places is None:
        return
    view = space.region_3d
    points, facing = places
    low, high = points.min(0), points.max(0)
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
    toward = np.array(view.view_rotation @ Vector((0, 0, 1)))
    if facing.any() and facing @ toward < ENOUGH:
        view.view_rotation = Vector(facing.tolist()).to_track_quat("Z", "Y")
    view.view_location = Vector(((low + high) / 2).tolist())
    size = float(np.linalg.norm(ob.dimensions))
    away = DISTANCE * max(float(np.linalg.norm(high - low)), LEAST * size)
    view.view_distance = away
    near, far = (share * away for share in CLIP)
    space.clip_start, space.clip_end = min(space.clip_start, near), max(space.clip_end, far)
