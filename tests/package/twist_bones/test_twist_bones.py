"""Twist bones: their names and weights, and joints with keys in glTF files."""

import json

import araplbs
import numpy as np
import pytest
from gltf_files import VERTICES, Glb
from gltf_validity import File, new_faults

HEIGHT = VERTICES[:, 2].max()
ARMS = (VERTICES * (1, 1, 4 / HEIGHT) - (0, 0, 2))[:, [2, 0, 1]] * (1, 0.3, 0.3)
PLACES = ((0.05, 0, 0), (0.3, 0, 0), (1.0, 0.02, 0), (1.7, 0, 0))
NAMES = ("shoulder", "upper_arm", "forearm", "hand")
ADDED = [f"{limb}_twist.{side}" for side in "LR" for limb in NAMES[1:3]]
TURNED = (0.5, 0.5, 0.5, 0.5)  # the axes of each hand, (x, y, z, w)


def quaternion(axis, angle):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    return np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))


def times(*turns):
    """The product of quaternions (x, y, z, w)."""
    found = np.array([0.0, 0, 0, 1])
    for q in turns:
        (a, b), (u, v) = (found[3], q[3]), (found[:3], np.asarray(q)[:3])
        found = np.append(a * v + b * u + np.cross(u, v), a * b - u @ v)
    return found


def inverse(q):
    return np.asarray(q) * (-1, -1, -1, 1)


def arms(turns=(), scale=1.0):
    """Two arms along X in a tube, with hands whose axes are turned. turns: [(name, keys)] of an
    animation, with quaternions relative to the rest pose, in the axes of the file."""
    glb = Glb()
    spine = glb.node(name="spine", translation=[0, -0.6 / scale, 0])
    joints, matrices = [spine], [np.eye(4)]
    matrices[0][3, :3] = 0, 0.6, 0
    for side, x in (("L", 1), ("R", -1)):
        above, before = spine, np.array([0, -0.6, 0])
        for name, place in zip(NAMES, PLACES, strict=True):
            at = np.array(place) * (x, 1, 1)
            node = {"translation": ((at - before) / scale).tolist()}
            matrix = np.eye(4)
            matrix[3, :3] = -at
            if name == "hand":
                node["rotation"] = list(TURNED)
                cycle = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]], float)
                matrix[:3, :3], matrix[3, :3] = cycle, -at @ cycle
            above_node = glb.json["nodes"][above]
            above = glb.node(name=f"{name}.{side}", **node)
            above_node.setdefault("children", []).append(above)
            before = at
            joints.append(above)
            matrices.append(matrix)
    glb.node(name="Armature", children=[spine], scale=[scale] * 3)
    into = np.diag([1 / scale] * 3 + [1.0])
    matrices = [each @ into for each in matrices]
    glb.bind(glb.part(glb.attributes(ARMS, weights="<f4")), joints, matrices)
    names = [node.get("name") for node in glb.json["nodes"]]
    samplers, channels = [], []
    for name, keys in turns:
        span = np.arange(len(keys), dtype=float)[:, None]
        clock = glb.add(span, "<f4", "SCALAR", min=[0], max=[len(keys) - 1])
        channels.append(
            {
                "sampler": len(samplers),
                "target": {"node": names.index(name), "path": "rotation"},
            }
        )
        samplers.append({"input": clock, "output": glb.add(keys, "<f4", "VEC4")})
    if turns:
        glb.json["animations"] = [{"samplers": samplers, "channels": channels}]
    return glb


@pytest.fixture
def weigh(main):
    return lambda *more: main(["weight", "in.glb", "-o", "out.glb", *more])


