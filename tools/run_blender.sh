#!/bin/bash
# Runs a Python script in a headless Blender (an executable or the bpy module) with separate user
# settings (build/user), and returns the script's exit code.
# usage: run_blender.sh SCRIPT [ARGUMENT...]     the script finds them in sys.argv after "--"
. "$(dirname "$0")/lib.sh"
blender=$("$ROOT/tools/find_blender.sh")
export BLENDER_USER_RESOURCES=${BLENDER_USER_RESOURCES:-$ROOT/build/user}
mkdir -p "$BLENDER_USER_RESOURCES"
script=$1
shift
if [[ $(basename "$blender") == python* ]]; then
  # os._exit is necessary, because bpy 4.5 hangs at exit if a script leaves a class or a timer
  # registered.
  exec "$blender" -c '
import os, runpy, sys, traceback
import bpy
script, sys.argv = sys.argv[1], sys.argv[1:]
code = 0
try:
    runpy.run_path(script, run_name="__main__")
except SystemExit as exit:
    code = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
except BaseException:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)' "$script" -- "$@"
fi
exec "$blender" -b --python-exit-code 1 -P "$script" -- "$@"
