"""Compares copied and continued displacements of one mesh's shapes for another mesh with dense
NumPy, and tests vertices kept above the surface, and refusals."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import changed, refuse, row, table
from test_transfer import laplacian, nearest_by_hand, shell

SOURCE = shapes.sphere(11, 16, 1.0)
TURN = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])


def transfer(given, target, source=SOURCE, **options):
    """(shapes (s, k, 3), matched, distances, angles, lifted, below)"""
    return araplbs.transfer_shapes(*source, given, *target, **options)


def bent(vertices):
    """Swollen, tapered and twisted."""
    x, y, z = vertices.T
    angle = 0.4 * z
    wide = 1 + 0.2 * z + 0.1 * x
    return np.column_stack(
        [
            wide * (np.cos(angle) * x - np.sin(angle) * y),
            wide * (np.sin(angle) * x + np.cos(angle) * y),
            1.1 * z + 0.05 * x**2,
        ]
    )


def rings(triangles, count):
    """Neighbors of all vertices."""
    found = [set() for _ in range(count)]
    for triangle in triangles.tolist():
        for i in triangle:
            found[i] |= set(triangle) - {i}
    return [sorted(ring) for ring in found]


def nearest_rotation(matrix):
    u, _, v = np.linalg.svd(matrix)
    return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v


def test_rigid_motion():
    """Everything on a body that moves as a whole moves with it, at any matching distance."""
    target = shell(0.03)
    moved = SOURCE[0] @ TURN.T + [0.3, -2, 1]
    [found], matched, *_ = transfer(moved[None], target)
    assert matched.all()
    np.testing.assert_allclose(found, target[0] @ TURN.T + [0.3, -2, 1], atol=1e-9)


def test_follows_the_nearest_point_and_turns():
    """Compared with a separate computation, for a shape that is rigid around each of two halves."""
    vertices, triangles = SOURCE
    upper = vertices[:, 2:] > 0.45
    lower = vertices[:, 2:] < -0.45
    moved = np.where(upper, vertices @ TURN.T + [0, 0, 0.5], vertices)
    moved = np.where(lower, vertices @ TURN - [0, 0, 0.25], moved)
    target = shell(0.02)
    [found], matched, *_ = transfer(moved[None], target, keep_above=False)
    assert matched.all()
    ring = rings(triangles, len(vertices))
    looked = 0
    for i in np.flatnonzero(abs(target[0][:, 2]) > 0.5)[::2]:
        p = target[0][i]
        _, corners, bary = nearest_by_hand(p, *SOURCE)
        around = {k for c in corners for k in [c, *ring[c]]}
        for region, turn in ((upper, TURN), (lower, TURN.T)):
            if all(region[k] for k in around):
                q, to = bary @ vertices[corners], bary @ moved[corners]
                np.testing.assert_allclose(found[i], to + turn @ (p - q), atol=1e-9)
                looked += 1
    assert looked > 20


def test_turns_as_the_one_rings():
    """A one-ring of equal edges: its rotation, compared with that of a singular value
    decomposition."""
    n = 6
    around = np.column_stack(
        [np.cos(np.arange(n) * 2 * np.pi / n), np.sin(np.arange(n) * 2 * np.pi / n), np.zeros(n)]
    )
    vertices = np.vstack([[0, 0, 0], around])
    triangles = np.array([[0, 1 + k, 1 + (k + 1) % n] for k in range(n)])
    moved = bent(vertices) + np.random.default_rng(3).normal(0, 0.1, vertices.shape)
    point = np.array([[0.0, 0, 0.05], [0.02, 0, 0.05], [0, 0.02, 0.05]])
    [found], matched, *_ = araplbs.transfer_shapes(
        vertices, triangles, moved[None], point, [[0, 1, 2]], keep_above=False
    )
    assert matched.all()
    turn = nearest_rotation((moved[1:] - moved[0]).T @ (vertices[1:] - vertices[0]))
    np.testing.assert_allclose(found[0], moved[0] + turn @ point[0], atol=1e-9)


def test_what_does_not_match_is_continued():
    """Several shapes at once, each compared with a dense solution of the bi-Laplacian."""
    vertices, triangles = shell(0.0)
    target = vertices * [1, 1, 1.5], triangles
    given = np.stack([SOURCE[0] + [0, 0, 0.1], bent(SOURCE[0]), SOURCE[0], 0.9 * SOURCE[0]])
    found, matched, *_ = transfer(given, target, keep_above=False)
    assert 0 < matched.sum() < len(matched)
    matrix, area = laplacian(*target)
    q, free = matrix @ np.diag(1 / area) @ matrix, ~matched
    for moved in found:
        move = moved - target[0]
        expected = -np.linalg.solve(q[np.ix_(free, free)], q[np.ix_(free, matched)] @ move[matched])
        longest = np.linalg.norm(move[matched], axis=1).max()
        length = np.linalg.norm(expected, axis=1)
        expected *= np.minimum(1, longest / np.maximum(length, 1e-30))[:, None]
        np.testing.assert_allclose(move[free], expected, atol=1e-6)
        assert np.linalg.norm(move, axis=1).max() <= longest * (1 + 1e-9)


def test_an_island_without_a_match_follows_what_is_nearest():
    """A button in front of a coat moves with it, without large displacements."""
    coat, (button, faces) = shell(0.02), shapes.box((0.1, 0.1, 0.1), (1.5, 0.02, 0.03))
    n = len(coat[0])
    target = np.concatenate([coat[0], button]), np.concatenate([coat[1], faces + n])
    moved = SOURCE[0] @ TURN.T
    [found], matched, *_ = transfer(moved[None], target, keep_above=False)
    assert not matched[n:].any()
    for i in range(n, len(found)):
        _, corners, bary = nearest_by_hand(target[0][i], *SOURCE)
        way = bary @ (moved - SOURCE[0])[corners]
        np.testing.assert_allclose(found[i], target[0][i] + way, atol=1e-9)


def test_what_a_shape_does_not_move_stays_to_the_last_bit():
    """Half of the body moves; also a shape without displacements."""
    half = SOURCE[0] + [0, 0, 0.2] * (SOURCE[0][:, 2:] > 0.6)
    target = shell(0.02)
    found, matched, _, _, lifted, below = transfer(np.stack([half, SOURCE[0]]), target)
    assert matched.all()
    away = target[0][:, 2] < 0
    np.testing.assert_array_equal(found[0][away], target[0][away])
    assert np.abs(found[0] - target[0])[target[0][:, 2] > 0.8].min(1).max() < 0.3
    np.testing.assert_array_equal(found[1], target[0])
    assert lifted[1] == below[1] == 0


def radius_of(found):
    return np.linalg.norm(found, axis=1)


def wide_skirt():
    """A shell that matches only at the top, and a body that swells below it."""
    vertices, triangles = shell(0.02, 20, 24, lambda v: v[2] > -0.9)
    out = 1 + 0.5 * np.clip(0.7 - vertices[:, 2:], 0, None)
    swollen = SOURCE[0] * (1 + 0.9 * np.exp(-(((SOURCE[0][:, 2:] + 0.2) / 0.3) ** 2)))
    return (vertices * out, triangles), swollen


def test_vertices_are_kept_above_the_surface():
    """Skirt vertices without a match are not moved by the swelling body but lifted, no farther than
    necessary."""
    target, swollen = wide_skirt()
    [plain], matched, *_ = transfer(swollen[None], target, keep_above=False)
    [kept], _, _, _, [lifted], [below] = transfer(swollen[None], target)
    assert not matched.all()

    def height(points):
        return araplbs.nearest_points(swollen, SOURCE[1], points)[2]

    under = height(plain) < 0
    assert 20 < under.sum() <= lifted < len(kept)
    assert below == 0
    assert height(kept).min() > 0
    changed_ones = np.abs(kept - plain).max(1) > 0
    assert changed_ones.sum() == lifted
    size = np.linalg.norm(np.ptp(SOURCE[0], axis=0))
    clearance = height(kept)[changed_ones]
    assert clearance.min() > 0.9e-3 * size and clearance.max() < 2.1e-3 * size


def test_close_cloth_keeps_a_share_of_its_height():
    """A vertex nearer than the usual clearance is not pushed away, because its own height
    counts."""
    target = shell(0.0, 11, 16)
    thin = target[0] * 1.001, target[1]
    [found], *_, [lifted], [below] = transfer(SOURCE[0][None] * 1.2, thin)
    assert below == 0
    assert radius_of(found).max() < 1.2 * 1.002
    assert lifted == 0


def test_what_was_below_stays_below():
    """A lining inside the skin is not lifted, and neither are vertices on the skin."""
    for offset in (-0.02, 0.0):
        target = shell(offset, 11, 16)
        [found], *_, [lifted], [below] = transfer(SOURCE[0][None] * 0.8, target)
        assert lifted == below == 0
        [plain], *_ = transfer(SOURCE[0][None] * 0.8, target, keep_above=False)
        np.testing.assert_array_equal(found, plain)


def two_balls(rows, columns, apart):
    ball = shapes.sphere(rows, columns, 1.0)
    return shapes.join(ball, (ball[0] + [apart, 0, 0], ball[1]))


def test_between_parts_that_pass_through_each_other():
    """There is no position above both. The vertex stays where it was, and is counted."""
    two = two_balls(9, 12, 3)
    moved = two[0] - [1.5, 0, 0] * (two[0][:, :1] > 1.5)
    sleeve = shell(0.01, 9, 12)
    [plain], *_ = transfer(moved[None], sleeve, two, keep_above=False)
    [found], *_, [lifted], [below] = transfer(moved[None], sleeve, two)
    stuck = np.abs(found - plain).max(1) == 0
    assert lifted == (~stuck).sum()
    assert 0 <= below < len(sleeve[0])
    heights = araplbs.nearest_points(moved, two[1], found)[2]
    assert (heights < 0).sum() == below


def test_beside_the_border_there_are_no_sides():
    """A sheet over an open sheet, which shrinks below it: vertices beyond its edge stay."""
    x, y = np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    flat = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    i = np.arange(81).reshape(9, 9)
    a, b, c, d = i[:-1, :-1].ravel(), i[:-1, 1:].ravel(), i[1:, 1:].ravel(), i[1:, :-1].ravel()
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    over = flat * 1.05 + [0, 0, 0.01]
    lifted_sheet = flat * 0.5 + [0, 0, 0.2] * (np.abs(flat).max(1, keepdims=True) < 0.3)
    target = over, faces
    [found], *_, [lifted], _ = transfer(
        lifted_sheet[None], target, (flat, faces), distance=0.004, near=0.006
    )
    assert np.isfinite(found).all()
    edge = np.abs(flat).max(1) == 1
    [plain], *_ = transfer(
        lifted_sheet[None], target, (flat, faces), distance=0.004, near=0.006, keep_above=False
    )
    np.testing.assert_array_equal(found[edge], plain[edge])
    assert lifted >= 0


def test_seams_do_not_crack():
    """Every triangle has corners of its own, on both meshes."""
    target = shell(0.0)
    target = target[0] * [1, 1, 1.5], target[1]
    soup = target[0][target[1]].reshape(-1, 3), np.arange(3 * len(target[1])).reshape(-1, 3)
    torn = SOURCE[0][SOURCE[1]].reshape(-1, 3), np.arange(3 * len(SOURCE[1])).reshape(-1, 3)
    whole = transfer(bent(SOURCE[0])[None], target)[0][0]
    found = transfer(bent(torn[0])[None], soup, torn)[0][0]
    np.testing.assert_allclose(found, whole[target[1].ravel()], atol=1e-7)


def test_no_shapes():
    found, matched, *_, lifted, below = transfer(np.zeros((0, len(SOURCE[0]), 3)), shell(0.02))
    assert found.shape == (0, len(matched), 3)
    assert lifted.shape == below.shape == (0,)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_units_do_not_matter(scale):
    target, swollen = wide_skirt()
    found = transfer(swollen[None], target)
    moved = scale * (swollen[None] + 7)
    source = scale * (SOURCE[0] + 7), SOURCE[1]
    other = transfer(moved, (scale * (target[0] + 7), target[1]), source)
    np.testing.assert_allclose(other[0] / scale - 7, found[0], atol=1e-6)
    np.testing.assert_array_equal(other[4], found[4])


GOOD = {
    "vertices": SOURCE[0],
    "triangles": SOURCE[1],
    "shapes": SOURCE[0][None] * 1.1,
    "target_vertices": shell(0.02)[0],
    "target_triangles": shell(0.02)[1],
}
NONE = np.zeros((0, 3))


test_what_is_refused = table(
    araplbs.transfer_shapes,
    GOOD,
    row(
        "the source has no vertices",
        vertices=NONE,
        triangles=NONE.astype(int),
        shapes=np.zeros((1, 0, 3)),
    ),
    row("the target has no vertices", target_vertices=NONE, target_triangles=None),
    row("the source has no faces", triangles=np.zeros((0, 3), int)),
    row(
        "no vertex of the target is within reach of the source: the nearest is 2.42 of its size",
        target_vertices=GOOD["target_vertices"] + 6,
    ),
    row("shapes has shape", shapes=SOURCE[0]),
    row("shapes has shape", shapes=SOURCE[0][None, 1:]),
    row(
        r"shape 0 moves vertex 3 to 1e\+09: more than 1e\+06 sizes away",
        shapes=changed(GOOD["shapes"], (0, 3, 1), 1e9),
    ),
    row(
        r"target_triangles\[2, 0\] is -1",
        target_triangles=changed(GOOD["target_triangles"], (2, 0), -1),
    ),
    row("distance is -1", distance=-1.0),
)


def test_settings_of_weights_are_not_taken():
    refuse(TypeError, "max_influences", araplbs.transfer_shapes, **GOOD, max_influences=3)
    weights = np.ones((len(SOURCE[0]), 1))
    target = shell(0.02)
    refuse(TypeError, "keep_above", araplbs.transfer_weights, vertices=SOURCE[0],
           triangles=SOURCE[1], weights=weights, target_vertices=target[0],
           target_triangles=target[1], keep_above=True)  # fmt: skip


def test_vertices_leave_a_fold():
    """Two balls that come to overlap slightly, and vertices that were on one of them. The upward
    direction of either leads into the other, but there is a way out of the fold."""
    two = two_balls(25, 36, 2.4)
    moved = two[0] - [0.48, 0, 0] * (two[0][:, :1] > 1.2)
    sleeve = shell(0.01, 49, 72)
    [plain], *_ = transfer(moved[None], sleeve, two, keep_above=False)
    [found], *_, [lifted], [below] = transfer(moved[None], sleeve, two)
    before = (araplbs.nearest_points(moved, two[1], plain)[2] < 0).sum()
    heights = araplbs.nearest_points(moved, two[1], found)[2]
    assert before > 4
    assert (heights < 0).sum() == below <= 1
    assert lifted >= before - 1
    assert np.linalg.norm(found - plain, axis=1).max() < 0.05 * 5.3
