"""The rooms of araplbs_addon/: a module imports only from its own room or from those below it."""

import ast
from pathlib import Path

import pytest
from paths import ROOT

ADDON = ROOT / "araplbs_addon"
# From the ground up.
LAYERS = [
    *("core", "farm", "blender", "tasks", "live", "languages", "preferences"),
    *("operators", "arguments", "cli", "ui", "registration", "notice"),
]
ROOMS = {
    "core": [
        *("base", "disk", "mirror", "skeleton", "body", "character", "measures", "solvers"),
        *("reports", "tools", "checks", "comparison"),
    ],
    "blender": ["data", "poses", "rig", "read", "write", "kept", "bendy_bones"],
    "operators": ["base", "weights", "changes", "edits", "findings"],
    "ui": ["views", "panels"],
}
MOST_FILES = 14  # of a folder, its __init__.py among them
MOST_LINES = 400  # of a module
BLENDER = {"bpy", "mathutils", "bmesh", "gpu", "blf", "gpu_extras", "bpy_extras"}
FILES = [f for f in sorted(ADDON.rglob("*.py")) if "presets" not in f.parts]


def imported(file, text):
    """Of every import in a file of the add-on, paths of what may be meant: as ("core", "base",
    "steps") in the add-on; ("", "numpy") of others."""
    here = list(Path(file).parent.parts)
    for node in running(ast.parse(text)):
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


def running(node):
    """All nodes but those that only a type checker looks at: what a function gets may be of a room
    above it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from running(child)


def wrong_imports(file, text):
    """What a module must not import: modules of layers and rooms above it, and in core/ and farm/
    what only Blender has. file: its path in the add-on."""
    own = Path(file).with_suffix("").parts
    for path in imported(file, text):
        without_blender = own[0] in {"core", "farm"}
        if path[0] == "":
            if without_blender and path[1] in BLENDER:
                yield f"{file} imports {path[1]}"
            continue
        above = own[0] in LAYERS and path[0] in LAYERS and floor(path[0]) > floor(own[0])
        rooms = ROOMS.get(own[0], [])
        if own[0] == path[0] and len(path) > 1 and path[1] in rooms and own[1] in rooms:
            above = rooms.index(path[1]) > rooms.index(own[1])
        if above or (without_blender and path[0] not in {"core", "farm"}):
            yield f"{file} imports {'.'.join(path)}"


def floor(name):
    return LAYERS.index(name)


def test_every_room_has_its_floor():
    assert {f.relative_to(ADDON).parts[0].removesuffix(".py") for f in FILES} == {
        *LAYERS,
        "__init__",
    }
    for layer, rooms in ROOMS.items():
        assert {f.parent.name for f in FILES if f.parent.parent == ADDON / layer} == set(rooms)
        assert [f.name for f in (ADDON / layer).glob("*.py")] == ["__init__.py"]


def test_no_module_imports_one_above_it():
    wrong = [w for f in FILES for w in wrong_imports(f.relative_to(ADDON), f.read_text("utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("core/base/extent.py", "from ..skeleton.poses import Poses"),
        ("core/base/extent.py", "from .. import skeleton"),
        ("core/base/extent.py", "def work():\n    import bpy"),
        ("core/comparison/compare.py", "from ...tasks import weighting"),
        ("core/comparison/compare.py", "from ...arguments import parse"),
        ("farm/pool.py", "from ..blender.data import views"),
        ("blender/data/views.py", "from ..read.read_mesh import read_mesh"),
        ("blender/data/views.py", "from ...operators.base import work"),
        ("cli.py", "from .ui import panel"),
    ],
)
def test_the_search_finds_them(file, text):
    assert list(wrong_imports(file, text))


def test_types_may_be_of_rooms_above():
    text = "if TYPE_CHECKING:\n    from ..character.problem import Skeleton"
    assert not list(wrong_imports("core/base/extent.py", text))


def test_rooms_and_modules_are_small():
    for folder in {f.parent for f in FILES}:
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder
    for file in FILES:
        assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES, file


def test_every_room_says_what_belongs_there():
    for layer, rooms in ROOMS.items():
        for room in rooms:
            said = ast.get_docstring(ast.parse((ADDON / layer / room / "__init__.py").read_text()))
            assert said and len(said.splitlines()) == 2, f"{layer}/{room}"


def test_every_file_is_looked_at():
    """None of the gates looks into some folders only."""
    assert len(FILES) > 150 and {len(f.relative_to(ADDON).parts) for f in FILES} == {1, 2, 3}
