"""One session of a user, for test_update.py: does as asked and writes down what it saw.

blender -b -P update_step.py -- RESULT.json STEP...     or     python update_step.py -- ...
STEP: install=ZIP, import=MODULE, use, or nothing but a look.
"""

import importlib
import json
import os
import sys
import traceback
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

from scenes import MODULE, auto_weight, tube_and_rig


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


if not bpy.app.binary_path:  # the module bpy starts with factory settings
    bpy.ops.wm.read_userpref()
result, *steps = sys.argv[sys.argv.index("--") + 1 :]
seen = []
for step in steps:
    name, _, argument = step.partition("=")
    error = None
    try:
        if name == "install":
            install(argument)
        elif name == "import":
            importlib.import_module(argument)
        elif name == "use":
            use()
    except BaseException:
        error = traceback.format_exc()
    seen.append({"step": name, "error": error, **look()})
    Path(result).write_text(json.dumps(seen))
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
