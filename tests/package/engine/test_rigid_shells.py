"""Plates that cover each other follow one bone; plates that overlap only at their edges do not."""

import numpy as np
import pytest
import shapes


def plate(height, shift=0.0, size=7):
    """A square of size 0.6 above the joint at x = 1, bent like half of a saddle."""
    x, y = np.meshgrid(*[np.linspace(-0.3, 0.3, size)] * 2, indexing="ij")
    points = np.column_stack([x.ravel() + 1 + shift, y.ravel(), height - y.ravel() ** 2])
    number = np.arange(size * size).reshape(size, size)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = [np.stack(t, -1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))]
    return points, np.concatenate(triangles)


def weights(shift, owners):
    """The weights of two plates, one over the other and shifted along the arm, from weights in
    which they follow these bones. Bone 1 is the upper arm, bone 2 the forearm, bone 0 a body."""
    body = shapes.sphere(8, 12, 0.4, (-0.7, 0, 0))
    limbs = [shapes.tube(8, 9, 0.12, 0.8, caps=True) for _ in range(2)]
    limbs = [(v[:, [2, 0, 1]] + (k + 0.1, 0, 0), t) for k, (v, t) in enumerate(limbs)]
    parts = [body, *limbs, plate(0.35), plate(0.4, shift)]
    heads = np.array([(-1.1, 0, 0), (0, 0, 0), (1, 0, 0)], float)
    tails = np.array([(-0.3, 0, 0), (1, 0, 0), (2, 0, 0)], float)
    bones = shapes.Bones(heads, tails, np.arange(3) - 1, roll_axes=np.tile([0.0, 0, 1], (3, 1)))
    start = np.repeat(np.eye(3)[[0, 1, 2, *owners]], [len(v) for v, _ in parts], axis=0)
    solver = shapes.solve(
        shapes.join(*parts),
        bones,
        precision="double",
        weights=start,
        start_from_weights=True,
        expansion_rounds=0,
    )
    size = len(parts[-1][0])
    return [solver.weights[-2 * size : -size], solver.weights[-size:]]


@pytest.mark.parametrize("owners", [(1, 2), (2, 1)])
def test_plates_that_cover_each_other_follow_the_lower_bone(owners):
    """Otherwise, the forearm would penetrate a plate that stays behind."""
    for rows in weights(0.02, owners):
        np.testing.assert_array_equal(rows, np.tile([0.0, 0, 1], (len(rows), 1)))


@pytest.mark.parametrize("owners", [(1, 2), (2, 1)])
def test_plates_that_overlap_keep_their_bones(owners):
    """The plates of an armored arm overlap by a third of their length."""
    for rows, bone in zip(weights(0.4, owners), owners, strict=True):
        np.testing.assert_array_equal(rows, np.tile(np.eye(3)[bone], (len(rows), 1)))


def test_plates_of_one_bone_keep_it():
    for rows in weights(0.02, (1, 1)):
        np.testing.assert_array_equal(rows, np.tile([0.0, 1, 0], (len(rows), 1)))
