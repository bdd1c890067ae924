"""Mixed finite elements: the KKT system, the adjoint gradient, and samples with their interpolation
weights."""

import araplbs
import fuzzing_functions
import numpy as np
import pytest
import reference
import shapes
from refusals import refuse
from test_elastic import bent, blended, measured, plane_map

STIFFNESS = 1.0  # of csrc/extras/mixed_state.c


def tube(around=8, along=13):
    vertices, triangles = shapes.tube(around, along, caps=True)
    bones = shapes.chain(2)
    return vertices, triangles, bent(90), bones.heads, bones.tails


def solid():
    vertices, tets = shapes.bar((1, 1, 5), (0.4, 0.4, 2.0))
    bones = shapes.chain(2)
    return (vertices, None, bent(70), bones.heads, bones.tails), tets


def elements(vertices, triangles, tets):
    """(corners, gradients (d, k), axes (3, d), size) of each, with lengths in diagonals."""
    if tets is None:
        for t in triangles:
            slopes, axes = plane_map(vertices[t])
            sides = vertices[t][1:] - vertices[t][0]
            yield t, slopes, axes, np.linalg.norm(np.cross(*sides)) / 2
        return
    surface = np.array(reference.tet_surface(vertices, tets))
    sides = vertices[surface[:, 1:]] - vertices[surface[:, :1]]
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum() / 2
    volume = sum(reference.tet_volume(vertices[t]) for t in tets)
    for t in tets:
        inverse = np.linalg.inv((vertices[t][1:] - vertices[t][0]).T)
        slopes = np.stack([-inverse.sum(0), *inverse]).T
        yield t, slopes, np.eye(3), abs(reference.tet_volume(vertices[t])) * area / abs(volume)


def symmetric(d):
    for a in range(d):
        for b in range(a, d):
            basis = np.zeros((d, d))
            basis[a, b] = basis[b, a] = 1
            yield basis


