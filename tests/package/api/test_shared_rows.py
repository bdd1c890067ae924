"""Mirror images share unknowns in the global step: the system is S'FS, and the weights have the
least energy of all symmetric weights, whether or not the poses are symmetric."""

import itertools

import numpy as np
import pytest
import shapes
from test_mirror_reuse import body
from test_rigid_parts import PLAIN, matrix
from test_symmetry import BONES, FLIP, PARTNERS, PLANE

MESH = body(6, 17)
IMAGE = np.linalg.norm(MESH[0][:, None] * FLIP - MESH[0], axis=2).argmin(1)
SIDE, HEIGHT = MESH[0][:, 0], MESH[0][:, 2]
LABELS = np.select([SIDE > 0.5, SIDE < -0.5, HEIGHT < 0.3], [3, 4, 5], -1)
SYMMETRIC = {"symmetry": (PARTNERS, *PLANE)}


def make(rng, labels=None, mesh=MESH, **settings):
    """A solver with random symmetric weights, equal in all rows of a label."""
    weights = shapes.random_weights(rng, len(IMAGE), 6)
    weights = (weights + weights[IMAGE][:, PARTNERS]) / 2
    for label in [3, 4, 5] if labels is not None else []:
        weights[labels == label] = weights[labels == label].mean(0)
    given = {"weights": weights, "start_from_weights": True}
    more = {"precision": "double", "acceleration": 0, "damping": 1e-4, "pose_count": 4}
    return shapes.solver(mesh, BONES, **{**PLAIN, **given, **more, **settings})


def changes(inside):
    """(influences, unknowns): the change that an unknown causes. It adds equal shares to each of
    its rows, and takes them in the same way from the influences without an unknown."""
    start, unknown = inside["start"], inside["unknown"]
    z = np.zeros((len(unknown), len(inside["entry"])))
    for first, end in itertools.pairwise(start):
        own = np.arange(first, end)
        rest = own[unknown[own] < 0]
        for u in np.unique(unknown[own][unknown[own] >= 0]):
            same = own[unknown[own] == u]
            z[same, u] = 1 / len(same)
            z[rest, u] = -1 / len(rest)
    return z


@pytest.mark.parametrize("harmonic", [0, 0.05])
@pytest.mark.parametrize("labels", [None, LABELS], ids=["free", "rigid"])
def test_the_step_is_the_least_of_symmetric_weights(rng, labels, harmonic):
    """S'AS and S'b of the solver without symmetry, which other tests compare with dense sums, for
    poses that are not images of each other."""
    poses = np.tile(np.eye(3, 4), (3, 6, 1, 1))
    poses[..., :3] = shapes.rotation(rng.normal(size=3), 0.4) + rng.normal(0, 0.1, (3, 6, 3, 3))
    settings = {"poses": poses, "pose_count": 0, "bone_spring_stiffness": 0, "harmonic": harmonic}
    seed = rng.integers(2**32)
    free, shared = (
        make(np.random.default_rng(seed), labels, **settings, **more)
        for more in ({}, {**SYMMETRIC, "rigid_parts": labels})
    )
    before, weights = free._inside, shared.raw_weights
    free.iterate(1)
    shared.iterate(1)
    system, own = free._inside, shared._inside
    z, image = changes(system), changes(own)
    s = np.linalg.lstsq(z, image, rcond=None)[0]
    np.testing.assert_allclose(z @ s, image, atol=1e-12)
    assert len(own["entry"]) < 0.55 * len(system["entry"])
    for name in ("value", "penalized"):
        expected = s.T @ matrix(system, name) @ s
        scale = abs(expected).max()
        np.testing.assert_allclose(matrix(own, name), expected, rtol=1e-9, atol=1e-12 * scale)
    slope = image.T @ (before["right_side"] - before["product"])
    step = image @ np.linalg.solve(matrix(own, "penalized"), slope)
    np.testing.assert_allclose(shared.raw_weights, weights + step.reshape(-1, 6), atol=1e-8)


@pytest.mark.parametrize("bone_spring_stiffness", [0.0, 12.0])
@pytest.mark.parametrize("stretch", [1.0, 1.02], ids=["alike", "moved"])
def test_half_of_a_symmetric_system_is_assembled_and_counts_twice(
    rng, bone_spring_stiffness, stretch
):
    """Compared with a dense F; if the halves differ in shape, both are assembled."""
    vertices = MESH[0].copy()
    vertices[(SIDE > 0.1) & (HEIGHT < 1)] *= [stretch, 1, 1]
    solver = make(
        rng,
        mesh=(vertices, MESH[1]),
        bone_spring_stiffness=bone_spring_stiffness,
        section=0,
        **SYMMETRIC,
    )
    solver.iterate(1)
    inside = solver._inside
    n = len(inside["points"])
    assert inside["visits"] < 2 * (0.8 if stretch == 1 else 0.95) * n  # of two local steps
    share = np.zeros((n, n))
    owner = np.repeat(np.arange(n), np.diff(inside["ring"]))
    share[owner, inside["neighbor"]] = inside["edge_weight"]
    share += share.T
    laplacian = np.diag(share.sum(1)) - share
    if bone_spring_stiffness:
        owner = np.repeat(np.arange(n), np.diff(inside["spring_start"]))
        np.add.at(laplacian, (owner, owner), inside["spring_weight"])
    points = np.column_stack([inside["points"], np.ones(n)])
    f = np.einsum("kl,ki,bcij,lj->kblc", laplacian, points, inside["gram"], points, optimize=True)
    z = changes(inside)
    expected = z.T @ f.reshape(6 * n, 6 * n) @ z
    scale = abs(expected).max()
    np.testing.assert_allclose(matrix(inside, "value"), expected, atol=1e-9 * scale)


def unknowns_of(inside, i):
    """{bone: unknown} of a row."""
    own = slice(*inside["start"][i : i + 2])
    return dict(zip(inside["bone"][own], inside["unknown"][own], strict=True))


@pytest.mark.parametrize(
    "settings", [{}, {"positivity": "penalty"}, {"max_influences": 2}], ids=str
)
def test_partners_have_the_same_unknowns(rng, settings):
    """Partners share unknowns even if influences are pruned and weights are held at zero."""
    solver = make(
        rng,
        **{"expansion_rounds": 1, "max_influences": 4, "positivity": "clip", **settings},
        **SYMMETRIC,
    )
    solver.solve()
    np.testing.assert_array_equal(solver.weights, solver.weights[IMAGE][:, PARTNERS])
    inside = solver._inside
    np.testing.assert_array_equal(inside["symmetry_vertex"], IMAGE)
    for i, j in enumerate(IMAGE):
        image = {PARTNERS[b]: u for b, u in unknowns_of(inside, j).items()}
        assert unknowns_of(inside, i) == image
