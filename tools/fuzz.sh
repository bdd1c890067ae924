#!/bin/bash
# Solves random problems under the sanitizers: see tests/core/fuzzing.py.
# usage: fuzz.sh [SECONDS [FIRST_SEED]]    =SEED in place of SECONDS: that one problem
exec "$(dirname "$0")/asan.sh" --run tests/core/fuzzing.py "${1:-900}" "${@:2}"
