"""Initial weights: nearest bones, visibility, heat, and the influence maps derived from them."""

import araplbs
import numpy as np
import pytest
import reference
import shapes


def start(mesh, bones, **settings):
    """Heat weights without pruning."""
    bare = {"pose_count": 1, "heat_floor": 0, "pruning": (1, 1.0, 0.0), "link_parts": False}
    return shapes.solver(mesh, bones, **{**bare, **settings})


@pytest.mark.parametrize("count", [1, 2, 5])
def test_heat_against_a_dense_solve(count, rng):
    """Inside an open tube, the nearest bone is visible from every vertex."""
    mesh, bones = shapes.tube(8, 13), shapes.chain(count)
    mesh[0][:] += rng.normal(size=mesh[0].shape) * 0.01
    solver = start(mesh, bones)
    points, _, diagonal = reference.normalize_to_solver(mesh[0], np.zeros((1, count, 3, 4)))
    center = (mesh[0].min(0) + mesh[0].max(0)) / 2
    ends = ((e - center) / diagonal for e in (bones.heads, bones.tails))
    expected, nearest = reference.heat_weights(points, mesh[1], *ends)
    assert solver._inside["visible"].all()
    np.testing.assert_allclose(solver._inside["distance"], nearest, atol=1e-12)
    np.testing.assert_allclose(solver.initial_weights, expected, atol=1e-10)


def test_weights_below_the_floor_are_dropped():
    mesh, bones = shapes.tube(8, 25), shapes.chain(5)
    full = start(mesh, bones).initial_weights
    floored = start(mesh, bones, heat_floor=0.02)
    raw_kept = full > 0.021
    assert (floored.initial_weights[full < 0.01] == 0).all()
    assert (floored.initial_weights[raw_kept] > 0).all()
    np.testing.assert_allclose(floored.initial_weights.sum(1), 1, atol=1e-12)


@pytest.mark.parametrize("turned", [0, 1, 2, 3])
def test_walls_hide_bones(turned):
    """A bone outside the tube is visible only from the vertices that face it. The rays run along
    edges of the wall, in planes of the axes or, rotated, as close to them as rounding allows."""
    vertices, triangles = shapes.tube(16, 9)
    vertices = vertices @ shapes.rotation([0, 0, 1], 0.1).T
    bones = shapes.Bones(np.array([[0.5, 0, -1]]), np.array([[0.5, 0, 3.0]]), np.array([-1]))
    outward = np.sum(([0.5, 0] - vertices[:, :2]) * vertices[:, :2], axis=1)
    clear = (np.abs(outward) > 0.02) & (vertices[:, 2] > 0.1) & (vertices[:, 2] < 1.9)
    assert clear.sum() > 60
    turn = shapes.rotation([1, 2, -1], 0.7 * turned)
    solver = start((vertices @ turn.T, triangles), bones.moved(turn))
    visible = solver._inside["visible"]
    np.testing.assert_array_equal(visible[clear], outward[clear] > 0)


def test_a_far_wall_hides_nothing():
    """Only surfaces between a vertex and its bone count, except at the end of the ray."""
    tube = shapes.tube(8, 9)
    sheet = np.array([[-1, 0, -1], [1, 0, -1], [0, 0, 4.0]]), np.array([[0, 1, 2]])
    bones = shapes.chain(1)
    through_the_bone = start(shapes.join(tube, sheet), bones)._inside["visible"]
    assert through_the_bone[: len(tube[0])].all()


def test_bones_that_share_the_nearest_point_share_the_heat():
    """Around a joint, several bones are equally near."""
    mesh = shapes.sphere(6, 8, 0.3, (0, 0, 1.0))
    heads = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1.0]])
    tails = np.array([[0, 0, 1], [2, 0, 1], [-2, 0, 1.0]])
    solver = start(mesh, shapes.Bones(heads, tails, np.array([-1, 0, 0])))
    count = solver._inside["nearest_count"]
    top = np.nonzero(mesh[0][:, 2] > 1.299)[0]
    assert (count[top] == 3).all()
    weights = solver.initial_weights[top]
    assert weights.min() > 0.1
    np.testing.assert_allclose(weights[:, 1], weights[:, 2], atol=1e-9)


def test_gaps_between_bones_belong_to_the_parent():
    """A virtual segment leads from the tail of a bone to the head of its child."""
    mesh = shapes.tube(8, 21)
    heads = np.array([[0, 0, 0], [0, 0, 1.5]])
    tails = np.array([[0, 0, 0.5], [0, 0, 2.0]])
    chained = start(mesh, shapes.Bones(heads, tails, np.array([-1, 0])))
    loose = start(mesh, shapes.Bones(heads, tails, np.array([-1, -1])))
    z = mesh[0][:, 2]
    nearest = chained._inside["nearest"][:, 0]
    np.testing.assert_array_equal(nearest == 1, z > 1.5 + 1e-6)
    np.testing.assert_array_equal(loose._inside["nearest"][:, 0] == 1, z > 1.0 + 1e-6)
    assert chained.initial_weights[np.abs(z - 1.3) < 0.01, 0].min() > 0.5


def test_bones_that_do_not_deform_belong_to_their_ancestor():
    mesh, bones = shapes.tube(8, 21), shapes.chain(4)
    bones.deform = np.array([True, True, False, True])
    solver = start(mesh, bones)
    z = mesh[0][:, 2]
    owner = solver._inside["nearest"][:, 0]  # compact: 0, 1 and bone 3 as 2
    np.testing.assert_array_equal(owner[(z > 0.51) & (z < 1.49)], 1)
    assert not solver.initial_weights[:, 2].any()


@pytest.mark.parametrize("turn_around", [False, True])
def test_the_floor_bone_of_a_game_rig_does_not_reach_through_the_body(turn_around):
    """Its virtual segments count only for bones inside the mesh, with normals in any direction."""
    vertices, triangles = shapes.tube(8, 21, caps=True)
    if turn_around:
        triangles = triangles[:, ::-1]
    heads = np.array([[0, 0, -0.5], [0, 0, 1.0], [0, 0, 1.5]])
    tails = np.array([[0, 0.6, -0.5], [0, 0, 1.5], [0, 0, 2.0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 1]))
    weights = start((vertices, triangles), bones).initial_weights
    assert weights[vertices[:, 2] > 0.4, 0].max() < 0.5
    assert weights[:, 1].max() > 0.8


def test_maps_are_connected_along_the_skeleton():
    """A bone between two influences of a vertex is an influence as well (property P2 of the
    paper)."""
    mesh, bones = shapes.tube(8, 21, 0.4), shapes.chain(8)
    solver = araplbs.Solver(
        *mesh, *bones, pose_count=1, pruning=(1, 0.7, 0.6), link_parts=False, max_influences=0
    )
    inside = solver._inside
    gaps = 0
    for i in range(len(mesh[0])):
        row = inside["bone"][inside["start"][i] : inside["start"][i + 1]]
        assert (np.diff(row) == 1).all()
        gaps += len(row) > 1
    assert gaps
    assert np.diff(inside["start"]).max() < 8
