"""Compares posed_energy() with the energy of weights and with explicit sums."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from refusals import MESH, row, table


def tangled(rng):
    """A tube with wires, and points that no weights produce."""
    vertices, triangles = shapes.tube(5, 4)
    vertices = np.concatenate([vertices, [[0, 0, 2.5], [0.1, 0, 3], [0, 0.2, 3.3]]])
    wires = np.array([[0, 20], [20, 21], [21, 22], [3, 17]])
    posed = vertices + rng.normal(0, 0.2, (3, *vertices.shape))
    return vertices, triangles, wires, posed


def test_against_explicit_sums(rng):
    vertices, triangles, wires, posed = tangled(rng)
    _, a = reference.edge_weights(vertices, triangles, wires=wires)
    energy, unit = np.zeros(len(vertices)), np.zeros(len(vertices))
    for points in posed:
        rotations, _ = reference.local_step(vertices, a, points)
        for i, k in reference.edges_of(a):
            e = vertices[k] - vertices[i]
            energy[i] += a[i, k] * np.sum((points[k] - points[i] - rotations[i] @ e) ** 2)
            unit[i] += a[i, k] * np.sum(e**2)
    total, each = araplbs.posed_energy(vertices, triangles, posed, edges=wires, per_vertex=True)
    assert total == pytest.approx(energy.sum() / unit.sum(), rel=1e-12)
    np.testing.assert_allclose(each, energy / unit, rtol=1e-10)


def test_is_the_energy_of_weights_where_these_pose(rng):
    vertices, triangles = shapes.tube(7, 9)
    bones = shapes.chain(3)
    weights = rng.random((len(vertices), 3))
    weights /= weights.sum(1, keepdims=True)
    poses = araplbs.sample_poses(*bones, 5)
    posed = reference.posed(vertices, weights, poses)
    expected, each = araplbs.energy(vertices, triangles, weights, poses, per_vertex=True)
    total, own = araplbs.posed_energy(vertices, triangles, posed, per_vertex=True)
    assert total == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(own, each, atol=1e-9)


def test_rigid_moves_cost_nothing_whatever_the_unit():
    vertices, triangles = shapes.sphere()
    turn = reference.rotation_of(np.random.default_rng(1).normal(size=(3, 3)))
    for scale in (1e-3, 1, 1e4):
        posed = (scale * vertices @ turn.T + [5 * scale, 0, 0])[None]
        assert araplbs.posed_energy(scale * vertices, triangles, posed) < 1e-25


def test_welded_vertices_go_where_the_first_goes(rng):
    whole, faces = shapes.tube(6, 5)
    apart, split = shapes.split(whole, faces)
    posed = whole + rng.normal(0, 0.1, (2, *whole.shape))
    expected = araplbs.posed_energy(whole, faces, posed)
    torn = posed[:, faces.ravel()]
    assert araplbs.posed_energy(apart, split, torn) == pytest.approx(expected, rel=1e-12)
    alone = araplbs.posed_energy(apart, split, torn, weld=False)
    assert abs(alone - expected) > 1e-3 * expected


GOOD = {
    "vertices": MESH[0],
    "triangles": MESH[1],
    "posed": MESH[0][None].repeat(2, 0),
}


test_bad_arguments = table(
    araplbs.posed_energy,
    GOOD,
    row(r"posed has shape \(30, 3\)", posed=MESH[0]),
    row(r"posed has shape", posed=np.zeros((2, 29, 3))),
    row("there are no poses", posed=GOOD["posed"][:0]),
    row("there are no poses", posed=[]),
    row("posed must contain numbers", posed=GOOD["posed"].astype(complex), kind=TypeError),
)
