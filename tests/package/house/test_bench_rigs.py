"""The benchmark of production rigs: files that fall short, and the reasons."""

import sys
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
rig_judge, rig_response, yardstick = map(import_module, ("rig_judge", "rig_response", "yardstick"))
loose_parts = rig_judge.loose_parts

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
    assert loose_parts(points, triangles).tolist() == of_vertices.tolist()
    touching = points.copy()
    touching[8:] -= [0.2, 0, 0]  # the first two share corners
    parts = loose_parts(touching, triangles)
    assert parts[0] == parts[8] != parts[16]


def rows_of(parts, bones):
    return np.eye(3)[np.asarray(bones)[parts]]


def test_parts_on_another_bone():
    points, triangles = boxes()
    parts = loose_parts(points, triangles)
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
    parts = loose_parts(points, triangles)
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
