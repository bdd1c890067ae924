"""bone_directions() recognizes armatures with meaningless tails and derives the directions from the
joints."""

import araplbs
import joint_reference as reference
import numpy as np
import pytest
import shapes
from paths import DATA, shared_names
from refusals import GOOD, MESH, changed, row, table
from shared_data import Character


def limb(begin, end, radius=0.12, rings=14, around=12):
    """A closed tube from one point to another."""
    begin, end = np.array(begin, float), np.array(end, float)
    along = end - begin
    height = np.linalg.norm(along)
    vertices, triangles = shapes.tube(around, rings, radius, height, caps=True)
    z = along / height
    x = np.cross(z, [0.3, 1, 0.2])
    x /= np.linalg.norm(x)
    return vertices @ np.array([x, np.cross(z, x), z]) + begin, triangles


def body(stubs=False):
    """(mesh, Bones) of a trunk with two arms and two legs, one after the other, with tails as an
    artist places them."""
    mesh = shapes.join(
        limb((0, 0, 0.9), (0, 0, 2.2), 0.25, 20),
        limb((0.2, 0, 1.6), (1.3, 0, 1.6)),
        limb((-0.2, 0, 1.6), (-1.3, 0, 1.6)),
        limb((0.2, 0, 1.1), (0.2, 0, 0)),
        limb((-0.2, 0, 1.1), (-0.2, 0, 0)),
    )
    rows = [
        ("hips", -1, (0, 0, 1), (0, 0, 1.35)),
        ("spine", 0, (0, 0, 1.35), (0, 0, 1.7)),
        ("head", 1, (0, 0, 1.7), (0, 0, 2.2)),
    ]
    for x in (1, -1):
        first = len(rows)
        rows += [
            ("arm", 1, (0.3 * x, 0, 1.6), (0.8 * x, 0, 1.6)),
            ("hand", first, (0.8 * x, 0, 1.6), (1.3 * x, 0, 1.6)),
            ("thigh", 0, (0.2 * x, 0, 0.95), (0.2 * x, 0, 0.5)),
            ("shin", first + 2, (0.2 * x, 0, 0.5), (0.2 * x, 0, 0)),
        ]
    heads, tails = (np.array([each[k] for each in rows], float) for k in (2, 3))
    parents = np.array([each[1] for each in rows], np.int32)
    return mesh, shapes.Bones(heads, heads + 0.002 * (tails - heads) if stubs else tails, parents)


def aside(bones, seed=1):
    """Tails rotated by 90 degrees about their heads."""
    along = bones.tails - bones.heads
    length = np.linalg.norm(along, axis=1, keepdims=True)
    turned = np.random.default_rng(seed).normal(size=along.shape)
    turned -= (turned * along).sum(1, keepdims=True) * along / length**2
    turned *= length / np.linalg.norm(turned, axis=1, keepdims=True)
    return bones.but(tails=bones.heads + turned)


def plus(bones, *joints):
    """The bones, and further ones without a length: (place, parent) each."""
    places, parents = zip(*joints, strict=True)
    return bones.but(
        heads=np.vstack([bones.heads, places]),
        tails=np.vstack([bones.tails, places]),
        parents=np.append(bones.parents, parents).astype(np.int32),
    )


def lengths(bones, tails):
    return np.linalg.norm(tails - bones.heads, axis=1)


def test_drawn_tails_stay():
    mesh, bones = body()
    tails, ways, found = araplbs.bone_directions(*mesh, *bones)
    assert found == "tails"
    assert ways is None
    assert np.array_equal(tails, bones.tails)


def test_drawn_tails_may_end_before_the_joint():
    mesh, bones = body()
    short = bones.but(
        tails=bones.heads
        + (0.5 + 0.2 * np.arange(len(bones))[:, None] % 0.5) * (bones.tails - bones.heads)
    )
    assert reference.tails_off(short) < 0.5
    assert araplbs.bone_directions(*mesh, *short)[2] == "tails"


