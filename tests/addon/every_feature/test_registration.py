"""Enabling, disabling, and a missing native module."""

import ast
import gc
import sys
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import araplbs
import bpy
import pytest
from rows_of import drawn
from scenes import MODULE, addon, auto_weight, tube_and_rig
from test_guard import operators

FOLDER = Path(sys.modules[MODULE].__file__).parent
CLASSES = (
    "OBJECT_OT_araplbs_auto_weight",
    "OBJECT_OT_araplbs_load_preset",
    "VIEW3D_MT_araplbs_presets",
    "VIEW3D_PT_araplbs",
    "VIEW3D_PT_araplbs_poses",
    "VIEW3D_PT_araplbs_expert",
    "VIEW3D_PT_araplbs_joints",
    "OBJECT_OT_araplbs_joints",
)
ROOMS = {"replay"}  # modules that the add-on imports from the package itself
MENUS = (
    bpy.types.VIEW3D_MT_object_parent,
    bpy.types.VIEW3D_MT_paint_weight,
    bpy.types.VIEW3D_MT_pose,
)


def registered():
    return [name for name in CLASSES if hasattr(bpy.types, name)]


def menu_entries():
    return [
        function.__module__
        for menu in MENUS
        for function in menu._dyn_ui_initialize()
        if function.__module__.startswith(MODULE)
    ]


def presets():
    return bpy.utils.preset_paths("operator/object.araplbs_auto_weight")


def test_disable_and_enable():
    """Disabling leaves nothing behind, and enabling restores everything."""
    for _ in range(2):
        assert registered() == list(CLASSES)
        assert menu_entries() == [f"{MODULE}.panels.menus"] * 3 and len(presets()) == 1
        bpy.ops.preferences.addon_disable(module=MODULE)
        assert not registered() and not menu_entries() and not presets()
        bpy.ops.preferences.addon_enable(module=MODULE)
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig) == {"FINISHED"}


@contextmanager
def enabled_with(name, module):
    """The state of the add-on after it is enabled with this object instead of the loaded module."""
    package, before = sys.modules[MODULE], sys.modules[name]
    package.unregister()
    sys.modules[name] = module
    try:
        package.register()
        yield sys.modules[f"{MODULE}.missing_module"]
    finally:
        package.unregister()
        sys.modules[name] = before
        package.register()
    assert registered() == list(CLASSES)


@pytest.mark.parametrize("name", ["araplbs", "araplbs._engine"])
def test_native_module_missing(name):
    """A panel states the reason, and nothing is offered that would not work."""
    araplbs.simd  # loads the engine  # noqa: B018
    with enabled_with(name, None) as notice:
        assert notice.is_registered() and not registered() and not menu_entries()
        assert "missing: restart Blender and reinstall the extension" in notice.sentence
    assert not notice.is_registered()


@pytest.mark.parametrize("name", ["araplbs", "araplbs._engine"])
def test_module_of_another_version(name):
    """The old module stays loaded if the extension is updated in a session that has used it. Up to
    version 0.2.0, it was a module instead of a package."""
    araplbs.simd  # loads the engine  # noqa: B018
    with enabled_with(name, SimpleNamespace(__version__="0.0.1", __spec__=None)) as notice:
        assert notice.is_registered() and not registered() and not menu_entries()
        assert "while 0.0.1 was in use: restart Blender" in notice.sentence
        lines = [text for _what, _name, text in drawn(notice.VIEW3D_PT_araplbs_notice).seen]
        assert " ".join(lines) == notice.sentence
    assert not notice.is_registered()


def test_a_folder_without_files():
    """A thread that imports the package while Blender replaces its files finds only a folder. The
    folder does not count as a module of another version, and the package replaces it."""
    package, before = sys.modules[MODULE], sys.modules["araplbs"]
    package.unregister()
    sys.modules["araplbs"] = module_from_spec(ModuleSpec("araplbs", None, is_package=True))
    package.register()
    assert registered() == list(CLASSES) and sys.modules["araplbs"] is before


def test_native_module_that_does_not_load(monkeypatch, tmp_path):
    """A module that does not load, such as one for another system, is reported at its first use,
    and the scene stays unchanged."""
    (tmp_path / f"_engine{EXTENSION_SUFFIXES[-1]}").write_text("no library")
    tube, rig = tube_and_rig()
    araplbs.simd  # loads the engine  # noqa: B018
    monkeypatch.setattr(araplbs, "__path__", [str(tmp_path)])
    monkeypatch.delattr(araplbs, "_engine")
    monkeypatch.delitem(sys.modules, "araplbs._engine")
    with pytest.raises(RuntimeError, match="cannot be loaded: restart Blender and reinstall"):
        auto_weight(tube, rig)
    assert not tube.vertex_groups


