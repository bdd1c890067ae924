#!/bin/bash
# Prints the Blender to use: an executable, or the Python of a venv that has Blender as module bpy.
# It is the first of these: $BLENDER, blender on PATH, the bpy wheel that fits a Python of this
# machine (3.11: 4.5, 3.13: 5.2, kept in the cache), and apt's Blender if it is new enough.
. "$(dirname "$0")/lib.sh"
MIN=$(sed -n 's/^blender_version_min = "\(.*\)"$/\1/p' "$ROOT/blender_manifest.toml")

new_enough() {  # new_enough 4.3.2
  [ -n "$1" ] && [ "$(printf '%s\n' "$MIN" "$1" | sort -V | head -1)" = "$MIN" ]
}
version_of() { "$1" --version 2>/dev/null | sed -n 's/^Blender \([0-9.]*\).*/\1/p' | head -1; }

if [ -n "${BLENDER:-}" ]; then
  path=$(command -v "$BLENDER") || fail "\$BLENDER is set to $BLENDER, which cannot be run"
  new_enough "$(version_of "$path")" || fail "\$BLENDER ($path) is not a Blender $MIN or newer"
  echo "$path"
  exit
fi
if path=$(command -v blender) && new_enough "$(version_of "$path")"; then
  echo "$path"
  exit
fi

"$ROOT/tools/setup.sh"
for bed in bpy45 bpy52; do
  if "$ROOT/tools/testbeds.sh" --one "$bed"; then
    echo "$CACHE/beds/$bed/bin/python"
    exit
  fi
done

candidate=$(apt-cache policy blender 2>/dev/null | sed -n 's/.*Candidate: \([0-9.]*\).*/\1/p')
if new_enough "$candidate" && can_be_root; then
  apt_install blender python3-numpy
  command -v blender
  exit
fi
fail "no Blender $MIN or newer here: install one and put it on PATH or name it in \$BLENDER" \
  "(the bpy wheels need Python 3.11 or 3.13, apt has Blender ${candidate:-none})"
