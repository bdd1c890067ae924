"""Compares biharmonic weights on volumes, with and without bounds, with dense algebra."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

PLAIN = {
    "initial": "bbw", "coarsen": 0, "pruning": (1, 1.0, 0.0), "heat_floor": 0, "pose_count": 2,
    "max_influences": 0,
}  # fmt: skip


def body():
    """A bar with vertices on its axis, and a skeleton of three bones there."""
    vertices, tets = shapes.bar((2, 2, 9), (0.6, 0.5, 2.0))
    rng = np.random.default_rng(1)
    inner = np.abs(vertices[:, :2]).max(1) < 1e-12
    vertices[~inner] += rng.uniform(-0.03, 0.03, (np.count_nonzero(~inner), 3))
    z = np.array([[0, 0, 0.25], [0, 0, 0.72], [0, 0, 1.2], [0, 0, 1.75]])  # at no vertex
    return vertices, tets, shapes.Bones(z[:-1], z[1:], np.array([-1, 0, 1]))


def handles_of(vertices, bones):
    """{vertex: bone} of the vertices on bones."""
    on_axis = np.flatnonzero(np.abs(vertices[:, :2]).max(1) < 1e-12)
    found = {}
    for bone, (head, tail) in enumerate(zip(bones.heads, bones.tails, strict=True)):
        for i in on_axis:
            if head[2] <= vertices[i, 2] <= tail[2]:
                found[int(i)] = bone
    return found


def operator(vertices, tets):
    stiff = reference.tet_laplacian(vertices, tets)
    mass, _ = reference.edge_weights(vertices, [], tets=tets)
    return stiff @ np.diag(1 / mass) @ stiff


@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_against_a_dense_program(method):
    vertices, tets, bones = body()
    handles, bounded = handles_of(vertices, bones), method == "bbw"
    assert len(handles) == 6
    solve = reference.bounded_biharmonic if bounded else reference.biharmonic
    expected = solve(operator(vertices, tets), handles, len(bones))
    free = expected[np.setdiff1d(np.arange(len(vertices)), list(handles))]
    assert free.min() == 0 if bounded else free.min() < -0.01  # the bounds matter
    expected = np.maximum(expected, 0)
    expected /= expected.sum(1, keepdims=True)
    solver = araplbs.Solver(vertices, None, *bones, tets=tets, **{**PLAIN, "initial": method})
    np.testing.assert_allclose(solver.initial_weights, expected, atol=2e-3 if bounded else 1e-6)
    assert all(solver.initial_weights[i, b] == 1 for i, b in handles.items())


@pytest.mark.parametrize("method", ["bbw", "biharmonic"])
def test_given_points_replace_the_handles(method):
    """Single vertices away from the bones. The third bone keeps the handles on it."""
    vertices, tets, bones = body()
    given = np.full(len(vertices), -1)
    corners = np.argmin(vertices @ [1, 1, 9.0]), np.argmin(np.abs(vertices[:, 2] - 1))
    given[list(corners)] = 0, 1
    found = handles_of(vertices, bones)
    handles = {i: b for i, b in found.items() if b == 2} | {int(corners[0]): 0, int(corners[1]): 1}
    assert len(found) > len(handles) > 2
    solve = reference.bounded_biharmonic if method == "bbw" else reference.biharmonic
    expected = np.maximum(solve(operator(vertices, tets), handles, len(bones)), 0)
    expected /= expected.sum(1, keepdims=True)
    rows = araplbs.baseline_weights(
        vertices, None, *bones, tets=tets, handles=given, method=method, max_influences=0,
        min_weight=0,
    )  # fmt: skip
    tolerance = 2e-3 if method == "bbw" else 1e-6
    np.testing.assert_allclose(shapes.dense(rows, 3), expected, atol=tolerance)


def test_points_of_a_surface_share_welded_vertices():
    """A vertex given to two bones, split by a seam, belongs to both in equal parts."""
    vertices, triangles = shapes.tube(8, 9)
    vertices = np.concatenate([vertices, vertices[:1]])
    handles = np.full(len(vertices), -1)
    handles[[0, -1, 40, 70]] = 0, 1, 0, 1
    triangles[0][triangles[0] == 0] = len(vertices) - 1
    rows = araplbs.baseline_weights(
        vertices, triangles, *shapes.chain(2), handles=handles, method="biharmonic"
    )
    weights = shapes.dense(rows, 2)
    np.testing.assert_array_equal(weights[[0, -1, 40, 70]], [[0.5, 0.5]] * 2 + [[1, 0], [0, 1]])
    assert (weights == 1).sum() < 8  # no core of a bone is left


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"handles": [0, 1]}, "handles"),
        ({"handles": {5: 3}}, r"handles\[5\] is 3: must be -1 or a deforming bone"),
        ({"handles": {4: -2}}, r"handles\[4\] is -2"),
        ({"handles": {2: 1}, "bone_deform": [True, False, True]}, r"handles\[2\] is 1"),
        ({"handles": {2: 1}, "method": "heat"}, "handles is given, but the method is not bbw"),
    ],
)
def test_refused_points(changes, message):
    vertices, tets, bones = body()
    if isinstance(changes["handles"], dict):
        given = np.full(len(vertices), -1)
        for vertex, bone in changes["handles"].items():
            given[vertex] = bone
        changes = changes | {"handles": given}
    with pytest.raises(ValueError, match=message):
        araplbs.baseline_weights(vertices, None, *bones, tets=tets, **{"method": "bbw"} | changes)


def test_one_bone_has_all():
    vertices, tets = shapes.bar((2, 2, 4))
    solver = araplbs.Solver(vertices, None, *shapes.chain(1), tets=tets, **PLAIN)
    np.testing.assert_array_equal(solver.initial_weights, 1)


def test_bones_between_vertices_and_tiny_ones_get_handles():
    """No vertex is on a bone, and one bone is far smaller than a tet."""
    vertices, tets = shapes.bar((3, 3, 8))
    joints = np.array([[0, 0, 0.1], [0, 0, 0.98], [0, 0, 0.99], [0, 0, 1.9]])
    bones = shapes.Bones(joints[:-1], joints[1:], np.array([-1, 0, 1]))
    weights = araplbs.Solver(vertices, None, *bones, tets=tets, **PLAIN).initial_weights
    assert (weights.max(0) > 0.3).all()
    assert weights[vertices[:, 2] < 0.3, 0].min() > 0.9
    assert weights[vertices[:, 2] > 1.7, 2].min() > 0.9


def test_parts_without_a_bone_and_bones_outside():
    """A second bar that contains no bone follows the nearest one. A bone in the air moves
    nothing."""
    vertices, tets = shapes.bar((1, 1, 4))
    apart = vertices * 0.2 + [1.0, 0, 0.2]
    bones = shapes.Bones(
        np.array([[0, 0, 0.05], [0, 0, 1.0], [0, 4, 1.0]]),
        np.array([[0, 0, 1.0], [0, 0, 1.9], [0, 5, 1.0]]), np.array([-1, 0, -1]),
    )  # fmt: skip
    both = np.concatenate([vertices, apart]), None
    solver = araplbs.Solver(
        *both, *bones, tets=np.concatenate([tets, tets + len(vertices)]), link_parts=False, **PLAIN
    )
    weights = solver.initial_weights
    np.testing.assert_allclose(weights[len(vertices) :, 0], 1, atol=1e-3)
    assert not weights[:, 2].any()


def test_wires_carry_weights():
    """A string attached to the bar follows it."""
    vertices, tets = shapes.bar((2, 2, 6))
    string = np.array([[0.3 + 0.1 * k, 0, 0.3] for k in range(5)])
    n = len(vertices)
    root = int(np.argmin(np.linalg.norm(vertices - [0.2, 0, 0.33], axis=1)))
    edges = [[root, n], *([n + k, n + k + 1] for k in range(4))]
    solver = araplbs.Solver(
        np.concatenate([vertices, string]), None, *shapes.chain(2), tets=tets, edges=edges, **PLAIN
    )
    assert np.abs(solver.initial_weights[n:] - solver.initial_weights[root]).max() < 0.2


@pytest.mark.parametrize("method", ["bbw", "biharmonic", "heat"])
def test_many_bones_on_any_number_of_threads(method):
    """More bones than are solved for at a time."""
    vertices, tets = shapes.bar((2, 2, 40))
    bones = shapes.chain(70)
    rows = [
        araplbs.baseline_weights(vertices, None, *bones, tets=tets, method=method, threads=threads)
        for threads in (1, 2, 5)
    ]
    for other in rows[1:]:
        for a, b in zip(rows[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
