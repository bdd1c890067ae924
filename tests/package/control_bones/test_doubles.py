"""Branches of bones that coincide with others: how they are found, which parts follow them, and the
resulting weights of a body with a backpack."""

from dataclasses import replace

import araplbs
import numpy as np
import pytest
import shapes
from araplbs.base.steps import finish
from araplbs.character.coincident_bones import (
    find_doubles,
    lesser_copies,
    lesser_doubles,
    part_doubles,
    parts_of_doubles,
)
from araplbs.character.control_bones import leave_out_in_steps
from araplbs.character.mesh import Mesh
from araplbs.character.patch import cut_patches
from araplbs.character.problem import Problem
from araplbs.model.edits import Edits, Pairs
from araplbs.model.options import Options
from araplbs.model.sparse_weights import dense_of, sparse_of
from araplbs.skeleton.bone_facts import BoneFacts
from araplbs.skeleton.skeleton import Skeleton
from araplbs.solvers.solve import solve

BODY = shapes.tube(12, 33, 0.3, 4.0, caps=True)
PACK = shapes.box((0.6, 0.4, 1.2), (0, 0.6, 2))
BUTTON = shapes.box((0.05, 0.02, 0.05), (0, 0.31, 2))
SLEEVE = shapes.tube(12, 9, 0.5, 1.6)
SLEEVE = SLEEVE[0] + (0, 0, 1.2), SLEEVE[1]
STRAP = shapes.tube(12, 2, 0.4, 0.1)
STRAP = STRAP[0] + (0, 0, 1.95), STRAP[1]


def skeleton(copies=((1, None), (2, 0)), spine=4, first=False, move=lambda points: points):
    """A spine of bones 0, 1.. along Z, one unit each, and copies (of, parent among them) of some;
    first: the copies come first."""
    parents = [*range(-1, spine - 1), *(-1 if up is None else spine + up for _of, up in copies)]
    places = np.array([*range(spine), *(of for of, _up in copies)], float)
    names = [f"spine {k}" for k in range(spine)] + [f"pack {k}" for k in range(len(copies))]
    order = np.arange(len(names))
    if first:
        order = np.roll(order, len(copies))
    place = np.argsort(order)
    heads = np.zeros((len(names), 3))
    heads[:, 2] = places[order]
    return Skeleton.from_joints(
        move(heads),
        np.array([-1 if parents[b] < 0 else place[parents[b]] for b in order]),
        tails=move(heads + np.eye(3)[2]),
        names=[names[b] for b in order],
    )


def named(found, bones):
    return {bones.names[b] for b in np.flatnonzero(found)}


def doubles(bones):
    return [(named(d.bones, bones), named(d.originals, bones)) for d in find_doubles(bones)]


def mesh_of(*parts, **more):
    vertices, triangles = shapes.join(*parts)
    return Mesh("Body", vertices, triangles, np.zeros((0, 2), int), np.eye(4), **more)


@pytest.mark.parametrize("first", [False, True])
def test_a_branch_on_a_longer_chain(first):
    assert doubles(skeleton(first=first)) == [({"pack 0", "pack 1"}, {"spine 1", "spine 2"})]


def test_place_turn_and_scale_say_nothing():
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]
    for move in (lambda p: 1e-3 * p @ turn, lambda p: 1e3 * p + 5):
        assert doubles(skeleton(move=move)) == doubles(skeleton())


def test_a_bone_of_its_own_goes_with_the_branch():
    """With as many such bones as coincident ones, there are too many of them."""
    bones = skeleton(((1, None), (2, 0), (9, 1)))
    assert doubles(bones) == [({"pack 0", "pack 1", "pack 2"}, {"spine 1", "spine 2"})]
    assert doubles(skeleton(((1, None), (2, 0), (9, 1), (10, 2)), spine=6)) == []


def test_what_goes_on_above_is_the_original():
    """Both carry the same number of bones, and one also carries those of the body."""
    assert doubles(skeleton(((1, None), (2, 0), (3, 1)))) == [
        ({"pack 0", "pack 1", "pack 2"}, {"spine 1", "spine 2", "spine 3"})
    ]


@pytest.mark.parametrize(
    "copies",
    [
        ((1, None),),  # one bone
        ((0, None), (1, 0), (2, 1), (3, 2)),  # nothing says which is which
        ((1.2, None), (2.2, 0)),  # off by more than a twentieth
    ],
)
def test_no_doubles(copies):
    assert doubles(skeleton(copies)) == []


def test_only_deform_bones():
    bones = skeleton()
    bones.deform[4] = False
    assert doubles(bones) == []


