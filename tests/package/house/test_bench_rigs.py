"""The benchmark of production rigs: files that fall short, and the reasons."""

import sys
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
rig_judge, rig_response, yardstick = map(import_module, ("rig_judge", "rig_response", "yardstick"))

NAMES = ["upper", "lower", "control"]


def arm(**changed):
    """A strip of triangles along X, whose second half rotates about Y by 60 degrees."""
    x = np.repeat(np.linspace(0, 2, 9), 2)
    vertices = np.stack([x, np.tile([0.0, 0.3], 9), np.zeros(18)], axis=1)
    corners = np.array([[0, 2, 1], [1, 2, 3]])
    triangles = (np.arange(0, 16, 2)[:, None, None] + corners).reshape(-1, 3)
    turn = np.eye(4)
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    turn[:3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    turn[:3, 3] = [1, 0, 0] - turn[:3, :3] @ [1, 0, 0]
    smooth = np.clip((x - 0.5), 0, 1)
    weights = np.stack([1 - smooth, smooth, 0 * x], axis=1)
    arrays = {
        "V": vertices, "F": triangles, "W": weights, "heat": weights, "ours": weights,
        "bone_names": np.array(NAMES), "bone_deform": np.ones(3, bool),
        "bone_head": np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]]),
        "bone_tail": np.array([[1.0, 0, 0], [2, 0, 0], [0, 0, 2]]),
        "bone_parent": np.array([-1, 0, -1]),
        "anim": np.array([[np.eye(4), turn, np.eye(4)]]),
        "seconds": 1.0, "heat_seconds": 0.5, "error": "",
    }  # fmt: skip
    return {**arrays, **changed}


def short(**changed):
    return rig_judge.falls_short(rig_judge.judge("arm", arm(**changed)))


def test_the_same_weights_are_good():
    judged = rig_judge.judge("arm", arm())
    assert judged.ratio("heat") == judged.ratio("file") == 1
    assert judged.area("ours") > 0.02 and rig_judge.falls_short(judged) == []


def torn():
    """Weights with which every other vertex follows the other bone."""
    weights = arm()["W"].copy()
    weights[::2] = weights[::2, [1, 0, 2]]
    return weights


def test_more_strain():
    found = short(ours=torn())
    assert len(found) == 2
    assert "strain with heat" in found[0] and "strain with the file's weights" in found[1]
    assert short(heat=torn(), W=torn()) == []


def test_strain_that_nobody_sees():
    """Rigid weights do not count as infinitely better."""
    rigid = np.tile([1.0, 0, 0], (18, 1))
    judged = rig_judge.judge("arm", arm(ours=rigid))
    assert judged.area("ours") < 1e-9
    assert judged.ratio("heat") == rig_judge.UNSEEN / judged.area("heat")


def test_weight_on_what_the_file_leaves_empty():
    weights = arm()["W"] * 0.96 + [0, 0, 0.04]
    assert short(ours=weights) == ["4.0 % of the weight is on bones that the file leaves empty"]
    assert short(ours=weights, W=0 * weights) == [], "a file without weights says nothing"


def test_a_bone_that_does_not_move_its_skin():
    whole = np.tile([1.0, 0, 0], (18, 1))
    judged = rig_judge.judge("arm", arm(ours=whole))
    assert judged.deaf == judged.asleep == ["lower"]
    assert "1 bone does not move its skin: lower" in rig_judge.falls_short(judged)
    assert short(ours=whole, W=0 * whole, heat=whole) == [], "a file without weights says nothing"
    arrays = arm(ours=whole, bone_deform=np.array([True, False, True]))
    assert rig_judge.judge("arm", arrays).deaf == [], "what does not deform needs none"


