"""The plane of symmetry of a character: any direction and position, all kinds of names or none,
joints and skin that are slightly off, and meaningless tails."""

import tracemalloc
from dataclasses import replace

import creature
import numpy as np
import pytest
import shapes
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.model.options import Options
from araplbs.model.sparse_weights import dense_of
from araplbs.skeleton.skeleton import Skeleton
from araplbs.skeleton.symmetry import (
    bone_partners,
    reflected,
    reflection,
    symmetry_plane,
)
from araplbs.solvers.solve import solve

NAMES = creature.NAMES
PARTNERS = [NAMES.index(n[:-1] + {"L": "R", "R": "L"}[n[-1]]) if "." in n else NAMES.index(n)
            for n in NAMES]  # fmt: skip
WAYS = {
    "faces along X": (shapes.rotation([0, 0, 1], np.pi / 2), (0.0, 0, 0)),
    "lies": (shapes.rotation([0, 1, 0], np.pi / 2), (0.0, 0, 0)),
    "beside the origin": (np.eye(3), (0.7, 0, 0)),
    "off by a little": (np.eye(3), (0.012, 0, 0)),
    "any way": (30 * shapes.rotation([1, 2, 3], 0.7), (5.0, -2, 9)),
}


def skeleton(turn=None, offset=(0, 0, 0), names=NAMES, **more):
    turn = np.eye(3) if turn is None else turn
    heads, tails = (np.array([b[k] for b in creature.BONES], float) for k in (1, 2))
    fingers = [k for k, name in enumerate(NAMES) if name.startswith("front")]
    heads[fingers, 1] = tails[fingers, 1] = -0.22  # front and back are not images of each other
    heads, tails = (ends @ turn.T + offset for ends in (heads, tails))
    parents = [NAMES.index(b[3]) if b[3] else -1 for b in creature.BONES]
    axes = np.tile(turn @ [0.0, 1.0, 0.0], (len(names), 1))
    bones = Skeleton.from_joints(heads, parents, tails=tails, names=names, roll_axes=axes)
    return replace(bones, **more)


def skin(turn=None, offset=(0, 0, 0)):
    vertices, triangles, _first = creature.creature()
    return vertices @ (np.eye(3) if turn is None else turn).T + offset, triangles


def assert_plane(symmetry, turn, offset, within):
    """The plane is the image of X = 0."""
    partners, point, normal = symmetry
    assert partners.tolist() == PARTNERS
    along = turn[:, 0] / np.linalg.norm(turn[:, 0])
    size = np.cbrt(np.linalg.det(turn))
    assert abs(abs(normal @ along) - 1) < within
    assert abs((point - offset) @ normal) < within * size


def test_what_is_drawn_at_x_0_is_there_exactly():
    partners, point, normal = symmetry_plane(skeleton())
    assert partners.tolist() == PARTNERS and not point.any() and normal.tolist() == [1, 0, 0]


