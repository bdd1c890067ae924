#!/bin/bash
# Tests the rules of docs/release.md on the zips of `make extension-all` and on the source package,
# with Blender's own validator and then with tools/release_check.py.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
shopt -s nullglob
blender=$(tools/find_blender.sh)
bad=0
for zip in "dist/araplbs-$VERSION"-{windows,macos,linux}_*.zip; do
  blender_extension "$blender" validate "$zip" >"$(log validate)" 2>&1 &&
    ! grep -qiE '^(fatal|error)' "$(log validate)" || { cat "$(log validate)"; bad=1; }
done
"$VENV/bin/python" tools/release_check.py || bad=1
exit $bad
