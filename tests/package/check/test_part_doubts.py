"""Compares araplbs.part_doubts() with its definition in NumPy, and with meshes whose doubts are
known."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import refuse

ANY, TOUCHING = 1.0, 0.25
UPPER, LOWER = np.array([[0.0, 0, -1], [0, 0, 0]]), np.array([[0.0, 0, 0], [0, 0, 1]])
BONES = {
    "bone_heads": [UPPER[0], LOWER[0]],
    "bone_tails": [UPPER[1], LOWER[1]],
    "bone_parents": [-1, 0],
}


def from_segment(points, head, tail):
    along = tail - head
    share = np.clip((points - head) @ along / max(along @ along, 1e-300), 0, 1)
    return np.linalg.norm(points - head - share[:, None] * along, axis=1)


def by_definition(vertices, triangles, weights, bones):
    """The result of part_doubts() for weights that sum to 1 and bones that all deform."""
    n = len(vertices)
    corners, at, heights, parts = araplbs.nearest_points(
        vertices, triangles, vertices, owners=np.arange(n)
    )
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    sizes = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    areas = np.bincount(triangles.ravel(), np.repeat(sizes, 3), n)
    parents = bones.parents
    for part in range(parts.max() + 1):
        own = np.flatnonzero(parts == part)
        mean = np.average(weights[own], axis=0, weights=areas[own])
        owner = mean.argmax()
        spread = np.average(abs(weights[own, owner] - mean[owner]), weights=areas[own])
        if mean[owner] <= 0.5 or spread > 0.1:
            yield -1, [-1, -1], 0.0
            continue
        away = abs(heights[own])
        nearest = own[away <= np.sort(away)[int(TOUCHING * len(own)) - 1] + 1e-6]
        touched = np.einsum("kc,kcb->b", at[nearest], weights[corners[nearest]]) / len(nearest)
        ends = zip(bones.heads, bones.tails, strict=True)
        away = [from_segment(vertices[own], *each) for each in ends]
        away = np.array([np.average(each, weights=areas[own]) for each in away])
        fit = (mean + touched + ANY) / away**2
        others = [b for b in range(len(fit)) if owner == parents[b] or b == parents[owner]]
        others = sorted(others, key=lambda b: -fit[b])[:2]
        doubt = fit[others[0]] / fit[owner] if others else 0.0
        yield owner, others + [-1] * (2 - len(others)), doubt


def boxes(rng, count):
    return shapes.join(
        *(shapes.box(rng.uniform(0.1, 0.5, 3), rng.normal(0, 0.6, 3)) for _ in range(count))
    )


def test_definition(rng):
    bones = shapes.tree()
    vertices, triangles = boxes(rng, 12)
    weights = rng.dirichlet(np.full(len(bones.parents), 0.1), len(vertices) // 8).repeat(8, axis=0)
    bones.deform = np.ones(len(bones.parents), bool)
    parts, *found = araplbs.part_doubts(
        vertices, triangles, weights, bones.heads, bones.tails, bones.parents, threads=1
    )
    np.testing.assert_array_equal(parts, np.arange(12).repeat(8))
    for one, expected in zip(
        found, zip(*by_definition(vertices, triangles, weights, bones), strict=True), strict=True
    ):
        np.testing.assert_allclose(one, expected, atol=1e-9)
    assert (found[0] >= 0).sum() > 4 and (found[2] > 0).any()


def box_at(height):
    """A limb of two boxes, one for each bone, and a small box on it. Its bone is the first."""
    mesh = shapes.join(
        shapes.box((0.4, 0.4, 1), (0, 0, -0.5)),
        shapes.box((0.4, 0.4, 0.98), (0, 0, 0.51)),
        shapes.box((0.1, 0.1, 0.1), (0.3, 0, height)),
    )
    return mesh, np.eye(2)[[0] * 8 + [1] * 8 + [0] * 8]


def test_the_nearer_bone_fits_better():
    doubts = []
    for height in (-0.5, -0.2, 0, 0.2, 0.5):
        mesh, weights = box_at(height)
        _parts, owners, others, found = araplbs.part_doubts(*mesh, weights, **BONES)
        assert owners.tolist() == [0, 1, 0] and others.tolist() == [[1, -1], [0, -1], [1, -1]]
        doubts.append(found[2])
    assert doubts == sorted(doubts) and doubts[0] < 0.25 and doubts[-1] > 1.5


def test_equally_near_bones():
    """At the joint, only the weights of the part itself favor its bone."""
    mesh, weights = box_at(0)
    weights[:16] = 0.5
    found = araplbs.part_doubts(*mesh, weights, **BONES)[3]
    np.testing.assert_allclose(found[2], (0.5 + ANY) / (1 + 0.5 + ANY), atol=1e-3)


def test_no_owner():
    """A mesh of one part has no loose part, a shared part has no owner, and a bone without
    deforming relatives leaves no choice."""
    mesh, weights = box_at(0)
    alone = araplbs.part_doubts(*shapes.box(), np.eye(2)[[0] * 8], **BONES)
    assert [each.tolist() for each in alone[1:]] == [[-1], [[-1, -1]], [0.0]]
    weights[16:] = 0.5
    assert araplbs.part_doubts(*mesh, weights, **BONES)[1].tolist() == [0, 1, -1]
    weights[16:] = np.eye(2)[[0, 0, 0, 0, 0, 0, 1, 1]]  # it bends
    assert araplbs.part_doubts(*mesh, weights, **BONES)[1].tolist() == [0, 1, -1]
    mesh, weights = box_at(0)
    found = araplbs.part_doubts(*mesh, weights, **BONES, bone_deform=[True, False])
    assert found[1].tolist() == [0, -1, 0] and (found[2] == -1).all()
    empty = araplbs.part_doubts(*mesh, np.zeros_like(weights), **BONES)
    assert empty[1].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("pattern", "changes"),
    [
        ("weights has shape", {"weights": np.ones((3, 2))}),
        ("the weight of vertex 0 for bone 0 is nan", {"weights": np.full((24, 2), np.nan)}),
        ("bone_tails has shape", {"bone_tails": [[0, 0, 0]]}),
        (r"triangles\[0", {"triangles": [[0, 1, 99]]}),
    ],
)
def test_refused(pattern, changes):
    (vertices, triangles), weights = box_at(0)
    arguments = {"vertices": vertices, "triangles": triangles, "weights": weights, **BONES}
    refuse(ValueError, pattern, araplbs.part_doubts, **{**arguments, **changes})
