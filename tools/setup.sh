#!/bin/bash
# Prepares the build: installs a compiler and Python headers from apt, and creates build/venv with
# packages from pip.
# usage: setup.sh     PYTHON=... chooses the Python (3.11 or later).  A second run does nothing.
. "$(dirname "$0")/lib.sh"
REQUIREMENTS=$ROOT/tools/requirements.txt

# Python 3.11 comes first, because the bpy wheels of Blender 4.2, 4.5 and 5.0 require this version.
pick_python() {
  local p
  for p in ${PYTHON:-} python3.11 python3 python3.13 python3.12 python3.14; do
    "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$p"; return; }
  done
  return 1
}

# If python3 itself is missing or too old, another version from apt is used.
apt_python() {
  local p
  ! can_be_root || as_root apt-get -q update >"$(log apt)" 2>&1 || true
  for p in python3.11 python3.13 python3.12; do
    apt-cache show "$p" >/dev/null 2>&1 && { echo "$p"; return; }
  done
  echo python3
}

stamp() { { "$1" -VV; cat "$REQUIREMENTS"; } | sha256sum; }

if [ -e "$VENV/.ready" ] && [ "$(stamp "$VENV/bin/python" 2>/dev/null)" = "$(cat "$VENV/.ready")" ]; then
  exit 0
fi

need=()
command -v gcc >/dev/null && command -v make >/dev/null && [ -e /usr/include/stdio.h ] ||
  need+=(build-essential)
command -v xz >/dev/null || need+=(xz-utils)
command -v ccache >/dev/null || ! can_be_root || need+=(ccache)
if python=$(pick_python); then
  has() { "$python" -c "$1" 2>/dev/null; }
  ver=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  has 'import os, sys, sysconfig as s; sys.exit(not os.path.exists(s.get_path("include") + "/Python.h"))' ||
    need+=("python$ver-dev")
  has 'import ensurepip, venv' || need+=("python$ver-venv")
else
  python=$(apt_python)
  need+=("$python" "$python-dev" "$python-venv")
fi
[ ${#need[@]} -eq 0 ] || apt_install "${need[@]}"
python=$(pick_python) ||
  fail "Python 3.11 or later is needed: install one, or name it in \$PYTHON"

say "build/venv with $("$python" -V)"
if [ "$("$VENV/bin/python" -VV 2>/dev/null)" != "$("$python" -VV)" ] ||
  ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
  rm -rf "$VENV"
  "$python" -m venv "$VENV"
fi
rm -f "$VENV/.ready"
"$VENV/bin/python" -m pip install -q -r "$REQUIREMENTS" >"$(log pip)" 2>&1 ||
  fail "pip could not install tools/requirements.txt: $(grep -m1 ERROR "$(log pip)")"
stamp "$VENV/bin/python" >"$VENV/.ready"
