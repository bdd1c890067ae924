"""Runs the command line for tests, in this process or in a process of its own."""

import os
import subprocess

import bpy
import pytest
from gate import HOLD
from patience import HANGS
from scenes import addon, new_scene

needs_executable = pytest.mark.skipif(
    not bpy.app.binary_path, reason="no executable: Blender as the module bpy"
)

# Files that a run replaces, recognized by their first bytes: a .blend file and a report of a run.
OLDER = "BLENDER older"
OLDER_REPORT = '{"generator": "araplbs results", "older": true}'


def save(path, compress=False):
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=compress)
    new_scene()
    return path


def run(*arguments):
    return addon("cli").run([str(a) for a in arguments])


def opened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.data.objects


def folder_of(path):
    return sorted(p.name for p in path.iterdir())


def arguments_of(*arguments, own=()):
    """The command line that starts a Blender process. own: options of Blender, for this process and
    for those that it starts."""
    if not bpy.app.binary_path:
        return [*addon("blender.data.restart").command("araplbs"), *map(str, arguments)]
    return [bpy.app.binary_path, *own, "-c", "araplbs", *map(str, arguments)]


def start(*arguments, held=None):
    """Starts a process whose output can be read while it works. held: (Gate, moment) at which this
    process or its child processes are held (hold.py)."""
    environment, own = dict(os.environ), ()
    if held:
        gate, moment = held
        environment |= gate.environment(moment)
        own = ("-b", "-P", str(HOLD))
    return subprocess.Popen(
        arguments_of(*arguments, own=own),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def blender(*arguments, **options):
    """Runs the same command to its end."""
    return subprocess.run(
        arguments_of(*arguments),
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=HANGS,
        **options,
    )
