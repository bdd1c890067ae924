#!/bin/bash
# Solves the random problems of tests/package/fuzzing.py under the sanitizers, or with FUNCTIONS=1
# those of tests/package/fuzzing_functions.py.
# usage: fuzz.sh [SECONDS [FIRST_SEED]]    =SEED in place of SECONDS: that one problem
what=fuzzing${FUNCTIONS:+_functions}
exec "$(dirname "$0")/asan.sh" --run "tests/package/$what.py" "${1:-900}" "${@:2}"
