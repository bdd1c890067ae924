"""diffuse_parameters() computes positions along bones, diffused along the mesh."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import GOOD, MESH, row, table


def along(vertices, head, tail):
    """The position along the bone, as a Solver computes it by default."""
    axis = np.asarray(tail) - head
    return np.clip((vertices - head) @ axis / (axis @ axis), 0, 1)


def bent_tube(radius=0.15, angle=3.0, rings=60, around=12):
    """A tube along an arc of radius 1 in the XZ plane: (vertices, triangles, share of the arc at
    the middle of each ring)."""
    vertices, triangles = shapes.tube(around, rings, radius, 1.0)
    share = vertices[:, 2].copy()
    turn = share * angle
    far = 1 + vertices[:, 0]
    bent = np.column_stack([far * np.cos(turn), vertices[:, 1], far * np.sin(turn)])
    return bent, triangles, share


def test_linear_along_a_straight_tube():
    """The positions are linear except at the ends, where the error is about the radius."""
    vertices, triangles = shapes.tube(12, 41, 0.1, 2.0)
    bones = shapes.chain(1)
    u = araplbs.diffuse_parameters(vertices, triangles, *bones)[:, 0]
    expected = along(vertices, bones.heads[0], bones.tails[0])
    inner = (expected > 0.2) & (expected < 0.8)
    np.testing.assert_allclose(u[inner], expected[inner], atol=2e-3)
    np.testing.assert_allclose(u, expected, atol=0.06)


def test_along_a_chain_each_bone_has_its_part():
    vertices, triangles = shapes.tube(12, 61, 0.1, 3.0)
    bones = shapes.chain(3, height=3.0)
    u = araplbs.diffuse_parameters(vertices, triangles, *bones)
    for b in range(3):
        np.testing.assert_allclose(
            u[:, b], along(vertices, bones.heads[b], bones.tails[b]), atol=0.11
        )
        order = np.argsort(vertices[:, 2], kind="stable")
        assert (np.diff(u[order, b].reshape(-1, 12).mean(1)) > -1e-12).all()


def test_flows_round_a_bend():
    """Three bones along an arc: the geometric position along the first one jumps where the arc
    comes back."""
    vertices, triangles, share = bent_tube(angle=5.5)
    ends = np.linspace(0, 5.5, 4)
    joints = np.column_stack([np.cos(ends), np.zeros(4), np.sin(ends)])
    bones = joints[:-1], joints[1:], np.arange(3) - 1
    u = araplbs.diffuse_parameters(vertices, triangles, *bones)
    rings = u.reshape(-1, 12, 3).mean(1)
    assert (np.diff(rings, axis=0) > -1e-9).all()
    assert u[share > 0.6, 0].min() > 0.97 and u[share < 0.4, 2].max() < 0.03
    assert along(vertices, joints[0], joints[1])[share > 0.6].min() < 0.1


def test_touching_folds_do_not_mix():
    """A hairpin of two flat tubes 2 mm apart, with a chain of three bones through it."""
    vertices, triangles = shapes.tube(12, 81, 0.1, 4.2)
    z, x = vertices[:, 2].copy(), vertices[:, 0].copy()
    gap, leg = 0.101, 2.0
    bend = np.clip((z - leg) / 0.2, 0, 1) * np.pi
    beyond = np.maximum(z - leg - 0.2, 0)
    radius = gap - x
    vertices = np.column_stack(
        [gap - radius * np.cos(bend), vertices[:, 1],
         np.minimum(z, leg) + radius * np.sin(bend) - beyond]
    )  # fmt: skip
    joints = np.array([[0, 0, 0], [0, 0, leg], [2 * gap, 0, leg], [2 * gap, 0, 0.0]])
    bones = joints[:-1], joints[1:], np.array([-1, 0, 1])
    u = araplbs.diffuse_parameters(vertices, triangles, *bones)
    there, back = z < leg - 0.3, z > leg + 0.5
    np.testing.assert_allclose(u[there, 0], along(vertices[there], joints[0], joints[1]), atol=0.05)
    assert u[back, 0].min() > 0.97 and u[there, 2].max() < 0.03
    np.testing.assert_allclose(u[back, 2], along(vertices[back], joints[2], joints[3]), atol=0.05)


def test_what_hangs_on_the_middle_of_a_bone_is_there():
    vertices, triangles = shapes.join(
        shapes.tube(8, 21, 0.1, 2.0), shapes.box((0.2, 0.2, 0.2), (0.9, 0, 1.5))
    )
    heads, tails = [[0, 0, 0], [0.2, 0, 0.5]], [[0, 0, 2], [1.0, 0, 1.5]]
    u = araplbs.diffuse_parameters(vertices, triangles, heads, tails, [-1, 0], link_parts=False)
    np.testing.assert_allclose(u[-8:, 0], 0.25, atol=1e-9)


def test_a_tree_of_its_own_tells_nothing():
    """If a bone is a tree of its own, the position of the vertex itself is used, as by default."""
    vertices, triangles = shapes.tube(12, 41, 0.1, 2.0)
    heads, tails = [[0, 0, 0], [0, 0, 1.0]], [[0, 0, 2.0], [0, 0, 2.0]]
    u = araplbs.diffuse_parameters(vertices, triangles, heads, tails, [-1, -1])
    inner = np.abs(vertices[:, 2] - 1) < 0.7
    np.testing.assert_allclose(u[inner, 0], vertices[inner, 2] / 2, atol=5e-3)


def test_only_bones_that_bend_have_any():
    vertices, triangles = shapes.tube()
    bones = shapes.chain(4)
    u = araplbs.diffuse_parameters(
        vertices, triangles, *bones, bone_kinds=["rigid", "stb", "spine", "spine"],
        bone_deform=[True, True, True, False],
    )  # fmt: skip
    assert np.isnan(u[:, [0, 3]]).all() and ((u[:, 1:3] >= 0) & (u[:, 1:3] <= 1)).all()


@pytest.mark.parametrize(
    "mesh", [shapes.moebius(), shapes.fan(), shapes.soup(), shapes.split(*shapes.tube())]
)
def test_any_mesh(mesh):
    bones = shapes.chain(2)
    u = araplbs.diffuse_parameters(*mesh, *bones)
    assert u.shape == (len(mesh[0]), 2) and ((u >= 0) & (u <= 1)).all()
    np.testing.assert_array_equal(araplbs.diffuse_parameters(*mesh, *bones, threads=3), u)


def test_along_wires():
    """Except for the ends, because springs reach farther than the Laplacian of a curve."""
    vertices = np.column_stack([np.zeros((50, 2)) + 0.01, np.linspace(0, 2, 50)])
    edges = np.column_stack([np.arange(49), np.arange(1, 50)])
    u = araplbs.diffuse_parameters(vertices, [], *shapes.chain(1), edges=edges)[:, 0]
    np.testing.assert_allclose(u, vertices[:, 2] / 2, atol=0.1)
    np.testing.assert_allclose(u[10:-10], vertices[10:-10, 2] / 2, atol=0.03)


def test_a_solver_takes_them():
    vertices, triangles, _share = bent_tube(rings=20, around=6)
    bones = np.array([[1.0, 0, 0]]), np.array([[-1.0, 0, 0.2]]), np.array([-1])
    kinds = ["spine"]
    u = araplbs.diffuse_parameters(vertices, triangles, *bones, bone_kinds=kinds)
    solver = araplbs.Solver(
        vertices, triangles, *bones, bone_kinds=kinds, parameters=u, pose_count=3
    )
    np.testing.assert_array_equal(solver._inside["spine_parameter"][:, 0], u[:, 0])


def test_bendy_bones_need_no_segments():
    vertices, triangles, _share = bent_tube(rings=20, around=6)
    bones = shapes.chain(2)
    bendy, spine = (
        araplbs.diffuse_parameters(vertices, triangles, *bones, bone_kinds=[kind, "rigid"])
        for kind in ("bendy", "spine")
    )
    np.testing.assert_array_equal(bendy, spine)


test_bad_arguments = table(
    araplbs.diffuse_parameters,
    GOOD,
    row("triangle", triangles=MESH[1] + 1),
    row("parent", bone_parents=[1, 2, 0]),
    row("bone_kinds", bone_kinds=["rigid", "bone", "stb"]),
    row("bone_deform has shape", bone_deform=[True]),
    row("deform", bone_deform=[False] * 3),
)
