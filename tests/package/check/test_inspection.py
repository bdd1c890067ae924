"""Compares linear_skinning(), nearest_points() and inspect_weights() with their definitions in
plain NumPy."""

import araplbs
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
import shapes
from refusals import MESH, POSES, WEIGHTS, M, N, changed, refuse

CORE, LEAST, FAR, UNLIKE = 0.5, 0.05, 4.0, 0.2


def random_problem(rng, bones=5):
    """A fork of tubes with sparse random weights, some of which are missing."""
    tube = shapes.tube(10, 14, caps=True)
    other = tube[0] + (0.5, 0.03, 0.01), tube[1]
    vertices, triangles = shapes.join(tube, other)
    weights = rng.uniform(size=(len(vertices), bones)) ** 4
    weights[rng.uniform(size=weights.shape) > 0.5] = 0
    weights[::23] = 0
    return vertices, triangles, weights


def graph(vertices, triangles, links=()):
    pairs = np.concatenate([shapes.sides(triangles), np.reshape(links, (-1, 2)).astype(int)])
    pairs = np.unique(np.sort(pairs, 1), axis=0)
    length = np.linalg.norm(vertices[pairs[:, 0]] - vertices[pairs[:, 1]], axis=1)
    n = len(vertices)
    half = scipy.sparse.coo_matrix((length, pairs.T), (n, n))
    return (half + half.T).tocsr()


def normalized(weights):
    sums = weights.sum(1, keepdims=True)
    return np.divide(weights, sums, where=sums > 0, out=np.zeros_like(weights))


def mean_of(weights, ring):
    ring = [k for k in ring if weights[k].any()]
    return weights[ring].mean(0) if ring else None


def contrasts(weights, edges):
    """(contrast, roughness) by their definitions."""
    n = len(weights)
    rings = [set(edges.indices[edges.indptr[i] : edges.indptr[i + 1]]) for i in range(n)]

    def contrast(i, but=None):
        mean = mean_of(weights, rings[i] - {but})
        return 0 if mean is None or not weights[i].any() else abs(weights[i] - mean).sum() / 2

    rough = np.zeros(n)
    for i in np.flatnonzero(weights.any(1)):
        around = [contrast(k, i) for k in rings[i] if weights[k].any()]
        rough[i] = np.mean(around) if around else 0
    found = np.array([contrast(i) for i in range(n)])
    return found, np.where(found >= UNLIKE, rough, 0)


def core_of(weight, edges):
    """The vertices of the core of a bone."""
    wanted = np.flatnonzero((weight >= CORE * weight.max()) & (weight > 0))
    _, label = scipy.sparse.csgraph.connected_components(edges[wanted][:, wanted])
    return wanted[label == np.bincount(label, weight[wanted]).argmax()]


def distances(vertices, weights, edges):
    straight, along = np.zeros_like(weights), np.zeros_like(weights)
    for bone, weight in enumerate(weights.T):
        if weight.max() < LEAST:
            continue
        core = core_of(weight, edges)
        far = np.setdiff1d(np.flatnonzero(weight >= LEAST), core)
        off = np.linalg.norm(vertices[far, None] - vertices[core], axis=2).min(1)
        ways = scipy.sparse.csgraph.dijkstra(edges, indices=core, min_only=True)[far]
        straight[far, bone] = off
        along[far, bone] = np.where(ways > FAR * off.max(initial=0), np.inf, ways)
    return straight, along


@pytest.mark.parametrize("linked", [False, True])
def test_inspection(rng, linked):
    vertices, triangles, weights = random_problem(rng)
    half = len(vertices) // 2
    links = np.array([[3, half + 7], [40, half + 40]]) if linked else np.zeros((0, 2), int)
    contrast, roughness, straight, along = araplbs.inspect_weights(
        vertices, triangles, weights, links=links
    )
    w = normalized(weights)
    expected = contrasts(w, graph(vertices, triangles))
    np.testing.assert_allclose(contrast, expected[0], atol=1e-12)
    np.testing.assert_allclose(roughness, expected[1], atol=1e-12)
    entries = np.nonzero(weights)
    expected = distances(vertices, w, graph(vertices, triangles, links))
    np.testing.assert_allclose(straight, expected[0][entries], atol=1e-9)
    np.testing.assert_allclose(along, expected[1][entries], atol=1e-9)
    assert np.isinf(along).any() != linked and (straight > 0).any()


