#!/bin/bash
# Compiles the engine into the package araplbs/, which becomes importable from build/venv. Only
# changed files are compiled. With ARAPLBS_ASAN=1 or ARAPLBS_TSAN=1, the engine is compiled into a
# copy of the package in build/asan/lib or build/tsan/lib, which does not become importable.
. "$(dirname "$0")/lib.sh"
"$ROOT/tools/setup.sh"
"$ROOT/tools/fetch_suitesparse.sh"
cd "$ROOT"
"$VENV/bin/python" tools/declared.py
if command -v ccache >/dev/null; then  # a fresh clone compiles what has changed, no more
  export CC="ccache ${CC:-gcc}" CCACHE_DIR=$CACHE/ccache CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=1
fi
if [ "${ARAPLBS_ASAN:-}" = 1 ] || [ "${ARAPLBS_TSAN:-}" = 1 ]; then
  rm -rf build/{asan,tsan}/lib/araplbs/*/  # what is no longer a file of the package
  "$VENV/bin/python" setup.py -q build
else
  "$VENV/bin/python" setup.py -q build_ext --inplace
  # The file is written only once, because it may be read while `make check` builds and tests run.
  path=$(echo "$VENV"/lib/python3.*/site-packages)/araplbs.pth
  [ "$(cat "$path" 2>/dev/null)" = "$ROOT" ] || echo "$ROOT" >"$path"
fi