@pytest.mark.parametrize("names", ["sides", "none"])
@pytest.mark.parametrize("way", WAYS)
def test_any_direction_and_place(way, names):
    turn, offset = WAYS[way]
    bones = skeleton(
        turn, offset, NAMES if names == "sides" else [f"b{k}" for k in range(len(NAMES))]
    )
    assert bone_partners(bones).tolist() == PARTNERS
    points = skin(turn, offset)[0]
    assert_plane(symmetry_plane(bones, points), turn, np.array(offset), 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_joints_and_skin_that_are_a_little_off(way, rng):
    """Joints and skin are off by about 0.3 % of the size, and the skin determines the plane."""
    turn, offset = WAYS[way]
    bones, points = skeleton(turn, offset), skin(turn, offset)[0]
    size = np.linalg.norm(np.ptp(points, axis=0))
    bones.heads = bones.heads + rng.uniform(-1, 1, bones.heads.shape) * 0.002 * size
    assert bone_partners(bones).tolist() == PARTNERS
    assert_plane(symmetry_plane(bones, points), turn, np.array(offset), 5e-3)


def test_skin_that_is_off_from_the_joints():
    """The joints' plane is at X = 0.012, and the skin's plane is at 0."""
    found = symmetry_plane(skeleton(offset=(0.012, 0, 0)), skin()[0])
    assert_plane(found, np.eye(3), np.zeros(3), 1e-9)


def test_tails_that_say_nothing(rng):
    """As importers leave them, tails point in one direction, or anywhere."""
    for tails in (np.tile([0.1, 0, 0], (len(NAMES), 1)), rng.normal(size=(len(NAMES), 3))):
        bones = skeleton()
        bones.tails = bones.heads + tails
        assert bone_partners(bones).tolist() == PARTNERS


def test_most_bones_decide_not_those_that_happen_to_fit():
    """At X = 0, only the trunk has a partner, which is itself. In the true plane, all bones have
    one."""
    bones = skeleton(shapes.rotation([0, 0, 1], np.pi / 2))
    assert (np.abs(bones.heads[:, 0]) < 1e-9).sum() > len(NAMES) // 3
    assert bone_partners(bones).tolist() == PARTNERS


def test_a_skeleton_that_is_not_symmetric(rng):
    bones = skeleton()
    bones.heads = bones.heads + rng.uniform(-0.2, 0.2, bones.heads.shape)
    bones.tails = bones.heads + 0.1
    assert bone_partners(bones) is None and symmetry_plane(bones, skin()[0]) is None


def chain(count=6):
    heads = np.column_stack([np.linspace(0, 2, count + 1), np.zeros(count + 1), np.ones(count + 1)])
    return Skeleton.from_joints(heads[:-1], np.arange(count) - 1, tails=heads[1:])


def test_a_chain_is_no_image_of_itself_turned_around():
    """The chain's joints are images of each other across its middle, but the hierarchy is
    reversed."""
    assert bone_partners(chain()) is None


def test_a_chain_in_a_plane_takes_a_symmetric_skin(rng):
    vertices, _triangles = shapes.tube(12, 25, 0.2, 2.0, caps=True)
    vertices = vertices @ shapes.rotation([0, 1, 0], np.pi / 2).T + [0, 0, 1]
    partners, point, normal = symmetry_plane(chain(), vertices)
    assert partners.tolist() == list(range(6)) and abs(normal[0]) < 1e-9
    np.testing.assert_allclose(reflected(chain().heads, (partners, point, normal)), chain().heads)
    bumpy = vertices + rng.uniform(-0.1, 0.1, vertices.shape)
    assert symmetry_plane(chain(), bumpy) is None


def test_bones_that_do_not_deform_say_nothing():
    bones = skeleton(shapes.rotation([0, 0, 1], np.pi / 2))
    bones.deform[:3] = False
    partners = bone_partners(bones)
    assert partners[:3].tolist() == [-1] * 3 and partners[3:].tolist() == PARTNERS[3:]


def test_bones_of_other_kinds_are_no_partners():
    turn = shapes.rotation([0, 0, 1], np.pi / 2)
    kinds = ["rigid"] * len(NAMES)
    stretch = np.arange(len(NAMES)) == NAMES.index("hand.L")
    bones = skeleton(
        turn, kinds=kinds, segments=np.ones(len(NAMES), np.int32), stretch=stretch,
        own_stretch=stretch, volume=0 * stretch,
    )  # fmt: skip
    partners = bone_partners(bones)
    assert partners[NAMES.index("hand.L")] == partners[NAMES.index("hand.R")] == -1
    assert partners[NAMES.index("arm.L")] == NAMES.index("arm.R")


def test_one_bone_and_bones_at_one_place():
    assert bone_partners(chain(1)) is None
    bones = chain(3)
    bones.heads[:] = 1.0
    assert bone_partners(bones) is None


def test_reflection_is_that_of_points():
    turn, offset = WAYS["any way"]
    symmetry = symmetry_plane(skeleton(turn, offset))
    points = np.random.default_rng(2).normal(size=(7, 3))
    flip = reflection(symmetry)
    np.testing.assert_allclose(points @ flip[:3, :3].T + flip[:3, 3], reflected(points, symmetry))
    np.testing.assert_allclose(flip @ flip, np.eye(4), atol=1e-12)
    np.testing.assert_array_equal(reflection(symmetry_plane(skeleton())), np.diag([-1, 1, 1, 1]))


def weights(turn, offset, noise=0.0, off=0.0):
    """The plane of the creature, whose vertices are off by `noise` and whose joints are off by
    `off` of the size."""
    rng = np.random.default_rng(4)
    bones, (points, triangles) = skeleton(turn, offset), skin(turn, offset)
    size = np.linalg.norm(np.ptp(points, axis=0))
    points = points + rng.uniform(-1, 1, points.shape) * noise * size
    bones.heads = bones.heads + rng.uniform(-1, 1, bones.heads.shape) * off * size
    mesh = Mesh("Creature", points, triangles, np.zeros((0, 2), int), np.eye(4))
    problem = Problem([mesh], bones, symmetric=True)
    found = solve(problem, Options(pose_count=12)).rows
    return dense_of(found, len(NAMES))


@pytest.mark.parametrize("way", ["faces along X", "beside the origin", "any way"])
def test_weights_are_the_same_on_both_sides(way):
    """Weights are bit-identical on both sides, as at X = 0, and equal within the noise if joints
    and skin are off."""
    vertices = creature.creature()[0]
    image = np.linalg.norm(vertices[:, None] * [-1, 1, 1] - vertices[None], axis=2).argmin(1)
    dense = weights(*WAYS[way])
    np.testing.assert_array_equal(dense, dense[image][:, PARTNERS])
    dense = weights(*WAYS[way], noise=0.0015, off=0.0015)
    assert np.abs(dense - dense[image][:, PARTNERS]).sum(1).mean() < 1e-3


def star(limbs, tails, noise):
    """Limbs from one joint, in a circle around the axis of a head, as an importer rounds them."""
    rng, angle = np.random.default_rng(0), (np.arange(limbs) + 0.5) * 2 * np.pi / limbs
    out = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    heads = np.concatenate([np.zeros((limbs, 3)), [[0, 0, 0.3]]])
    heads = heads + noise * rng.normal(size=heads.shape)
    ways = np.concatenate(
        [out if tails == "out" else np.tile([0, 0, 0.1], (limbs, 1)), [[0, 0, 1]]]
    )
    names = [*(f"limb{k}" for k in range(limbs)), "head"]
    return Skeleton.from_joints(heads, [-1] * (limbs + 1), tails=heads + ways, names=names)


@pytest.mark.parametrize("noise", [0, 1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("limbs", [5, 8])
def test_limbs_of_one_joint_are_not_paired_by_rounding(limbs, noise):
    """Their tails tell them apart, whatever the rounding. Without tails, nothing does."""
    partners, _point, _normal = symmetry_plane(star(limbs, "out", noise))
    assert partners.tolist() == symmetry_plane(star(limbs, "out", 0))[0].tolist()
    assert sorted(partners) == list(range(limbs + 1))
    assert symmetry_plane(star(limbs, "up", noise)) is None


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_close_pairs(core, rng, monkeypatch, at_once):
    """Exactly the pairs within reach along each axis, also if several points coincide."""
    distances = core("skeleton.bone_distances")
    monkeypatch.setattr(distances, "MOST_AT_ONCE", at_once)
    points, others = rng.uniform(-1, 1, (40, 3)), np.round(rng.uniform(-1, 1, (30, 3)), 1)
    others[::5], reach = others[0], rng.uniform(0, 0.8, 40)
    found = [np.stack(pair) for pair in distances.close_pairs(points, others, reach)]
    near = (np.abs(points[:, None] - others) <= reach[:, None, None]).all(axis=2)
    assert sorted(np.concatenate(found, axis=1).T.tolist()) == np.argwhere(near).tolist()
    assert not list(distances.close_pairs(points[:0], others, reach[:0]))


def test_the_joints_of_a_long_chain_are_compared_in_little_memory():
    joints = np.outer(np.arange(1000), [0.3, 0.2, 0.1])
    chain = Skeleton.from_joints(joints, np.arange(1000) - 1)
    symmetry_plane(chain)
    tracemalloc.start()
    symmetry_plane(chain)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20 << 20, "a matrix of all pairs of joints takes 24 MB, its lengths 24 more"
