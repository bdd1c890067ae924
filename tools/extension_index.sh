#!/bin/bash
# Creates build/repository from the zips of `make extension-all`, with Blender's index (index.json)
# and a page for users. If the folder is on a web server, its address can be added to Blender's
# repositories.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
shopt -s nullglob
zips=("dist/araplbs-$VERSION"-{windows,macos,linux}_*.zip)
[ ${#zips[@]} -gt 0 ] || fail "no zips in dist/: run make extension-all"
rm -rf build/repository
mkdir -p build/repository
cp "${zips[@]}" build/repository/
blender=$(tools/find_blender.sh)
blender_extension "$blender" server-generate --repo-dir build/repository --html >"$(log index)" 2>&1
entries=$("$VENV/bin/python" -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["data"]))' \
  build/repository/index.json)
[ "$entries" = ${#zips[@]} ] || { cat "$(log index)" >&2; fail "$entries entries for ${#zips[@]} zips"; }
say "build/repository, $entries zips"
