"""Two chains of bones in one limb without a common parent, as exporters leave a rope or a snake. If
one chain bends, the skin between the chains is not strained more than with bone heat, which spreads
the strain over a long section."""

import math

import araplbs
import bpy
import numpy as np
import pytest
from scenes import add_armature, add_mesh, auto_weight, deform_names, select, tube_arrays, weights

COUNT, LENGTH = 7, 0.5  # of the bones of a chain
TURNED = 2  # bone of the first chain


def rope(radius, rings, leaf, gap):
    """(mesh object, armature). The second chain begins `gap` after the first. A leaf bone of the
    given length, if any, extends from the end of the first over the second."""
    height, bones = COUNT * LENGTH, []
    for chain, start in (("A", 0), ("B", height + gap)):
        for k in range(COUNT):
            ends = [(0, 0, start + LENGTH * j) for j in (k, k + 1)]
            bones.append((f"{chain}{k}", *ends, f"{chain}{k - 1}" if k else None))
    if leaf:
        bones.append((f"A{COUNT - 1}_end", (0, 0, height), (0, 0, height + leaf), f"A{COUNT - 1}"))
    shape = tube_arrays(length=2 * height + gap, rings=rings, sides=12, radius=radius)
    return add_mesh("Rope", *shape), add_armature(bones=bones)


def strain(ob, rig):
    """The strain when the first chain bends, for three angles."""
    names, mesh = deform_names(rig), ob.data
    bones = [rig.data.bones[name] for name in names]
    heads, tails = (
        np.array([getattr(b, end)[:] for b in bones]) for end in ("head_local", "tail_local")
    )
    moves = [name[0] == "A" and int(name[1]) >= TURNED for name in names]
    poses = np.tile(np.eye(3, 4), (3, len(names), 1, 1))
    for pose, degrees in zip(poses, (10, 20, -20), strict=True):
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        head = heads[names.index(f"A{TURNED}")]
        pose[moves] = np.column_stack([turn, head - turn @ head])
    mesh.calc_loop_triangles()
    triangles = np.array([t.vertices[:] for t in mesh.loop_triangles], np.int32)
    vertices = np.array([v.co[:] for v in mesh.vertices])
    rows = weights(ob, names)
    return float(araplbs.deformation(vertices, triangles, rows, poses, heads, tails)["area"])


@pytest.mark.parametrize(
    ("radius", "rings", "leaf", "gap"),
    [
        (0.09, 88, 0.7, 0),
        (0.09, 88, 0, 0),
        (0.2, 88, 0.7, 0),
        (0.3, 60, 0.7, 0),
        (0.15, 60, 0.4, 0.2),
    ],
)
def test_one_of_two_chains_bends(radius, rings, leaf, gap):
    found = {}
    for how in ("heat", "ours"):
        ob, rig = rope(radius, rings, leaf, gap)
        if how == "heat":
            select(ob, rig)
            bpy.ops.object.parent_set(type="ARMATURE_AUTO")
        else:
            assert auto_weight(ob, rig) == {"FINISHED"}
        found[how] = strain(ob, rig)
        for each in (ob, rig):
            bpy.data.objects.remove(each)
    assert 0 < found["ours"] < 1.15 * found["heat"], found