def test_inspection_of_split_vertices(rng):
    """Coincident vertices count as one."""
    vertices, triangles, weights = random_problem(rng)
    weights += 1e-3  # all entries are there
    expected = araplbs.inspect_weights(vertices, triangles, weights)
    corners = triangles.ravel()
    split = shapes.split(vertices, triangles)
    found = araplbs.inspect_weights(*split, weights[corners])
    for one, other in zip(found, expected, strict=True):
        other = other.reshape(len(vertices), -1)[corners].ravel()
        np.testing.assert_allclose(one, other, atol=1e-9)


def nearest_by_force(vertices, triangles, points):
    """Distances to the nearest of many samples of each triangle: a nearly tight upper bound."""
    steps = np.linspace(0, 1, 25)
    at = np.array([(1 - a - b, a, b) for a in steps for b in steps if a + b <= 1 + 1e-9])
    samples = np.einsum("sc,tci->tsi", at, vertices[triangles]).reshape(-1, 3)
    return np.array([np.linalg.norm(samples - p, axis=1).min() for p in points])


def test_nearest_points(rng):
    vertices, triangles = shapes.sphere(9, 14)
    points = rng.normal(size=(60, 3))
    corners, at, heights, parts = araplbs.nearest_points(vertices, triangles, points)
    place = np.einsum("kci,kc->ki", vertices[corners], at)
    np.testing.assert_allclose(np.linalg.norm(points - place, axis=1), abs(heights), atol=1e-12)
    expected = nearest_by_force(vertices, triangles, points)
    assert (abs(heights) <= expected + 1e-12).all() and (expected - abs(heights)).max() < 0.01
    inside = np.linalg.norm(points, axis=1) < 0.45
    outside = np.linalg.norm(points, axis=1) > 0.5
    assert (heights[inside] < 0).all() and (heights[outside] > 0).all() and inside.any()
    assert (at >= 0).all() and np.allclose(at.sum(1), 1) and not parts.any()


@pytest.mark.parametrize("threads", [2, 3, 200])
def test_large_trees_are_the_same_whatever_builds_them(threads, rng):
    """There are so many triangles that several threads split and build the tree."""
    vertices, triangles = shapes.sphere(90, 90)
    assert len(triangles) > 16000
    points = rng.normal(size=(300, 3))
    one, many = (
        araplbs.nearest_points(vertices, triangles, points, threads=t) for t in (1, threads)
    )
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one[2], np.linalg.norm(points, axis=1) - 0.5, atol=1e-3)


def test_parts_alone():
    """Without points, there are no nearest ones, but there are parts."""
    body = shapes.join(shapes.sphere(), shapes.sphere(at=(1.5, 0, 0)))
    *found, parts = araplbs.nearest_points(*body, np.zeros((0, 3)))
    assert [len(each) for each in found] == [0, 0, 0]
    np.testing.assert_array_equal(parts, araplbs.nearest_points(*body, body[0])[3])
    assert parts.max() == 1


def test_nearest_points_of_other_parts():
    one, other = shapes.sphere(), shapes.sphere(at=(1.5, 0, 0))
    vertices, triangles = shapes.join(one, other)
    n = len(one[0])
    owners = np.arange(len(vertices))
    corners, _at, heights, parts = araplbs.nearest_points(
        vertices, triangles, vertices, owners=owners
    )
    assert (parts[:n] == parts[0]).all() and (parts[n:] == parts[n]).all() and parts[0] != parts[n]
    assert (parts[corners[:, 0]] != parts).all() and (heights > 0.4).all()
    alone = araplbs.nearest_points(*one, one[0], owners=np.arange(n))
    assert (alone[0] == -1).all() and np.isinf(alone[2]).all()
    joined = araplbs.nearest_points(vertices, triangles, vertices, owners=owners, edges=[[0, n]])
    assert not joined[3].any()


def test_linear_skinning(rng):
    vertices, weights = rng.normal(size=(30, 3)), rng.uniform(size=(30, 4))
    weights[4] = 0
    poses = rng.normal(size=(7, 4, 3, 4))
    found = araplbs.linear_skinning(vertices, weights, poses)
    moved = np.einsum("pbij,vj->pbvi", poses[..., :3], vertices) + poses[..., None, :, 3]
    expected = np.einsum("vb,pbvi->pvi", normalized(weights), moved)
    expected[:, 4] = vertices[4]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_linear_skinning_of_bendy_bones(rng):
    """This test also covers the measures of bendy bones."""
    vertices, triangles = shapes.tube()
    bones = shapes.chain(2)
    weights = rng.uniform(size=(len(vertices), 2))
    kinds = {"bone_kinds": ["bendy", "spine"], "bone_segments": [3, 1]}
    poses, bends = araplbs.sample_poses(*bones, 5, **kinds)
    more = {"bone_heads": bones.heads, "bone_tails": bones.tails, **kinds, "bends": bends}
    posed = araplbs.linear_skinning(vertices, weights, poses, **more)
    strain = araplbs.surface_strain(vertices, triangles, posed)
    seen = araplbs.deformation(vertices, triangles, weights, poses, per_triangle=True, **more)
    np.testing.assert_allclose(strain, seen["triangle_strain"], atol=1e-9)


