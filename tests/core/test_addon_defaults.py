"""Defaults of the add-on's options are those that the module documents and has."""

import ast
import importlib
import math
import sys
import types
from dataclasses import fields
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The add-on starts elsewhere, on purpose.
OTHER = {
    ("JointSolver", "anchor"): "an artist's joints shall go no farther than it pays",
}
# Angles, which the stubs cannot write.
COMPUTED = {"swing": math.radians(60), "twist": math.radians(10)}


@pytest.fixture(scope="module")
def core():
    """The add-on's package `core`, which needs no Blender, without the package above it."""
    name = "araplbs_addon_without_blender"
    package = types.ModuleType(name)
    package.__path__ = [str(ROOT / "araplbs_addon")]
    sys.modules[name] = package
    yield lambda module: importlib.import_module(f"{name}.core.{module}")
    for each in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        del sys.modules[each]


def documented(kind):
    """{keyword: default} of a class, as the stubs tell."""
    tree = ast.parse((ROOT / "csrc/araplbs-stubs/__init__.pyi").read_text())
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == kind)
    made = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    found = {
        argument.arg: ast.literal_eval(default)
        for argument, default in zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    }
    for name, value in COMPUTED.items():
        assert found[name] is ...
        found[name] = value
    return found


@pytest.mark.parametrize("kind", ["Solver", "JointSolver"])
def test_defaults(core, kind):
    if kind == "Solver":
        options = core("options").Options()
        own = {**options.solver_arguments(), "initial": options.initial.lower()}
    else:
        options = core("joints").JointOptions()
        own = {**options.joint_arguments(), "material": options.material}
    engine = documented(kind)
    assert own.keys() <= engine.keys()
    different = {name for name, value in own.items() if engine[name] != value}
    assert different == {name for of, name in OTHER if of == kind}


def test_every_joint_option_is_one_of_the_solver(core):
    module, joints = core("options"), core("joints")
    weights = {f.name for f in fields(module.Options)}
    engine, own = documented("JointSolver").keys(), joints.JointOptions().joint_arguments().keys()
    assert {f.name for f in fields(joints.JointOptions)} - weights - {"joint_iterations"} <= engine
    # What the panel says about weights counts for the joints, too.
    assert weights & engine <= own
