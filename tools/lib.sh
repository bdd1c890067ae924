# shellcheck shell=bash disable=SC2034
# Defines locations and small helpers. The scripts of this folder and tests/run.sh source this file.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Slow downloads and test beds are stored outside the tree, so a fresh clone does not repeat them.
CACHE=${ARAPLBS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/araplbs}
VENV=$ROOT/build/venv
VERSION=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$ROOT/blender_manifest.toml")
ZIP=$ROOT/dist/araplbs-$VERSION.zip
ME=$(basename "$0" .sh)

say() { echo "== $ME: $*" >&2; }
fail() { echo "$ME: $*" >&2; exit 1; }

# Runs a command as root, or fails if this is not possible without a password.
SUDO=()
[ "$(id -u)" = 0 ] || SUDO=(sudo -n)
as_root() { "${SUDO[@]}" "$@"; }
can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

# Only one process at a time may fill a part of the cache. The lock is released when the script
# ends.
lock_cache() {
  mkdir -p "$CACHE"
  exec 9>"$CACHE/$1.lock"
  flock -n 9 || { say "waiting for another $1 run"; flock 9; }
}

# apt_install PACKAGE...: installs missing packages, or prints one line that names them.
apt_install() {
  local missing=() p
  for p in "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local line="apt-get install --no-install-recommends ${missing[*]}"
  command -v apt-get >/dev/null || fail "missing packages (Debian's names): ${missing[*]}"
  can_be_root || fail "missing packages, install them as root: $line"
  say "$line"
  { as_root apt-get -q update && as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 install \
    --no-install-recommends "${missing[@]}"; } >"$(log apt)" 2>&1 ||
    fail "could not install ${missing[*]}: $(grep -m1 '^E:' "$(log apt)" || echo "see $(log apt)")"
}

# debian_mirror [APT_OPTION...]: prints $ARAPLBS_DEBIAN_MIRROR or the mirror of this machine's own
# apt. On Ubuntu, prints the mirror for which debootstrap is made, if it exists.
debian_mirror() {
  local found=${ARAPLBS_DEBIAN_MIRROR:-}
  [ -n "$found" ] || found=$(apt-get "$@" indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)' \
    'Created-By: Packages' 2>/dev/null | awk -F'|' '$1 == "Debian" && $2 !~ /-/ { print $3; exit }') || true
  [ -n "$found" ] || ! grep -qs '^ID=ubuntu' /etc/os-release ||
    found=$(sed -n 's/^DEF_MIRROR="\(.*\)"/\1/p' "$(command -v debootstrap)" 2>/dev/null) || true
  echo "$found"
}

log() { mkdir -p "$ROOT/build/log"; echo "$ROOT/build/log/$1.log"; }

# blender_extension BLENDER ARGUMENT...: runs the command "extension" of the Blender that
# find_blender.sh printed.
blender_extension() {
  local blender=$1 tool
  shift
  if [[ $(basename "$blender") == python* ]]; then  # bpy has no executable, but the same tool
    tool=$(find "$(dirname "$blender")/../lib" -path '*bl_pkg/cli/blender_ext.py' -print -quit)
    "$blender" "$tool" "$@"
  else
    "$blender" --factory-startup --command extension "$@"
  fi
}

# Debian's package wine64 has no command on PATH.
find_wine() { command -v wine64 || command -v wine || { [ -x /usr/lib/wine/wine64 ] && echo /usr/lib/wine/wine64; }; }

# in_wine BED_FOLDER ARGUMENT...: runs the bed's Windows Python. It cannot start with a file as its
# output, so a pipe is used.
in_wine() {
  local root=$1
  shift
  env WINEPREFIX="$root/prefix" WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml= \
    "$(find_wine)" "$root/python/python.exe" "$@" 2>&1 </dev/null | sed -u 's/\r$//'
}

# in_qemu BED_FOLDER ARGUMENT...: runs the bed's Linux Python for arm64. The emulated processor has
# no SVE or SME, which are slow to emulate.
in_qemu() {
  local root=$1
  shift
  qemu-aarch64-static -cpu cortex-a72 -L "$root/system" -E PYTHONHOME="$root/system/usr" \
    -E PYTHONPATH="$root/packages:${ARAPLBS_PYTHONPATH:-}" -E OPENBLAS_NUM_THREADS=1 \
    "$root/system/usr/bin/python3.11" "$@"
}
