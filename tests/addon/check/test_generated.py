"""A generated mesh in Blender, a double shell: Check Weights says how far it opens. test_shells.py
tests all faults of generated meshes."""

import bpy
import numpy as np
from scenes import (
    add_armature,
    add_mesh,
    addon,
    auto_weight,
    select,
    tube_arrays,
)


def double_tube(depth=0.01):
    """A tube with a second skin below the first."""
    vertices, faces = tube_arrays(rings=31, sides=16)
    middle = np.array([0, 0, 1.5])
    below = middle + (vertices - middle) * (1 - depth / np.array([0.3, 0.3, 1.5]))
    first = len(vertices)
    inner = [tuple(first + v for v in face[::-1]) for face in faces]
    return add_mesh("Tube", np.vstack([vertices, below]), [*faces, *inner]), first, len(faces)


def kinds(*objects):
    select(*objects)
    bpy.ops.object.araplbs_check("EXEC_DEFAULT")
    return {f.kind: f.words for f in addon("features.check.findings_list").found.findings}


def test_what_opens_is_named_with_how_far():
    tube, first, _faces = double_tube()
    rig = add_armature()
    auto_weight(tube, rig)
    inner = list(range(first, 2 * first))
    for group in tube.vertex_groups:
        group.remove(inner)
    tube.vertex_groups["lower"].add(inner, 1.0, "REPLACE")
    assert "opens by up to" in kinds(tube, rig)["DOUBLE_SHELL"]
