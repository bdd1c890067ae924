"""The part of the benchmark on production rigs: what falls short, and why."""

import sys
from importlib import import_module

import numpy as np
import pytest
from paths import TESTS

sys.path.append(str(TESTS / "bench"))
rig_judge = import_module("rig_judge")

NAMES = ["upper", "lower", "control"]


def arm(**changed):
    """A strip of triangles along X, whose second half turns about Y by 60 degrees."""
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
    """Every other vertex follows the other bone."""
    weights = arm()["W"].copy()
    weights[::2] = weights[::2, [1, 0, 2]]
    return weights


def test_more_strain():
    found = short(ours=torn())
    assert len(found) == 2
    assert "of heat's" in found[0] and "of the file's" in found[1]
    assert short(heat=torn(), W=torn()) == []


def test_weight_on_what_the_file_leaves_empty():
    weights = arm()["W"] * 0.96 + [0, 0, 0.04]
    assert short(ours=weights) == ["4.0 % of the weight on bones that the file leaves empty"]
    assert short(ours=weights, W=0 * weights) == [], "a file without weights says nothing"


def test_a_bone_without_weight():
    whole = np.tile([1.0, 0, 0], (18, 1))
    assert short(ours=whole) == ["no weight for lower"]
    arrays = arm(ours=whole, bone_deform=np.array([True, False, True]))
    assert not rig_judge.judge("arm", arrays).lost, "what does not deform needs none"


def test_failures():
    nothing = np.zeros((18, 3))
    assert short(ours=nothing, error="Error: no\nLocation: x") == ["fails: Error: no"]
    assert short(ours=nothing)[0] == "18 vertices without weights"
    judged = rig_judge.judge("arm", arm(heat=nothing))
    assert np.isnan(judged.area("heat")) and np.isnan(judged.ratio("heat"))


def test_without_animation():
    judged = rig_judge.judge("arm", arm(anim=np.zeros((0, 3, 4, 4))))
    assert np.isnan(judged.area("ours")) and rig_judge.falls_short(judged) == []


def test_the_pose_that_is_shown():
    """Where ours is most above the others, not where all are high."""
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
    """With the bone that has their skin in the file."""
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
    assert np.isnan(rig_judge.judge("arm", arm(anim=np.zeros((0, 3, 4, 4)))).stretched)
