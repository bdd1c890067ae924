"""How to start the running Blender again."""

import sys

import bpy

from ... import __package__ as addon_package

# Blender as the module bpy loads no add-ons by itself, and may hang when it ends by itself.
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
    """The command that starts this Blender again, up to and with the name of our command; with the
    arguments that this one was given for itself."""
    if not bpy.app.binary_path:
        # -P: a folder araplbs in the current directory is not ours.
        if "." not in addon_package:  # not installed as an extension
            return [sys.executable, "-P", "-m", "araplbs.blender"]
        return [sys.executable, "-P", "-c", STARTER.format(package=addon_package)]
    words = sys.argv[1:]
    ends = [i for i, word in enumerate(words) if word in ("-c", "--command")]
    own = words[: ends[0]] if ends else ["--background"]
    return [bpy.app.binary_path, *own, "-c", name]
