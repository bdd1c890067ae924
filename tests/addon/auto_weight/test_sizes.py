"""Vertices without weights, and sizes that indicate mistakes: losses and messages."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_mesh,
    auto_weight,
    bind,
    tube_and_rig,
    tube_arrays,
    weights,
)

NAMES = ["lower", "middle", "upper"]


def test_one_vertex_without_weights():
    """Only this vertex starts from new weights. Without expansion_rounds, all other vertices keep
    their only bone."""
    tube, rig = tube_and_rig()
    for name in NAMES:
        tube.vertex_groups.new(name=name)
    count = len(tube.data.vertices)
    lone = count - 1
    tube.vertex_groups["lower"].add(range(count), 1.0, "REPLACE")
    for group in tube.vertex_groups:
        group.remove([lone])
    done = auto_weight(tube, rig, start_from="PRESENT", expansion_rounds=0, symmetric=False)
    assert done == {"FINISHED"}
    found = weights(tube, NAMES)
    others = np.arange(count) != lone
    np.testing.assert_array_equal(found[others], np.tile([1.0, 0, 0], (count - 1, 1)))
    assert found[lone].sum() > 0.999 and found[lone, 0] < 1, "the vertex is at the other end"


def test_a_vertex_far_off(capfd):
    """The distant vertex does not change the weights of other vertices, and a warning names it."""
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig) == {"FINISHED"}
    plain = weights(tube, NAMES)
    for ob in (tube, rig):
        bpy.data.objects.remove(ob)
    vertices, faces = tube_arrays()[:2]
    stray = add_mesh("Stray", [*vertices, (3e5, 0, 0)], faces)
    rig = add_armature()
    bind(stray, rig)
    capfd.readouterr()
    assert auto_weight(stray, rig) == {"FINISHED"}
    np.testing.assert_allclose(weights(stray, NAMES)[:-1], plain, atol=1e-6)
    assert "1 vertex lies so far from all others" in capfd.readouterr().out


@pytest.mark.parametrize(("scale", "offset"), [(1e5, 0), (1, 5e5)])
def test_large_coordinates(scale, offset):
    """A character in a small unit or far from the origin of its armature, with its report."""
    bones = [
        (name, (offset, 0, k * scale), (offset, 0, (k + 1) * scale), NAMES[k - 1] if k else None)
        for k, name in enumerate(NAMES)
    ]
    rig = add_armature(bones=bones)
    vertices, faces = tube_arrays()
    tube = add_mesh("Large", np.array(vertices) * scale + [offset, 0, 0], faces)
    bind(tube, rig)
    assert auto_weight(tube, rig) == {"FINISHED"}
    found = weights(tube, NAMES)
    assert found[0, 0] > 0.9 and found[-1, 2] > 0.9
