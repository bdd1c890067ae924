"""python -m araplbs.blender weight in.blend -o out.blend: the commands of blender -c araplbs, with
Blender as the module bpy."""

import os
import sys

from . import main

code = 1
try:
    code = main(sys.argv[1:])
finally:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the module bpy may hang when Python exits normally
