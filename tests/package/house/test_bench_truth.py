"""The benchmark that counts untrue sentences of the Result box."""

import json
import sys
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
statements = import_module("statements")
from test_bench_rigs import arm, torn  # noqa: E402

FACTS = {"stretch": [0.5, 0.4], "problems": [3, 2]}


def said(over=None, afresh=None, **changed):
    """[(kind, whether it is true)] of a box with this text about the arm."""
    plain = {"notes": [], "left_out": {}, "rigid": [], "parts": [], "findings": [], "worse": False}
    over = plain | {"facts": FACTS} | (over or {})
    afresh = plain | {"facts": {"stretch": [None, 0.4]}} | (afresh or {})
    arrays = arm(rig=np.array(["Rig", "Arm"]), sizes=np.array([18]), **changed)
    arrays["said"] = np.array(json.dumps({"over_file": over, "afresh": afresh}))
    found, _judged = statements.statements("arm", arrays)
    return [(each.kind, each.so) for each in found]


def partly(share=0.2):
    """Weights that stretch more than those of the arm, without tearing it."""
    return (1 - share) * arm()["W"] + share * torn()


def test_directions_of_the_stretch():
    """The opposite of what the file's own frames show is untrue. A statement that the stretch is
    about the same is not."""
    assert ("stretch", True) in said()
    assert ("stretch", False) in said(ours=torn())
    more = {"facts": {"stretch": [0.4, 0.5]}}
    assert ("stretch", True) in said(more, ours=torn())
    assert ("stretch", False) in said(more, W=partly())
    assert not any(kind == "stretch" for kind, _so in said(more, W=torn())), "not a measure"


def test_actions_and_random_poses_are_checked_apart():
    """The numbers of the file's actions are checked on its frames, and the others in random
    poses."""
    facts = FACTS | {"actions": [0.4, 0.5]}
    found = said({"facts": facts}, W=partly())
    assert ("actions", False) in found and ("stretch", True) in found
    found = said({"facts": FACTS | {"actions": [0.5, 0.4]}}, ours=partly())
    assert ("actions", False) in found and ("stretch", False) in found
    controls = {"facts": facts, "through_rig": True}
    assert not any(kind == "stretch" for kind, _so in said(controls, W=partly()))
    assert ("actions", False) in said(controls, W=partly())


def test_left_out_bones_that_had_skin():
    """The box must not call them control bones."""
    text = "1 left-out bone had skin: lower"
    assert ("control", True) in said({"left_out": {"lower": "SERVED"}} | note(text, "lower"))
    text = "1 left-out bone had skin: control"
    assert ("control", False) in said({"left_out": {"control": "ROOT"}} | note(text, "control"))


def test_problems_are_untrue_only_if_all_measures_say_so():
    assert ("problems", False) in said(ours=torn())
    assert ("problems", True) in said()
    assert ("problems", True) in said({"facts": FACTS | {"problems": [2, 3]}}, ours=torn())


def test_heat():
    box = {"facts": {"stretch": [None, 0.4], "heat": 0.3}}
    assert ("heat", True) in said(afresh=box) and ("heat", False) in said(afresh=box, heat=partly())
    assert ("heat", True) in said(afresh={"facts": {"stretch": [None, 0.2], "heat": 0.3}})


def note(text, *bones):
    return {"notes": [{"text": text, "bones": list(bones), "above": 0}]}


def test_bones_without_skin():
    assert ("bare", True) in said(note("1 bone without skin: control", "control"))
    assert ("bare", False) in said(note("1 bone without skin: lower", "lower"))


def without_lower():
    weights = arm()["W"].copy()
    weights[:, 0] += weights[:, 1]
    weights[:, 1] = 0
    return weights


def test_deaf_bones():
    text = "1 bone hardly moves its skin: lower"
    assert ("deaf", False) in said(note(text, "lower"))
    assert ("deaf", True) in said(note(text, "lower"), ours=without_lower())


def test_silence_about_bones():
    """A bone that has lost its skin must be named in some way."""
    assert not [each for each in said() if each[0].startswith("silence")]
    assert ("silence: bone", False) in said(ours=without_lower())
    named = note("1 bone has lost its skin: lower", "lower")
    assert ("silence: bone", True) in said(named, ours=without_lower())


def test_control_bones():
    assert ("control", True) in said({"left_out": {"control": "ROOT"}})
    assert ("control", False) in said({"left_out": {"lower": "ROOT"}})


@pytest.mark.parametrize(("size", "expected"), [(18, [("rigid", False)]), (9, [])])
def test_rigid_parts(size, expected):
    """Parts that welding changes are not checked."""
    rigid = [{"object": "Arm", "vertex": 0, "size": size, "bone": "upper"}]
    assert [each for each in said({"rigid": rigid}) if each[0] == "rigid"] == expected


def test_every_kind_has_words():
    assert {kind for kind, _so in said()} <= set(statements.KINDS)
