#!/bin/bash
# Creates build/site (see tools/site_build.py). The required Python packages are installed into
# build/venv.
# usage: site.sh               build/site
#        site.sh --tags        and build/site/VERSION for each tag vVERSION
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
"$ROOT/tools/setup.sh"
NEEDS=$ROOT/tools/site-requirements.txt
if ! cmp -s "$NEEDS" "$VENV/.site"; then
  say "build/venv gets the tools that make the site"
  "$VENV/bin/python" -m pip install -q -r "$NEEDS" >"$(log pip-site)" 2>&1 ||
    fail "pip could not install tools/site-requirements.txt: $(grep -m1 ERROR "$(log pip-site)")"
  cp "$NEEDS" "$VENV/.site"
fi
versions=()
[ "${1:-}" != --tags ] || mapfile -t versions < <(git tag --list 'v*' | sed 's/^v//')
exec "$VENV/bin/python" tools/site_build.py "${versions[@]}"
