"""Tests 2D cutouts: flat sheets with bones in their plane, so vertices lie on the bones."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

WIDTH = 0.6
SHAPES = {
    "strip of two": [([0, 0], [1, 0], -1), ([1, 0], [2, 0], 0)],
    "strip of three": [([0, 0], [1, 0], -1), ([1, 0], [2, 0], 0), ([2, 0], [3, 0], 1)],
    "cross": [
        ([0, 0], [1, 0], -1), ([1, 0], [2, 0], 0),
        ([0, 0], [0, 1], -1), ([0, 1], [0, 2], 2),
        ([0, 0], [-1, 0], -1), ([-1, 0], [-2, 0], 4),
    ],
}  # fmt: skip


def sheet(shape, steps, turn=None):
    """The squares, `steps` for each unit, within WIDTH / 2 of the bones, split into triangles."""
    lines = [(np.array(a, float), np.array(b, float)) for a, b, _ in SHAPES[shape]]
    x, y = np.meshgrid(*[np.arange(-3 * steps, 3 * steps + 1)] * 2, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel()]) / steps
    inside = np.zeros(len(points), bool)
    for a, b in lines:
        off = np.maximum(np.minimum(a, b) - points, points - np.maximum(a, b)).clip(0)
        along = np.argmax(np.abs(b - a))
        inside |= (off[:, along] < 1e-9) & (off[:, 1 - along] < WIDTH / 2 + 1e-9)
    number = np.where(inside, np.cumsum(inside) - 1, -1).reshape(x.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    )
    triangles = triangles[(triangles >= 0).all(1)].astype(np.int32)
    turn = np.eye(3) if turn is None else turn

    def place(flat):
        return np.column_stack([flat, np.zeros(len(flat))]) @ turn.T

    bones = shapes.Bones(
        place(np.array([a for a, _ in lines])),
        place(np.array([b for _, b in lines])),
        np.array([parent for _, _, parent in SHAPES[shape]], np.int32),
    )
    return (place(points[inside]), triangles), bones


def in_plane(bones, normal, seed, count=30):
    angles = np.random.default_rng(seed).uniform(-1.2, 1.2, (count, len(bones.heads)))
    return araplbs.forward_kinematics(*bones, reference.turn(angles[..., None] * normal))


def strain(mesh, weights, poses):
    posed = reference.posed(mesh[0], weights, poses)
    return np.sqrt((araplbs.surface_strain(*mesh, posed) ** 2).mean())


def heat_weights(mesh, bones):
    return shapes.dense(araplbs.baseline_weights(*mesh, *bones), len(bones))


@pytest.mark.parametrize("posed", [True, False], ids=["poses of the plane", "random poses"])
@pytest.mark.parametrize("steps", [20, 40], ids=["", "finer"])
@pytest.mark.parametrize("shape", SHAPES)
def test_strain_is_at_most_19_twentieths_of_that_of_heat(shape, steps, posed):
    """The strain is measured in poses in the plane of the sheet that were not used for
    optimization."""
    turn = shapes.rotation([1, 2, 3], 0.7)
    mesh, bones = sheet(shape, steps, turn)
    normal = turn[:, 2]
    more = {"poses": in_plane(bones, normal, 1)} if posed else {}
    solver = shapes.solved(shapes.solver(mesh, bones, **more))
    poses = in_plane(bones, normal, 9)
    ours, heat = (strain(mesh, w, poses) for w in (solver.weights, heat_weights(mesh, bones)))
    assert ours < 0.95 * heat


def steps_along_bones(mesh, bones, weights):
    """The largest difference of any weight along an edge that lies on a bone."""
    a, b = bones.heads[:, None], bones.tails[:, None]
    share = (((mesh[0] - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1)).clip(0, 1)
    off = np.linalg.norm(mesh[0] - a - share[..., None] * (b - a), axis=-1).min(0)
    edges = shapes.sides(mesh[1])
    edges = edges[(off[edges] < 1e-9).all(1)]
    return np.abs(weights[edges[:, 0]] - weights[edges[:, 1]]).max()


@pytest.mark.parametrize("steps", [20, 40], ids=["", "finer"])
@pytest.mark.parametrize("shape", ["strip of two", "strip of three"])
def test_no_step_across_a_joint(shape, steps):
    """Along the bones, weights change by at most a quarter from one vertex to the next. The sheet
    bends over its width, which has ten edges or twice as many."""
    mesh, bones = sheet(shape, steps)
    weights = np.asarray(shapes.solved(shapes.solver(mesh, bones)).weights)
    assert steps_along_bones(mesh, bones, weights) < 0.25
    assert steps_along_bones(mesh, bones, heat_weights(mesh, bones)) > 0.4
