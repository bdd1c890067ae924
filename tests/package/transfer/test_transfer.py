"""Compares matching and inpainting of one mesh's weights for another mesh with dense NumPy, and
tests refusals."""

import araplbs
import generated
import numpy as np
import pytest
import shapes
from refusals import changed, refuse, row, table

SOURCE = shapes.sphere(11, 16, 1.0)
RNG = np.random.default_rng(4)
WEIGHTS = RNG.dirichlet(np.ones(3), len(SOURCE[0]))


def transfer(target, source=SOURCE, weights=WEIGHTS, **options):
    rows, *facts = araplbs.transfer_weights(*source, weights, *target, **options)
    bones = 1 + rows[1].max() if isinstance(weights, tuple) else weights.shape[1]
    return shapes.dense(rows, bones), *facts


def shell(offset, rings=14, around=20, keep=lambda v: True):
    """A sphere around the source, with only the triangles whose corners are all kept."""
    vertices, triangles = shapes.sphere(rings, around, 1 + offset)
    kept = np.array([keep(v) for v in vertices])
    triangles = triangles[kept[triangles].all(1)]
    used = np.unique(triangles)
    return vertices[used], np.searchsorted(used, triangles)


def nearest_on_triangle(p, corners):
    """By the plane, and by the three edges."""
    a, b, c = corners
    best = None
    matrix = np.column_stack([b - a, c - a])
    v, w = np.linalg.lstsq(matrix, p - a, rcond=None)[0]
    options = [np.array([1 - v - w, v, w])] if min(v, w, 1 - v - w) >= 0 else []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        edge = corners[j] - corners[i]
        t = np.clip((p - corners[i]) @ edge / (edge @ edge), 0, 1)
        bary = np.zeros(3)
        bary[i], bary[j] = 1 - t, t
        options.append(bary)
    for bary in options:
        d = np.linalg.norm(bary @ corners - p)
        if best is None or d < best[0]:
            best = d, bary
    return best


def nearest_by_hand(p, vertices, triangles):
    """(distance, triangle, barycentric coordinates)."""
    found = [nearest_on_triangle(p, vertices[t]) for t in triangles]
    t = int(np.argmin([d for d, _ in found]))
    return found[t][0], triangles[t], found[t][1]


def match_by_hand(source, target):
    """(distances, angles, weights) of the nearest points, one after the other."""
    normals, own = generated.normals(*source), generated.normals(*target)
    distances, angles, weights = [], [], []
    for i, p in enumerate(target[0]):
        d, triangle, bary = nearest_by_hand(p, *source)
        normal = bary @ normals[triangle]
        distances.append(d)
        angles.append(np.arccos(np.clip(normal @ own[i] / np.linalg.norm(normal), -1, 1)))
        weights.append(bary @ WEIGHTS[triangle])
    return np.array(distances), np.array(angles), np.array(weights)


def laplacian(vertices, triangles):
    """(L, cell areas), dense."""
    n = len(vertices)
    matrix, area = np.zeros((n, n)), np.zeros(n)
    for t in triangles:
        for c in range(3):
            i, j, k = t[(c + 1) % 3], t[(c + 2) % 3], t[c]
            u, v = vertices[i] - vertices[k], vertices[j] - vertices[k]
            twice = np.linalg.norm(np.cross(u, v))
            half = u @ v / twice / 2
            matrix[[i, j], [j, i]] -= half
            matrix[[i, j], [i, j]] += half
            area[k] += twice / 6
    return matrix, area


def inpaint_by_hand(target, known, weights):
    matrix, area = laplacian(*target)
    q = matrix @ np.diag(1 / area) @ matrix
    out = weights.copy()
    out[~known] = np.linalg.solve(q[~known][:, ~known], -q[~known][:, known] @ weights[known])
    out[~known] = np.where(out[~known] > 1e-4, out[~known], 0)
    return out / out.sum(1, keepdims=True)


