#!/bin/bash
# Builds all, then runs every test: tests/core on the module in build/venv and again under the
# sanitizers, tests/blender on the zip installed in each Blender that this machine can have,
# tests/gui under Xvfb in the chroots.
# usage: run.sh [RUN...]    RUN: core, asan, a bed of tools/testbeds.sh, or BED-gui; default: all
#   PYTEST_ARGS="-k name -x" goes to pytest, GUI_TEST=name to the GUI tests.
# Logs, results and pictures are left in build/test; a table comes last.
. "$(dirname "$0")/../tools/lib.sh"
cd "$ROOT"
OUT=$ROOT/build/test
LIMIT=1800  # seconds for one run
make -s build
rm -rf "$OUT"
mkdir -p "$OUT"
extension=ok
make -s extension || extension=fail

wanted=("$@")
want() { [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }

# run NAME VERSION RESULTS COMMAND...: one run, its log, and its line for the table.
run() {
  local name=$1 version=$2 results=$3 start=$SECONDS code=0
  shift 3
  say "$name ($version)"
  timeout -k 10 $LIMIT "$@" >"$OUT/$name.log" 2>&1 || code=$?
  grep -E '^(FAILED|ERROR)' "$OUT/$name.log" || [ $code = 0 ] || tail -15 "$OUT/$name.log"
  printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$version" $((SECONDS - start)) $code "$results" >>"$OUT/rows.tsv"
}

venv_bed() {  # Blender as the module bpy: a user folder of its own for each run
  local name=$1 version=$2 results=$OUT/$1.xml
  mkdir -p "$OUT/$name"
  run "$name" "$version" "$results" env HOME="$OUT/$name" BLENDER_USER_RESOURCES="$OUT/$name" \
    "$CACHE/beds/$name/bin/python" tests/blender/run_in_blender.py -- "$ZIP" \
    tests/blender -p no:cacheprovider --junitxml "$results" ${PYTEST_ARGS:-}
}

chroot_bed() {  # an executable, as a user has it: installed by Blender's own command
  local name=$1 version=$2 root=$CACHE/beds/$1 box=$CACHE/beds/$1/araplbs
  local inside=("${SUDO[@]}" chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin
    HOME=/araplbs/home BLENDER_USER_RESOURCES=/araplbs/user LC_ALL=C.UTF-8 CI="${CI:-}"
    LIBGL_ALWAYS_SOFTWARE=1 sh -c 'cd /araplbs/main && exec "$@"' sh)
  as_root rm -rf "$box"
  as_root mkdir -p "$box/main" "$box/home" "$box/out"
  as_root cp -r "$ZIP" blender_manifest.toml tests demo "$box/main/"
  if [ -d ../shared/data ]; then  # characters some tests read; they skip without
    as_root mkdir -p "$box/shared"
    as_root cp -r ../shared/data "$box/shared/"
  fi
  local zip=/araplbs/main/$(basename "$ZIP")
  if ! "${inside[@]}" blender --command extension install-file -r user_default -e "$zip" \
    >"$OUT/$name-install.log" 2>&1; then
    tail -5 "$OUT/$name-install.log"
    printf '%s\t-\t-\tfail\t%s\n' "$name" "extension install-file: see build/test/$name-install.log" >>"$OUT/rows.tsv"
    return
  fi
  if want "$name"; then
    run "$name" "$version" "$box/out/blender.xml" "${inside[@]}" blender -b --python-exit-code 3 \
      -P tests/blender/run_in_blender.py -- "$zip" \
      tests/blender -p no:cacheprovider --junitxml /araplbs/out/blender.xml ${PYTEST_ARGS:-}
  fi
  if want "$name-gui"; then
    run "$name-gui" "$version" "$box/out/gui.xml" "${inside[@]}" \
      xvfb-run -a -s "-screen 0 1280x800x24" blender --gpu-backend opengl \
      --enable-event-simulate -p 0 0 1280 800 -P tests/gui/run_in_gui.py \
      -- /araplbs/out/gui.xml /araplbs/out ${GUI_TEST:-}
    mkdir -p "$OUT/$name-gui" && cp "$box"/out/*.png "$box"/out/*.json "$OUT/$name-gui/" 2>/dev/null || true
  fi
}

if want core; then
  run core - "$OUT/core.xml" "$VENV/bin/python" -m pytest tests/core -p no:cacheprovider \
    --junitxml "$OUT/core.xml" ${PYTEST_ARGS:-}
fi
if want asan; then
  run asan - "$OUT/asan.xml" tools/asan.sh --junitxml "$OUT/asan.xml" ${PYTEST_ARGS:-}
fi

beds=()
[ $extension = ok ] || printf 'extension\t-\t-\tfail\tmake extension\n' >>"$OUT/rows.tsv"
for name in trixie sid bpy42 bpy45 bpy50 bpy52; do
  [ ${#wanted[@]} -eq 0 ] || { want "$name" || want "$name-gui"; } && beds+=("$name")
done
if [ $extension = ok ] && { [ ${#wanted[@]} -eq 0 ] || [ ${#beds[@]} -gt 0 ]; }; then
  tools/testbeds.sh $([ ${#wanted[@]} -eq 0 ] || echo "${beds[@]}") || true  # its table tells
  while IFS=$'\t' read -r name state what; do
    case $state-$name in
      ok-bpy*) venv_bed "$name" "$what" ;;
      ok-*) chroot_bed "$name" "$what" ;;
      *) printf '%s\t-\t-\t%s\t%s\n' "$name" "$state" "$what" >>"$OUT/rows.tsv" ;;
    esac
  done < <(cat build/beds.tsv)
fi

"$VENV/bin/python" tests/summary.py "$OUT/rows.tsv"
