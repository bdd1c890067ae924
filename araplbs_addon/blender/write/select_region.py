"""Selects vertices of a mesh in the current mode of the window, and changes the mode if
necessary."""

import bmesh
import bpy
import numpy as np
from araplbs.base.refusal import Refused

from ..data.mesh_shape import corner_vertices, values_of

# Modes by context.mode, with their names in bpy.ops.object.mode_set.
MODES = {"OBJECT": "OBJECT", "POSE": "POSE", "PAINT_WEIGHT": "WEIGHT_PAINT", "EDIT_MESH": "EDIT"}


def select_region(context, ob, vertices, bone=""):
    """Selects only these vertices of an object, and activates the vertex group of the bone. In Pose
    mode, the active object stays the same. Raises Refused if vertices cannot be selected."""
    mode = context.mode
    if mode not in MODES:
        raise Refused("Available only in Object, Pose, Edit and Weight Paint modes")
    if not ob.visible_get():
        raise Refused(f"'{ob.name}' is hidden")
    if mode != "POSE":
        _go_to(context, ob, MODES[mode])
    if ob.mode == "EDIT":
        _select_in_edit_mode(context, ob, vertices)
    else:
        select_vertices(ob.data, vertices)
        if mode == "PAINT_WEIGHT":
            ob.data.use_paint_mask_vertex = True
    if bone in ob.vertex_groups:
        ob.vertex_groups.active_index = ob.vertex_groups[bone].index


def _go_to(context, ob, mode):
    """Activates an object in this mode."""
    layer = context.view_layer
    if mode == "OBJECT" or ob.mode != mode:
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        ob.select_set(True)
        layer.objects.active = ob
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
    elif layer.objects.active != ob:
        layer.objects.active = ob


def _select_in_edit_mode(context, ob, vertices):
    context.tool_settings.mesh_select_mode = (True, False, False)
    for other in context.objects_in_mode:
        if other.type != "MESH":
            continue
        edited = bmesh.from_edit_mesh(other.data)
        chosen = set(vertices.tolist()) if other == ob else set()
        for vertex in edited.verts:
            vertex.select_set(False)
        for vertex in edited.verts:
            if vertex.index in chosen and not vertex.hide:
                vertex.select_set(True)
        edited.select_flush_mode()
        bmesh.update_edit_mesh(other.data, loop_triangles=False, destructive=False)


def select_vertices(mesh, vertices):
    """Selects only these vertices and the faces between them.

    The selection of edges follows when Edit mode begins. Blender 5.0 crashes if it receives arrays
    here, or if edges are selected in any other way.
    """
    chosen = np.zeros(len(mesh.vertices), bool)
    chosen[vertices] = True
    mesh.vertices.foreach_set("select", chosen.tolist())
    if ".select_edge" in mesh.attributes:
        mesh.attributes.remove(mesh.attributes[".select_edge"])
    sizes = values_of(mesh.polygons, "loop_total", np.int32)
    if len(sizes):
        faces = np.logical_and.reduceat(chosen[corner_vertices(mesh)], np.cumsum(sizes) - sizes)
        mesh.polygons.foreach_set("select", faces.tolist())
    mesh.update()
