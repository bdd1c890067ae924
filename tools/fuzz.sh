#!/bin/bash
# Solves random problems under the sanitizers: see tests/core/fuzzing.py; with FUNCTIONS=1 those of
# tests/core/fuzzing_functions.py.
# usage: fuzz.sh [SECONDS [FIRST_SEED]]    =SEED in place of SECONDS: that one problem
what=fuzzing${FUNCTIONS:+_functions}
exec "$(dirname "$0")/asan.sh" --run "tests/core/$what.py" "${1:-900}" "${@:2}"