@pytest.mark.parametrize(
    ("sums", "parts", "expected"),
    [
        ((-3, -4), (), [1]),
        ((-4, -3), (), [4]),
        ((-3, -3), (), []),  # nothing says which is which
        ((0, -3), (), []),  # one of them may be no skin
        ((-3, -4), (4,), []),  # which has loose parts of its own
        ((-3, -4), (1,), []),
    ],
)
def test_the_lesser_one_of_two_bones_that_are_skin(sums, parts, expected):
    bones = skeleton(((1, None),))
    of_all = np.full(5, -9.0)
    of_all[[1, 4]] = sums
    found = lesser_doubles(bones, of_all, np.isin(np.arange(5), parts))
    assert np.flatnonzero(found).tolist() == expected


UNREAL = ("pelvis", "spine_01", "spine_02", "clavicle_l", "upperarm_l", "lowerarm_l")
OWN = ("hips", "belly", "chest", "collar", "arm", "forearm")


def retargeted(names, add="DEF_{}", on_originals=False):
    """A chain with these names, and a copy of it with something added to the names."""
    m = len(names)
    heads = np.zeros((2 * m, 3))
    heads[:, 2] = np.tile(np.arange(m), 2)
    up = np.arange(m) - 1
    below = np.arange(m) if on_originals else np.where(up < 0, -1, up + m)
    both = [*names, *map(add.format, names)]
    parents = np.concatenate([up, below])
    return Skeleton.from_joints(heads, parents, tails=heads + np.eye(3)[2], names=both)


def lesser_of(bones, sums=(0, 0), parts=()):
    """The chain whose bones are all controls: "originals", "copies" or None."""
    m = len(bones.names) // 2
    found = lesser_copies(bones, np.repeat(sums, m).astype(float), np.isin(np.arange(2 * m), parts))
    roles = {(True, False): "originals", (False, True): "copies", (False, False): None}
    assert all(half.all() == half.any() for half in (found[:m], found[m:]))
    return roles[bool(found[0]), bool(found[m])]


@pytest.mark.parametrize(
    ("names", "add", "sums", "expected"),
    [
        (UNREAL, "DEF_{}", (0, 0), "copies"),  # the engine knows the others
        (OWN, "DEF_{}", (0, 0), "originals"),
        (OWN, "{}_copy", (0, 0), "copies"),
        (OWN, "target:{}", (0, 0.5), "copies"),
        (UNREAL, "DEF_{}", (0, -2), "originals"),  # they copy transforms
        (OWN, "{}_copy", (0, -1), "originals"),
        (OWN, "DEF_{}", (-3, 0), "copies"),  # painted
    ],
)
def test_copies_of_a_chain_have_one_role(names, add, sums, expected):
    assert lesser_of(retargeted(names, add), sums) == expected


def test_copies_with_parts_of_their_own_stay():
    assert lesser_of(retargeted(OWN), parts=[8]) is None


def test_twist_bones_are_no_copies():
    """Twist bones are children of the bones with which they coincide."""
    assert lesser_of(retargeted(OWN, "{}_twist", on_originals=True)) is None


def test_other_names_and_few_bones_are_no_copies():
    bones = retargeted(OWN)
    bones.names[6:] = [f"other {k}" for k in range(6)]
    assert lesser_of(bones) is None
    assert lesser_of(retargeted(OWN[:2])) is None


def test_copies_elsewhere_are_no_copies():
    bones = retargeted(OWN)
    bones.heads[6:] += 0.3
    bones.tails[6:] += 0.3
    assert lesser_of(bones) is None


def test_a_chain_beside_its_copy_moves_all_the_skin():
    tube = shapes.tube(12, 61, 0.3, 6.0, caps=True)
    for names, skin in ((UNREAL, range(6)), (OWN, range(6, 12))):
        bones = retargeted(names)
        left = finish(leave_out_in_steps([mesh_of(tube)], bones))[1]
        assert np.flatnonzero(left.deform).tolist() == list(skin)


def test_collision_volumes_move_no_skin():
    """They are children of the bones in the same limbs, and have other names."""
    joints = ("mPelvis", "mTorso", "mChest", "mNeck", "mShoulderLeft", "mElbowLeft")
    bones = retargeted(joints, on_originals=True)
    volumes = ["PELVIS", "BELLY", "CHEST", "NECK", "L_UPPER_ARM", "L_LOWER_ARM"]
    bones = replace(bones, names=[*joints, *volumes], tails=bones.tails - (0, 0, 0.3))
    left = finish(leave_out_in_steps([mesh_of(shapes.tube(12, 61, 0.3, 6.0, caps=True))], bones))[1]
    assert np.flatnonzero(left.deform).tolist() == list(range(6))