SKINNED = {"vertices": MESH[0], "weights": WEIGHTS, "poses": POSES}
SURFACE = {"vertices": MESH[0], "triangles": MESH[1]}
POINTS = np.zeros((3, 3))


@pytest.mark.parametrize(
    ("pattern", "function", "arguments"),
    [
        ("weights has shape", "linear_skinning", {**SKINNED, "weights": WEIGHTS[:-1]}),
        (r"poses\[0\] of bone 1 contains nan", "linear_skinning",
         {**SKINNED, "poses": changed(POSES, (0, 1, 0, 0), np.nan)}),
        ("vertices contains nan", "linear_skinning", {**SKINNED, "vertices": MESH[0] * np.nan}),
        ("points contains nan", "nearest_points", {**SURFACE, "points": POINTS * np.nan}),
        ("points has shape", "nearest_points", {**SURFACE, "points": POINTS[:, :2]}),
        (r"owners\[1\] is 30, but there are 30", "nearest_points",
         {**SURFACE, "points": POINTS, "owners": [0, N, 0]}),
        (r"owners\[2\] is -2", "nearest_points",
         {**SURFACE, "points": POINTS, "owners": [0, -1, -2]}),
        ("owners has shape", "nearest_points", {**SURFACE, "points": POINTS, "owners": [0]}),
        (r"radius\[1\] is nan: not a distance", "nearest_points",
         {**SURFACE, "points": POINTS, "radius": [1, np.nan, np.inf]}),
        (r"triangles\[0", "nearest_points",
         {**SURFACE, "points": POINTS, "triangles": changed(MESH[1], (0, 0), 99)}),
        ("the weight of vertex 0 for bone 0 is nan", "inspect_weights",
         {**SURFACE, "weights": WEIGHTS * np.nan}),
        ("weights has shape", "inspect_weights", {**SURFACE, "weights": WEIGHTS[1:]}),
        (r"links\[1, 0\] is 30, but there are 30", "inspect_weights",
         {**SURFACE, "weights": WEIGHTS, "links": [[0, 1], [N, 2]]}),
        (r"triangles\[0", "inspect_weights",
         {**SURFACE, "weights": WEIGHTS, "triangles": changed(MESH[1], (0, 0), -1)}),
    ],
)  # fmt: skip
def test_refused(pattern, function, arguments):
    refuse(ValueError, pattern, getattr(araplbs, function), **arguments)


def test_rows_whose_sums_underflow():
    """Only the proportions within a row matter."""
    weights = np.eye(M)[np.arange(N) % M]
    expected = araplbs.inspect_weights(*MESH, weights)
    for tiny in (5e-324, 1e-310):
        for found, other in zip(
            araplbs.inspect_weights(*MESH, tiny * weights), expected, strict=True
        ):
            np.testing.assert_array_equal(found, other)


def test_reach(rng):
    """Points farther away are not found. Everything else is the same."""
    vertices, triangles = shapes.sphere()
    points = rng.normal(size=(50, 3))
    expected = araplbs.nearest_points(vertices, triangles, points)
    reach = np.where(np.arange(50) % 3, 0.5, np.inf)
    corners, _at, heights, _parts = araplbs.nearest_points(
        vertices, triangles, points, radius=reach
    )
    near = abs(expected[2]) < reach
    assert near.any() and not near.all()
    np.testing.assert_array_equal(corners, np.where(near[:, None], expected[0], -1))
    np.testing.assert_array_equal(heights, np.where(near, expected[2], np.inf))


def test_points_too_far():
    """Points that are too far away have no nearest triangle."""
    corners, _at, heights, _parts = araplbs.nearest_points(**SURFACE, points=[[1e200, 0, 0]])
    assert (corners == -1).all() and np.isinf(heights).all()


def test_without_faces():
    contrast, _roughness, _straight, _along = araplbs.inspect_weights(
        MESH[0], None, WEIGHTS, edges=[[0, 1]]
    )
    assert contrast.max() < 1e-12
