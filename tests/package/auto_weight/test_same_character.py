"""The same character gets the same weights if its vertices are renumbered, or if it is rotated or
moved, because only the geometry matters. docs/decisions/048-steady-weights.md lists how much other
seeds, poses and tessellations change the weights."""

import araplbs
import numpy as np
import pytest
import shapes
from shared_data import Character

ATOL = 2e-3  # of a weight: rounding, in single precision, after some iterations
TURN = shapes.rotation([1, 2, 3], 0.7)


def body(around=24, along=60):
    """An uneven tube that has a coarser mesh, and bones that do not lie on any line of the tube."""
    vertices, triangles = shapes.tube(around, along, 0.3, caps=True)
    x, y, z = vertices.T
    bent = [x * (1 + 0.3 * np.sin(3 * z)) + 0.1 * z, y * (1 + 0.2 * z) - 0.05 * z**2, z + 0.1 * x]
    bones = shapes.chain(3)
    heads, tails = (
        joint + joint[:, 2:] * [0.1, 0, 0] - joint[:, 2:] ** 2 * [0, 0.05, 0]
        for joint in (bones.heads, bones.tails)
    )
    return (np.stack(bent, 1), triangles), bones.but(heads=heads, tails=tails)


def uneven_halves():
    """Like body(), but symmetric except for small shifts: two partners between legs and hip may be
    nearest to different bones."""
    rng = np.random.default_rng(2)
    vertices, triangles = shapes.tube(16, 30, 0.5, caps=True)
    vertices = vertices + rng.uniform(-0.004, 0.004, vertices.shape)
    heads = np.array([[0, 0, 1.0], [-0.2, 0, 1.0], [0.2, 0, 1.0]])
    tails = np.array([[0, 0, 2.0], [-0.2, 0, 0.0], [0.2, 0, 0.0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 0]))
    return (vertices, triangles), bones, {"symmetry": ([0, 2, 1], (0, 0, 0), (1, 0, 0))}


