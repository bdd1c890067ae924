"""Tests stretchable bones: transforms that scale, and edges that should follow them."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_report, check_weights
from refusals import GOOD, MESH, POSES, WEIGHTS, row, table

PLANE = (0, 0, 0), (1, 0, 0)


def scaled(rng, poses, bones, amount=0.4):
    """Transforms with rotations, scale and shear."""
    linear = shapes.random_rotations(rng, poses, bones) @ (
        np.eye(3) + amount * rng.uniform(-1, 1, (poses, bones, 3, 3))
    )
    return np.concatenate([linear, rng.uniform(-0.3, 0.3, (poses, bones, 3, 1))], -1)


def tensor(linear):
    """U of the polar decomposition Q U."""
    _left, sizes, right = np.linalg.svd(linear)
    return right.T @ np.diag(sizes) @ right


def dense_energy(mesh, weights, poses, stretch):
    """sum a |e' - R U e|^2 relative to that of the edges at rest, U = I + sum w (U_b - I)."""
    points, moved, _ = reference.normalize_to_solver(mesh[0], poses)
    _, a = reference.edge_weights(points, mesh[1])
    total = 0
    for pose, posed in zip(moved, reference.posed(points, weights, moved), strict=True):
        own = np.array(
            [tensor(t[:, :3]) if s else np.eye(3) for t, s in zip(pose, stretch, strict=True)]
        )
        for i in range(len(points)):
            u = np.eye(3) + np.einsum("b,bij->ij", weights[i], own - np.eye(3))
            ring = np.flatnonzero(a[i])
            rest, after = points[ring] - points[i], posed[ring] - posed[i]
            covariance = np.einsum("k,ki,kj->ij", a[i, ring], after, rest)
            best = reference.rotation_of(covariance @ u) @ u
            total += np.sum(a[i, ring, None] * (after - rest @ best.T) ** 2)
    unit = sum(a[i, k] * np.sum((points[k] - points[i]) ** 2) for i, k in reference.edges_of(a))
    return total / (unit * len(poses))


@pytest.mark.parametrize("stretch", [(True, True, True), (False, True, False)])
def test_energy_against_dense_sums(stretch, rng):
    mesh, bones = shapes.tube(5, 7), shapes.chain(3)
    poses, weights = scaled(rng, 4, 3), shapes.random_weights(rng, 35, 3)
    energy = araplbs.energy(
        *mesh, weights, poses, bone_heads=bones.heads, bone_tails=bones.tails, bone_stretch=stretch
    )
    assert energy == pytest.approx(dense_energy(mesh, weights, poses, stretch), rel=1e-9)
    solver = araplbs.Solver(
        *mesh, *bones, bone_stretch=stretch, poses=poses, pose_count=0, weights=weights,
        start_from_weights=True, link_parts=False, max_influences=0, expansion_rounds=0,
        precision="double", **reference.PAPER_ENERGY,
    )  # fmt: skip
    assert solver.energies[0] == pytest.approx(energy, rel=1e-9)


def test_one_bone_stretches_any_ring_at_no_cost(rng):
    """An arm four times as long with the same volume; and any other scale and shear."""
    mesh = shapes.join(shapes.tube(8, 9), shapes.sphere(), shapes.fan())
    poses = scaled(rng, 5, 1)
    poses[0, 0, :, :3] = np.diag([0.5, 0.5, 4])
    bones = shapes.chain(1)
    rest = {"bone_heads": bones.heads, "bone_tails": bones.tails}
    weights = np.ones((len(mesh[0]), 1))
    assert araplbs.energy(*mesh, weights, poses, **rest, bone_stretch=[True]) < 1e-12
    assert araplbs.energy(*mesh, weights, poses, **rest, bone_stretch=[False]) > 0.05


