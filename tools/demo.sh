#!/bin/bash
# Weights a character, and writes weighted.blend, report.json and before_after.png to build/demo.
# usage: demo.sh [FILE.blend]      without one: a generated character
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || [ -f "$1" ] || fail "no file $1"
file=${1:+$(realpath "$1")}
out=$ROOT/build/demo
rm -rf "$out"
mkdir -p "$out/user"
BLENDER_USER_RESOURCES=$out/user "$ROOT/tools/run_blender.sh" "$ROOT/demo/demo.py" \
  "$ZIP" "$out" ${file:+"$file"} >"$(log demo)" 2>&1 || { tail -15 "$(log demo)" >&2; fail "see $(log demo)"; }
grep ', on unseen poses: ' "$(log demo)"
rm -rf "$out/user"
say "left in build/demo: $(ls "$out" | tr '\n' ' ')"