@pytest.mark.parametrize("seed", range(8))
def test_decides_as_the_median_does(seed):
    """Random tails have a meaning if the median of their deviation says so."""
    rng = np.random.default_rng(seed)
    mesh, bones = body()
    tails = bones.tails + rng.normal(scale=rng.choice([0.05, 0.12, 0.3]), size=(len(bones), 3))
    loose = bones.but(tails=tails)
    found = araplbs.bone_directions(*mesh, *loose)[2]
    off = reference.tails_off(loose)
    assert found == "tails" if off < 0.57 else found in ("joints", "lengths")


@pytest.mark.parametrize("scale", [0.01, 0.58, 1.5, 100])
def test_lengths_wrong_by_one_factor(scale):
    """Blender's glTF importer leaves such lengths under an armature object with that scale."""
    mesh, bones = body()
    children = [np.flatnonzero(bones.parents == b) for b in range(len(bones))]
    nearest = np.array(
        [
            min((np.linalg.norm(bones.heads[c] - bones.heads[b]) for c in each), default=0.3)
            for b, each in enumerate(children)
        ]
    )
    along = (bones.tails - bones.heads) / lengths(bones, bones.tails)[:, None]
    imported = bones.but(tails=bones.heads + along * nearest[:, None] / scale)
    tails, ways, found = araplbs.bone_directions(*mesh, *imported)
    assert found == "lengths"
    assert ways is None
    assert np.allclose((tails - bones.heads) / lengths(bones, tails)[:, None], along, atol=1e-9)
    has_children = np.array([len(each) > 0 for each in children])
    assert np.allclose(tails[has_children], bones.tails[has_children], atol=1e-6)
    assert np.abs(lengths(bones, tails) / lengths(bones, bones.tails) - 1).max() < 0.3


def test_stubs_keep_their_directions():
    """Lengths shortened by importers have no factor in common."""
    mesh, bones = body(stubs=True)
    rng = np.random.default_rng(2)
    cut = bones.but(tails=bones.heads + (bones.tails - bones.heads) * rng.uniform(0.5, 3, (11, 1)))
    tails, _ways, found = araplbs.bone_directions(*mesh, *cut)
    assert found == "lengths"
    assert np.abs(lengths(bones, tails) / lengths(bones, body()[1].tails) - 1).max() < 0.3


@pytest.mark.parametrize("given", [True, False])
def test_joints_as_the_rules_say(given):
    mesh, bones = body()
    bones = aside(bones)
    tails, ways, found = araplbs.bone_directions(
        *mesh, bones.heads, bones.tails if given else None, bones.parents
    )
    assert found == "joints"
    assert np.array_equal(ways, bones.parents >= 0)
    assert np.abs(tails - reference.joint_tails(*mesh, bones)).max() < 1e-6


def test_one_bone_with_children_is_too_little():
    mesh = shapes.tube(12, 31, 0.2, 3.0, caps=True)
    heads = np.array([(0, 0, 0.1), (0, 0, 1), (0, 0, 2)], float)
    bones = shapes.Bones(heads, heads + np.array([0.4, 0, 0]), np.array([-1, 0, 0], np.int32))
    assert araplbs.bone_directions(*mesh, *bones)[2] == "tails"
    stubs = bones.but(tails=heads + np.array([0.004, 0, 0]))
    assert araplbs.bone_directions(*mesh, *stubs)[2] == "joints"
    differ = bones.but(tails=heads + 0.004 * np.array([(0, 0, 1), (0, 0, 1), (0, -1, 0)]))
    assert araplbs.bone_directions(*mesh, *differ)[2] == "lengths"


def moved(points):
    turn = shapes.rotation((1, 2, 0.5), 1.1)
    return points @ (1000 * turn).T + [3, -20, 7]


def test_the_scene_changes_nothing():
    mesh, bones = body()
    bones = aside(bones)
    tails, ways, _found = araplbs.bone_directions(*mesh, *bones)
    other = bones.but(heads=moved(bones.heads), tails=moved(bones.tails))
    there, same, _found = araplbs.bone_directions(moved(mesh[0]), mesh[1], *other)
    assert np.array_equal(ways, same)
    assert np.abs(there - moved(tails)).max() < 1e-3
    mirrored = bones.but(heads=bones.heads * [-1, 1, 1], tails=bones.tails * [-1, 1, 1])
    there, same, _found = araplbs.bone_directions(mesh[0] * [-1, 1, 1], mesh[1], *mirrored)
    assert np.array_equal(ways, same)
    assert np.abs(there - tails * [-1, 1, 1]).max() < 1e-6