def test_how_far_skin_goes_along():
    """Skin follows its bone and the ancestors of this bone, but not the descendants."""
    file = arm()["W"]
    bones = (arm()[key] for key in ("bone_head", "bone_tail", "bone_parent"))
    lower = file * 1.0
    lower[:, 1], lower[:, 0] = 0.2 * file[:, 1], 1 - 0.2 * file[:, 1]
    found = rig_response.responses(arm()["V"], *bones, lower, file)
    assert found == pytest.approx({0: 1.0, 1: 0.2}), "the upper bone takes all of it along"
    assert 2 not in found, "without skin in the file"
    bones = (arm()[key] for key in ("bone_head", "bone_tail", "bone_parent"))
    assert rig_response.deaf_bones(arm()["V"], *bones, lower, file) == [1]


@pytest.mark.parametrize(("way", "count"), [([1, 0, 2], 2), ([0, 1, 2], 0)])
def test_files_in_which_skin_follows_bones_next_to_it(way, count):
    """In the file, each half of the arm follows the bone of the other half, or its own. Our weights
    move neither."""
    halves = np.eye(3)[(arm()["V"][:, 0] > 1).astype(int)][:, way]
    bones = (arm()[key] for key in ("bone_head", "bone_tail", "bone_deform"))
    found = rig_response.with_skin_elsewhere(arm()["V"], *bones, halves, [0, 1])
    assert len(found) == count
    control = np.tile([0.0, 0, 1], (18, 1))
    judged = rig_judge.judge("arm", arm(W=halves, heat=halves, ours=control))
    assert (len(judged.deaf), judged.elsewhere) == (2, count)


def test_a_bone_without_length_turns_as_well():
    bones = np.zeros((1, 3)), np.zeros((1, 3)), np.array([-1])
    whole = np.ones((18, 1))
    assert rig_response.responses(arm()["V"], *bones, 0.5 * whole, whole) == {0: 0.5}


def test_few_names_of_many():
    judged = rig_judge.judge("arm", arm())
    judged.deaf = list("abcdef")
    assert rig_judge.falls_short(judged) == [
        "6 bones do not move their skin: a, b, c, d and 2 more"
    ]


def boxes(count=3):
    """(points, triangles) in a row, a fifth apart, each of 8 vertices; the last is larger."""
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    box = np.array([[0, 1, 2], [1, 3, 2], [4, 6, 5], [5, 6, 7], [0, 4, 1], [1, 4, 5], [2, 3, 6],
                    [3, 7, 6], [0, 2, 4], [2, 6, 4], [1, 5, 3], [3, 5, 7]])  # fmt: skip
    points = [corners + np.array([1.2 * k, 0, 0]) for k in range(count + 1)]
    points.append(points[-1][1:2] + 1)
    last = 8 * count + np.array([[1, 3, 8], [5, 7, 8]])
    triangles = [box + 8 * k for k in range(count + 1)]
    return np.concatenate(points), np.concatenate([*triangles, last])


def test_loose_parts():
    points, triangles = boxes()
    of_vertices = np.repeat([0, 1, 2, 3], [8, 8, 8, 9])
    assert rig_response.loose_parts(points, triangles).tolist() == of_vertices.tolist()
    touching = points.copy()
    touching[8:] -= [0.2, 0, 0]  # the first two share corners
    parts = rig_response.loose_parts(touching, triangles)
    assert parts[0] == parts[8] != parts[16]


def rows_of(parts, bones):
    return np.eye(3)[np.asarray(bones)[parts]]


def test_parts_on_another_bone():
    points, triangles = boxes()
    parts = rig_response.loose_parts(points, triangles)
    file, ours = rows_of(parts, [0, 1, 0, 2]), rows_of(parts, [0, 0, 0, 1])
    assert rig_response.parts_on_bones(parts, ours, file) == [(0, 0, 1.0), (1, 1, 0.0), (2, 0, 1.0)]
    file[8:16] = [0.5, 0.5, 0]
    assert [part for part, *_ in rig_response.parts_on_bones(parts, ours, file)] == [0, 2]
    changed = {"V": points, "F": triangles, "W": rows_of(parts, [1, 1, 0, 2]), "heat": ours}
    judged = rig_judge.judge("boxes", arm(**changed, ours=ours, anim=np.zeros((0, 3, 4, 4))))
    assert (judged.wrong_parts, judged.parts) == (2, 3)
    assert "2 of 3 parts are on the wrong bone" in rig_judge.falls_short(judged)


