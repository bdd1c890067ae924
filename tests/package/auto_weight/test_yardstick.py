"""The benchmark's yardstick is compared with the yardstick of $ARAPLBS_DATA on unsuitable
weights."""

import importlib.util
import sys

import pytest
from paths import DATA, ROOT, SHARED, shared_file
from shared_data import load

sys.path.append(str(ROOT / "bench"))
OWN = ROOT / "bench/yardstick.py"
NAMES = {"infl": "influences", "L1": "l1"}


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", ["q_cat_wire", "q_snake", "webxr_hand"])
def test_it_measures_what_the_other_does(name, rng):
    given = module("given_yardstick", shared_file(SHARED / "tools", "yardstick.py"))
    own = module("own_yardstick", OWN)
    model = load(DATA, name)
    weights = rng.random((len(model["V"]), len(model["bone_head"]))) ** 6

    class Archive(dict):
        files = property(list)

    expected = given.judge(Archive(model), weights)
    found = own.Yardstick(model).judge(weights)
    assert found.keys() == expected.keys()
    reach = module("given_reach", SHARED / "tools/reach_judge.py")
    over = reach.judge(model, own.Yardstick(model).whole(own.Yardstick(model).rows(weights)))[0]
    assert found["random"]["over"] == pytest.approx(over.sum(), rel=1e-6)
    for kind, measures in expected.items():
        for key in ("area", "p99", "drift", "volume", "L1", "core", "infl"):
            assert found[kind][NAMES.get(key, key)] == pytest.approx(
                measures[key], rel=1e-6, nan_ok=True
            ), (kind, key)
