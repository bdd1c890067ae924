"""A module in araplbs/ or araplbs_addon/ imports only from its own folder or from folders below it,
and the package imports only NumPy and its own modules, by relative names: `import araplbs` would
reach all of them.

Each feature is a folder or file of araplbs/features and araplbs_addon/features, with the same name
in both. Shared code imports no feature, and a feature imports another one only if PAIRS lists the
pair."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest
from paths import ADDON, PACKAGE

# From the ground up.
PACKAGE_ROOMS = [
    *("base", "disk", "model", "body", "skeleton", "character", "measures", "solvers"),
    *("reports", "features", "gltf", "usd", "api", "cli", "farm", "blender", "mcp"),
]
LAYERS = [
    *(
        "native_module",
        "manual_pages",
        "parts",
        "farm",
        "blender",
        "task",
        "weighting",
        "languages",
    ),
    *("preferences", "operators", "features", "cli", "script", "panels"),
    *("registration", "missing_module"),
]
ROOMS = {
    "blender": ["data", "poses", "rig", "read", "write"],
}
# What the package may import, and where something else is asked for when it is used.
NEEDED = {*sys.stdlib_module_names, "numpy"}
OPTIONAL = {
    "solvers/tet_mesh.py": {"meshio"},
    "solvers/fill_tets.py": {"tetgen"},
    "disk/blend_file.py": {"zstandard"},
    "gltf/file/draco.py": {"DracoPy"},
    "usd/stage.py": {"pxr"},
    "usd/character.py": {"pxr"},
    "api/rows.py": {"scipy"},
    "mcp/server.py": {"anyio", "mcp"},
    "farm/dask_client.py": {"cloudpickle", "distributed"},
}
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
# Rooms that stand above the features: they put them together.
ABOVE = {
    *(f"araplbs/{room}" for room in ("gltf", "usd", "api", "cli", "blender", "mcp")),
    *(f"araplbs_addon/{room}" for room in ("features", "cli", "script", "panels", "registration")),
}
OF_PACKAGE = sorted(PACKAGE.rglob("*.py"))
OF_ADDON = sorted(ADDON.rglob("*.py"))
FILES = [*OF_PACKAGE, *OF_ADDON]
FEATURES = {
    path.relative_to(root / "features").parts[0].removesuffix(".py")
    for root in (PACKAGE, ADDON)
    for path in (root / "features").rglob("[!_]*.py")
}


def imported(file, text):
    """For every import in a file, the paths that it may refer to: ("base", "steps") in the same
    package, ("", "numpy", "linalg") for others."""
    here = list(Path(file).parent.parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ("", *alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            base = here[: len(here) - node.level + 1] if node.level else [""]
            base = base + module
            for alias in node.names:
                yield (*base, alias.name)


def wrong_in_package(file, text):
    """Imports that a module of araplbs must not have: folders above it, and packages that it does
    not need. file: its path in the package."""
    own = Path(file).with_suffix("").parts
    allowed = NEEDED | OPTIONAL.get(Path(file).as_posix(), set())
    for path in imported(file, text):
        if path[0] == "":
            if path[1] not in allowed:
                yield f"{file} imports {path[1]}"
        elif (
            own[0] in PACKAGE_ROOMS and path[0] in PACKAGE_ROOMS[PACKAGE_ROOMS.index(own[0]) + 1 :]
        ):
            yield f"{file} imports {'.'.join(path)}"


def wrong_in_addon(file, text):
    """Imports that a module of the add-on must not have: modules of layers and folders above it.
    file: its path in the add-on."""
    own = Path(file).with_suffix("").parts
    for path in imported(file, text):
        if path[0] == "":
            continue
        above = own[0] in LAYERS and path[0] in LAYERS and floor(path[0]) > floor(own[0])
        rooms = ROOMS.get(own[0], [])
        if own[0] == path[0] and len(path) > 1 and path[1] in rooms and own[1] in rooms:
            above = rooms.index(path[1]) > rooms.index(own[1])
        if above:
            yield f"{file} imports {'.'.join(path)}"


def floor(name):
    return LAYERS.index(name)


def test_every_room_has_its_floor():
    layers = {f.relative_to(ADDON).parts[0].removesuffix(".py") for f in OF_ADDON}
    assert layers == {*LAYERS, "__init__"}
    for layer, rooms in ROOMS.items():
        assert {f.parent.name for f in FILES if f.parent.parent == ADDON / layer} == set(rooms)
        assert [f.name for f in (ADDON / layer).glob("*.py")] == ["__init__.py"]
    assert {f.parent.name for f in FILES if f.parent.parent == PACKAGE} == set(PACKAGE_ROOMS)


def test_no_module_imports_one_above_it():
    wrong = [
        *(w for f in OF_PACKAGE for w in wrong_in_package(f.relative_to(PACKAGE), read(f))),
        *(w for f in OF_ADDON for w in wrong_in_addon(f.relative_to(ADDON), read(f))),
    ]
    assert not wrong, "\n".join(wrong)


def read(file):
    return file.read_text("utf-8")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("base/extent.py", "from ..skeleton.poses import Poses"),
        ("base/extent.py", "from .. import skeleton"),
        ("base/extent.py", "def work():\n    import bpy"),
        ("features/compare/compare.py", "from araplbs_addon import weighting"),
        ("features/compare/compare.py", "import scipy.sparse"),
        ("cli/batch/pool.py", "import bpy"),
        ("solvers/solve.py", "import meshio"),
        ("replay.py", "from bpy import context"),
        ("measures/energy.py", "import araplbs"),
    ],
)
def test_the_search_in_the_package_finds_them(file, text):
    assert list(wrong_in_package(file, text))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("blender/data/views.py", "from ..read.read_mesh import read_mesh"),
        ("blender/data/views.py", "from ...operators import work"),
        ("cli.py", "from .panels import main_panel"),
    ],
)
def test_the_search_in_the_addon_finds_them(file, text):
    assert list(wrong_in_addon(file, text))


def feature_of(path):
    """The feature of a path in the package or in the add-on, or None."""
    if path[:1] == ("",) and path[1] in {PACKAGE.name, ADDON.name}:
        path = path[2:]
    return path[1] if path[:1] == ("features",) and path[1:2] and path[1] in FEATURES else None


def uses(root, file, text):
    """(room or feature of a file, feature) of each import of a feature by another module."""
    own = Path(file).with_suffix("").parts
    for path in imported(file, text):
        feature = feature_of(path)
        if feature and feature != feature_of(own):
            yield feature_of(own) or f"{root.name}/{own[0]}", feature


@cache
def all_uses():
    roots = [(PACKAGE, f) for f in OF_PACKAGE] + [(ADDON, f) for f in OF_ADDON]
    return {use for root, file in roots for use in uses(root, file.relative_to(root), read(file))}


def test_features_use_each_other_as_the_table_says():
    assert {(own, other) for own, other in all_uses() if "/" not in own} == set(PAIRS)


def test_code_that_features_share_imports_none():
    assert {own for own, _other in all_uses() if "/" in own} <= ABOVE


def test_the_search_finds_features():
    for text in ("from ..features.check import task", "from araplbs.features import check"):
        assert list(uses(ADDON, "operators/work.py", f"if TYPE_CHECKING:\n    {text}")) == [
            ("araplbs_addon/operators", "check")
        ]


def test_a_feature_has_one_name():
    """Each feature of the package has a folder in the add-on, with its task or operator."""
    assert {path.name for path in (ADDON / "features").glob("[!_]*")} == FEATURES
    for name in FEATURES:
        files = {path.stem for path in (ADDON / "features" / name).glob("*.py")}
        assert "operator" in files, name


def test_types_are_of_rooms_below():
    text = "if TYPE_CHECKING:\n    from ..character.problem import Problem"
    assert list(wrong_in_package("base/extent.py", text))


def test_every_room_says_what_belongs_there():
    rooms = [ADDON / layer / room for layer, rooms in ROOMS.items() for room in rooms]
    for room in [*rooms, *(PACKAGE / each for each in PACKAGE_ROOMS)]:
        assert ast.get_docstring(ast.parse(read(room / "__init__.py"))), room
    for folder in (PACKAGE, ADDON):
        for init in folder.glob("features/*/__init__.py"):
            said = ast.get_docstring(ast.parse(read(init)))
            assert said and len(said.splitlines()) <= 2, init


def test_every_file_is_looked_at():
    """None of these tests is limited to some folders."""
    assert len(OF_PACKAGE) > 80 and len(OF_ADDON) > 130
    assert {len(f.relative_to(ADDON).parts) for f in OF_ADDON} == {1, 2, 3}