def test_parts_that_leave_what_they_touch():
    points, triangles = boxes()
    parts = rig_response.loose_parts(points, triangles)
    assert not len(rig_response.contacts(points, parts)), "a fifth is more than 2 % of the diagonal"
    points[:, 0] -= np.array([0, 0.196, 0.39, 0.589])[parts]
    pairs = rig_response.contacts(points, parts)
    assert {tuple(pair) for pair in parts[pairs].tolist()} == {(0, 1), (1, 0), (2, 3)}, "nearest"
    away = np.tile(np.eye(4), (1, 3, 1, 1))
    away[0, 1, 2, 3] = 1
    together, apart = rows_of(parts, [0, 0, 0, 0]), rows_of(parts, [0, 1, 0, 0])
    diagonal = np.linalg.norm(np.ptp(points, axis=0))
    assert rig_response.gap(points, together, away, pairs) == 0
    assert rig_response.gap(points, apart, away, pairs) == pytest.approx(1 / diagonal, rel=0.02)
    assert rig_response.gap(points, apart, away[:0], pairs) == 0
    changed = {"V": points, "F": triangles, "W": together, "heat": together, "anim": away}
    changed["ours"] = 0.5 * (apart + together)
    found = rig_judge.falls_short(rig_judge.judge("boxes", arm(**changed)))[-1]
    assert found.startswith("gaps of ") and found.endswith("(file: 0.0 %)")


def test_folds_and_sides():
    """Bent by 60 degrees, no edge is a crease; bent by 120 degrees, one is."""
    judged = rig_judge.judge("arm", arm())
    assert judged.crease == judged.crossing == {"heat": 0, "ours": 0, "file": 0}
    assert np.isnan(list(judged.asymmetry.values())).all(), "an arm has one side"
    turn = arm()["anim"].copy()
    turn[0, 1, :3, :3] = turn[0, 1, :3, :3] @ turn[0, 1, :3, :3]
    turn[0, 1, :3, 3] = [1, 0, 0] - turn[0, 1, :3, :3] @ [1, 0, 0]
    judged = rig_judge.judge("arm", arm(anim=turn, heat=np.zeros((18, 3))))
    assert judged.crease["ours"] == judged.crease["file"] > 0
    assert np.isnan(judged.crease["heat"]), "vertices without weights"


def test_likeness():
    weights = arm()["W"]
    assert rig_judge.judge("arm", arm(ours=weights[:, [2, 0, 1]])).l1 == pytest.approx(2, abs=0.5)
    assert rig_judge.judge("arm", arm()).l1 == 0
    assert np.isnan(rig_judge.judge("arm", arm(W=0 * weights)).l1)


def test_failures():
    nothing = np.zeros((18, 3))
    assert short(ours=nothing, error="Error: no\nLocation: x") == ["fails: Error: no"]
    assert short(ours=nothing)[0] == "18 vertices without weights"
    judged = rig_judge.judge("arm", arm(heat=nothing))
    assert np.isnan(judged.area("heat")) and np.isnan(judged.ratio("heat"))


def test_without_animation():
    """Without an animation, random poses are used."""
    judged = rig_judge.judge("arm", arm(anim=np.zeros((0, 3, 4, 4))))
    assert len(judged.poses) == rig_judge.RANDOM and not judged.animated
    assert judged.area("ours") == judged.area("file") > 0 and rig_judge.falls_short(judged) == []
    assert rig_judge.judge("arm", arm()).animated


def test_the_pose_that_is_shown():
    """The pose in which our strain exceeds the others by the most, not one in which all are
    high."""
    rest, turned = np.tile(np.eye(4), (3, 1, 1)), arm()["anim"][0]
    judged = rig_judge.judge("arm", arm(anim=np.array([rest, turned, rest]), ours=torn()))
    assert judged.worst_pose() == 1


