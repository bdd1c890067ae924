#!/bin/bash
# Runs benchmarks, and writes tables and plots to docs/bench. See bench/bench.py.
# usage: bench.sh [--part PART] [CHARACTER...]
. "$(dirname "$0")/lib.sh"
NEEDS=$ROOT/tools/bench-requirements.txt
"$ROOT/tools/find_blender.sh" >/dev/null
if ! cmp -s "$NEEDS" "$VENV/.bench"; then
  say "build/venv gets what the benchmark needs"
  "$VENV/bin/python" -m pip install -q -r "$NEEDS" >"$(log pip-bench)" 2>&1 ||
    fail "pip could not install tools/bench-requirements.txt: $(grep -m1 ERROR "$(log pip-bench)")"
  cp "$NEEDS" "$VENV/.bench"
fi
# paths.py, and what tests share
export PYTHONPATH=$ROOT/tests:$ROOT/tests/package:$ROOT/tests/package/engine
exec "$VENV/bin/python" "$ROOT/bench/bench.py" "$ZIP" "$@"
