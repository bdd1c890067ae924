#!/bin/bash
# Solves random problems under the sanitizers: see tests/package/fuzzing.py; with FUNCTIONS=1 those of
# tests/package/fuzzing_functions.py.
# usage: fuzz.sh [SECONDS [FIRST_SEED]]    =SEED in place of SECONDS: that one problem
what=fuzzing${FUNCTIONS:+_functions}
exec "$(dirname "$0")/asan.sh" --run "tests/package/$what.py" "${1:-900}" "${@:2}"