def with_root(bones, at):
    """The bones on a root at this position, which is bone 0."""
    at = np.array([at], float)
    return bones.but(
        heads=np.vstack([at, bones.heads]),
        tails=np.vstack([at + np.array([0, 0.3, 0]), bones.tails]),
        parents=np.append([-1], bones.parents + 1).astype(np.int32),
    )


def test_a_root_outside_moves_nothing():
    """Between the legs, where its way to the hips faces both legs."""
    mesh, bones = body()
    rooted = with_root(aside(bones), (0, 0, 0))
    control = araplbs.control_bones(*mesh, rooted.heads, None, rooted.parents)
    assert control.tolist() == [1, *[0] * len(bones)]
    solver = araplbs.Solver(*mesh, rooted.heads, None, rooted.parents, pose_count=8)
    solver.solve()
    assert not solver.weights[:, 0].any()
    alone = araplbs.Solver(*mesh, bones.heads, None, bones.parents, pose_count=8)
    assert np.abs(alone.initial_weights - solver.initial_weights[:, 1:]).max() < 1e-9


def test_feet_on_the_root_take_no_skin_on_the_way():
    """For a foot that is a child of the root, the shin ends at the foot, and no way leads there
    from the root."""
    mesh, bones = body()
    rooted = plus(with_root(bones, (0, 0.6, 0.05)), ((0.2, 0, 0.1), 0), ((-0.2, 0, 0.1), 0))
    tails, ways, _found = araplbs.bone_directions(*mesh, rooted.heads, None, rooted.parents)
    shins = [7, 11]
    assert not ways[-2:].any()
    assert np.allclose(tails[shins][:, 2], 0.1, atol=0.02)
    control = araplbs.control_bones(*mesh, rooted.heads, None, rooted.parents)
    assert np.flatnonzero(control).tolist() == [0]


def test_helpers_at_a_joint_elsewhere():
    """A helper that is a child of the hips, at the joint of a shin where a shorter way ends; and a
    single helper there whose end is outside the skin."""
    mesh, bones = body()
    knee = bones.heads[6]
    more = plus(bones, (knee, 0), (knee, -1), (knee + np.array([0, 1, 0]), len(bones) + 1))
    tails, ways, _found = araplbs.bone_directions(*mesh, more.heads, None, more.parents)
    assert not ways[len(bones) :].any()
    assert ways[: len(bones)].sum() == len(bones) - 1
    assert np.linalg.norm(tails - more.heads, axis=1)[len(bones) :].max() < 0.01


def test_twist_bones_go_along_the_way_they_lie_on():
    mesh, bones = body()
    twist = 0.7 * bones.heads[3] + 0.3 * bones.heads[4]
    more = plus(bones, (twist, 3))
    tails, ways, _found = araplbs.bone_directions(*mesh, more.heads, None, more.parents)
    assert ways[-1]
    assert np.allclose(tails[-1], bones.heads[4], atol=1e-6)


def test_every_way_of_a_bone_counts():
    """Skin belongs to the bone that has the nearest of all ways, as computed by NumPy."""
    vertices, triangles = shapes.sphere(20, 30, 1)
    mesh = vertices * [1.1, 0.7, 0.2], triangles
    knuckles = np.array([(x, 0.1, 0.0) for x in (-0.6, 0, 0.6)])
    heads = np.vstack([[(0, -0.5, 0)], knuckles])
    tails = np.vstack([[(0, 0.1, 0)], knuckles + np.array([0, 0.3, 0])])
    parents = np.array([-1, 0, 0, 0], np.int32)
    lines = [(0, heads[0], each) for each in knuckles]
    lines += [(k + 1, heads[k + 1], tails[k + 1]) for k in range(3)]
    away = np.full((4, len(vertices)), np.inf)
    for bone, begin, end in lines:
        along = end - begin
        place = np.clip((mesh[0] - begin) @ along / (along @ along), 0, 1)
        gap = np.linalg.norm(mesh[0] - begin - place[:, None] * along, axis=1)
        away[bone] = np.minimum(away[bone], gap)
    clear = np.diff(np.sort(away, axis=0)[:2], axis=0)[0] > 1e-6
    start, bones, _weights = araplbs.baseline_weights(
        *mesh, heads, tails, parents, bone_ways=parents == 0, method="nearest"
    )
    assert clear.sum() > 0.8 * len(vertices)
    assert np.array_equal(bones[start[:-1]][clear], away.argmin(axis=0)[clear])


