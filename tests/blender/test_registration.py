"""Enabling, disabling, a missing native module, and the order of the add-on's layers."""

import ast
import sys
from contextlib import contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from scenes import MODULE, auto_weight, tube_and_rig

FOLDER = Path(sys.modules[MODULE].__file__).parent
CLASSES = (
    "OBJECT_OT_araplbs_auto_weight",
    "OBJECT_OT_araplbs_load_preset",
    "VIEW3D_MT_araplbs_presets",
    "VIEW3D_PT_araplbs",
    "VIEW3D_PT_araplbs_poses",
    "VIEW3D_PT_araplbs_advanced",
    "VIEW3D_PT_araplbs_joints",
    "OBJECT_OT_araplbs_optimize_joints",
)
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
    """Nothing is left behind, and all is there again."""
    for _ in range(2):
        assert registered() == list(CLASSES)
        assert menu_entries() == [f"{MODULE}.ui.menus"] * 5 and len(presets()) == 1
        bpy.ops.preferences.addon_disable(module=MODULE)
        assert not registered() and not menu_entries() and not presets()
        bpy.ops.preferences.addon_enable(module=MODULE)
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig) == {"FINISHED"}


@contextmanager
def enabled_with(native):
    """The add-on as it is when it is enabled with this in place of the loaded module."""
    package, before = sys.modules[MODULE], sys.modules["araplbs"]
    package.unregister()
    sys.modules["araplbs"] = native
    try:
        package.register()
        yield sys.modules[f"{MODULE}.notice"]
    finally:
        package.unregister()
        sys.modules["araplbs"] = before
        package.register()
    assert registered() == list(CLASSES)


def test_native_module_missing():
    """A panel that says why, and nothing that would not work."""
    with enabled_with(None) as notice:
        assert notice.is_registered() and not registered() and not menu_entries()
        assert "missing: restart Blender and install the extension again" in notice.sentence
    assert not notice.is_registered()


def test_module_of_another_version():
    """The old module stays loaded when the extension is updated in a session that has used it."""
    with enabled_with(SimpleNamespace(__version__="0.0.1", __spec__=None)) as notice:
        assert notice.is_registered() and not registered() and not menu_entries()
        assert "while 0.0.1 was in use: restart Blender" in notice.sentence
        drawn = Layout()
        notice.VIEW3D_PT_araplbs_notice.draw(SimpleNamespace(layout=drawn), None)
        assert " ".join(drawn.lines) == notice.sentence
    assert not notice.is_registered()


class Layout:
    """Of a panel, as far as labels go."""

    def __init__(self):
        self.lines = []

    def column(self, align):
        return self

    def label(self, text, icon):
        self.lines.append(text)


def test_native_module_that_does_not_load(monkeypatch, tmp_path):
    """Of another system, say: told when it is first used, and the scene is as it was."""
    (tmp_path / f"araplbs{EXTENSION_SUFFIXES[-1]}").write_text("no library")
    tube, rig = tube_and_rig()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "araplbs")
    with pytest.raises(RuntimeError, match="cannot be loaded: restart Blender and install"):
        auto_weight(tube, rig)
    assert not tube.vertex_groups


def test_only_native_module_imports_the_module():
    """Enabling the add-on does not load it: test_update.py."""
    for file in FOLDER.rglob("*.py"):
        names = {module for level, module, _names in imports_of(file) if not level}
        assert "araplbs" not in names or file.name == "native_module.py", file


def test_error_in_register_is_not_swallowed(monkeypatch):
    package = sys.modules[MODULE]
    menus = sys.modules[f"{MODULE}.ui.menus"]
    registration = sys.modules[f"{MODULE}.registration"]
    package.unregister()

    def fail():
        raise ZeroDivisionError

    monkeypatch.setattr(menus, "register", fail)
    with pytest.raises(ZeroDivisionError):
        package.register()
    monkeypatch.undo()
    for part in reversed(registration.PARTS[: registration.PARTS.index(menus)]):
        part.unregister()
    for cls in reversed(registration.CLASSES):
        bpy.utils.unregister_class(cls)
    package.register()


def imports_of(path):
    """(level, module, names) of every import of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield 0, alias.name, []


def test_core_knows_nothing_of_blender():
    files = list((FOLDER / "core").glob("*.py"))
    assert len(files) > 5
    for file in files:
        for level, module, _names in imports_of(file):
            assert level < 2, f"{file.name} imports from outside of core"
            assert module.partition(".")[0] not in {"bpy", "mathutils", "bmesh"}, file.name


def test_farm_knows_nothing_of_blender():
    """Its client runs outside."""
    for file in (FOLDER / "farm").glob("*.py"):
        names = {module.partition(".")[0] for level, module, _ in imports_of(file) if level < 2}
        assert not names & {"bpy", "mathutils", "bmesh"}, file.name


def test_layers():
    """Each layer imports only from those below it."""
    order = [
        *("core", "farm", "blender", "tasks", "live", "preferences"),
        *("operators", "arguments", "cli", "ui", "registration"),
    ]
    for layer in order:
        path = FOLDER / layer
        files = path.glob("*.py") if path.is_dir() else [path.with_suffix(".py")]
        inside = 2 if path.is_dir() else 1
        for file in files:
            for level, module, names in imports_of(file):
                if level == inside:
                    above = [module.partition(".")[0]] if module else names
                    for name in set(above) & set(order):
                        assert order.index(name) <= order.index(layer), f"{file}: {name}"


def test_modules_are_small():
    for file in FOLDER.rglob("*.py"):
        assert len(file.read_text().splitlines()) <= 400, file
