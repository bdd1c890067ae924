"""A module in araplbs/ or araplbs_addon/ imports only from its own folder or from folders below it,
and the package imports only NumPy and its own modules, by relative names: `import araplbs` would
reach all of them."""

import ast
import sys
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
OF_PACKAGE = sorted(PACKAGE.rglob("*.py"))
OF_ADDON = sorted(ADDON.rglob("*.py"))
FILES = [*OF_PACKAGE, *OF_ADDON]


def imported(file, text):
    """For every import in a file, the paths that it may refer to: ("base", "steps") in the same
    package, ("", "numpy") for others."""
    here = list(Path(file).parent.parts)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ("", alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            module = node.module.split(".") if node.module else []
            if not node.level:
                yield ("", module[0])
                continue
            base = here[: len(here) - node.level + 1] + module
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


def test_types_are_of_rooms_below():
    text = "if TYPE_CHECKING:\n    from ..character.problem import Problem"
    assert list(wrong_in_package("base/extent.py", text))


def test_every_room_says_what_belongs_there():
    rooms = [ADDON / layer / room for layer, rooms in ROOMS.items() for room in rooms]
    for room in [*rooms, *(PACKAGE / each for each in PACKAGE_ROOMS)]:
        assert ast.get_docstring(ast.parse(read(room / "__init__.py"))), room


def test_every_file_is_looked_at():
    """None of these tests is limited to some folders."""
    assert len(OF_PACKAGE) > 80 and len(OF_ADDON) > 130
    assert {len(f.relative_to(ADDON).parts) for f in OF_ADDON} == {1, 2, 3}
