"""Enabling, disabling, a missing native module, and the order of the add-on's layers."""

import ast
import sys
from pathlib import Path

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


def test_native_module_missing():
    """A panel that says why, and nothing that would not work."""
    package = sys.modules[MODULE]
    native = sys.modules["araplbs"]
    package.unregister()
    sys.modules["araplbs"] = None
    try:
        package.register()
        assert not registered() and not menu_entries()
        notice = sys.modules[f"{MODULE}.notice"]
        assert notice.is_registered() and "araplbs" in notice.native_module_error()
        package.unregister()
        assert not notice.is_registered()
    finally:
        sys.modules["araplbs"] = native
        package.register()
    assert registered() == list(CLASSES)


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


def test_layers():
    """Each layer imports only from those below it."""
    order = ["core", "blender", "job", "preferences", "operators", "cli", "ui", "registration"]
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
