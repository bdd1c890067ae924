"""Compares dual_quaternion_skinning() with dual quaternions written out in NumPy."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from refusals import INF, MESH, POSES, WEIGHTS, M, changed, row, table


def quaternion(rotation):
    """(4,) by the eigenvector of Horn's matrix, which differs from the module's method."""
    m = rotation
    k = np.array(
        [
            [m[0, 0] + m[1, 1] + m[2, 2], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1]],
        ]
    )
    return np.linalg.eigh(k)[1][:, -1]


def product(a, b):
    return np.array(
        [a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))]
    )


def conjugate(q):
    return q * [1, -1, -1, -1]


def skin(vertices, weights, poses, axes=None):
    """Explicit loops. The rotation of a transform is that of its columns X, Y of the bone."""
    out = np.repeat(vertices[None], len(poses), 0)
    for p, pose in enumerate(poses):
        for i, v in enumerate(vertices):
            real, dual = np.zeros(4), np.zeros(4)
            for b in np.flatnonzero(weights[i]):
                rest = np.eye(3) if axes is None else axes[b]
                x, y, _z = (pose[b, :, :3] @ rest).T
                y = y / np.linalg.norm(y)
                z = np.cross(x, y)
                z = z / np.linalg.norm(z)
                rotation = np.column_stack([np.cross(y, z), y, z]) @ rest.T
                q = quaternion(rotation)
                t = pose[b] @ [*v, 1] - rotation @ v
                sign = -1 if q @ real < 0 else 1
                real += sign * weights[i, b] * q
                dual += sign * weights[i, b] * 0.5 * product(np.array([0, *t]), q)
            if weights[i].sum() > 1e-4:
                turn = product(product(real, np.array([0, *v])), conjugate(real))[1:]
                out[p, i] = (turn + 2 * product(dual, conjugate(real))[1:]) / (real @ real)
    return out


def random_poses(rng, count, bones, scale=0.0):
    poses = np.empty((count, bones, 3, 4))
    for pose in poses.reshape(-1, 3, 4):
        pose[:, :3] = shapes.rotation(rng.normal(size=3), rng.uniform(-3, 3))
        pose[:, :3] @= np.eye(3) + scale * rng.normal(size=(3, 3))
        pose[:, 3] = rng.normal(size=3)
    return poses


@pytest.fixture
def cloud(rng):
    weights = rng.random((40, 4)) * (rng.random((40, 4)) < 0.7)
    weights[7] = 0
    weights[8] = [5e-5, 0, 0, 4e-5]
    return rng.normal(size=(40, 3)), weights


@pytest.mark.parametrize("scale", [0.0, 0.3])
def test_against_explicit_sums(rng, cloud, scale):
    poses = random_poses(rng, 6, 4, scale)
    axes = np.array([shapes.rotation(rng.normal(size=3), a) for a in (0.3, 2, 1, 3)])
    for given in (None, axes):
        got = araplbs.dual_quaternion_skinning(*cloud, poses, bone_axes=given)
        np.testing.assert_allclose(got, skin(*cloud, poses, given), atol=1e-11)
    vertices, _ = cloud
    np.testing.assert_array_equal(got[:, [7, 8]], vertices[None, [7, 8]].repeat(6, 0))


def test_one_bone_takes_points_where_its_transform_does(rng, cloud):
    """Mirrored, sheared, flat or degenerate transforms are applied completely."""
    vertices, _ = cloud
    poses = random_poses(rng, 5, 1, 0.5)
    poses[1, 0, :, :3] *= -1
    poses[2, 0, :, 0] = 0
    poses[3, 0, :, :3] = 0
    poses[4, 0, :, :3] *= 1e-3
    got = araplbs.dual_quaternion_skinning(vertices, np.ones((40, 1)), poses)
    np.testing.assert_allclose(got, reference.posed(vertices, np.ones((40, 1)), poses), atol=1e-12)


def test_keeps_the_radius_of_a_twisted_tube():
    """The purpose of the method: linear blending makes a candy wrapper of the tube."""
    vertices, _ = shapes.tube(around=12, along=11, radius=0.3)
    along = vertices[:, 2] / 2
    poses = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    poses[0, 1, :, :3] = shapes.rotation([0, 0, 1], 3.0)
    weights = np.column_stack([1 - along, along])
    got = araplbs.dual_quaternion_skinning(vertices, weights, poses)[0]
    np.testing.assert_allclose(np.linalg.norm(got[:, :2], axis=1), 0.3, atol=1e-12)
    linear = reference.posed(vertices, weights, poses)[0]
    assert np.linalg.norm(linear[:, :2], axis=1).min() < 0.1


def test_sums_of_weights_do_not_matter_and_rows_do_as_dense_ones(rng, cloud):
    vertices, weights = cloud
    poses = random_poses(rng, 3, 4)
    expected = araplbs.dual_quaternion_skinning(vertices, weights, poses)
    weights = np.where(weights.sum(1, keepdims=True) > 1e-3, 7 * weights, weights)
    rows = (
        np.concatenate([[0], np.cumsum((weights > 0).sum(1))]),
        np.nonzero(weights)[1],
        weights[weights > 0],
    )
    np.testing.assert_allclose(
        araplbs.dual_quaternion_skinning(vertices, rows, poses, threads=3), expected, atol=1e-12
    )


GOOD = {"vertices": MESH[0], "weights": WEIGHTS, "poses": POSES}
AXES = np.tile(np.eye(3), (M, 1, 1))


test_bad_arguments = table(
    araplbs.dual_quaternion_skinning,
    GOOD,
    row("poses has shape", poses=POSES[0]),
    row("weights has shape", weights=WEIGHTS[:, :2]),
    row("there are no poses", poses=[]),
    row("there are no poses", poses=[], bone_axes=AXES[:1]),
    row("there are no poses", poses=POSES[:0]),
    row("bone_axes has shape", bone_axes=AXES[:2]),
    row(
        r"poses\[1, 2\] contains inf: not finite",
        poses=changed(POSES, (1, 2, 0, 3), INF),
    ),
    row(r"bone_axes\[2\] is not a rotation", bone_axes=AXES * [[[1]], [[1]], [[-1]]]),
    row(r"bone_axes\[0\] is not a rotation", bone_axes=1.1 * AXES),
)