def keys_of(file, name):
    """(times, quaternions) of the rotation keys of a node."""
    names = [node.get("name") for node in file.json["nodes"]]
    (animation,) = file.json["animations"]
    target = {"node": names.index(name), "path": "rotation"}
    (channel,) = [each for each in animation["channels"] if each["target"] == target]
    sampler = animation["samplers"][channel["sampler"]]
    return file.read(sampler["input"])[:, 0], file.read(sampler["output"]).astype(float)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_the_keys_take_half_of_the_twist(weigh, tmp_path, scale):
    rng = np.random.default_rng(0)
    axes = {limb: np.subtract(PLACES[k + 1], PLACES[k]) for k, limb in ((1, "arm"), (2, "fore"))}
    arm, hand, halves = [], [], []
    for _key in range(20):
        for axis, found, share in ((axes["arm"], arm, -0.5), (axes["fore"], hand, 0.5)):
            twist, aside = rng.uniform(-2.5, 2.5), np.cross(axis, rng.normal(size=3))
            swing = quaternion(aside, rng.uniform(-2, 2))
            turn = times(swing, quaternion(axis, twist))
            found.append(turn if found is arm else times(turn, TURNED))
            halves.append(quaternion(axis, share * twist))
    glb = arms([("upper_arm.L", arm), ("hand.L", hand)], scale)
    glb.write(tmp_path / "in.glb")
    assert weigh(*(f"--twist-bones={kind}" for kind in ("upper-arms", "forearms"))) == 0
    assert [f for f in new_faults("in.glb", "out.glb") if not f.endswith("not used")] == []
    file = File("out.glb")
    for number, name in enumerate(("upper_arm_twist.L", "forearm_twist.L")):
        clock, turns = keys_of(file, name)
        assert len(clock) == 20 - 1 + 19 * 23 + 1  # also between the keys, frame by frame
        at_keys = turns[np.isin(clock, np.arange(20))]
        same = np.abs((at_keys * halves[number::2]).sum(1))
        np.testing.assert_allclose(same, 1, atol=1e-6)
        assert ((turns[1:] * turns[:-1]).sum(1) >= 0).all()


def test_the_weights_are_shared(weigh, tmp_path):
    arms().write(tmp_path / "in.glb")
    assert weigh("--json", "r.json", "--twist-bones", "gain", "--max-influences", "8") == 0
    (report,) = json.loads((tmp_path / "r.json").read_text())["files"][0]["characters"]
    assert set(report["twist_bones"]) <= set(ADDED)
    with_bones = araplbs.load_gltf("out.glb").characters[0]
    assert weigh("--max-influences", "8") == 0
    plain = araplbs.load_gltf("out.glb").characters[0]
    names = with_bones.skeleton.names
    now, was = with_bones.weights.toarray(), plain.weights.toarray()
    place = [plain.skeleton.names.index(name.replace("_twist", "")) for name in names]
    merged = np.zeros_like(was)
    for bone, own in enumerate(place):
        merged[:, own] += now[:, bone]
    np.testing.assert_allclose(merged, was, atol=1e-6)
    taken = now[:, [name in report["twist_bones"] for name in names]]
    assert (taken.max(0) > 0.9).all()
    rest = with_bones.skeleton
    for name in report["twist_bones"]:
        bone = names.index(name)
        limb = names.index(name.replace("_twist", ""))
        hand = rest.heads[names.index(name.replace("forearm_twist", "hand"))]
        at = rest.heads[limb]
        at = at + 0.4 * (hand - at) if name.startswith("fore") else at
        np.testing.assert_allclose(rest.heads[bone], at, atol=1e-6)
        assert rest.parents[bone] == limb


def test_the_function(main, tmp_path):
    arms().write(tmp_path / "in.glb")
    file = araplbs.load_gltf("in.glb")
    (character,) = file.characters
    with pytest.raises(ValueError, match=r"kinds is \['legs'\]: must be some of gain, upper-arms"):
        character.add_twist_bones(["legs"])
    with pytest.raises(araplbs.Refused, match="No pair of arms or legs"):
        character.add_twist_bones()  # all weights belong to one bone
    character.set_weights(character.weigh(random_poses=10))
    with pytest.raises(araplbs.Refused, match="no limbs of the chosen kinds"):
        character.add_twist_bones(["thighs"])
    assert sorted(character.add_twist_bones(["upper-arms", "forearms"])) == sorted(ADDED)
    file.save("out.glb")
    (again,) = araplbs.load_gltf("out.glb").characters
    assert set(ADDED) <= set(again.skeleton.names)
    with pytest.raises(araplbs.Refused, match=r"have twist or bendy bones already: upper_arm\.L"):
        again.add_twist_bones()


