#!/bin/bash
# Runs the core tests of threads and of parallel work on a module built with the thread sanitizer.
# A race in csrc/ or CHOLMOD ends the run with a report. Python, NumPy and OpenBLAS are not
# instrumented, so reports that name nothing in the module are omitted (tools/tsan.supp).
# usage: tsan.sh [PYTEST_ARGUMENT...]    in place of the tests named here
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
tools/build_module.sh
ARAPLBS_TSAN=1 tools/build_module.sh
tsan=$(gcc -print-file-name=libtsan.so)
[ -e "$tsan" ] || fail "gcc has no libtsan: install the package libtsan of its version"
LD_PRELOAD="$tsan:$(gcc -print-file-name=libstdc++.so)"
export LD_PRELOAD
export TSAN_OPTIONS="suppressions=$ROOT/tools/tsan.supp:halt_on_error=1:exitcode=66"
export PYTHONPATH=$ROOT/build/tsan/lib
[ $# -gt 0 ] || set -- tests/package/engine/test_threads.py tests/package/engine/test_progress.py \
  tests/package/engine/test_properties.py tests/package/engine/test_fuzz.py
# An address space layout that libtsan cannot map is switched off if this is allowed.
exec setarch "$(uname -m)" -R "$VENV/bin/python" -m pytest -p no:cacheprovider --capture=sys -q "$@"
