#!/bin/bash
# Solves random problems under the sanitizers: those of tests/package/fuzzing.py for the solvers, or
# with PART=functions, characters or files those of tests/package/fuzzing_PART.py. PART=ended ends
# calls in processes of their own, without sanitizers.
# usage: fuzz.sh [SECONDS [FIRST_SEED]]    =SEED in place of SECONDS: that one problem
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
program=tests/package/fuzzing${PART:+_$PART}.py
set -- "$program" "${1:-900}" "${@:2}"
[ "${PART:-}" != ended ] || { tools/build_module.sh && exec "$VENV/bin/python" "$@"; }
exec tools/asan.sh --run "$@"