def test_matches_by_hand():
    rng = np.random.default_rng(1)
    vertices, triangles = shell(0.1, rings=7, around=11)
    target = vertices + rng.normal(size=vertices.shape) * 0.06, triangles
    distances, angles, weights = match_by_hand(SOURCE, target)
    size = np.linalg.norm(np.ptp(SOURCE[0], axis=0))
    matched, found, facing = araplbs.match_surfaces(*SOURCE, *target, distance=0.04, angle=0.5)
    np.testing.assert_allclose(found, distances, atol=1e-9)
    np.testing.assert_allclose(facing, angles, atol=1e-6)
    np.testing.assert_array_equal(matched, (distances <= 0.04 * size) & (angles <= 0.5))
    assert 0.1 < matched.mean() < 0.9
    own, *facts = transfer(target, distance=0.04, angle=0.5)
    for a, b in zip(facts, (matched, found, facing), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(own[matched], weights[matched], atol=1e-9)


def test_inpainting_is_that_of_the_bilaplacian():
    """A shell that stands off on one side."""
    vertices, triangles = shell(0.0, rings=9, around=13)
    vertices = vertices * (1 + 0.5 * np.maximum(vertices[:, 2:], 0))
    target = vertices, triangles
    smooth = np.exp(SOURCE[0] @ RNG.normal(size=(3, 4)))
    smooth /= smooth.sum(1, keepdims=True)
    own, matched, _, _ = transfer(target, weights=smooth, distance=0.03)
    assert 0.2 < matched.mean() < 0.8
    np.testing.assert_allclose(own, inpaint_by_hand(target, matched, own), atol=1e-7)


def test_constants_and_sums():
    """Weights that are constant over the source are constant over the target. Rows sum to 1."""
    vertices, triangles = shell(0.0)
    target = vertices * [1, 1, 2], triangles
    one = np.zeros((len(SOURCE[0]), 5))
    one[:, [1, 3]] = 0.5, 1.5  # rows need not sum to 1
    own, matched, _, _ = transfer(target, weights=one)
    assert not matched.all()
    np.testing.assert_allclose(own, np.tile([0, 0.25, 0, 0.75, 0], (len(vertices), 1)), atol=1e-6)
    own = transfer(target)[0]
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-12)
    assert (own >= 0).all()


def test_the_source_itself():
    own, matched, distances, _ = transfer(SOURCE)
    assert matched.all()
    assert distances.max() < 1e-12
    np.testing.assert_allclose(own, WEIGHTS, atol=1e-12)


@pytest.mark.parametrize("most", [1, 2])
def test_limit_of_influences(most):
    rows = araplbs.transfer_weights(*SOURCE, WEIGHTS, *shell(0.05), max_influences=most)[0]
    assert np.diff(rows[0]).max() == most
    all_of_them = transfer(shell(0.05))[0]
    largest = np.sort(all_of_them, axis=1)[:, ::-1][:, :most]
    np.testing.assert_allclose(
        np.sort(shapes.dense(rows, 3), axis=1)[:, ::-1][:, :most],
        largest / largest.sum(1, keepdims=True),
        atol=1e-12,
    )


def test_sparse_rows_of_the_source_are_the_same():
    start = np.arange(len(WEIGHTS) + 1) * 3
    rows = start, np.tile([0, 1, 2], len(WEIGHTS)).astype(np.int32), WEIGHTS.ravel()
    np.testing.assert_array_equal(transfer(shell(0.05), weights=rows)[0], transfer(shell(0.05))[0])


def test_cloth_with_its_back_to_the_source():
    """Turned inside out, it matches nowhere, unless both sides count."""
    vertices, triangles = shell(0.02)
    turned = vertices, triangles[:, ::-1]
    assert not araplbs.match_surfaces(*SOURCE, *turned)[0].any()
    matched, _, angles = araplbs.match_surfaces(*SOURCE, *turned, two_sided=True)
    assert matched.all()
    assert angles.max() < 0.2
    own = transfer(turned, two_sided=True)[0]
    np.testing.assert_allclose(own, transfer((vertices, triangles))[0], atol=1e-12)


def test_what_is_near_matches_whatever_it_faces():
    vertices, triangles = shell(0.02)
    turned = vertices * [1, 1, 1.1], triangles[:, ::-1]
    size = np.linalg.norm(np.ptp(SOURCE[0], axis=0))
    matched, distances, _ = araplbs.match_surfaces(*SOURCE, *turned, near=0.015)
    np.testing.assert_array_equal(matched, distances <= 0.015 * size)
    assert 0.1 < matched.mean() < 0.9
    assert not araplbs.match_surfaces(*SOURCE, *turned, near=0.015, distance=0.0)[0].any()


