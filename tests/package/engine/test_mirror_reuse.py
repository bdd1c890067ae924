"""One half of a symmetric character takes results from the other. The right-hand side and F w of
both halves equal plain sums over all one-rings, and hardly more than one half is visited."""

import numpy as np
import pytest
import reference
from test_symmetry import BONES, FLIP, make


def body(around=8, rows=25):
    """The trunk and arms of test_symmetry, without caps, with faces split in the same way on both
    sides."""
    across = np.arange(around + 1)
    angle, z = np.meshgrid(np.pi * across / around, np.linspace(0, 2, rows))
    half = 0.25 * np.dstack([np.sin(angle), np.cos(angle), 4 * z]).reshape(-1, 3)
    half[:: around + 1, 0] = half[around :: around + 1, 0] = 0
    half[:, 0] *= 1 + 5 * np.exp(-(((half[:, 2] - 1.5) / 0.12) ** 2)) * (4 * half[:, 0]) ** 4
    a = (np.arange(rows - 1)[:, None] * (around + 1) + across[:-1]).ravel()
    faces = np.concatenate([np.column_stack([a, a + 1, a + around + 2]),
                            np.column_stack([a, a + around + 2, a + around + 1])])  # fmt: skip
    own = np.flatnonzero(half[:, 0] > 0)
    image = np.arange(len(half))
    image[own] = len(half) + np.arange(len(own))
    vertices = np.concatenate([half, half[own] * FLIP])
    return vertices, np.concatenate([faces, image[faces[:, ::-1]]])


def dense(inside, weights):
    """(b, F w) of all vertices and bones, (n, m) each, by sums over edges and poses."""
    v, n = inside["points"], len(inside["points"])
    a = np.zeros((n, n))
    a[np.repeat(np.arange(n), np.diff(inside["ring"])), inside["neighbor"]] = inside["edge_weight"]
    if "spring_bone" in inside:
        v, a, weights = reference.with_springs(v, a, weights, inside)
    i, k = np.nonzero(a)
    shares, e = a[i, k, None], v[k] - v[i]
    right, product = np.zeros_like(weights), np.zeros_like(weights)
    for transforms in inside["transform"]:
        points = np.einsum("bij,nj->nbi", transforms, np.column_stack([v, np.ones(len(v))]))
        posed = np.einsum("nb,nbi->ni", weights, points)
        turned = reference.local_step(v, a, posed)[0][i] @ e[..., None]
        for out, pull in ((right, turned[..., 0]), (product, posed[k] - posed[i])):
            np.add.at(out, k, np.einsum("ebi,ei->eb", points[k], shares * pull))
            np.add.at(out, i, -np.einsum("ebi,ei->eb", points[i], shares * pull))
    return right[:n], product[:n]


def check(solver):
    """Checks that a solver's sums equal those of `dense`, except for terms that are the same for
    all bones of a vertex."""
    inside = solver._inside
    vertex = np.repeat(np.arange(len(inside["points"])), np.diff(inside["start"]))
    right, product = dense(inside, solver.raw_weights)
    expected = (right - product)[vertex, inside["bone"]]
    own = inside["right_side"] - inside["product"]
    first = inside["start"][vertex]
    scale = np.abs(expected - expected[first]).max()
    np.testing.assert_allclose(own - own[first], expected - expected[first], atol=1e-9 * scale)


@pytest.mark.parametrize("bone_spring_stiffness", [0.0, 12.0])
def test_both_halves_are_as_if_each_was_visited(bone_spring_stiffness):
    mesh = body()
    n = len(mesh[0])
    solver = make(
        mesh,
        pose_count=4,
        precision="double",
        bone_spring_stiffness=bone_spring_stiffness,
        section=0,
    )
    assert 0.5 * n < solver._inside["visits"] < 0.75 * n
    check(solver)
    for _ in range(5):
        solver.iterate(1)
        check(solver)


def test_halves_of_another_shape_are_both_visited(rng):
    """Both halves are visited where vertices were moved, including the vertices that these
    affect."""
    mesh = body()
    n = len(mesh[0])
    moved = mesh[0].copy()
    moved[(moved[:, 0] > 0.1) & (moved[:, 2] < 1)] *= [1.02, 1.0, 1.0]
    solver = make((moved, mesh[1]), pose_count=4, precision="double", section=0)
    assert 0.6 * n < solver._inside["visits"] < n
    check(solver)
    moved = mesh[0].copy()  # unchanged edges, but in another place
    moved[(moved[:, 0] > 0.05) & (moved[:, 2] < 1), 2] += 0.004
    solver = make((moved, mesh[1]), pose_count=4, precision="double", section=0)
    assert 0.6 * n < solver._inside["visits"] < n
    check(solver)
    noisy = mesh[0] + 0.002 * rng.uniform(-1, 1, mesh[0].shape)
    solver = make((noisy, mesh[1]), pose_count=4, precision="double", section=0)
    assert solver._inside["visits"] == n
    check(solver)


def test_a_hole_on_one_side_is_visited_on_both():
    """All edges exist on both sides, but with different weights."""
    vertices, faces = body()
    whole = make((vertices, faces), pose_count=4)._inside["visits"]
    centers = vertices[faces].mean(1)
    hole = np.argmin(np.abs(centers - [0.2, 0, 0.5]).sum(1))
    solver = make(
        (vertices, np.delete(faces, hole, 0)), pose_count=4, precision="double", section=0
    )
    assert (solver._inside["symmetry_vertex"] >= 0).all()
    assert whole < solver._inside["visits"] < 1.2 * whole
    check(solver)


def test_poses_without_images_visit_all():
    mesh = body()
    n = len(mesh[0])
    assert make(mesh, pose_count=5)._inside["visits"] == n
    turned = np.tile(np.eye(3, 4), (2, len(BONES.heads), 1, 1))
    turned[0, 3, :, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    solver = make(mesh, pose_count=4, poses=turned, precision="double", section=0)
    assert solver._inside["visits"] > 0.75 * n
    check(solver)


@pytest.mark.parametrize("kind", ["bendy", "spine", "stretch"])
def test_bones_that_are_not_rigid_visit_all(kind):
    mesh, settings, bones = body(), {}, BONES
    if kind == "stretch":
        settings = {"bone_stretch": [0, 0, 1, 1, 1, 1]}
    else:
        segments = [0, 0] + [3 * (kind == "bendy")] * 4
        bones = BONES.but(kinds=["rigid"] * 2 + [kind] * 4, segments=segments)
    assert make(mesh, bones, pose_count=4, **settings)._inside["visits"] == len(mesh[0])


def test_poses_that_count_otherwise_than_their_images_visit_all():
    mesh, rest = body(), np.tile(np.eye(3, 4), (2, len(BONES.heads), 1, 1))
    n = len(mesh[0])
    alike, others = (
        make(mesh, pose_count=4, poses=rest, pose_weights=weights)._inside["visits"]
        for weights in ([1.0, 1.0], [1.0, 3.0])
    )
    assert alike < 0.75 * n and others == n
