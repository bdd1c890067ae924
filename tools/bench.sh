#!/bin/bash
# Our weights beside Blender's own: a table, also left in build/bench.  See tests/bench/bench.py.
# usage: bench.sh [CHARACTER...]
. "$(dirname "$0")/lib.sh"
"$ROOT/tools/find_blender.sh" >/dev/null
exec "$VENV/bin/python" "$ROOT/tests/bench/bench.py" "$ZIP" "$ROOT/build/bench" "$@"