def test_the_lesser_one_is_left_out_unless_it_was_painted():
    """A bendy rig deforms with two bones, one of which is the handle of the other."""
    bones, mesh = skeleton(((1, None),)), mesh_of(BODY)
    facts = BoneFacts(bones.names, bones.deform, bones.parents, bones.opposite)
    facts.copies, facts.handle = np.ones(5, bool), np.arange(5) == 4
    left = finish(leave_out_in_steps([mesh], bones, 1, facts))[1]
    assert named(left.left_out, bones) == {"pack 0"}
    assert "more likely belongs to the skin" in left.evidence[4]
    rows = sparse_of(np.eye(5)[np.full(len(mesh.vertices), 4)])  # far from it as well
    left = finish(leave_out_in_steps([mesh], bones, 1, facts, lambda _asked: [rows]))[1]
    assert not left.left_out.any()


def masks(mesh, bones):
    return [mask for _double, mask in parts_of_doubles([mesh], bones)]


def test_parts_beside_the_body():
    mesh = mesh_of(BODY, PACK, BUTTON, STRAP)
    (mask,) = masks(mesh, skeleton())
    assert not mask[: len(BODY[0])].any()
    assert mask[len(BODY[0]) :].all()


def test_parts_of_another_mesh():
    (mask,) = [m for _d, m in parts_of_doubles([mesh_of(BODY), mesh_of(PACK)], skeleton())]
    assert mask.tolist() == [False] * len(BODY[0]) + [True] * len(PACK[0])


@pytest.mark.parametrize(
    "more",
    [
        (),
        (BUTTON,),  # too small for bones of its own
        (SLEEVE,),  # around the bones
        (shapes.box((0.6, 0.4, 0.6), (0, 0.6, 0.4)),),  # nearer to the first bone
    ],
)
def test_no_parts(more):
    mesh = mesh_of(BODY, *more)
    assert masks(mesh, skeleton()) == []
    assert part_doubles([mesh], skeleton())[0] is mesh


def solved(mesh, bones, **options):
    (parted,) = part_doubles([mesh], bones)
    problem = Problem([parted], bones)
    solution = solve(problem, Options(pose_count=20, symmetric=False, **options))
    return problem, dense_of(solution.rows, len(bones.names))


@pytest.mark.parametrize("first", [False, True])
def test_no_vertex_follows_both(first):
    """Otherwise, the pack would follow the spine, or both would pull at each other."""
    mesh, bones = mesh_of(BODY, PACK), skeleton(first=first)
    problem, weights = solved(mesh, bones)
    pack = np.array([name.startswith("pack") for name in bones.names])
    count = len(BODY[0])
    assert not weights[:count, pack].any()
    assert not weights[count:, ~pack].any()
    assert (weights[:, ~pack].max(0) > 0.5).all()
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-6)
    solver = araplbs.Solver(**problem.arguments, pose_count=5)
    vertices, tied = solver.bone_springs[:2]
    assert (pack[tied] == (vertices >= count)).all()


def test_edits_go_first():
    mesh, bones = mesh_of(BODY, PACK), skeleton()
    vertex, other = 100, 101
    edits = Edits(
        influences=Pairs(np.array([vertex], np.int32), np.array([4]), np.array([True])),
        constraints=Pairs(np.array([other]), np.array([5]), np.array([0.5])),
    )
    (parted,) = part_doubles([replace(mesh, edits=edits)], bones)
    vertices, which, allowed = Problem([parted], bones).arguments["influences"]
    said = dict(zip(zip(vertices.tolist(), which.tolist(), strict=True), allowed, strict=True))
    assert said[vertex, 4] and said[other, 5]
    assert not said[vertex, 5] and not said[other, 4]
    assert len(said) == 2 * len(BODY[0]) + 6 * len(PACK[0])


def test_patches_keep_it():
    """A piece that is cut off is not a part."""
    bones, count = skeleton(), len(BODY[0]) + len(PACK[0])
    rows = sparse_of(np.ones((count, 1)))
    (mesh,) = part_doubles([mesh_of(BODY, PACK, weights=rows)], bones)
    new = np.arange(count) == count - 1
    ((patch,), _links) = cut_patches([mesh], [new])
    whole, cut = mesh.doubles, patch.mesh.doubles
    inside = np.isin(whole.vertices, patch.vertices)
    np.testing.assert_array_equal(patch.vertices[cut.vertices], whole.vertices[inside])
    np.testing.assert_array_equal(cut.bones, whole.bones[inside])
    np.testing.assert_array_equal(cut.values, whole.values[inside])


@pytest.mark.parametrize(("parts", "left"), [((BODY, PACK), False), ((BODY,), True)])
def test_bones_with_parts_are_no_copies(parts, left):
    bones = skeleton()
    facts = BoneFacts(bones.names, bones.deform, bones.parents, bones.opposite)
    _meshes, found = finish(leave_out_in_steps([mesh_of(*parts)], bones, facts=facts))
    assert named(found.left_out, bones) == ({"pack 0", "pack 1"} if left else set())
