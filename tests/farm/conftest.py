"""A Blender with the extension, and characters, for the tests of the farm. They run outside of
Blender: python -m pytest tests/farm"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from paths import DATA, ROOT

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
# Small ones; more than there are workers, so that something is left when one fails.
CHARACTERS = ("q_eagle", "q_cat_wire", "q_trex", "q_snake", "webxr_hand", "fox_soup")


def pytest_runtest_setup(item):
    if item.get_closest_marker("slow") and not os.environ.get("ARAPLBS_TEST_ALL"):
        pytest.skip("slow: tests/run.sh farm, or ARAPLBS_TEST_ALL=1")


class Blender:
    """command: what is called; weights(paths): a hash of the weights in each file."""

    def __init__(self, folder):
        found = os.environ.get("BLENDER")
        if not found:
            done = subprocess.run([ROOT / "tools/find_blender.sh"], capture_output=True, text=True)
            if done.returncode:
                pytest.skip("no Blender here")
            found = done.stdout.strip().splitlines()[-1]
        zips = sorted((ROOT / "dist").glob("araplbs-*.zip"), key=lambda path: len(path.name))
        zip_path = os.environ.get("ARAPLBS_ZIP") or str(next(iter(zips), ""))
        if not zip_path:
            pytest.skip("no zip of the extension: make extension")
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
        return subprocess.run(words, capture_output=True, text=True, timeout=600, **options)

    def weights(self, paths):
        words = [self.found, self.script] if self.module else [self.found, "-b", "-P", self.script]
        words += ["--", *map(str, paths)]
        done = subprocess.run(words, capture_output=True, text=True, env=self.environment)
        assert "WEIGHTS " in done.stdout, (done.stdout, done.stderr)
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("WEIGHTS ")]
        return json.loads(line.removeprefix("WEIGHTS "))


@pytest.fixture(scope="session")
def blender(tmp_path_factory):
    return Blender(tmp_path_factory.mktemp("blender"))


@pytest.fixture(scope="session")
def characters():
    paths = [DATA / f"{name}.blend" for name in CHARACTERS]
    if not all(path.exists() for path in paths):
        pytest.skip(f"no characters in {DATA}")
    return paths


@pytest.fixture(scope="session")
def reference(blender, characters, tmp_path_factory):
    """The weights that one process gives."""
    out = tmp_path_factory.mktemp("reference")
    done = blender.run("weight", *characters, "-o", out, "--threads", 2)
    assert done.returncode == 0, done.stderr
    return blender.weights(sorted(out.glob("*.blend")))


@pytest.fixture
def plan(blender, characters, tmp_path):
    """Called with the folder for the outputs: the file of a plan for all characters."""

    def make(out, *more):
        words = ["-o", f"{out}/", "--report", tmp_path / "reports", "--threads", 1, "--plan"]
        done = blender.run("weight", *characters, *words, *more)
        assert done.returncode == 0, done.stderr
        path = tmp_path / "plan.jsonl"
        path.write_text(done.stdout)
        return path

    return make


def farm(*arguments):
    """The command line of the client, in this Python."""
    return [sys.executable, str(ROOT / "araplbs_addon/farm"), *map(str, arguments)]
