"""The features of araplbs/features and araplbs_addon/features: each is a folder or file, with the
same name in both. Shared code imports no feature, and a feature imports another one only if PAIRS
lists the pair."""

import ast
from functools import cache

import pytest
from paths import ADDON, PACKAGE, ROOT

# Features that may use another one, and the reason; fewer pairs are better.
PAIRS = {
    ("auto_weight", "check"): "the Result lists the findings before and after",
    ("auto_weight", "joints"): "the Result moves limbs that are off their bones",
    ("auto_weight", "new_vertices"): "Auto-weight of new vertices alone, by an option",
    ("export_game", "auto_weight"): "the presets of engines",
    ("reduce_bones", "check"): "reads a character as Check Weights does",
    ("repair", "auto_weight"): "a repair is measured, and told in the Result",
    ("repair", "check"): "repairs what Check Weights finds",
    ("repair", "new_vertices"): "the vertices of a finding are solved as new ones",
    ("repair", "transfer"): "cloth that is pierced gets weights of the skin below",
    ("restore", "transfer"): "the stored mesh is the source of a transfer",
    ("transfer", "auto_weight"): "a transfer is measured, and told in the Result",
    ("transfer_shapes", "transfer"): "vertices match as for weights",
}
MOST_PAIRS = 12
# Rooms that stand above the features: they put them together.
ABOVE = {
    "araplbs": {"gltf", "usd", "api", "cli", "blender", "mcp"},
    "araplbs_addon": {"features", "cli", "script", "panels", "registration"},
}


def modules():
    """{dotted name: path}"""
    found = {}
    for root in (PACKAGE, ADDON):
        for path in sorted(root.rglob("*.py")):
            if "presets" not in path.parts:
                parts = path.relative_to(ROOT).with_suffix("").parts
                found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(name, text, known, is_package=False):
    """The modules that a module imports anywhere, also for types."""
    here = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = here[: len(here) - node.level + 1] if node.level else []
        base = ".".join([*base, *(node.module.split(".") if node.module else [])])
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if full in known else base


def feature_of(name):
    parts = name.split(".")
    return parts[2] if parts[1:2] == ["features"] and len(parts) > 2 else None


@cache
def uses():
    """All imports of features: {(importer, imported)}, by dotted names."""
    known = modules()
    return {
        (name, other)
        for name, path in known.items()
        for other in imported(
            name, path.read_text("utf-8"), known, is_package=path.stem == "__init__"
        )
        if feature_of(other)
    }


def test_features_use_each_other_as_the_table_says():
    found = {
        (feature_of(name), feature_of(other))
        for name, other in uses()
        if feature_of(name) and feature_of(name) != feature_of(other)
    }
    assert found == set(PAIRS)
    assert len(found) <= MOST_PAIRS


def test_what_features_share_imports_none():
    wrong = [
        (name, other)
        for name, other in uses()
        if not feature_of(name) and name.split(".")[1] not in ABOVE[name.split(".")[0]]
    ]
    assert not wrong


@pytest.mark.parametrize(
    "text",
    [
        "from ..features.check import task",
        "if TYPE_CHECKING:\n    from ..features.check import task",
    ],
)
def test_the_search_finds_them(text):
    known = {"araplbs_addon.features.check.task": None}
    assert list(imported("araplbs_addon.operators.work", text, known)) == list(known)


def test_a_feature_has_one_name():
    """Each feature of the package has a folder in the add-on, with its task or operator."""
    ours = {path.stem for path in (PACKAGE / "features").iterdir() if path.stem[0] != "_"}
    there = {path.name for path in (ADDON / "features").iterdir() if path.is_dir()} - {
        "__pycache__"
    }
    assert ours <= there, ours - there
    for name in there:
        files = {path.stem for path in (ADDON / "features" / name).glob("*.py")}
        assert "operator" in files, name


def test_a_feature_says_what_it_is():
    for folder in (PACKAGE / "features", ADDON / "features"):
        for init in folder.glob("*/__init__.py"):
            said = ast.get_docstring(ast.parse(init.read_text("utf-8")))
            assert said and len(said.splitlines()) <= 2, init