def test_rotations_stretch_nothing(rng):
    """The same numbers as without, except for rounding."""
    mesh, bones = shapes.tube(10, 13), shapes.chain(3)
    plain = araplbs.Solver(*mesh, *bones, precision="double", pose_count=12)
    same = araplbs.Solver(
        *mesh, *bones, precision="double", pose_count=12, bone_stretch=[True, False, True]
    )
    plain.solve(), same.solve()
    np.testing.assert_allclose(same.energies, plain.energies, rtol=1e-8)
    np.testing.assert_allclose(same.weights, plain.weights, atol=1e-6)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_stretched_bone_keeps_its_weights(precision):
    """With as rigid as possible, weights decrease where a bone stretches. With as rigid as desired,
    they decrease less."""
    mesh, bones = shapes.tube(12, 61), shapes.chain(2)
    poses = np.tile(np.eye(3, 4), (9, 2, 1, 1))
    for pose, factor in zip(poses, np.linspace(0.5, 4, 9), strict=True):
        pose[1, 2] = 0, 0, factor, 1 - factor  # about its head at z = 1
    shares = []
    for stretch in (True, False):
        solver = araplbs.Solver(
            *mesh,
            *bones,
            poses=poses,
            bone_stretch=[stretch, stretch],
            precision=precision,
            pose_count=0,
            bone_spring_stiffness=0,  # which would keep the lower bone out of reach
        )
        solver.solve()
        check_weights(solver, 4)
        check_report(solver, mesh[0], bones)
        above = mesh[0][:, 2] > 1.05
        shares.append(solver.weights[above, 1].mean())
    assert shares[0] > shares[1] + 0.01


def test_joints_of_bendy_bones_stretch(rng):
    """Each joint has a column, as in the same problem with a bone for every joint."""
    mesh = shapes.tube(5, 9)
    bones = shapes.chain(2, kinds=["rigid", "bendy"], segments=[0, 2])
    poses, joints = scaled(rng, 3, 2), scaled(rng, 3, 3)
    weights = shapes.random_weights(rng, 45, 2)
    energy = araplbs.energy(
        *mesh, weights, poses, bone_heads=bones.heads, bone_tails=bones.tails,
        bone_kinds=bones.kinds, bone_segments=bones.segments, segment_poses=joints,
        bone_stretch=[False, True],
    )  # fmt: skip
    at = 2 * reference.along_bone(bones.heads[1], bones.tails[1], mesh[0])
    hats = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(3)))
    columns = np.column_stack([weights[:, 0], weights[:, 1:] * hats])
    each = np.concatenate([poses[:, :1], joints], 1)
    expected = dense_energy(mesh, columns, each, [False, True, True, True])
    assert energy == pytest.approx(expected, rel=1e-9)


def test_beside_a_spine():
    """Near a spine, its step also includes the stretch of rigid bones. It is exact where a ring has
    the same number of edges in all directions."""
    vertices, triangles = shapes.tube(8, 9)
    quads = np.array([[i, i // 8 * 8 + (i + 1) % 8] for i in range(64)])
    a, b = quads.T
    other = np.concatenate([np.column_stack([a, b, a + 8]), np.column_stack([b, b + 8, a + 8])])
    bones = shapes.chain(2, kinds=["rigid", "spine"])
    poses = np.tile(np.eye(3, 4), (4, 2, 1, 1))
    for pose, factor in zip(poses, (0.5, 1, 2, 3), strict=True):
        pose[:, 2] = 0, 0, factor, 1 - factor
    means = []
    for stretch in (True, False):
        _total, each = araplbs.energy(
            vertices, np.concatenate([triangles, other]), np.full((72, 2), 0.5), poses,
            bone_heads=bones.heads, bone_tails=bones.tails, bone_kinds=bones.kinds,
            bone_stretch=[stretch, False], per_vertex=True,
        )  # fmt: skip
        means.append(each[8:-8].mean())
    assert means[0] < 1e-12 < 0.01 < means[1]


def test_partners_are_alike():
    bones = shapes.chain(3)
    arguments = {"bone_kinds": ["rigid", "spine", "spine"], "symmetry": ([0, 2, 1], *PLANE)}
    araplbs.Solver(*shapes.tube(6, 5), *bones, **arguments, bone_stretch=[True, True, False])


test_refused = table(
    araplbs.Solver,
    GOOD,
    row(
        "^the mirror partners 1 and 2 are bones of different kinds",
        symmetry=([0, 2, 1], *PLANE),
        bone_stretch=[True, True, False],
    ),
    row(r"^bone_stretch has shape \(2,\), expected \(3,\)", bone_stretch=[True, False]),
)


def test_energy_needs_the_bones():
    with pytest.raises(TypeError, match=r"^bone_stretch needs bone_heads and bone_tails$"):
        araplbs.energy(*MESH, WEIGHTS, POSES, bone_stretch=[True, False, False])
