#!/bin/bash
# Starts Blender with links to the add-on and the package of this checkout in place of an installed
# extension. Changes take effect after a restart or a reload (tools/araplbs_reload.py).
# usage: dev_blender.sh [ARGUMENT...]    arguments of Blender, or a script if it is the module bpy
#   $BLENDER        the Blender to start; default: that of tools/find_blender.sh
#   $BEFORE         a command that Blender is started by, such as "gdb --args"
#   ARAPLBS_ASAN=1  with the engine of `make asan`, and the sanitizers
# Settings and links are in build/dev, apart from those of other Blenders.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
blender=$(tools/find_blender.sh)
package=$ROOT/araplbs
read -ra before <<<"${BEFORE:-}"
if [ "${ARAPLBS_ASAN:-}" = 1 ]; then
  tools/build_module.sh
  package=$ROOT/build/asan/lib/araplbs
  before+=(env "LD_PRELOAD=$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)
elif [ ! -e araplbs/_engine.abi3.so ]; then
  fail "the engine is not built: run make build"
fi

export BLENDER_USER_RESOURCES=$ROOT/build/dev
extension=$BLENDER_USER_RESOURCES/extensions/user_default/araplbs
modules=$BLENDER_USER_RESOURCES/scripts/addons/modules
rm -rf "$extension" "$modules"
mkdir -p "$extension" "$modules"
ln -s "$ROOT"/araplbs_addon/* "$extension/"
ln -s "$ROOT/blender_manifest.toml" "$extension/"
"$VENV/bin/python" tools/preset_files.py "$extension/presets"
ln -s "$package" "$ROOT/tools/araplbs_reload.py" "$modules/"

if [[ $(basename "$blender") == python* ]]; then
  # shellcheck disable=SC2016
  exec "${before[@]}" "$blender" -P -c '
import runpy, sys, bpy
bpy.ops.preferences.addon_enable(module="bl_ext.user_default.araplbs")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
fi
exec "${before[@]}" "$blender" --addons bl_ext.user_default.araplbs "$@"
