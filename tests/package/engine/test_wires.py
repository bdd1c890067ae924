"""Tests meshes that consist entirely or partly of edges: skeletons of edges, hair, drawn links."""

from itertools import pairwise

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_report, check_weights

NO_FACES = np.zeros((0, 3), int)


def creature(segments=12):
    """A body, a neck, a tail and four legs of edges: (vertices, edges, Bones, bone of each edge's
    line)."""
    ends = np.array(
        [(0, 0, 1), (2, 0, 1), (0, 0.5, 0), (0, -0.5, 0), (2, 0.5, 0), (2, -0.5, 0),
         (3, 0, 1.5), (-1.2, 0, 1.4)], float
    )  # fmt: skip
    lines = [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6), (0, 7)]
    vertices, edges = list(ends), []
    for a, b in lines:
        inner = np.linspace(ends[a], ends[b], segments + 1)[1:-1]
        chain = [a, *range(len(vertices), len(vertices) + len(inner)), b]
        vertices += list(inner)
        edges += pairwise(chain)
    heads = [ends[0], ends[:2].mean(0)]
    tails, parents = [heads[1], ends[1]], [-1, 0]
    for a, b in lines[1:]:
        middle = (ends[a] + ends[b]) / 2 + [0.05, 0, 0]
        heads += [ends[a], middle]
        tails += [middle, ends[b]]
        parents += [0 if a == 0 else 1, len(heads) - 2]
    return (
        np.array(vertices),
        np.array(edges),
        shapes.Bones(*map(np.array, (heads, tails, parents))),
    )


def strands(count=40, joints=9, spread=0.3):
    """Hair that hangs from a bar of four bones: (vertices, edges, Bones)."""
    rng = np.random.default_rng(4)
    roots = rng.uniform([0, -0.1, 0.9], [4, 0.1, 0.9], (count, 3))
    ways = rng.normal([0, 0, -1], spread, (count, 3))
    vertices = roots[:, None] + np.linspace(0, 0.6, joints)[:, None] * ways[:, None]
    first = joints * np.arange(count)[:, None] + np.arange(joints - 1)
    x = np.linspace(0, 4, 5)
    bar = np.column_stack([x, 0 * x, 0 * x + 1])
    bones = shapes.Bones(bar[:-1], bar[1:], np.arange(4) - 1)
    return vertices.reshape(-1, 3), np.stack([first, first + 1], -1).reshape(-1, 2), bones


def solved(vertices, triangles, edges, bones, **settings):
    solver = shapes.solved(araplbs.Solver(vertices, triangles, *bones, edges=edges, **settings))
    check_weights(solver, 4, len(vertices))
    check_report(solver, vertices, bones)
    return solver


def test_a_creature_of_edges():
    vertices, edges, bones = creature()
    solver = solved(vertices, NO_FACES, edges, bones)
    weights = solver.weights
    assert solver.report["parts"] == 1 and not solver.report["idle_bones"]
    distance = reference.distances(vertices, bones.heads, bones.tails)
    follows = np.take_along_axis(distance, weights.argmax(1)[:, None], 1)[:, 0]
    assert (follows < distance.min(1) + 0.2).all()
    poses = araplbs.sample_poses(*bones, 50, seed=7)
    paper = solved(vertices, NO_FACES, edges, bones, **reference.PAPER_HELD)
    energies = [
        araplbs.energy(vertices, NO_FACES, w, poses, edges=edges)
        for w in (paper.weights, solver.initial_weights, np.eye(len(bones))[distance.argmin(1)])
    ]
    assert energies[0] < 0.95 * energies[1] and energies[1] < 0.9 * energies[2]


def test_hair_of_many_strands():
    """Each strand is a separate part and follows the bone at its root, as a whole."""
    vertices, edges, bones = strands()
    solver = solved(vertices, NO_FACES, edges, bones)
    assert solver.report["parts"] == 40
    weights = solver.weights.reshape(40, 9, 4)
    distance = reference.distances(vertices, bones.heads, bones.tails).reshape(40, 9, 4)
    inner = (distance[:, 0].argsort(1)[:, 0][:, None] == distance.argmin(2)).all(1)
    assert inner.sum() > 15
    assert (weights[inner].argmax(2) == distance[inner].argmin(2)).all()
    assert solver.energy < 1e-3


