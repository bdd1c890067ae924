"""Names of options and arguments from the previous version still work, and a warning states the new
name."""

import warnings

import araplbs
import numpy as np
import pytest
import shapes
from araplbs import replay
from araplbs.api.options import options_of
from araplbs.base.old_names import ARGUMENTS, OPTIONS, present
from araplbs.cli.main import read_command
from araplbs.disk.presets import preset_values

MESH, BONES = shapes.tube(12, 24), shapes.chain(3)
FEW = {"pose_count": 6, "iterations": 3}
VALUES = {
    "truss": 5.0, "least_worth": 0.01, "widenings": 1, "least_weight": 0.2,
    "support": (1, 0.9, 0.1),
}  # fmt: skip


@pytest.fixture(scope="module")
def default():
    return shapes.solve(MESH, BONES, **FEW)


@pytest.mark.parametrize("old", VALUES)
def test_arguments_of_a_solver(old, default):
    value, new = VALUES[old], ARGUMENTS[old]
    with pytest.warns(DeprecationWarning, match=f"^Solver: {old} is now {new}$"):
        before = shapes.solve(MESH, BONES, **FEW, **{old: value})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        now = shapes.solve(MESH, BONES, **FEW, **{new: value})
    np.testing.assert_array_equal(before.weights, now.weights)
    assert before.energy == now.energy and now.report["damping"] == before.report["damping"]
    assert (now.weights != default.weights).any() or old == "widenings"


def test_both_names_at_once():
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(TypeError, match="got the argument 'truss' twice"),
    ):
        araplbs.Solver(*MESH, *BONES, bone_spring_stiffness=1.0, truss=1.0)


def test_a_warning_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            araplbs.Solver(*MESH, *BONES, truss=1.0)
        with pytest.raises(DeprecationWarning):
            _ = araplbs.Solver(*MESH, *BONES, **FEW).spokes


def test_an_old_name_is_none_where_there_was_none():
    with pytest.raises(TypeError, match="unexpected keyword argument 'truss'"):
        araplbs.transfer_weights(*MESH, *MESH, np.ones((len(MESH[0]), 1)), truss=1.0)


def test_arguments_of_prune():
    weights = np.random.default_rng(0).dirichlet(np.ones(4), len(MESH[0]))
    now = araplbs.prune(*MESH, weights, min_influences=1, prune_sum=0.9, prune_ratio=0.5)
    with pytest.warns(DeprecationWarning) as said:
        before = araplbs.prune(*MESH, weights, least=1, kept_sum=0.9, relative=0.5)
    assert len(said) == 3
    np.testing.assert_array_equal(now, before)


def test_spokes():
    solver = araplbs.Solver(*MESH, *BONES, **FEW)
    with pytest.warns(DeprecationWarning, match="Solver: spokes is now bone_springs"):
        before = solver.spokes
    for one, other in zip(before, solver.bone_springs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_keyword_arguments():
    with pytest.warns(DeprecationWarning, match="truss is now bone_spring_stiffness"):
        options = options_of({"truss": 3.0, "seed": 4})
    assert options.bone_spring_stiffness == 3 and options.seed == 4


def test_flags(capsys):
    words = ["weight", "a.glb", "-o", "b.glb", "--truss", "3", "--least-worth=0.02"]
    _command, _arguments, options = read_command(words)
    assert options.bone_spring_stiffness == 3 and options.min_gain == 0.02
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "araplbs: --truss is now --bone-spring-stiffness",
        "araplbs: --least-worth is now --min-gain",
    ]
    read_command([*words[:4], "--firmness", "3", "--min-gain", "0.02"])
    assert not capsys.readouterr().err


def test_presets():
    found = preset_values("op.truss = 7.0\nop.kept_sum = 0.9\nop.swing = 0.5\n")
    assert found == {"bone_spring_stiffness": 7.0, "prune_sum": 0.9, "swing": 0.5}


def test_the_present_name_wins():
    assert present({"bone_spring_stiffness": 1, "truss": 2}) == {"bone_spring_stiffness": 1}
    assert present({"truss": 2, "bone_spring_stiffness": 1}) == {"bone_spring_stiffness": 1}
    assert not {*OPTIONS} & {*OPTIONS.values()}


def test_problem_files(tmp_path):
    """Problem files of the previous version are solved without a warning."""
    vertices, triangles = MESH
    heads, tails, parents = (getattr(BONES, name, None) for name in ("heads", "tails", "parents"))
    if heads is None:
        heads, tails, parents = BONES[:3]
    given = {
        "vertices": vertices, "triangles": triangles, "bone_heads": heads, "bone_tails": tails,
        "bone_parents": parents, **FEW,
    }  # fmt: skip
    replay.save(tmp_path / "old.npz", {**given, "truss": 5.0, "support": (1, 0.9, 0.1)})
    arguments, _about = replay.load(tmp_path / "old.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before, _seconds = replay.solve(arguments)
        now = araplbs.Solver(**given, bone_spring_stiffness=5.0, pruning=(1, 0.9, 0.1))
        now.solve()
    np.testing.assert_array_equal(before.weights, now.weights)
