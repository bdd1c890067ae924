"""Compares centers of rotation with the published formulas in explicit loops, and tests their
purpose."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from refusals import MESH, NAN, POSES, WEIGHTS, M, N, changed, row, table
from shapes import rotation
from test_dual_quaternions import product, quaternion, random_poses

SIGMA = 0.1


def similarity(one, other, sigma=SIGMA):
    total = 0.0
    for j in range(len(one)):
        for k in range(len(one)):
            if j != k:
                off = one[j] * other[k] - one[k] * other[j]
                total += one[j] * one[k] * other[j] * other[k] * np.exp(-(off**2) / sigma**2)
    return total


def centers(vertices, triangles, weights, sigma=SIGMA):
    weights = weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)
    found = np.full(vertices.shape, np.nan)
    corners = vertices[triangles]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(cross, axis=1) / 2
    means, places = weights[triangles].mean(1), corners.mean(1)
    for i, own in enumerate(weights):
        s = np.array([similarity(own, mean, sigma) for mean in means]) * areas
        if s.sum() > 0:
            found[i] = s @ places / s.sum()
    return found


def skin(vertices, weights, poses, around):
    """Algorithm 1, for rigid transforms."""
    out = np.empty((len(poses), *vertices.shape))
    for p, pose in enumerate(poses):
        for i, v in enumerate(vertices):
            own = weights[i] / weights[i].sum()
            q = np.zeros(4)
            for b in np.flatnonzero(own):
                turn = quaternion(pose[b, :, :3])
                q += own[b] * (turn if turn @ q >= 0 else -turn)
            q /= np.linalg.norm(q)
            blended = np.einsum("b,brc->rc", own, pose)
            center = around[i] if np.isfinite(around[i]).all() else v
            turned = product(product(q, np.array([0, *(v - center)])), q * [1, -1, -1, -1])[1:]
            out[p, i] = blended @ [*center, 1] + turned
    return out


def sparse(weights):
    return shapes.rows(weights > 0, weights)


@pytest.mark.parametrize("name", ["tube", "soup"])
@pytest.mark.parametrize("sigma", [0.1, 0.7])
def test_against_explicit_sums(rng, name, sigma):
    mesh = shapes.tube(6, 7) if name == "tube" else shapes.soup(30)
    weights = shapes.random_weights(rng, len(mesh[0]), 4, 0.5) * rng.uniform(0.5, 3)
    weights[4] = 0
    weights[5] = [0, 0, 1, 0]
    expected = centers(*mesh, weights, sigma)
    got = araplbs.rotation_centers(*mesh, weights, sigma=sigma)
    np.testing.assert_allclose(got, expected, atol=1e-10)
    assert np.isnan(got[4:6]).all()
    assert np.isfinite(got).any(1).sum() > len(got) / 2
    np.testing.assert_array_equal(
        araplbs.rotation_centers(*mesh, sparse(weights), sigma=sigma, threads=3), got
    )


def test_sigma_is_the_published_one_by_default(rng):
    mesh = shapes.tube(6, 7)
    weights = shapes.random_weights(rng, len(mesh[0]), 3)
    np.testing.assert_array_equal(
        araplbs.rotation_centers(*mesh, weights),
        araplbs.rotation_centers(*mesh, weights, sigma=0.1),
    )


def test_skinning_against_explicit_sums(rng):
    mesh = shapes.tube(6, 7)
    weights = shapes.random_weights(rng, len(mesh[0]), 4, 0.5) * 3
    around = rng.normal(size=mesh[0].shape)
    around[3] = np.nan
    poses = random_poses(rng, 5, 4)
    got = araplbs.center_of_rotation_skinning(mesh[0], weights, poses, around, threads=2)
    np.testing.assert_allclose(got, skin(mesh[0], weights, poses, around), atol=1e-12)
    linear = reference.posed(mesh[0], weights / weights.sum(1, keepdims=True), poses)
    np.testing.assert_allclose(got[:, 3], linear[:, 3], atol=1e-12)


def test_one_bone_takes_points_where_its_transform_does(rng):
    """Scaled, sheared, mirrored, and with any center."""
    vertices = rng.normal(size=(20, 3))
    poses = random_poses(rng, 4, 1, 0.5)
    poses[1, 0, :, :3] *= -1
    poses[2, 0, :, :3] *= 1e-3
    around = rng.normal(size=(20, 3))
    axes = rotation([1, 2, 3], 0.7)[None]
    got = araplbs.center_of_rotation_skinning(
        vertices, np.ones((20, 1)), poses, around, bone_axes=axes
    )
    expected = reference.posed(vertices, np.ones((20, 1)), poses)
    np.testing.assert_allclose(got, expected, atol=1e-11)


def test_vertices_without_weights_stay(rng):
    vertices, weights = rng.normal(size=(5, 3)), np.zeros((5, 2))
    weights[1:, 0] = 1
    got = araplbs.center_of_rotation_skinning(
        vertices, weights, random_poses(rng, 2, 2), np.zeros((5, 3))
    )
    np.testing.assert_array_equal(got[:, 0], vertices[None, 0].repeat(2, 0))


RADIUS, HEIGHT, AROUND, ALONG = 0.3, 3.0, 24, 61
BLEND = 4 * RADIUS


def limb():
    """A tube of two bones that are blended over two diameters around its middle."""
    vertices, triangles = shapes.tube(AROUND, ALONG, RADIUS, HEIGHT)
    along = np.clip((vertices[:, 2] - HEIGHT / 2) / BLEND + 0.5, 0, 1)
    share = along**2 * (3 - 2 * along)
    return vertices, triangles, np.column_stack([1 - share, share])


def three_ways(turn):
    """The limb with its second bone rotated about the middle: {deformer: (n, 3)}."""
    vertices, triangles, weights = limb()
    middle = np.array([0, 0, HEIGHT / 2])
    poses = np.tile(np.eye(3, 4), (1, 2, 1, 1))
    poses[0, 1, :, :3], poses[0, 1, :, 3] = turn, middle - turn @ middle
    around = araplbs.rotation_centers(vertices, triangles, weights)
    return {
        "linear": reference.posed(vertices, weights, poses)[0],
        "dual": araplbs.dual_quaternion_skinning(vertices, weights, poses)[0],
        "centers": araplbs.center_of_rotation_skinning(vertices, weights, poses, around)[0],
    }


@pytest.mark.parametrize("angle", [150, 175])
def test_a_twisted_limb_keeps_its_radius(angle):
    """There is no candy wrapper, unlike with linear blending."""
    ways = three_ways(rotation([0, 0, 1], np.radians(angle)))
    least = {way: np.linalg.norm(posed[:, :2], axis=1).min() for way, posed in ways.items()}
    assert least["linear"] < 0.3 * RADIUS
    assert least["dual"] > 0.999 * RADIUS
    assert least["centers"] > 0.999 * RADIUS


def farthest(posed, turn):
    """The largest distance from both bones, in radii, of the vertices around the joint."""
    middle = np.array([0, 0, HEIGHT / 2])
    off = posed - middle
    second = turn @ [0, 0, 1]
    away = [
        np.linalg.norm(off - np.maximum(0, off @ axis)[:, None] * axis, axis=1)
        for axis in (np.array([0, 0, -1.0]), second)
    ]
    return np.min(away, axis=0).max() / RADIUS


def sections(posed):
    """Centers (sections, 3) of the cross sections, and the smallest distance from them, in
    radii."""
    rings = posed.reshape(ALONG, AROUND, 3)
    middle = rings.mean(1)
    return middle, np.linalg.norm(rings - middle[:, None], axis=2).min() / RADIUS


@pytest.mark.parametrize("angle", [60, 90, 120])
def test_a_bent_limb_has_no_joint_bulge(angle):
    """Dual quaternions push the sections of an elbow outward, and linear blending flattens them;
    rotated about their centers, they stay round and in the position that linear blending gives."""
    turn = rotation([1, 0, 0], np.radians(angle))
    ways = three_ways(turn)
    found = [sections(ways[way]) for way in ("linear", "dual", "centers")]
    center, thickness = zip(*found, strict=True)
    assert thickness[0] < 0.9
    assert min(thickness[1:]) > 0.999
    pushed = [np.linalg.norm(c - center[0], axis=1).max() / RADIUS for c in center[1:]]
    assert pushed[0] > 0.05
    assert pushed[1] < 0.1 * pushed[0]
    bulge = {way: farthest(posed, turn) - 1 for way, posed in ways.items()}
    assert bulge["linear"] < bulge["centers"] < bulge["dual"] - 0.02


CENTERS = {
    "vertices": MESH[0],
    "triangles": MESH[1],
    "weights": WEIGHTS,
}
SKINNED = {
    "vertices": MESH[0],
    "weights": WEIGHTS,
    "poses": POSES,
    "centers": MESH[0],
}
START = np.arange(N + 1)


test_bad_arguments_of_centers = table(
    araplbs.rotation_centers,
    CENTERS,
    row("weights has shape", weights=WEIGHTS[:3]),
    row("sigma is 0: must be", sigma=0.0),
    row("sigma is nan: must be", sigma=NAN),
    row(
        r"triangles\[0, 0\] is 30, but there are 30",
        triangles=changed(MESH[1], (0, 0), N),
    ),
    row(
        "weights of vertex 0 refer to bone -1",
        weights=(START, np.full(N, -1), np.ones(N)),
    ),
    row(
        "2147483648 bones are too many",
        weights=(START, np.full(N, 2**31 - 1), np.ones(N)),
    ),
)


test_bad_arguments_of_skinning = table(
    araplbs.center_of_rotation_skinning,
    SKINNED,
    row("centers has shape", centers=MESH[0][:3]),
    row("there are no poses", poses=[]),
    row(r"bone_axes\[0\] is not a rotation", bone_axes=1.1 * np.tile(np.eye(3), (M, 1, 1))),
)
