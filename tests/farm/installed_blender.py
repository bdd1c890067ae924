"""Installs a Blender with the extension in a folder of its own, as the command that a farm
calls."""

import json
import os
import shlex
import subprocess
from pathlib import Path

from paths import ROOT
from patience import HANGS

SHIM = """#!/bin/sh
# blender -c araplbs ARGUMENTS, where Blender is the module bpy
export BLENDER_USER_RESOURCES={user}
shift 2
exec {python} -c "
import bpy, os, sys
import addon_utils
addon_utils.enable('bl_ext.user_default.araplbs')
from bl_ext.user_default.araplbs.cli import run
code = 1
try:
    code = run(sys.argv[1:])
finally:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)" "$@"
"""
INSTALL = """
import bpy, os, sys
bpy.ops.extensions.package_install_files(
    repo="user_default", filepath=sys.argv[1], enable_on_install=True
)
bpy.ops.wm.save_userpref()
os._exit(0)
"""
WEIGHTS = """
import bpy, hashlib, json, os, sys
found = {}
for path in sys.argv[sys.argv.index("--") + 1 :]:
    bpy.ops.wm.open_mainfile(filepath=path)
    digest = hashlib.sha256()
    for ob in sorted((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: o.name):
        names = [group.name for group in ob.vertex_groups]
        for vertex in ob.data.vertices:
            row = sorted((names[g.group], g.weight.hex()) for g in vertex.groups)
            digest.update(repr(row).encode())
    found[os.path.basename(path)] = digest.hexdigest()
print("WEIGHTS " + json.dumps(found), flush=True)
os._exit(0)
"""


class Missing(Exception):
    """A requirement is missing."""


def find_blender():
    """The Blender to use, or a Python that has it as the module bpy. Raises Missing."""
    found = os.environ.get("BLENDER")
    if not found:
        done = subprocess.run([ROOT / "tools/find_blender.sh"], capture_output=True, text=True)
        if done.returncode:
            raise Missing("no Blender here")
        found = done.stdout.strip().splitlines()[-1]
    return found


def find_zip():
    """The most recent zip of the extension for this system. Raises Missing."""
    zips = sorted((ROOT / "dist").glob("araplbs-*.zip"), key=lambda path: len(path.name))
    found = os.environ.get("ARAPLBS_ZIP") or str(next(iter(zips), ""))
    if not found:
        raise Missing("no zip of the extension: make extension")
    return found


class InstalledBlender:
    """command: the program; weights(paths): a hash of the weights in each file."""

    def __init__(self, folder, found, zip_path):
        self.found, self.module = found, Path(found).name.startswith("python")
        self.user = folder / "user"
        self.user.mkdir()
        self.environment = os.environ | {"BLENDER_USER_RESOURCES": str(self.user)}
        self.command = folder / "blender"
        if self.module:
            self.command.write_text(SHIM.format(user=self.user, python=shlex.quote(found)))
            install = [found, "-c", INSTALL, zip_path]
        else:
            self.command.write_text(
                f'#!/bin/sh\nexport BLENDER_USER_RESOURCES={self.user}\nexec {found} "$@"\n'
            )
            install = [found, "--command", "extension", "install-file", "-r", "user_default", "-e"]
            install.append(zip_path)
        self.command.chmod(0o755)
        subprocess.run(install, check=True, capture_output=True, env=self.environment)
        self.script = folder / "weights.py"
        self.script.write_text(WEIGHTS)

    def run(self, *arguments, **options):
        words = [self.command, "-c", "araplbs", *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=HANGS, **options)

    def weights(self, paths):
        words = [self.found, self.script] if self.module else [self.found, "-b", "-P", self.script]
        words += ["--", *map(str, paths)]
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment)
        assert "WEIGHTS " in done.stdout, (done.stdout, done.stderr)
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("WEIGHTS ")]
        return json.loads(line.removeprefix("WEIGHTS "))
