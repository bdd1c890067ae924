#!/bin/bash
# Puts the add-on, its manifest, the wheel and the licences into build/ext, and makes
# dist/araplbs-VERSION.zip of it with Blender's own tool, which also validates the zip.
# Does nothing where the zip holds the same files already.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
[ -e araplbs_addon/__init__.py ] || fail "no araplbs_addon/__init__.py"
wheel=$(ls build/wheelhouse/araplbs-"$VERSION"-*.whl) || fail "no wheel: run make extension"

# Blender's tool copies files but never moves them, hence a folder that looks as the zip shall.
rm -rf build/ext.new
mkdir -p build/ext.new/wheels dist
cp -r araplbs_addon/. build/ext.new/
find build/ext.new -name __pycache__ -prune -exec rm -rf {} +
cp "$wheel" build/ext.new/wheels/
cp -r LICENSE THIRD_PARTY.md build/licenses build/ext.new/
sed "s|^version = .*|&\nwheels = [\"./wheels/$(basename "$wheel")\"]|" blender_manifest.toml \
  >build/ext.new/blender_manifest.toml
if [ -e "$ZIP" ] && diff -rq build/ext build/ext.new >/dev/null 2>&1; then
  rm -rf build/ext.new
  exit 0
fi
rm -rf build/ext "$ZIP"
mv build/ext.new build/ext

blender=$(tools/find_blender.sh)
if [[ $(basename "$blender") == python* ]]; then  # bpy has no executable, but the same tool
  tool=$(find "$(dirname "$blender")/../lib" -path '*bl_pkg/cli/blender_ext.py' -print -quit)
  extension() { "$blender" "$tool" "$@"; }
else
  extension() { "$blender" --factory-startup --command extension "$@"; }
fi
# Both by --output and by the exit code: some versions report an error and still return 0.
for step in "build --source-dir build/ext --output-dir dist" "validate $ZIP"; do
  extension $step >"$(log extension)" 2>&1 && ! grep -qiE '^(fatal|error)' "$(log extension)" ||
    { cat "$(log extension)" >&2; rm -f "$ZIP"; fail "Blender refuses the extension ($step)"; }
done
[ -e "$ZIP" ] || fail "Blender made no $ZIP"
say "$ZIP, $(stat -c %s "$ZIP") bytes, validated by ${blender/#$HOME/\~}"
