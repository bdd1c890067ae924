"""Runs pytest inside Blender, with the extension installed from the zip.

blender -b -P run_in_blender.py -- ZIP PYTEST_ARGUMENT...      (an executable)
python run_in_blender.py -- ZIP PYTEST_ARGUMENT...             (Blender as the module bpy)

The same test files run in both. If the extension is not installed yet (bpy has no command line for
this), the script installs it. User settings are those of BLENDER_USER_RESOURCES."""

import os
import sys
import traceback
from pathlib import Path

import bpy

MODULE = "bl_ext.user_default.araplbs"


def run():
    zip_path, *arguments = sys.argv[sys.argv.index("--") + 1 :]
    if MODULE not in bpy.context.preferences.addons:
        bpy.ops.extensions.package_install_files(
            repo="user_default", filepath=str(Path(zip_path).resolve()), enable_on_install=True
        )
        bpy.ops.wm.save_userpref()

    os.environ["ARAPLBS_ZIP"] = str(Path(zip_path).resolve())  # for test_update.py
    import pytest

    return int(pytest.main(arguments))


code = 1
try:
    code = run()
except BaseException:
    traceback.print_exc()
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)  # bpy 4.5 hangs in a normal exit when a test left a class or a timer registered
