"""Tests to which bone the spring of a vertex leads, and how strong the spring is: on bodies, parts
side by side, armor, buttons, skirts, and meshes that surround nothing."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_weights
from test_bone_springs import owners
from test_parts import button_on_a_tube

STRENGTH, JOINT, MIDDLE, SHEET = 0.5, 0.2, 1 / 3, 0.05  # csrc/springs/bone_springs.c
TRUSS = 16.0  # the default


def springs(mesh, bones, **settings):
    """The internals of a solver on the mesh itself, before the first iteration."""
    settings = {"pose_count": 4, "coarsen": 0, **settings}
    return shapes.solver(mesh, bones, **settings)._inside


def bone_of(inside):
    """(n,) the bone of each vertex, each of which has one spring."""
    assert (np.diff(inside["spring_start"]) == 1).all()
    return inside["spring_bone"]


def distances(bones, points):
    return reference.distances(points, bones.heads, bones.tails)


def nearest_point(bones, b, point):
    along = bones.tails[b] - bones.heads[b]
    u = np.clip((point - bones.heads[b]) @ along / (along @ along), 0, 1)
    return bones.heads[b] + u * along


def center_of(vertices):
    return (vertices.min(0) + vertices.max(0)) / 2


def moved(mesh, *, by):
    return mesh[0] + by, mesh[1]


@pytest.mark.parametrize("thick", [0.15, 0.45, 0.9])
def test_an_arm_of_two_bones_by_the_formula(thick, rng):
    """To the nearer bone and the nearest point on it, with the strength stated in bone_springs.c:
    full strength from the radius on from the joint, or from a third of a bone that is short for its
    limb, but not within half of the radius."""
    vertices, triangles = shapes.tube(8, 12, thick)
    vertices = vertices + rng.uniform(-0.02, 0.02, vertices.shape)
    bones = shapes.chain(2)
    inside = springs((vertices, triangles), bones)
    center, diagonal = center_of(vertices), inside["diagonal"]
    bone = bone_of(inside)
    distance = distances(bones, vertices)
    np.testing.assert_array_equal(bone, distance.argmin(1))
    points = inside["spring_point"] * diagonal + center
    expected = [nearest_point(bones, b, p) for b, p in zip(bone, vertices, strict=True)]
    np.testing.assert_allclose(points, expected, atol=1e-12)
    own, area = distance.min(1) / diagonal, inside["area"]
    for b, joint in ((0, 1.0), (1, 1.0)):  # they meet at z = 1, and end in nothing
        at = bone == b
        radius = (area * own)[at].sum() / area[at].sum()
        length = np.maximum(own[at], radius)
        reach = min(radius, max(radius / 2, MIDDLE / diagonal))
        rise = np.minimum(1, np.abs(points[at, 2] - joint) / diagonal / reach)
        rise = np.maximum(JOINT, rise**2 * (3 - 2 * rise))
        strength = STRENGTH * rise * TRUSS * area[at] * (inside["unit"] / length) ** 2
        np.testing.assert_allclose(inside["spring_strength"][at], strength, rtol=1e-9)
    assert (inside["spring_held"] == 1).all()
    np.testing.assert_array_equal(inside["spring_weight"], inside["spring_strength"])


def sheet(thickness):
    """A flat strip along x with two bones in its plane; every second row is `thickness` higher."""
    x, y = np.meshgrid(np.linspace(0, 2, 41), np.linspace(-0.3, 0.3, 13), indexing="ij")
    z = thickness * (np.arange(13) % 2) * np.ones_like(x)
    first = (13 * np.arange(40)[:, None] + np.arange(12)).ravel()
    one = np.column_stack([first, first + 13, first + 1])
    other = np.column_stack([first + 1, first + 13, first + 14])
    vertices = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    bones = shapes.Bones(
        np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[1.0, 0, 0], [2, 0, 0]]), np.array([-1, 0])
    )
    return (vertices, np.concatenate([one, other]).astype(np.int32)), bones


def strengths_of(mesh, bones):
    inside = springs(mesh, bones)
    return inside["spring_strength"] / inside["area"] / inside["unit"] ** 2


@pytest.mark.parametrize(("thickness", "share"), [(0, SHEET), (5e-3, None), (0.03, 1)])
def test_springs_of_a_sheet_are_weak(thickness, share):
    """In a plane, they have SHEET of their strength, from FLAT on all of it, and a share in
    between."""
    mesh, bones = sheet(thickness)
    thick = sheet(0.03)[0]
    relative = strengths_of(mesh, bones).max() / strengths_of(thick, bones).max()
    if share:
        assert relative == pytest.approx(share, rel=0.1)
    else:
        assert SHEET * 1.01 < relative < 0.5


@pytest.mark.parametrize("count", [1, 7, 8, 13])
def test_the_nearest_of_any_number_of_bones(count):
    """Distances are computed for several bones at once, whether or not the last ones fill a
    vector."""
    vertices, triangles = shapes.tube(12, 40, 0.3)
    bones = shapes.chain(count)
    bones.tails[:: max(2, count // 2)] += [0.05, 0, 0]
    bone = bone_of(springs((vertices, triangles), bones))
    distance = distances(bones, vertices)
    own = distance[np.arange(len(vertices)), bone]
    np.testing.assert_allclose(own, distance.min(1), atol=1e-9)


def test_parts_go_to_the_bones_they_surround():
    """A thin tube next to a thick one: the skin between them is nearer to the bone of the other
    tube."""
    thick, thin = shapes.tube(16, 21, 0.4), moved(shapes.tube(8, 21, 0.1), by=[0.55, 0, 0])
    mesh = shapes.join(thick, thin)
    one, beside = shapes.chain(2, 1.8).moved(np.eye(3), (0, 0, 0.1)), np.array([0.55, 0, 0])
    heads = np.concatenate([one.heads, one.heads + beside])
    tails = np.concatenate([one.tails, one.tails + beside])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, -1, 2]))
    bone = bone_of(springs(mesh, bones))
    n = len(thick[0])
    assert set(bone[:n]) == {0, 1}
    assert set(bone[n:]) == {2, 3}
    near = np.argmax(thick[0][:, 0])  # this one is not an exception
    assert np.linalg.norm(thick[0][near] - beside - [0, 0, thick[0][near, 2]]) < 0.2


def test_armor_beside_two_bones_goes_to_one():
    """The whole plate follows the bone that is near most of it."""
    body, plate = shapes.tube(16, 31, 0.25, caps=True), shapes.box((0.04, 0.2, 1.2), (0.32, 0, 0.8))
    bones = shapes.chain(2, 1.8).moved(np.eye(3), (0, 0, 0.1))
    mesh = shapes.join(body, plate)
    inside = springs(mesh, bones)
    bone = bone_of(inside)
    assert plate[0][:, 2].max() > 1.3  # well away from the other bone, too
    assert set(bone[len(body[0]) :]) == {0}
    assert set(bone[: len(body[0])]) == {0, 1}


def test_a_button_follows_the_skin_beneath():
    """Its springs are weak compared with those of the skin, and with its links."""
    mesh, first = button_on_a_tube()
    bones = shapes.chain(2)
    solver = shapes.solver(mesh, bones, coarsen=0)
    inside = solver._inside
    relative = inside["spring_strength"] / inside["area"]
    assert relative[first:].max() < 0.3 * np.median(relative[:first])
    solver.solve()
    weights = solver.weights
    beneath = np.linalg.norm(mesh[0][:first] - [0.2, 0, 1], axis=1) < 0.09
    skin = weights[:first][beneath].mean(0)
    assert 0.2 < skin[0] < 0.8  # else the skin is as the nearest bone is
    button = weights[first:]
    alone = np.eye(2)[inside["spring_bone"][first:]]
    assert np.abs(button - skin).sum(1).mean() < 0.5 * np.abs(alone - skin).sum(1).mean()


def skirt():
    """A tube around two legs that swing, each in a tube of its own."""
    hem = shapes.tube(24, 11, 0.5, 1.0)
    legs = [moved(shapes.tube(8, 11, 0.1, 1.0), by=[x, 0, 0]) for x in (-0.25, 0.25)]
    heads = np.array([[-0.25, 0, 1.0], [0.25, 0, 1.0]])
    bones = shapes.Bones(heads, heads - [0, 0, 1.0], np.array([-1, -1]))
    return shapes.join(*legs, hem), 2 * len(legs[0][0]), bones


def test_a_skirt_gives_way():
    """The skirt's springs follow one leg, which its skin cannot do, so these springs weaken; the
    springs of the legs hold."""
    mesh, first, bones = skirt()
    solver = shapes.solved(araplbs.Solver(*mesh, *bones, coarsen=0, pose_count=40))
    inside = solver._inside
    held, owner = inside["spring_held"], owners(inside)
    legs, hem = held[owner < first], held[owner >= first]
    assert legs.min() > 0.9
    assert hem.mean() < 0.9 * legs.mean()
    middle = np.abs(mesh[0][owner, 0]) < 0.1
    between, beside = held[(owner >= first) & middle], held[(owner >= first) & ~middle]
    assert between.mean() < beside.mean()
    assert between.min() < 0.5


def test_no_rotation_is_lost_where_a_spring_is_released(rng):
    """At the end of a wire, released springs leave one edge, for which any rotation is equally
    good."""
    vertices = np.column_stack([np.full(9, 0.2), np.zeros(9), np.linspace(0, 2, 9)])
    edges = np.column_stack([np.arange(8), np.arange(1, 9)])
    bones = shapes.chain(2)
    both = np.arange(9).repeat(2), np.tile([0, 1], 9)
    solver = araplbs.Solver(vertices, None, *bones, edges=edges, pose_count=10, released=both)
    assert not solver._inside["spring_weight"].any()
    none = araplbs.Solver(
        vertices, None, *bones, edges=edges, pose_count=10, bone_spring_stiffness=0
    )
    assert solver.energies[0] == pytest.approx(none.energies[0], rel=1e-4)
    solver.solve()
    check_weights(solver, 4, 9)


def wardrobe():
    """A body with a button, a plate and a tube next to it."""
    body = shapes.tube(14, 25, 0.3, caps=True)
    mesh = shapes.join(
        body,
        shapes.box((0.04, 0.2, 1.1), (0.36, 0, 0.75)),
        shapes.sphere(5, 8, 0.06, (-0.33, 0.02, 1.02)),
        moved(shapes.tube(9, 12, 0.12, 1.0, caps=True), by=[0.1, 0.5, 0.2]),
    )
    heads = np.array([[0, 0, 0.1], [0, 0, 1.0], [0.1, 0.5, 0.3], [0, 0.01, 1.4]])
    tails = np.array([[0, 0, 1.0], [0, 0, 1.9], [0.1, 0.5, 1.1], [0.5, 0.6, 1.6]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, -1, 1]))
    noise = np.random.default_rng(3).uniform(-0.004, 0.004, mesh[0].shape)
    return (mesh[0] + noise, mesh[1]), bones


@pytest.mark.parametrize("what", ["turn", "scale", "place", "symmetry", "all"])
def test_bones_do_not_depend_on_where_the_scene_is(what):
    mesh, bones = wardrobe()
    matrix, offset = np.eye(3), np.zeros(3)
    if what in ("turn", "all"):
        matrix = shapes.rotation([1, -2, 0.5], 2.0)
    if what in ("scale", "all"):
        matrix = 1000 * matrix
    if what in ("symmetry", "all"):
        matrix = matrix @ np.diag([-1.0, 1, 1])
    if what in ("place", "all"):
        offset = np.array([5.0, -3, 2]) * (1000 if what == "all" else 1)
    here = springs(mesh, bones)
    there = springs((mesh[0] @ matrix.T + offset, mesh[1]), bones.moved(matrix, offset))
    np.testing.assert_array_equal(bone_of(there), bone_of(here))
    assert len(set(bone_of(here))) >= 3
    points = [
        inside["spring_point"] * inside["diagonal"] + center_of(vertices)
        for inside, vertices in ((here, mesh[0]), (there, mesh[0] @ matrix.T + offset))
    ]
    scale = np.linalg.norm(matrix[0])
    np.testing.assert_allclose(points[1], points[0] @ matrix.T + offset, atol=1e-7 * scale)
    # Strengths compared with those of the edges: both in the unit of areas.
    shares = [i["spring_strength"] / i["unit"] ** 2 for i in (here, there)]
    np.testing.assert_allclose(shares[1], shares[0], rtol=1e-7)
