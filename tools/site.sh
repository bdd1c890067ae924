#!/bin/bash
# Makes build/site: see tools/site_build.py. Its Python packages go into build/venv.
# usage: site.sh [VERSION...]
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
exec "$VENV/bin/python" tools/site_build.py "$@"
