"""Builds the command that restarts the running Blender."""

import sys

import bpy

from ... import __package__ as addon_package

# The module bpy loads no add-ons by itself, and may hang on exit.
STARTER = """
import bpy, os, sys
import addon_utils  # bpy puts it on the path
addon_utils.enable({package!r})
from {package}.cli import run
code = 1
try:
    code = run(sys.argv[1:])
finally:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
"""


def command(name):
    """The command line that restarts this Blender, up to and including the name of our command,
    with the arguments that were given to Blender itself."""
    if not bpy.app.binary_path:
        # -P: ignore a folder araplbs in the current directory.
        if "." not in addon_package:  # not installed as an extension
            return [sys.executable, "-P", "-m", "araplbs.blender"]
        return [sys.executable, "-P", "-c", STARTER.format(package=addon_package)]
    words = sys.argv[1:]
    ends = [i for i, word in enumerate(words) if word in ("-c", "--command")]
    own = words[: ends[0]] if ends else ["--background"]
    return [bpy.app.binary_path, *own, "-c", name]