def test_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="make bench brings it")
    rig_pictures = import_module("rig_pictures")
    arrays = arm(ours=torn(), heat=np.zeros((18, 3)), to_world=np.eye(3))
    name = rig_pictures.picture(arrays, rig_judge.judge("arm", arrays), tmp_path)
    assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"


def test_bones_that_the_file_leaves_empty_are_named():
    """The list also names the bone that has their skin in the file."""
    ours = arm()["W"][:, [0, 2, 1]]
    heat = (arm()["W"] + ours) / 2
    (found,) = rig_judge.judge("arm", arm(ours=ours, heat=heat)).neglected
    assert (found.name, found.owner) == ("control", "lower")
    assert found.heat == pytest.approx(found.ours / 2)
    assert found.share > 0.8
    assert rig_judge.judge("arm", arm()).neglected == []


def test_bones_that_the_frames_stretch():
    rest = np.eye(4)
    longer = np.diag([1.0, 1.5, 1.0, 1.0])
    judged = rig_judge.judge(
        "arm", arm(anim=np.array([[rest, rest, rest], [rest, longer, longer]]))
    )
    assert judged.stretched == 0.5, "the third has no weight"


def test_heat_is_counted_where_it_succeeds():
    whole = np.tile([1.0, 0, 0], (18, 1))
    judged = rig_judge.judge("arm", arm(heat=whole))
    heat = judged.seen["heat"]
    assert heat["deaf"] == 1 and heat["l1"] > 0.5 and heat["wrong"] == 0
    assert judged.beside_heat
    assert not rig_judge.judge("arm", arm(heat=0 * whole)).beside_heat
    assert not rig_judge.judge("arm", arm(W=0 * whole)).beside_heat


def test_overreach():
    """The lower arm takes skin from the upper one, which has a fifth of the area in excess. An
    ancestor has the skin of its descendants."""
    file = np.repeat(np.eye(3)[[0, 1]], [10, 8], axis=0)
    ours = file.copy()
    ours[:4] = [0.5, 0.5, 0]
    judged = rig_judge.judge("arm", arm(W=file, ours=ours, heat=file))
    taken = yardstick.vertex_areas(arm()["V"], arm()["F"])[:4].sum() / 0.6
    assert judged.value("ours", "over") == pytest.approx(0.5 * taken)
    assert judged.value("heat", "over") == judged.value("file", "over") == 0
    up = {"bone_parent": np.array([1, -1, -1])}
    judged = rig_judge.judge("arm", arm(W=file, ours=ours, heat=file, **up))
    assert judged.value("ours", "over") == 0, "the lower arm has all skin, so it is no limb"
    assert np.isnan(rig_judge.judge("arm", arm(W=0 * file, ours=ours)).value("ours", "over"))


def test_limbs_that_drift():
    """The median is not decided by one tiny limb."""
    of = yardstick.Yardstick(arm())
    of.limbs, of.offset = [(0.1,), (0.3,), (27.0,)], lambda _points, _pose, offset: offset
    seen = of.seen_of([arm()["V"]], arm()["anim"])
    assert seen["median_drift"] == 0.3 and seen["astray"] == pytest.approx(2 / 3)
    assert seen["drift"] > 9 and seen["peak"] == seen["area"] == 0


def test_regrets():
    """Worse by 5 %, and by more than the floor of the measure. Volume may shrink or grow."""
    own = {"area": 0.106, "p99": 0.2, "volume": -0.08, "deaf": 1, "wrong": 0, "peak": 9.0}
    other = {"area": 0.1, "p99": 0.2, "volume": 0.07, "deaf": 0, "wrong": np.nan, "peak": 1.0}
    assert yardstick.regrets(own, other) == ["area", "volume", "deaf"]
    assert yardstick.regrets({"area": 0.003}, {"area": 0.001}) == [], "hardly seen"
    assert yardstick.regrets(other, own) == yardstick.regrets(own, {}) == []
    rigs = import_module("rigs")
    rows = [rig_judge.judge("a", arm(ours=torn())), rig_judge.judge("b", arm(heat=0 * torn()))]
    assert np.isnan(rows[1].value("heat", "median_drift"))
    lines = rigs.regret_totals(rows).splitlines()
    assert lines[0].startswith("1 of 1 files are worse than with heat by any measure (")
    assert lines[1].startswith("1 of 2 files are worse than with the file's weights")
    cells = rigs.reach(rows[0])
    assert cells[0] == "a" and "area" in cells[-1] and rigs.reach(rows[1])[-2:] == ["", ""]