def test_an_island_without_a_match_takes_what_is_nearest():
    """A button in front of a coat is too far away to match, and belongs to no part that matches."""
    coat, (button, faces) = shell(0.02), shapes.box((0.1, 0.1, 0.1), (1.5, 0.02, 0.03))
    n = len(coat[0])
    target = np.concatenate([coat[0], button]), np.concatenate([coat[1], faces + n])
    own, matched, _, _ = transfer(target)
    assert matched[:n].all()
    assert not matched[n:].any()
    for i in range(n, len(own)):
        _, triangle, bary = nearest_by_hand(target[0][i], *SOURCE)
        np.testing.assert_allclose(own[i], bary @ WEIGHTS[triangle], atol=1e-9)


def test_wires_and_loose_vertices():
    """Hair: a curve that begins on the head and has no normals."""
    hair = np.column_stack([np.linspace(1, 2, 30), np.zeros((30, 2))])
    edges = np.column_stack([np.arange(29), np.arange(1, 30)])
    hair = np.vstack([hair, [[0, 0, 1.02], [0, 0, 3]]])
    rows, matched, _, angles = araplbs.transfer_weights(
        *SOURCE, WEIGHTS, hair, None, target_edges=edges
    )
    assert (angles == 0).all()
    np.testing.assert_array_equal(np.flatnonzero(matched), [*range(5 + matched[5]), 30])
    own = shapes.dense(rows, 3)
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(own[31], own[30], atol=1e-3)


def test_seams_do_not_crack():
    """Every triangle has corners of its own. Coincident corners have the same weights."""
    vertices, triangles = shell(0.0)
    vertices = vertices * [1, 1, 1.5]
    soup = vertices[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
    own, matched, _, _ = transfer(soup)
    whole, whole_matched, _, _ = transfer((vertices, triangles))
    assert not matched.all()
    np.testing.assert_array_equal(matched, whole_matched[triangles.ravel()])
    np.testing.assert_allclose(own, whole[triangles.ravel()], atol=1e-9)
    corner = np.arange(len(own))
    same = np.unique(triangles.ravel(), return_index=True)[1][triangles.ravel()]
    np.testing.assert_array_equal(own[corner], own[same])


def test_slivers_fall_back_to_harmonic_functions():
    """Faces so thin that only rounding remains of the bi-Laplacian."""
    n = 60
    x = np.linspace(0, 3, n)
    vertices = np.column_stack([1 + x, (np.arange(n) % 2) * 1e-5, np.zeros(n)])
    i = np.arange(n - 2)
    own, matched, _, _ = transfer((vertices, np.column_stack([i, i + 1, i + 2])), two_sided=True,
                                  angle=3.15)  # fmt: skip
    assert 0 < matched.sum() < n
    assert np.isfinite(own).all()
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-12)
    last = own[matched][-1]
    assert np.abs(own[~matched] - last).max() < 0.2