def test_a_part_around_any_way_is_tied_to_the_bone():
    """Loose tubes around two ways of a bone, whose tail is at the end of one."""
    tubes = [limb((0.3 * x, 0, 0), (0.9 * x, 0, 0)) for x in (1, -1)]
    ends = [limb((x, 0, 0), (1.6 * x, 0, 0)) for x in (1, -1)]
    mesh = shapes.join(*tubes, *ends)
    heads = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0)], float)
    tails = np.array([(1, 0, 0), (1.6, 0, 0), (-1.6, 0, 0)], float)
    parents = np.array([-1, 0, 0], np.int32)
    other = np.arange(len(tubes[0][0]), 2 * len(tubes[0][0]))
    solver = araplbs.Solver(
        *mesh, heads, tails, parents, bone_ways=parents == 0, pose_count=8, link_parts=False
    )
    vertices, bones = solver.bone_springs[:2]
    assert set(other) <= set(vertices)
    assert not bones[np.isin(vertices, other)].any()
    solver.solve()
    assert solver.weights[other, 0].min() > 0.99


def test_no_tails_are_those_of_the_joints():
    """bone_tails=None gives results bit-identical to those of bone_directions."""
    mesh, bones = body()
    tails, ways, _found = araplbs.bone_directions(*mesh, bones.heads, None, bones.parents)
    weights = []
    for ends, more in ((None, {}), (tails, {"bone_ways": ways})):
        solver = araplbs.Solver(*mesh, bones.heads, ends, bones.parents, pose_count=16, **more)
        solver.solve()
        weights.append(solver.weights)
        control = araplbs.control_bones(*mesh, bones.heads, ends, bones.parents, **more)
        assert not control.any()
    assert np.array_equal(*weights)


def test_as_good_as_drawn_tails():
    mesh, bones = body()
    weights = {}
    for name, tails in (("drawn", bones.tails), ("aside", aside(bones).tails), ("joints", None)):
        solver = araplbs.Solver(*mesh, bones.heads, tails, bones.parents)
        solver.solve()
        weights[name] = solver.weights
    off = {name: np.abs(w - weights["drawn"]).sum(1).mean() for name, w in weights.items()}
    assert off["joints"] < 0.1
    assert off["joints"] < 0.3 * off["aside"]
    poses = araplbs.sample_poses(*bones, 24)
    strain = {
        name: araplbs.deformation(*mesh, w, poses, bones.heads, bones.tails)["area"]
        for name, w in weights.items()
    }
    assert strain["joints"] < 1.1 * strain["drawn"]
    assert strain["joints"] < strain["aside"]


@pytest.mark.parametrize("name", shared_names(DATA, "*.npz"))
def test_characters_keep_their_tails(name):
    """The tails of every character with artists' weights are kept."""
    character = Character(name)
    tails, ways, found = araplbs.bone_directions(
        *character.arguments, bone_deform=character.data["bone_deform"].astype(bool)
    )
    assert found == "tails"
    assert ways is None
    assert np.array_equal(tails, character.arguments[3])


