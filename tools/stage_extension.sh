#!/bin/bash
# Copies the add-on, its manifest, the manual, the wheels and the licenses to a folder, and creates
# zips from it with Blender's own tool, which also validates them.
# usage: stage_extension.sh                       build/ext, dist/araplbs-VERSION.zip: this system
#        stage_extension.sh PLATFORMS WHEEL...    build/ext-all, dist/araplbs-VERSION-SYSTEM.zip for
#                                                 each of the platforms (windows-x64,macos-arm64,...)
# SITE_URL: the address of the site, if there is one; the pages of the manual and the manifest link to it.
# Does nothing if the zips already contain the same files.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
[ -e araplbs_addon/__init__.py ] || fail "no araplbs_addon/__init__.py"
if [ $# = 0 ]; then
  wheels=(build/wheelhouse/araplbs-"$VERSION"-*.whl) ext=build/ext licenses=build/licenses
  zips=("$ZIP") platforms='' split=''
  [ -e "${wheels[0]}" ] || fail "no wheel: run make extension"
else
  platforms=$1 ext=build/ext-all licenses=build/cross/licenses split=--split-platforms zips=()
  shift
  wheels=("$@")
  for name in ${platforms//,/ }; do zips+=("dist/araplbs-$VERSION-${name//-/_}.zip"); done
fi

# Blender's tool copies files but never moves them, so a folder with the structure of the zip is
# needed.
rm -rf $ext.new
mkdir -p $ext.new/wheels dist
cp -r araplbs_addon/. $ext.new/
find $ext.new -name __pycache__ -prune -exec rm -rf {} +
cp "${wheels[@]}" $ext.new/wheels/
cp -r LICENSE THIRD_PARTY.md "$licenses" $ext.new/
"$VENV/bin/python" tools/manual_pages.py $ext.new/manual
"$VENV/bin/python" tools/preset_files.py $ext.new/presets
"$VENV/bin/python" tools/stage_manifest.py "$platforms" "${wheels[@]##*/}" >$ext.new/blender_manifest.toml
if ls "${zips[@]}" >/dev/null 2>&1 && diff -rq $ext $ext.new >/dev/null 2>&1; then
  rm -rf $ext.new
  exit 0
fi
rm -rf $ext "${zips[@]}"
mv $ext.new $ext

blender=$(tools/find_blender.sh)
extension() { blender_extension "$blender" "$@"; }
# Both the output and the exit code are checked, because some versions report an error and still
# return 0.
step() {
  extension "$@" >"$(log extension)" 2>&1 && ! grep -qiE '^(fatal|error)' "$(log extension)" ||
    { cat "$(log extension)" >&2; rm -f "${zips[@]}"; fail "Blender refuses the extension ($*)"; }
}
step build --source-dir $ext --output-dir dist $split
for zip in "${zips[@]}"; do
  [ -e "$zip" ] || fail "Blender made no $zip"
  "$VENV/bin/python" tools/repack_zip.py "$zip"
  step validate "$zip"
  say "$zip, $(stat -c %s "$zip") bytes, validated by ${blender/#$HOME/\~}"
done