def solve_kkt(vertices, triangles, tets, rotations, pulls, targets):
    """x and S of the whole system (S, x, multipliers), by dense algebra."""
    n, rows = len(vertices), list(elements(vertices, triangles, tets))
    d = rows[0][1].shape[0]
    basis = list(symmetric(d))
    p, q = len(basis), 3 * d
    total = 3 * n + len(rows) * (p + q)
    matrix, right = np.zeros((total, total)), np.zeros(total)
    for i in range(3 * n):
        matrix[i, i] = 2 * pulls[i // 3]
        right[i] = 2 * pulls[i // 3] * targets.ravel()[i]
    for e, (t, slopes, axes, size) in enumerate(rows):
        s = 3 * n + e * (p + q) + np.arange(p)
        m = 3 * n + e * (p + q) + p + np.arange(q)
        to_f = np.zeros((q, 3 * n))
        for k, i in enumerate(t):
            for r in range(3):
                to_f[r * d + np.arange(d), 3 * i + r] = slopes[:, k]
        to_rs = np.stack([(rotations[e] @ axes @ b).ravel() for b in basis], 1)
        inner = np.array([[np.sum(a * b) for b in basis] for a in basis])
        matrix[np.ix_(s, s)] += 2 * size * inner
        right[s] += 2 * size * np.array([np.trace(b) for b in basis])
        matrix[np.ix_(m, range(3 * n))] += size * to_f
        matrix[np.ix_(range(3 * n), m)] += size * to_f.T
        matrix[np.ix_(m, s)] -= size * to_rs
        matrix[np.ix_(s, m)] -= size * to_rs.T
        matrix[m, m] -= size / (2 * STIFFNESS)
    found = np.linalg.solve(matrix, right)
    stretches = []
    for e in range(len(rows)):
        s = found[3 * n + e * (p + q) :][:p]
        stretches.append(sum(c * b for c, b in zip(s, basis, strict=True)))
    return found[: 3 * n].reshape(n, 3), np.array(stretches), d


@pytest.mark.parametrize("tets", [False, True])
def test_against_a_dense_kkt_system(tets, rng):
    arguments, own = solid() if tets else (tube(6, 7), None)
    vertices, triangles, poses = arguments[:3]
    found = araplbs.mixed_elasticity(*arguments, tets=own, samples=6)
    turns = found["turns"] + rng.normal(0, 0.3, found["turns"].shape)
    found = araplbs.mixed_elasticity(*arguments, tets=own, samples=6, turns=turns)
    unit, center = np.linalg.norm(np.ptp(vertices, 0)), (vertices.min(0) + vertices.max(0)) / 2
    bone = (vertices[:, 2] > 1).astype(int)  # at the joint both take a vertex to one place or not
    far = np.abs(vertices[:, 2] - 1) > 1e-9
    taken = np.einsum("nij,nj->ni", poses[0][bone][..., :3], vertices) + poses[0][bone][..., 3]
    low = np.einsum("ij,nj->ni", poses[0][0][:, :3], vertices) + poses[0][0][:, 3]
    taken = np.where(far[:, None], taken, low)  # the first of equally near bones
    x, stretches, d = solve_kkt(
        (vertices - center) / unit, triangles, own, found["rotations"], found["pulls"],
        (taken - center) / unit,
    )  # fmt: skip
    np.testing.assert_allclose((found["points"] - center) / unit, x, atol=1e-9)
    np.testing.assert_allclose(found["stretches"][:, :d, :d], stretches, atol=1e-9)
    assert (found["stretches"][:, d:] == 0).all()


@pytest.mark.parametrize("tets", [False, True])
def test_the_adjoint_gradient_against_differences(tets, rng):
    arguments, own = solid() if tets else (tube(), None)
    options = {"tets": own, "samples": 5}
    turns = araplbs.mixed_elasticity(*arguments, **options)["turns"]
    turns = turns + rng.normal(0, 0.4, turns.shape)
    found = araplbs.mixed_elasticity(*arguments, **options, turns=turns)
    for _ in range(6):
        way, h = rng.normal(size=turns.shape), 1e-5
        up, down = (
            araplbs.mixed_elasticity(*arguments, **options, turns=turns + s * h * way)["energy"]
            for s in (1, -1)
        )
        expected = (up - down) / (2 * h)
        assert np.sum(found["gradient"] * way) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_samples_are_blue_noise():
    """No two samples are nearer to each other than the farthest vertex is to all of them, along
    edges."""
    arguments = tube(12, 25)
    vertices, triangles = arguments[:2]
    found = araplbs.mixed_elasticity(*arguments, samples=15)
    samples = found["samples"]
    assert len(set(samples.tolist())) == 15
    distance = np.full((len(vertices),) * 2, np.inf)
    for a, b in np.concatenate([triangles[:, [0, 1]], triangles[:, 1:], triangles[:, ::2]]):
        distance[a, b] = distance[b, a] = np.linalg.norm(vertices[a] - vertices[b])
    np.fill_diagonal(distance, 0)
    cot = distance.copy()
    for k in range(len(vertices)):
        cot = np.minimum(cot, cot[:, [k]] + cot[[k]])
    apart = cot[np.ix_(samples, samples)] + np.diag(np.full(15, np.inf))
    covering = cot[:, samples].min(1).max()
    assert apart.min() >= 0.99 * covering
    assert covering < 0.5 * cot[:, samples[0]].max()


def test_weights_of_samples_sum_to_one_and_spread_what_is_constant(rng):
    arguments = tube()
    button = shapes.box((0.05, 0.05, 0.05), (0, 3.0, 1.0))  # out of reach of links
    vertices, triangles = shapes.join(arguments[:2], button)
    arguments = vertices, triangles, *arguments[2:]
    found = araplbs.mixed_elasticity(*arguments, samples=8)
    np.testing.assert_allclose(found["weights"].sum(1), 1, atol=1e-12)
    assert (found["samples"] >= len(vertices) - 8).sum() == 1  # each island has its own
    turns = np.tile(rng.normal(size=3), (len(found["samples"]), 1))
    turned = araplbs.mixed_elasticity(*arguments, samples=8, turns=turns)["rotations"]
    np.testing.assert_allclose(turned, np.tile(turned[0], (len(triangles), 1, 1)), atol=1e-9)


def test_poses_fall_and_bend():
    arguments = tube(8, 17)
    poses = np.concatenate([bent(90), bent(30), bent(0)])
    arguments = (*arguments[:2], poses, *arguments[3:])
    posed, energies = araplbs.elastic_poses(
        *arguments, method="mixed", iterations=60, tolerance=1e-6, per_iteration=True
    )
    assert (np.diff(energies, axis=0) <= 0).all()
    assert (energies[-1, :2] < 0.9 * energies[0, :2]).all()
    np.testing.assert_allclose(posed[2], arguments[0], atol=1e-6)
    skinned = reference.posed(arguments[0], blended(arguments[0]), poses)
    assert measured(arguments, posed)["area"] < measured(arguments, skinned)["area"]


def test_half_turns_have_a_vector():
    """Bones rotated by 180 degrees relative to each other, about any axis."""
    arguments = tube(8, 11)
    for axis in np.eye(3):
        poses = bent(0)
        turn = reference.turn(np.pi * axis)
        poses[0, 1, :, :3] = turn
        poses[0, 1, :, 3] = [0, 0, 1] - turn @ [0, 0, 1]
        found = araplbs.mixed_elasticity(*arguments[:2], poses, *arguments[3:], samples=8)
        assert np.isfinite(found["turns"]).all()
        spread = np.linalg.norm(found["turns"][:, None] - found["turns"], axis=2)
        assert spread.max() == pytest.approx(np.pi, abs=1e-6)


def test_bad_values_are_named():
    arguments = dict(
        zip(("vertices", "triangles", "poses", "bone_heads", "bone_tails"), tube(6, 5), strict=True)
    )
    mixed = araplbs.mixed_elasticity
    refuse(ValueError, "there are 3 turns, but 5 samples", mixed, **arguments, samples=5,
           turns=np.zeros((3, 3)))  # fmt: skip
    refuse(ValueError, "turns", mixed, **arguments, turns=np.zeros((5, 2)), samples=5)
    refuse(ValueError, "samples is 0", mixed, **arguments, samples=0)
    refuse(ValueError, "hold is 0", mixed, **arguments, hold=0.0)
    refuse(ValueError, "needs a triangle or tet of nonzero size", mixed,
           **{**arguments, "triangles": None})  # fmt: skip
    large = shapes.tube(60, 101)
    refuse(ValueError, "6060 vertices are too many for the mixed method: at most 5000",
           araplbs.elastic_poses, **{**arguments, "vertices": large[0], "triangles": large[1]},
           method="mixed")  # fmt: skip
    refuse(ValueError, "turns contains nan: not finite", mixed, **arguments, samples=5,
           turns=np.full((5, 3), np.nan))  # fmt: skip


def test_a_vertex_that_no_way_leads_to_a_sample():
    """Its faces have no size, so it belongs to no element, and the others rotate as without it."""
    vertices, triangles, poses, heads, tails = tube(6, 5)
    loose = np.concatenate([vertices, vertices[:1] + 0.3, vertices[:1] + 0.3 + 1e-9])
    n = len(vertices)
    faces = np.concatenate([triangles, [[n, n + 1, n]]])
    for more in (loose, loose * 1e-3):
        found = araplbs.mixed_elasticity(more, faces, poses, heads, tails, samples=3)
        assert all(np.isfinite(numbers).all() for numbers in found.values())


@pytest.mark.parametrize("seed", [8196, 9752])
def test_gradients_are_finite(seed):
    """Meshes of the fuzzer with vertices that follow no sample."""
    rng = np.random.default_rng([seed, 77])
    rng.random()  # with which the fuzzer chose this function
    fuzzing_functions.mixed(rng)