def test_a_foot_in_front_of_a_sloped_leg():
    """The ankle is at the floor, so hardly any of the foot lies beyond the end of the leg."""
    leg = limb((0.5, 0, 1), (0, 0, 0.04), 0.06, 30)
    foot = limb((-0.05, 0, 0.04), (0.5, 0, 0.04), 0.06, 16)
    heads = np.array([(0.49, 0, 0.98), (0.25, 0, 0.52), (0, 0, 0.04)])
    mesh = shapes.join(leg, foot)
    for triangles in (mesh[1], mesh[1][:, ::-1]):
        tails = araplbs.bone_directions(mesh[0], triangles, heads, None, [-1, 0, 1])[0]
        along = tails[2] - heads[2]
        assert along[0] > 0.9 * np.linalg.norm(along) and np.linalg.norm(along) > 0.2


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("below", [0.25, 0.4])
def test_leaves_leave_the_skin_of_another_limb(below, whole):
    """A foreleg whose last joint is below a large head, whose underside is as near to that joint. A
    part that is near nothing else, such as a shoe, belongs to the leg."""
    leg = limb((0, 0, 1), (1, 0, 1), 0.08, 30)
    head = shapes.sphere(17, 24, 1.0, at=(1.2, 0, 1 + below + 1.0))
    shoe = shapes.sphere(9, 12, 0.2, at=(0.95, 0, 1))
    parts = [leg, head, shoe] if whole else [leg, head]
    rows = [((0.05, 0, 1), -1), ((0.45, 0, 1), 0), ((0.75, 0, 1), 1), ((1.2, 0, 2 + below), -1)]
    rows += [((1.2, 0.3, 2.3 + below), 3)]
    heads = np.array([place for place, _up in rows])
    parents = np.array([up for _place, up in rows])
    tails, _ways, _found = araplbs.bone_directions(*shapes.join(*parts), heads, None, parents)
    along = tails[2] - heads[2]
    assert along[0] > 0.97 * np.linalg.norm(along) and 0.1 < np.linalg.norm(along) < 0.4


@pytest.mark.parametrize(
    ("name", "bone", "least"),
    [("q_robot", "LowerLeg.L", 0.9), ("q_robot", "LowerLeg.R", 0.9), ("q_wasp", "TopLeg3.L", 0.1)],
)
def test_leaves_of_characters_go_the_way_they_were_drawn(name, bone, least):
    """A shin whose part the knee hides, and whose outer side faces away: it belongs to no other
    limb. Also a foreleg below a large head."""
    character = Character(name)
    which = [str(each) for each in character.data["bone_names"]].index(bone)
    vertices, triangles, heads, drawn, parents = character.arguments
    deform = character.data["bone_deform"].astype(bool)
    tails = araplbs.bone_directions(vertices, triangles, heads, None, parents, bone_deform=deform)[
        0
    ]
    read, drawn = tails[which] - heads[which], drawn[which] - heads[which]
    lengths = np.linalg.norm(read), np.linalg.norm(drawn)
    assert read @ drawn > 0.9 * np.prod(lengths) and lengths[0] > least * lengths[1]


def test_without_triangles():
    """There is no inside, so nothing is outside it."""
    vertices, _triangles = shapes.tube(8, 21, 0.2, 2.0)
    bones = aside(shapes.chain(4))
    tails, ways, found = araplbs.bone_directions(vertices, None, *bones)
    assert found == "joints"
    assert ways.tolist() == [False, True, True, True]
    assert np.isfinite(tails).all()


def test_a_leaf_without_skin_goes_on():
    mesh, bones = body()
    more = plus(bones, ((0, 3, 1.7), 1))
    tails, _ways, _found = araplbs.bone_directions(*mesh, more.heads, None, more.parents)
    step = more.heads[-1] - more.heads[1]
    assert np.allclose(tails[-1], more.heads[-1] + 0.5 * step, atol=1e-6)


test_bad_arguments = table(
    araplbs.bone_directions,
    GOOD,
    row(r"bone_tails\[1, 0\] is inf", bone_tails=changed(GOOD["bone_tails"], 1, np.inf)),
    row("triangle", triangles=MESH[1] + 1),
    row("parents form a loop", bone_parents=[1, 2, 0]),
    row("no bone of the skeleton deforms", bone_deform=[False] * 3),
    row("bone_deform has shape", bone_deform=[True]),
)
test_bad_ways = table(araplbs.control_bones, GOOD, row("bone_ways has shape", bone_ways=[True]))
