"""Shared parts of the tests of Bake Modifiers to Weights."""

import re

import bpy
import deep
import numpy as np
from scenes import select


def bake(*objects, frames=20, **options):
    select(*objects)
    return bpy.ops.object.araplbs_bake("EXEC_DEFAULT", frames=frames, **options)


def refused(pattern, *objects, **options):
    """Checks that the operator refuses for this reason and changes nothing."""
    assert re.search(pattern, deep.refused("bake", *objects, frames=20, **options))


def points_of(ob):
    """(n, 3) evaluated vertices."""
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)