def test_another_package_of_that_name(monkeypatch):
    """If Python finds a foreign package or an older one of ours first, a message appears, not a
    traceback."""
    package = sys.modules[MODULE]
    package.unregister()
    own = {n: m for n, m in sys.modules.items() if n.startswith(f"{MODULE}.")}
    attributes = dict(vars(package))
    for name in own:
        del sys.modules[name]
        vars(package).pop(name.removeprefix(f"{MODULE}."), None)
    native = addon("native_module")
    other = ModuleType("araplbs.base.refusal")
    monkeypatch.setattr(native, "bring_back", lambda: sys.modules.update({other.__name__: other}))
    try:
        package.register()
        notice = sys.modules[f"{MODULE}.missing_module"]
        assert notice.is_registered() and not registered()
        assert "found a package 'araplbs' that is not its own" in notice.sentence
        package.unregister()
    finally:
        for name in [n for n in sys.modules if n.startswith((f"{MODULE}.", "araplbs"))]:
            if name != "araplbs._engine":
                del sys.modules[name]
        sys.modules.update(own)
        vars(package).update(attributes)
    package.register()
    assert registered() == list(CLASSES)


def test_the_addon_takes_rooms_of_the_package_and_never_the_engine():
    """test_update.py checks that enabling the add-on does not load the engine."""
    for file in FOLDER.rglob("*.py"):
        assert not {"araplbs", "araplbs._engine"} & set(imports_of(file)), file


def test_error_in_register_is_not_swallowed(monkeypatch):
    package = sys.modules[MODULE]
    menus = sys.modules[f"{MODULE}.panels.menus"]
    registration = sys.modules[f"{MODULE}.registration"]
    package.unregister()

    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(menus, "register", fail)
    with pytest.raises(ZeroDivisionError):
        package.register()
    monkeypatch.undo()
    for part in reversed(registration.MODULES[: registration.MODULES.index(menus)]):
        sys.modules[f"{MODULE}.parts"].end(part)
    for cls in reversed(registration.CLASSES):
        bpy.utils.unregister_class(cls)
    package.register()


def imports_of(path):
    """Names of the modules that a file imports from outside the add-on."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level:
            if not (node.module == "araplbs" and {each.name for each in node.names} <= ROOMS):
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


NEW = """
from bpy.types import Operator
from {package}.operators.command import Command
from {package}.operators.menu_entries import Placed

class OBJECT_OT_araplbs_new(Placed, Operator):
    bl_idname = "object.araplbs_new"
    bl_label = "New"
    places = (("VIEW3D_MT_object_parent", 35), ("VIEW3D_PT_araplbs_export", 15))

CLASSES = (OBJECT_OT_araplbs_new,)
COMMAND = Command("new", "", "", None, None, None)
"""


def test_a_file_is_all_that_a_new_operator_needs(monkeypatch, tmp_path):
    """Removing the file leaves nothing behind."""
    before = operators()
    drop_in(monkeypatch, tmp_path)
    monkeypatch.undo()
    gc.collect()
    assert operators() == before


def drop_in(monkeypatch, tmp_path):
    (tmp_path / "new.py").write_text(NEW.format(package=MODULE), encoding="utf-8")
    operators = addon("features")
    room = addon("features.quantize")
    monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path)])
    try:
        new = addon("parts").classes_of(operators.modules())
        command = [m.COMMAND.name for m in operators.modules() if hasattr(m, "COMMAND")]
        entries = addon("operators.menu_entries").entries
        rows = [kind.bl_label for kind in entries(new, "VIEW3D_PT_araplbs_export")]
        menu = [kind.bl_label for kind in entries(new, "VIEW3D_MT_object_parent")]
    finally:
        sys.modules.pop(f"{MODULE}.features.quantize.new", None)
        vars(room).pop("new", None)
    assert "new" in command
    assert rows.index("New") == rows.index("Quantize Weights") + 1
    assert menu[0] == "Auto-weight (ARAP)" and menu[3] == "New"


def test_operators_forget_nothing():
    """Each class that Blender must know is declared, and each place exists."""
    modules, declared = addon("registration").MODULES, addon("registration").CLASSES
    assert len(set(declared)) == len(declared)
    of_blender = (bpy.types.Operator, bpy.types.PropertyGroup, bpy.types.Menu)
    for module in modules:
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, of_blender):
                assert kind in declared or not kind.__module__.startswith(MODULE), kind
    for kind in declared:
        for place, _order in getattr(kind, "places", ()):
            assert hasattr(bpy.types, place), (kind, place)
    names = [command.name for command in addon("cli").COMMANDS]
    assert len(set(names)) == len(names) >= 9
