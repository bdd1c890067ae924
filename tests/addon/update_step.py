"""One session of a user, for test_update.py: performs the requested steps and records the results.

blender -b -P update_step.py -- RESULT.json STEP...     or     python update_step.py -- ...
STEP: install=ZIP, import=MODULE, use, example, save=FILE, open=FILE; without a step, the session
only records the state. `save` writes a file with a character that has weights, settings, a
correction and kept weights; `open` reads this file, presses the button, and restores the kept
weights."""

import importlib
import json
import os
import sys
import traceback
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from scenes import MODULE, auto_weight, select, tube_and_rig

SETTINGS = {"max_influences": 2, "bone_spring_stiffness": 6.0, "symmetric": False, "seed": 7}
PINNED = (3, 4)  # vertices


def look():
    native = sys.modules.get("araplbs._engine") or sys.modules.get("araplbs")
    package = sys.modules.get(MODULE)
    notice = sys.modules.get(f"{MODULE}.missing_module")
    return {
        "enabled": MODULE in bpy.context.preferences.addons and package is not None,
        "loaded": vars(native).get("__version__") if native else None,
        "newer": hasattr(sys.modules.get("araplbs.base.refusal"), "NEWER"),
        "registered": hasattr(bpy.types, "OBJECT_OT_araplbs_auto_weight"),
        "notice": (notice.sentence if notice.is_registered() else None) if notice else None,
    }


def install(path):
    bpy.ops.extensions.package_install_files(
        repo="user_default", filepath=path, enable_on_install=True, overwrite=True
    )
    bpy.ops.wm.save_userpref()


def use():
    tube, rig = tube_and_rig()
    assert auto_weight(tube, rig) == {"FINISHED"} and len(tube.vertex_groups) == 3


def example():
    """Presses the operator of examples/feature, and looks for it in the tab."""
    tube, _rig = tube_and_rig()
    for k in range(5):
        tube.vertex_groups.new(name=str(k)).add(PINNED if k else range(9), 0.2, "REPLACE")
    select(tube)
    pressed = bpy.ops.object.araplbs_select_crowded()
    menus = importlib.import_module(f"{MODULE}.panels.menus")
    rows = menus.entries(menus.KINDS, "VIEW3D_PT_araplbs_export")
    return {
        "pressed": [*pressed],
        "selected": [vertex.index for vertex in tube.data.vertices if vertex.select],
        "rows": [row.bl_label for row in rows],
    }


def weights(tube):
    """{bone: weight} of each vertex."""
    names = [group.name for group in tube.vertex_groups]
    return [{names[g.group]: g.weight for g in vertex.groups} for vertex in tube.data.vertices]


def save(path):
    tube, rig = tube_and_rig()
    settings = bpy.context.scene.araplbs
    for name, value in SETTINGS.items():
        setattr(settings, name, value)
    select(rig, tube)
    for vertex in tube.data.vertices:
        vertex.select = vertex.index in PINNED
    pin = bpy.ops.object.araplbs_edit_vertices
    tube.vertex_groups.new(name="upper")
    assert pin("EXEC_DEFAULT", kind="WEIGHT", bone="upper", weight=0.25) == {"FINISHED"}
    options = {name: getattr(settings, name) for name in SETTINGS}
    assert auto_weight(tube, rig, **options) == {"FINISHED"}
    select(tube)
    assert bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT") == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return {"weights": weights(tube)}


def open_file(path):
    bpy.ops.wm.open_mainfile(filepath=path)
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    settings = bpy.context.scene.araplbs
    found = {
        "weights": weights(tube),
        "settings": {name: getattr(settings, name) for name in SETTINGS},
        "edits": [[item.kind, item.bone, item.use] for item in tube.data.araplbs.edits],
    }
    assert auto_weight(tube, rig, **found["settings"]) == {"FINISHED"}
    found["pressed"] = weights(tube)
    tube.vertex_groups.clear()
    select(tube)
    assert bpy.ops.object.araplbs_restore_weights("EXEC_DEFAULT") == {"FINISHED"}
    found["restored"] = weights(tube)
    return found


if not bpy.app.binary_path:  # the module bpy starts with factory settings
    bpy.ops.wm.read_userpref()
result, *steps = sys.argv[sys.argv.index("--") + 1 :]
seen = []
for step in steps:
    name, _, argument = step.partition("=")
    error, found = None, {}
    try:
        if name == "install":
            install(argument)
        elif name == "import":
            importlib.import_module(argument)
        elif name == "use":
            use()
        elif name == "example":
            found = example()
        elif name == "save":
            found = save(argument)
        elif name == "open":
            found = open_file(argument)
    except BaseException:
        error = traceback.format_exc()
    seen.append({"step": name, "error": error, **look(), **found})
    Path(result).write_text(json.dumps(seen))
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
