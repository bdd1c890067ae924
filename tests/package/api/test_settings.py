"""The parser, the stubs, help(), araplbs.SETTINGS and the options of the panel agree with the
single table of settings. The dictionaries and stubs of reports agree with their table in the same
way. This file also tests tools/declared.py, which copies both tables."""

import ast
import inspect
from dataclasses import fields

import araplbs
import declared
import pytest
import shapes
from paths import ROOT

KINDS = list(araplbs.SETTINGS)

# The add-on deliberately has another default.
OTHER_DEFAULTS = {"anchor": "an artist's joints shall go no farther than it pays"}
# The add-on deliberately offers a smaller range than the engine.
NARROWER = {
    "max_influences": "no more bones than a vertex can have in a file",
    "rigid_influences": "likewise",
    "pose_count": "without random poses there may be none",
    "iterations": "more never helps",
    "swing": "half a turn is all there is; the engine leaves room for rounding",
    "twist": "the like",
    "max_shift": "a joint that may not move is locked instead",
    "min_length": "no bone may vanish, and some must be able to move",
    "joint_stiffness": "a thousand times the usual is plenty",
    "seed": "a seed is an integer of Blender",
}
# Settings of the engine that Options passes in a special form.
IN_ITS_OWN_WAY = {
    "joint_stiffness": "times the factors of the bones: araplbs/features/joints/joints.py",
}

STUBS = ast.parse((ROOT / "araplbs/_engine.pyi").read_text())
# Types that the stubs name.
ALIASES = {
    n.target.id: ast.unparse(n.value)
    for n in STUBS.body
    if isinstance(n, ast.AnnAssign) and n.value
}


def stub(kind):
    """The arguments of a class, as ast reads them from the stubs."""
    node = next(n for n in STUBS.body if isinstance(n, ast.ClassDef) and n.name == kind)
    return next(
        n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"
    ).args


@pytest.mark.parametrize("kind", KINDS)
def test_stubs_are_the_parser(kind):
    """The stubs have the parser's names, keyword-only arguments and defaults."""
    written = stub(kind)
    found = inspect.signature(getattr(araplbs, kind)).parameters
    positional = [name for name, p in found.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [a.arg for a in written.args[1:]] == positional
    assert {a.arg for a in written.kwonlyargs} == found.keys() - set(positional)
    for argument, default in zip(written.kwonlyargs, written.kw_defaults, strict=True):
        assert found[argument.arg].default == ast.literal_eval(default), argument.arg
    assert all(found[name].default is inspect.Parameter.empty for name in positional)


@pytest.mark.parametrize("kind", KINDS)
def test_stubs_say_types_and_choices_of_settings(kind):
    for argument in stub(kind).kwonlyargs:
        setting = araplbs.SETTINGS[kind].get(argument.arg)
        written = ast.unparse(argument.annotation)
        if setting and setting["choices"]:
            written = ALIASES.get(written, written)
            choices = ast.literal_eval(written.removeprefix("Literal"))
            assert sorted(choices) == sorted(setting["choices"])
        elif setting and argument.arg not in ("joint_stiffness", "tangential"):  # arrays, too
            assert written.partition("[")[0] == setting["type"].__name__, argument.arg


@pytest.mark.parametrize("kind", KINDS)
def test_help_shows_all_arguments_and_settings(kind):
    shown = getattr(araplbs, kind).__doc__
    for name in inspect.signature(getattr(araplbs, kind)).parameters:
        assert f"\n    {name}" in shown
    for setting in araplbs.SETTINGS[kind].values():
        assert setting["about"] in " ".join(shown.split())


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_in_their_ranges(kind):
    for name, setting in araplbs.SETTINGS[kind].items():
        assert isinstance(setting["default"], setting["type"]), name
        if setting["choices"]:
            assert setting["default"] in setting["choices"]
        elif setting["type"] in (int, float):
            assert setting["min"] <= setting["default"] <= setting["max"], name


def test_settings_are_read_only():
    for table in (
        araplbs.SETTINGS,
        araplbs.SETTINGS["Solver"],
        araplbs.SETTINGS["Solver"]["peak_stiffness"],
    ):
        with pytest.raises(TypeError):
            table["default"] = 3


def table_of(core, kind):
    of_joints = kind == "JointSolver"
    return (
        core("features.joints.options").JointOptions if of_joints else core("model.options").Options
    )


def engine_options(core, kind):
    """(option, setting) of the options that are settings of this type."""
    for option in fields(table_of(core, kind)):
        name = option.metadata.get("setting", option.name)
        is_of_weights = kind == "JointSolver" and option.name == "iterations"
        if name in araplbs.SETTINGS[kind] and not is_of_weights:
            yield option, name


@pytest.mark.parametrize("kind", KINDS)
def test_options_are_settings(core, kind):
    """Options have the default, the range and the choices of the setting. The range may be
    narrower, because a slider has two ends."""
    for option, name in engine_options(core, kind):
        about, setting = option.metadata, araplbs.SETTINGS[kind][name]
        default = option.default.lower() if "choices" in about else option.default
        assert type(default) is setting["type"], name
        assert (default == setting["default"]) != (name in OTHER_DEFAULTS), name
        if setting["choices"]:
            mine = [identifier.lower() for identifier, _label, _tip in about["choices"]]
            assert sorted(mine) == sorted(setting["choices"]), name
        elif "min" in about:
            assert setting["min"] <= about["min"] <= about["max"] <= setting["max"], name
            ends = about["min"], about["max"]
            assert (ends != (setting["min"], setting["max"])) == (name in NARROWER), name
        assert (kind in about.get("engine", ())) != (name in IN_ITS_OWN_WAY), name


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_marked_is_a_setting(core, kind):
    table = table_of(core, kind)
    marked = {f.name for f in fields(table) if kind in f.metadata.get("engine", ())}
    assert marked <= {option.name for option, _ in engine_options(core, kind)}
    assert table().engine_arguments(kind).keys() <= araplbs.SETTINGS[kind].keys()


def test_arguments_of_a_solver_are_its_defaults(core):
    """The add-on passes arguments that equal the defaults, with its own form of texts."""
    for name, value in core("model.options").Options().solver_arguments().items():
        assert value == araplbs.SETTINGS["Solver"][name]["default"], name


def test_pruning_is_in_its_range(core):
    support = araplbs.SETTINGS["Solver"]["pruning"]
    options = {f.name: f.metadata for f in fields(core("model.options").Options)}
    for at, name in enumerate(("prune_sum", "prune_ratio"), start=1):
        assert support["min"][at] <= options[name]["min"]
        assert options[name]["max"] <= support["max"][at]


@pytest.mark.parametrize(("kind", "section"), [("Solver", "SOLVER"), ("JointSolver", "JOINTS")])
def test_reports_are_declared_once(kind, section):
    vertices, triangles = shapes.tube()
    solver = getattr(araplbs, kind)(
        vertices, triangles, *shapes.chain(2), pose_count=2, iterations=1, threads=1
    )
    entries = declared.reports()[section]
    assert list(solver.report) == list(entries)
    node = next(n for n in STUBS.body if isinstance(n, ast.ClassDef) and n.name == kind)
    report = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "report")
    said = " ".join(ast.get_docstring(report).split())
    written = " ".join(f"{name}: {about}." for name, about in entries.items())
    assert said == f"A report of the findings and the work: {written}"


