#!/bin/bash
# Runs tests/core on a module built with the address and undefined-behaviour sanitizers.
# Leaks are not looked for: Python itself never frees much of what it allocates.
# usage: asan.sh [PYTEST_ARGUMENT...]
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
tools/build_module.sh
ARAPLBS_ASAN=1 tools/build_module.sh
asan=$(gcc -print-file-name=libasan.so)
[ -e "$asan" ] || fail "gcc has no libasan: install the package libasan of its version"
# libstdc++ comes first or C++ exceptions of numpy's and scipy's modules end the process.
LD_PRELOAD="$asan:$(gcc -print-file-name=libstdc++.so)"
export LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc PYTHONPATH=$ROOT/build/asan/lib
# --capture=sys leaves the file descriptors alone: a report written by a dying process is seen.
exec "$VENV/bin/python" -m pytest tests/core -p no:cacheprovider --capture=sys "$@"
