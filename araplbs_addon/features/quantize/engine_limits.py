"""Reads the influence limits of materials, which are stored as Material.araplbs_max_influences."""

import bpy
import numpy as np
from araplbs.features.quantize import MOST_STEPS, vertex_limits

from ...blender.data.mesh_shape import at_corners, corner_vertices, points_of, values_of


def read_limits(ob, usual):
    """(n,) maximum number of influences for each vertex of an object, 0: unlimited."""
    mesh = ob.data
    materials = values_of(mesh.polygons, "material_index", np.int32)
    limits = [slot.material.araplbs_max_influences if slot.material else 0
              for slot in ob.material_slots] or [0]  # fmt: skip
    # Files can name missing slots; Blender uses the last slot instead.
    materials = np.minimum(materials, len(limits) - 1)
    faces = corner_vertices(mesh), at_corners(mesh, materials)
    return vertex_limits(points_of(mesh), faces, limits, usual)


LIMIT = bpy.props.IntProperty(
    name="Max Influences",
    description="Maximum number of bones that move a vertex with this material, for Quantize "
    "Weights. 0 uses the operator's limit. Where materials meet, the smallest limit applies",
    min=0,
    max=MOST_STEPS,
    soft_max=16,
    options=set(),
)
PROPERTIES = ((bpy.types.Material, "araplbs_max_influences", LIMIT),)