def test_kinds_of_files():
    """A line for each existing kind, and one for all, with heat's values and ours on the same
    files."""
    wild = import_module("wild")
    whole = np.tile([1.0, 0, 0], (18, 1))
    rows = [
        rig_judge.judge("a", arm(ours=whole)), rig_judge.judge("b", arm(heat=0 * whole)),
        rig_judge.judge("c", arm(heat=whole)),
    ]  # fmt: skip
    lines = wild.kinds_table(rows, {"a": ".blend", "b": ".fbx", "c": ".fbx"}).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [line[0] for line in cells] == ["drawn in Blender (.blend)", "FBX, imported", "all"]
    assert [line[1] for line in cells] == ["1", "2", "3"]
    assert [line[6] for line in cells] == ["1; 1 / 0", "0; 0 / 1", "1; 1 / 1"]
    assert [line[-1] for line in cells] == ["1", "0", "1"]


def test_likeness_is_compared_where_the_file_is_not_heat():
    """Heat that the file has taken over is near to it by construction."""
    rigs = import_module("rigs")
    whole = np.tile([1.0, 0, 0], (18, 1))
    copied, own = rig_judge.judge("a", arm(ours=whole)), rig_judge.judge("b", arm(heat=whole))
    assert rigs.beside_own([copied], "l1") == f"{copied.l1:.2f}"
    heat = own.value("heat", "l1")
    assert heat == copied.l1 > rigs.COPIED
    assert rigs.beside_own([copied, own], "l1") == f"{copied.l1 / 2:.2f}; 0.00 / {heat:.2f}"
    assert f"0.00; 0.00 / {heat:.2f}" in rigs.likeness([own])
    assert rigs.beside_own([], "over") == "-"


def test_generators():
    """Generators are recognized by names of bones. A file without such names belongs to the
    rest."""
    wild = import_module("wild")
    rows = [rig_judge.judge(name, arm()) for name in "ab"]
    unreal = ["pelvis", "spine_01", "upperarm_l", "calf_r", "thigh_l"]
    lines = wild.generators_table(rows, {"a": unreal, "b": NAMES}).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == ["Unreal", "none of these"]
    assert [line.split("|")[2].strip() for line in lines] == ["1", "1"]


def test_wild_files_that_are_absent(tmp_path):
    wild = import_module("wild")
    (tmp_path / "cat.fbx").write_text("")
    listed = {"cat": "a/b", "dog": "c/d"}
    found, absent = wild.known(tmp_path, listed)
    assert found == {"cat": tmp_path / "cat.fbx"}
    assert absent == ["1 of 2 files are not there: dog."]
    assert wild.known(None, listed) == ({}, ["2 of 2 files are not there: cat, dog."])
    assert wild.known(tmp_path, {"cat": "a/b"})[1] == []


def test_changes_that_do_not_carry_over():
    """A benefit that comes from one of three repositories disappears without it."""
    wild = import_module("wild")
    before = {name: {"parts": 2.0} for name in "abc"}
    now = {"a": {"parts": 0.0}, "b": {"parts": 2.0}, "c": {"parts": 3.0}, "d": {"parts": 9.0}}
    repositories = {"a": "x/x", "b": "y/y", "c": "z/z", "d": "z/z"}
    title, lines = wild.carried(before, now, repositories)
    assert title == wild.CARRIED
    row = [each.strip() for each in lines.splitlines()[2].strip("|").split("|")]
    assert row == ["parts", "6", "5", "-1", "-2 to +1", "1 / 1"]
    assert wild.counts(rig_judge.judge("a", arm()))["L1"] == 0
