#!/bin/bash
# Compiles the module araplbs into build/lib and makes it importable from build/venv.
# Only what changed is compiled.  With ARAPLBS_ASAN=1 or ARAPLBS_TSAN=1: into build/asan/lib or
# build/tsan/lib, not made importable.
. "$(dirname "$0")/lib.sh"
"$ROOT/tools/setup.sh"
"$ROOT/tools/fetch_suitesparse.sh"
cd "$ROOT"
if command -v ccache >/dev/null; then  # a fresh clone compiles what has changed, no more
  export CC="ccache ${CC:-gcc}" CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
fi
"$VENV/bin/python" setup.py -q build_ext
[ "${ARAPLBS_ASAN:-}" = 1 ] || [ "${ARAPLBS_TSAN:-}" = 1 ] ||
  echo "$ROOT/build/lib" >"$(echo "$VENV"/lib/python3.*/site-packages)/araplbs.pth"