def test_refusals_of_the_command(weigh, tmp_path, capsys):
    arms().write(tmp_path / "in.glb")
    for more in (["--keep-bones", "spine"], ["--lod", "in.glb"]):
        assert weigh("--twist-bones", "gain", *more) == 2
        assert "--twist-bones cannot be used with" in capsys.readouterr().err
    assert weigh("--twist-bones", "thighs") == 0
    assert "no twist bones added: The skeleton has no limbs" in capsys.readouterr().out


def skeleton_of(core, *more, rename=str):
    """The two arms, and more bones: (name, head, tail, name of the parent)."""
    bones = [("spine", (0, 0, -0.6), (0, 0, 0), "")]
    for side, x in (("L", 1), ("R", -1)):
        above = "spine"
        for name, at, to in zip(NAMES, PLACES, (*PLACES[1:], (2, 0, 0)), strict=True):
            own = f"{rename(name)}.{side}"
            bones.append((own, np.multiply(at, (x, 1, 1)), np.multiply(to, (x, 1, 1)), above))
            above = own
    names, heads, tails, parents = zip(*bones, *more, strict=True)
    above = [names.index(name) if name else -1 for name in parents]
    known = {"tails": np.array(tails, float), "names": list(names)}
    kind = core("skeleton.skeleton").Skeleton
    return kind.from_joints(np.array(heads, float), np.array(above), **known)


def test_pairs_and_controls(core):
    """Both limbs of a pair get twist bones, or neither; controls get none."""
    find = core("measures.new_twist_bones").missing_twist_bones
    up = np.array([0.0, 0, 1])
    assert sorted(bone.name for bone in find(skeleton_of(core), up)) == sorted(ADDED)
    half = ("half", (0.6, 0.01, 0), (0.9, 0.01, 0), "upper_arm.L")
    names = [bone.name for bone in find(skeleton_of(core, half), up)]
    assert sorted(names) == ["forearm_twist.L", "forearm_twist.R"]
    with pytest.raises(araplbs.Refused, match="no limbs of the chosen kinds"):
        find(skeleton_of(core, rename=lambda name: f"{name}_ik"), up)


def test_merged_weights_of_a_mesh_without_these_bones(core):
    model, twist = core("model.sparse_weights"), core("skeleton.twist_bones")
    rows = model.make_sparse_weights(2, np.arange(2), np.array([0, 1]), np.ones(2))
    for limbs in ({7: 3}, {1: 0}):
        merged = twist.merged_weights(rows, limbs)
        assert merged.bones.tolist() == [limbs.get(bone, bone) for bone in (0, 1)]


@pytest.mark.parametrize(
    "limb, name",
    [
        ("upper_arm.L", "upper_arm_twist.L"),
        ("UpArm_L", "UpArmTwist_L"),
        ("mixamorig:LeftArm", "mixamorig:LeftArmTwist"),
        ("upperarm_l", "upperarm_twist_l"),
        ("Bip01 L UpperArm", "Bip01 L UpperArm Twist"),
        ("UPPER_ARM_R", "UPPER_ARM_TWIST_R"),
        ("Node_7", "Node_7_twist"),
        ("arm.L.001", "arm_twist.L.001"),
    ],
)
def test_names(core, limb, name):
    twist_name = core("measures.new_twist_bones").twist_name
    assert twist_name(limb, ()) == name
    assert twist_name("arm.L", {"arm_twist.L"}) == "arm_twist1.L"