def test_hair_on_a_body():
    """Strands end on the surface. They are linked to it and stay on it."""
    body = shapes.tube(16, 21, 0.3, 2.0, caps=True)
    rng = np.random.default_rng(2)
    angle, z = rng.uniform(0, 6.28, 30), rng.uniform(0.3, 1.7, 30)
    out = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    hair = out[:, None] * np.linspace(0.3, 0.6, 6)[:, None] + z[:, None, None] * [0, 0, 1]
    first = len(body[0]) + 6 * np.arange(30)[:, None] + np.arange(5)
    edges = np.stack([first, first + 1], -1).reshape(-1, 2)
    vertices = np.concatenate([body[0], hair.reshape(-1, 3)])
    bones = shapes.chain(2)
    solver = solved(vertices, body[1], edges, bones)
    assert solver.report["linked_parts"] == 30
    weights = solver.weights
    roots = len(body[0]) + 6 * np.arange(30)
    at = np.linalg.norm(vertices[roots][:, None] - body[0], axis=2).argmin(1)
    assert np.abs(weights[roots] - weights[at]).max() < 0.25
    assert np.abs(weights[roots] - weights[roots + 5]).max() < 0.25


def test_rotations_of_wires_are_proper():
    """Covariances of rank 1 do not determine the rotation about the edge, but they determine the
    direction of the edge, which is all that is needed."""
    angles = np.linspace(0, 3.1, 200)
    rest = np.array([0.6, 0, 0.8])
    there = np.column_stack([0.6 * np.cos(angles), 0.6 * np.sin(angles), 0 * angles + 0.8])
    rotations = araplbs.nearest_rotations(there[:, :, None] * rest)
    np.testing.assert_allclose(np.linalg.det(rotations), 1, atol=1e-12)
    np.testing.assert_allclose(
        rotations @ rotations.transpose(0, 2, 1), np.tile(np.eye(3), (200, 1, 1)), atol=1e-12
    )
    np.testing.assert_allclose(rotations @ rest, there, atol=1e-7)


def test_the_energy_of_wires_is_that_of_the_paper(rng):
    vertices, edges, bones = creature(3)
    weights = rng.random((len(vertices), len(bones)))
    weights /= weights.sum(1, keepdims=True)
    poses = araplbs.sample_poses(*bones, 3)
    _, a = reference.edge_weights(vertices, NO_FACES, wires=edges)
    expected = reference.relative_energy(vertices, a, weights, poses)
    got = araplbs.energy(vertices, NO_FACES, weights, poses, edges=edges)
    assert got == pytest.approx(expected, rel=1e-9)


def test_a_drawn_link_joins_strands():
    """The end of a strand, far from all bones but one, is linked to another: the link carries heat
    and contributes to the energy."""
    z = np.linspace(0, 1, 11)
    one = np.column_stack([0 * z, 0 * z, z])
    vertices = np.concatenate([one, one + np.array([2, 0, 0])])
    chain = np.column_stack([np.arange(10), np.arange(1, 11)])
    edges = np.concatenate([chain, chain + 11])
    bones = shapes.Bones(
        np.array([[0, 0, -1.0], [2, 0, -1.0]]), np.array([[0, 0, 0.0], [2, 0, 0.0]]), [-1, -1]
    )
    apart = araplbs.Solver(vertices, NO_FACES, *bones, edges=edges).initial_weights
    linked = np.concatenate([edges, [[10, 21]]])
    solver = solved(vertices, NO_FACES, linked, bones)
    assert apart[10, 0] > 0.99 and apart[21, 1] > 0.99
    heat = solver.initial_weights
    assert np.abs(heat[10] - heat[21]).max() < 0.1 and heat[10].max() < 0.7
    poses = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    poses[0, 1, 2, 3] = 1
    energies = [
        araplbs.energy(vertices, NO_FACES, np.repeat(np.eye(2), 11, 0), poses, edges=each)
        for each in (edges, linked)
    ]
    assert energies[0] < 1e-20 < 1e-3 < energies[1]


def test_points_without_any_edge():
    vertices, edges, bones = strands(3)
    vertices = np.concatenate([vertices, [[0.5, 0, 0.8], [3.5, 0, 0.8]]])
    weights = solved(vertices, NO_FACES, edges, bones).weights
    assert weights[-2, 0] > 0.99 and weights[-1, 3] > 0.99


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tiny_wires(count):
    vertices = np.linspace([0, 0, 0.1], [0, 0.1, 1.8], count)
    edges = np.column_stack([np.arange(count - 1), np.arange(1, count)])
    solved(vertices, NO_FACES, edges, shapes.chain(2))