def test_arguments_of_functions_reach_the_stubs():
    """A line in arguments.def and a name in a C signature are sufficient."""
    stubs = """
def embed(
    vertices: ArrayLike,
    *,
    progress: None = 1,
) -> None: ...
"""
    lines = declared.stubs_text(stubs).strip().split("\n")
    assert lines[3:-1] == ["    progress: None = 1,", "    threads: int = 0,"], "it takes threads"
    kinds = declared.arguments()
    assert kinds["edges"].type == "ArrayLike | None" and kinds["weld"].default is True
    assert declared.OBJECTS["progress"] in kinds["progress"].type
    assert {"edges", "**"} <= set(declared.keywords()["Solver"])
    assert declared.keywords()["edit"][0] == "constraints"


def test_what_is_written_down_is_up_to_date():
    assert declared.stale() == [], "run tools/declared.py"


ONE_MORE = """#ifdef ARAP_SETTINGS_BAKE
INTEGER(max_influences, 4, 0, MOST, "most influences, 0: 32")
REAL(smoothness, 1e-4, 0, 1, "a pull, (of all)"
     " neighbors")
CHOICE(method, kind, FAST, "which", [FAST] = "fast",
       [SLOW] = "slow")
#endif /* BAKE */
"""


def test_a_new_line_reaches_the_stubs():
    table = declared.settings(ONE_MORE, {"MOST": "7"})["BAKE"]
    assert table["max_influences"] == declared.Setting("max_influences", "int", 4, 0, 7)
    assert table["smoothness"] == declared.Setting("smoothness", "float", 1e-4, 0.0, 1.0)
    assert table["method"] == declared.Setting("method", 'Literal["fast", "slow"]', "fast")
    lines = ["def bake(", "    frames: A,", "    *,", "    max_influences: float = 3,"]
    stubs = "\n".join([*lines, "    threads: int = 0,", ") -> None: ...", ""])
    written = declared.stubs_text(stubs).split("\n")
    assert written[:3] == lines[:3]
    assert written[3:5] == ["    max_influences: int = 4,", "    threads: int = 0,"]
    assert "    move_bones: bool = False," in written[5:-2]  # it was missing
    assert written[-2:] == [") -> None: ...", ""]