def test_parts_of_the_source_without_weights_do_not_count():
    weights = WEIGHTS * (SOURCE[0][:, 2:] <= 0.3)
    own, matched, distances, _ = transfer(shell(0.02), weights=weights)
    above = shell(0.02)[0][:, 2] > 0.8
    assert not matched[above].any()
    assert distances[above].min() > 0.1
    np.testing.assert_allclose(own.sum(1), 1, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_units_do_not_matter(scale):
    vertices, triangles = shell(0.05)
    vertices = vertices * [1, 1, 1.3]
    own, matched, distances, angles = transfer((vertices, triangles))
    source = SOURCE[0] * scale + 7 * scale, SOURCE[1]
    other = transfer((vertices * scale + 7 * scale, triangles), source=source)
    np.testing.assert_array_equal(other[1], matched)
    np.testing.assert_allclose(other[0], own, atol=1e-6)
    np.testing.assert_allclose(other[2] / scale, distances, atol=1e-9)
    np.testing.assert_allclose(other[3], angles, atol=1e-6)


GOOD = {
    "vertices": SOURCE[0],
    "triangles": SOURCE[1],
    "weights": WEIGHTS,
    "target_vertices": shell(0.02)[0],
    "target_triangles": shell(0.02)[1],
}
NONE = np.zeros((0, 3))


test_what_is_refused = table(
    araplbs.transfer_weights,
    GOOD,
    row("the source has no vertices", vertices=NONE, triangles=NONE.astype(int), weights=NONE),
    row("the target has no vertices", target_vertices=NONE, target_triangles=None),
    row("the source has no faces", triangles=np.zeros((0, 3), int)),
    row("the source has no weights: none of its faces", weights=np.zeros_like(WEIGHTS)),
    row(
        "no vertex of the target is within reach of the source: the nearest is 2.42 of its size "
        r"away, and the limit is 0.05$",
        target_vertices=GOOD["target_vertices"] + 6,
    ),
    row(
        "no vertex of the target faces the same way as the source: within the distance of 0.05 of "
        r"its size, the smallest angle is 1\d\d(\.\d*)? degrees and the limit is 30$",
        target_triangles=GOOD["target_triangles"][:, ::-1],
    ),
    row(r"triangles\[2, 0\] is 999", triangles=changed(SOURCE[1], (2, 0), 999)),
    row(
        r"target_triangles\[2, 0\] is -1",
        target_triangles=changed(GOOD["target_triangles"], (2, 0), -1),
    ),
    row(r"target_edges\[0, 1\] is 5000", target_edges=[[0, 5000]]),
    row("the weight of vertex 2 for bone 1 is -0.5", weights=changed(WEIGHTS, (2, 1), -0.5)),
    row("weights has shape", weights=WEIGHTS[1:]),
    row("distance is -1", distance=-1.0),
    row("distance is nan", distance=np.nan),
    row("angle is 4", angle=4.0),
    row("max_influences is -1", max_influences=-1),
)


def test_what_matching_refuses():
    good = {k: v for k, v in GOOD.items() if k != "weights"}
    refuse(TypeError, "max_influences", araplbs.match_surfaces, **good, max_influences=3)
    refuse(ValueError, "the source has no faces", araplbs.match_surfaces,
           **{**good, "triangles": np.zeros((0, 3), int)})  # fmt: skip
    refuse(ValueError, "target_vertices has shape", araplbs.match_surfaces,
           **{**good, "target_vertices": SOURCE[0][:, :2]})  # fmt: skip


@pytest.mark.parametrize(
    ("size", "far", "words"),
    [
        (1.0, 1e74, None),
        (1e-60, 1e14, None),
        (
            1e-60,
            1e150,
            r"vertices\[178, 0\] is 1e\+150: too far away for a mesh of size 3\.\d*e-60",
        ),
        (1e-150, 1e3, "is 1000: too far away for a mesh"),
        (1.0, 1e155, "bounding box of the mesh is too large"),
    ],
)
def test_a_stray_far_off(size, far, words):
    """The stray vertex gets the weights of the nearest point, unless squares of squared distances
    overflow. All others get the same weights as without it."""
    vertices, triangles = SOURCE[0] * size, SOURCE[1]
    stray = np.concatenate([vertices, [[far, 0, 0]]])
    if words:
        refuse(ValueError, words, araplbs.transfer_weights,
               vertices=vertices, triangles=triangles, weights=WEIGHTS, target_vertices=stray,
               target_triangles=triangles)  # fmt: skip
        return
    weights, matched, distance, angle = transfer((stray, triangles), (vertices, triangles))
    expected = transfer((vertices, triangles), (vertices, triangles))[0]
    np.testing.assert_allclose(weights[:-1], expected, atol=1e-9)
    assert not matched[-1] and distance[-1] == pytest.approx(far) and np.isfinite(angle).all()
    np.testing.assert_allclose(weights[-1], WEIGHTS[vertices[:, 0].argmax()], atol=1e-9)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-300])
def test_rows_whose_sums_underflow(tiny):
    """Only the proportions within a row matter."""
    target = shell(0.01)
    unit = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], float)[
        RNG.integers(4, size=len(WEIGHTS))
    ]
    weights, *facts = transfer(target, weights=unit * tiny)
    expected, *others = transfer(target, weights=unit)
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    for fact, other in zip(facts, others, strict=True):
        np.testing.assert_array_equal(fact, other)