def renumbered(vertices, triangles, seed=0):
    """The mesh with vertices and triangles in another order, and the new number of each vertex."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(vertices))
    number = np.argsort(order)
    return (vertices[order], number[triangles][rng.permutation(len(triangles))]), number


def clusters(mesh, bones, **settings):
    solver = araplbs.Solver(*mesh, *bones, **bones.more, pose_count=4, **settings)
    assert solver.report["coarse_vertices"] > 0
    return solver._inside["cluster"]


def assert_same_sets(one, other):
    """Checks that two numberings describe the same sets."""
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    assert pairs == len(np.unique(one)) == len(np.unique(other))


def test_clusters_are_the_same_in_another_order_of_the_vertices():
    mesh, bones = body()
    other, number = renumbered(*mesh)
    assert_same_sets(clusters(mesh, bones), clusters(other, bones)[number])


def test_clusters_turn_with_the_character():
    mesh, bones = body()
    moved = (3 * mesh[0] @ TURN.T + [5, -2, 1], mesh[1])
    turned = bones.moved(3 * TURN, (5, -2, 1))
    assert_same_sets(clusters(mesh, bones), clusters(moved, turned))


def sculpted_halves(shift=0.03, noise=0.0):
    """Symmetric except for a smooth shift by half an edge, so that partners grow along edges."""
    vertices, triangles = shapes.tube(40, 60, 0.5, caps=True)
    x, y, z = vertices.T
    off = shift * np.column_stack([np.sin(3 * z + x), np.cos(2 * z + y), np.sin(5 * y + 4 * z)])
    heads = np.array([[0, 0, 1.0], [-0.2, 0, 1.0], [0.2, 0, 1.0]])
    tails = np.array([[0, 0, 2.0], [-0.2, 0, 0.0], [0.2, 0, 0.0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 0]))
    rough = np.random.default_rng(4).uniform(-1, 1, vertices.shape)
    moved = vertices + off * (x > 0)[:, None] + noise * rough
    return (moved, triangles), bones, {"symmetry": ([0, 2, 1], (0, 0, 0), (1, 0, 0))}


def dressed():
    """A limb in a sleeve whose vertices are over edges of the limb."""
    (vertices, triangles), bones = body()
    around, rings = 24, slice(10, 50)
    limb = vertices[: 24 * 60].reshape(60, 24, 3)
    outer = limb + 0.05 * (limb - limb.mean(1, keepdims=True))
    outer = (outer + np.roll(outer, 1, axis=1))[rings] / 2
    sleeve = outer.reshape(-1, 3)
    faces = shapes.tube(around, len(outer))[1]
    both = np.concatenate([vertices, sleeve])
    return (both, np.concatenate([triangles, faces + len(vertices)])), bones, {}


def boxes_that_touch():
    """Two bodies that share positions, but no face."""
    (vertices, triangles), bones = body()
    upper = vertices * [1, 1, -1] + [0, 0, 2 * vertices[:, 2].max()]
    both = np.concatenate([vertices, upper])
    return (both, np.concatenate([triangles, triangles[:, ::-1] + len(vertices)])), bones, {}


@pytest.mark.parametrize(("shift", "noise"), [(0.03, 0), (0.01, 0.008)])
def test_partners_that_grow_are_the_same_in_another_order_of_the_vertices(shift, noise):
    mesh, bones, settings = sculpted_halves(shift, noise)
    partner = araplbs.Solver(*mesh, *bones, pose_count=2, **settings)._inside["symmetry_vertex"]
    assert (partner >= 0).mean() > 0.9
    for seed in range(3):
        other, number = renumbered(*mesh, seed)
        found = araplbs.Solver(*other, *bones, pose_count=2, **settings)._inside["symmetry_vertex"]
        expected = np.where(partner < 0, -1, number[partner])
        np.testing.assert_array_equal(found[number], expected)


MAKERS = {
    "body": lambda: (*body(), {}), "halves": uneven_halves, "sculpted": sculpted_halves,
    "dressed": dressed, "boxes": boxes_that_touch,
}  # fmt: skip


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_weights_are_the_same_in_another_order_of_the_vertices(make):
    mesh, bones, settings = make()
    other, number = renumbered(*mesh)
    one, two = (
        shapes.solved(araplbs.Solver(*m, *bones, **bones.more, **settings)).weights
        for m in (mesh, other)
    )
    np.testing.assert_allclose(two[number], one, atol=ATOL)


@pytest.mark.parametrize("seed", range(6))
def test_rigid_parts_of_which_some_vertices_have_partners(seed):
    """Every row is limited, regardless of which vertices are partners."""
    vertices, triangles = shapes.tube(8, 16, 0.2, caps=True)
    vertices = vertices + np.array([1, 0, 0])
    mesh = shapes.join((vertices, triangles), (vertices * [-1, 1, 1], triangles[:, ::-1]))
    z = np.array([0, 0.7, 1.4, 2.0])
    joints = [np.stack([0 * z + x, 0 * z, z], 1) for x in (1, -1)]
    heads, tails = (np.concatenate([p[k : k + 3] for p in joints]) for k in (0, 1))
    parts = np.random.default_rng(seed).choice([-1, -1, 0, 1, 2], len(mesh[0]))
    solver = araplbs.Solver(
        *mesh, heads, tails, [-1, 0, 1, -1, 3, 4], rigid_parts=parts,
        symmetry=([3, 4, 5, 0, 1, 2], (0, 0, 0), (1, 0, 0)), max_influences=2,
    )  # fmt: skip
    weights = shapes.solved(solver).weights
    assert ((weights > 0).sum(1) <= 2).all()
    assert ((weights[parts >= 0] > 0).sum(1) == 1).all()


@pytest.mark.parametrize("name", ["ranger", "sintel"])
def test_clothes_are_linked_and_clustered_the_same_in_another_order_of_the_vertices(name):
    """The vertices of the clothes lie over edges of the surface below, and some vertices of several
    parts coincide."""
    character = Character(name)
    more = {**character.bones.more, "pose_count": 4}
    (vertices, triangles), number = renumbered(character.vertices, character.triangles)
    one = araplbs.Solver(*character.arguments, **more)
    two = araplbs.Solver(vertices, triangles, *character.bones, **more)
    assert one.report["layer_links"] == two.report["layer_links"] > 500
    first, second = one._inside, two._inside
    there = np.empty(len(first["points"]), int)
    there[first["weld"]] = second["weld"][number]
    links = {tuple(sorted(pair)) for pair in there[first["wires"]].tolist()}
    assert links == {tuple(sorted(pair)) for pair in second["wires"].tolist()}
    assert_same_sets(first["cluster"], second["cluster"][there])


@pytest.mark.parametrize("seed", range(3))
def test_rounding_of_coordinates_moves_hardly_any_weight(seed):
    """If a vertex moves to another cluster, the clusters of all coarser levels must not change."""
    (vertices, triangles), bones = body(48, 150)
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    moved = vertices + 1e-9 * size * np.random.default_rng(seed).normal(size=vertices.shape)
    one, two = (
        shapes.solved(araplbs.Solver(v, triangles, *bones, **bones.more)) for v in (vertices, moved)
    )
    assert one.report["coarse_vertices"] < 1000
    assert np.abs(two.weights - one.weights).sum(1).mean() < 1e-3
