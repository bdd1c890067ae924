#!/bin/bash
# Creates dist/araplbs-VERSION.tar.gz with the module's sources and those of CHOLMOD. `pip install`
# can build it on any machine with a C compiler and Python.
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
export SOURCE_DATE_EPOCH=1767225600
"$VENV/bin/python" -m build -q --sdist --no-isolation -o dist >"$(log sdist)" 2>&1 ||
  { tail -20 "$(log sdist)" >&2; fail "the source package could not be made"; }
say "dist/araplbs-$VERSION.tar.gz, $(stat -c %s "dist/araplbs-$VERSION.tar.gz") bytes"
