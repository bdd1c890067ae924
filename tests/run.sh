#!/bin/bash
# Checks and builds everything, then runs every test. tests/package runs on the module in
# build/venv, and its tests of memory and bad input run again under the sanitizers. tests/addon runs
# on the zip installed in each Blender that this machine can have. tests/window runs under Xvfb in
# the chroots. The zips are those that are released, made by the cross compiler. If this compiler is
# missing, Linux gets the zip made by gcc. As many runs as there are processors go side by side, in
# addition to two runs with a window or on Windows.
# usage: run.sh [RUN...]    RUN: check, core, asan, farm, stranger, a bed of tools/testbeds.sh, or
#                           BED-gui, also "blender": all beds without windows; "all": all tests of
#                           all runs; default: all runs, with the tests of docs/development.md,
#                           "Where tests run"
#   A run that is named runs all of its tests.
#   PYTEST_ARGS="-k name -x" goes to pytest, GUI_TEST=name to the GUI tests, SLOTS=1 runs one after
#   the other.
# Logs, results and pictures are left in build/test; a table comes last.
. "$(dirname "$0")/../tools/lib.sh"
cd "$ROOT"
OUT=$ROOT/build/test
# Every run starts many processes, each of which would compile our modules and, under the
# sanitizers, all tests.
unset PYTHONDONTWRITEBYTECODE
# Minutes without output after which a run is considered to hang and is stopped (tests/watched.py).
# This is more than a single test may take (faulthandler_timeout in pyproject.toml), which is twelve
# times the time of the longest test alone. Nothing else here uses a clock (tests/patience.py).
SILENCE=${SILENCE:-20}
SLOTS=${SLOTS:-$(nproc)}
BLENDER_BEDS=(trixie sid bpy45 bpy42 bpy50 bpy52 win45 win42 win50 win52)
ALL_BEDS=("${BLENDER_BEDS[@]}" win-core arm64-core)
# Tests whose results may differ between one Windows Blender and the next. win45 runs more tests.
# Some tests are missing, because under wine 8, Blender 5.0 cannot read uncompressed .blend files,
# and 4.2 crashes when settings are loaded again.
WIN_PART=(tests/addon/*/test_{registration,install,operator,edits}.py)
# Tests that win45 leaves out, because Blender 4.5 handles the add-on's data alike on any system.
# The remaining tests cover files, processes, threads, undo, installation and registration, and run
# each operator once.
WIN_LESS=(tests/addon/*/test_bendy_{gltf,groups,motion,parameters,refusals,weights}.py
  tests/addon/*/test_joint_{effects,refusals,settings}.py tests/addon/*/test_{bone_facts,copies}.py
  tests/addon/*/test_{rig_poses,pose_sources,motion,rigid_parts,hidden_rigs,control_bones,sizes}.py
  tests/addon/*/test_{deformer,deformer_preview,geometry,symmetry,findings,check,repair,new_vertices}.py
  tests/addon/*/test_{reduce_bones,bake_bones,transfer,transfer_shapes,command_page,energy,volume,export_game}.py
  tests/addon/*/test_{scenes_table,scene_settings,result_views,outcome,outcome_compared,originals,written_weights,bake}.py
  tests/addon/*/test_{quantize,quantize_gltf,targets,tab,session_box,session_groups,session_rest,session_storm}.py
  tests/addon/compare)
WIN_LESS_OF=(tests/addon/every_feature/test_guard.py::test_fault
  tests/addon/every_feature/test_every_task.py::test_{progress_and_stopping,changed_meanwhile}
  tests/addon/auto_weight/test_operator.py::test_every_option_reaches_the_solver
  tests/addon/every_feature/test_update.py::test_update_of_an_unused_extension
  tests/addon/every_feature/test_jobs.py::test_{pictures_of_the_worst,only_what_is_new}
  tests/addon/report_problem/test_report_problem.py::test_no_name_of_the_file)
# Tests of everything that another compiler target or system may change: files, processes, threads,
# memory, the kernels, every function once (test_properties.py), bits, and arrays, settings and
# sentences at the border to Python. All further computation is tested on Linux, in core, because
# one compiler makes both modules. The hosted workflow runs all tests on Windows itself.
WIN_CORE_PART=(tests/package/command_line/test_{cli,cli_arguments,cli_jobs,farm_process,mcp,outputs,printed}.py
  tests/package/restore tests/package/house/test_native_module.py
  tests/package/api/test_{api,build,examples,settings,sparse_weights}.py
  tests/package/auto_weight/test_{clean_up,progress_parts,replay}.py
  tests/package/engine/test_{arrays,bad_arrays,bad_settings,bad_values,ending,faults,fixtures,forest}.py
  tests/package/engine/test_{kernels,linear_algebra,memory,progress,properties,rotations,sentences}.py
  tests/package/engine/test_{simd,single_factor,tets,threads}.py)
# Tests in these files that are left out: processes for each of 13 routines, of which
# test_the_results_are_the_same has one, the values of work that test_bad_arrays_are_named and
# others also start, and sources, which are the same.
WIN_CORE_LESS=(tests/package/engine/test_linear_algebra.py::test_a_wrong_routine_is_found_and_named
  tests/package/engine/test_properties.py::test_written_to_by_progress
  tests/package/api/test_examples.py::test_code_of_the_manual
  tests/package/command_line/test_outputs.py::test_nothing_else_writes
  tests/package/command_line/test_printed.py::test_nothing_else_prints)
# qemu computes a hundred times as slowly.
ARM_PART=(tests/package/*/test_{simd,tets,rotations,bad_arrays,bad_settings}.py
  tests/package/auto_weight/test_replay.py::test_the_same_weights_to_the_last_bit)
ARM_LESS=(tests/package/engine/test_tets.py::test_coarse_levels_keep_volumes_whole)
WIN_ZIP=$ROOT/dist/araplbs-$VERSION-windows_x64.zip
# With two runs on two processors, more threads of BLAS would only wait for each other.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

wanted=("$@")
[[ " $* " != *" blender "* ]] || wanted+=("${BLENDER_BEDS[@]}")
named=" $* "  # these run all of their tests
if [[ $named == *" all "* ]]; then
  wanted=()
  named=" asan core farm stranger win-core ${BLENDER_BEDS[*]} sid-gui trixie-gui "  # qemu would take a day
fi
all_tests() { [[ $named != *" $1 "* ]] || echo 1; }
want() { [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }

rm -rf "$OUT"
mkdir -p "$OUT/rows"

row() {  # row NAME CELL...: the run's line of the table
  local IFS=$'\t'
  echo "$*" >"$OUT/rows/$1.tsv"
}

# where LOG: prints the place in our files at which a test was stopped or Blender crashed. Fails if
# there is no such place.
where() {
  local cut='Timeout \(.*\)!$|^Fatal Python error|Segmentation fault'
  grep -qE "$cut" "$1" && grep -m 12 -E "$cut"'|File ".*/(tests/[a-z_/]+/test_|araplbs/)' "$1"
}

# hung CODE LOG: whether the run, or one of its tests, was stopped because it hung.
hung() { [ "$1" = 124 ] || grep -qE '^Timeout \(.*\)!$' "$2"; }

# run NAME VERSION RESULTS COMMAND...: performs one run and writes its log and its line for the
# table. If Blender crashes in a test, the place is printed and the run is repeated once, because
# most such crashes are Blender's own, in its undo. The table names them. A run that hangs is not
# repeated.
run() {
  local name=$1 version=$2 results=$3 start=$SECONDS code child
  shift 3
  say "$name ($version)"
  times >"$OUT/$name.before"
  for _ in 1 2; do
    code=0
    # In the background, a shell lets its children ignore Ctrl-C, which one of the tests sends.
    ARAPLBS_TEST_ALL=$(all_tests "$name") env --default-signal=INT,QUIT \
      "$VENV/bin/python" tests/watched.py "$OUT/$name.log" "$SILENCE" "$@" &
    child=$!
    trap 'stopped=yes; kill $child' TERM
    wait $child || code=$?
    trap - TERM
    [ $code != 0 ] && [ "$version" != - ] && [ ! -e "$OUT/$name.first.log" ] || break
    where "$OUT/$name.log" && ! hung $code "$OUT/$name.log" || break
    say "$name: it crashed; once more"
    mv "$OUT/$name.log" "$OUT/$name.first.log"
  done
  # The process of a window succeeds with any result of its tests.
  [ $code != 0 ] || ! grep -qE '^(FAILED|ERROR) tests?[/_]' "$OUT/$name.log" || code=1
  times >"$OUT/$name.times"  # of this shell and of its children
  say "$name: $([ $code = 0 ] && echo good || echo "exit code $code"), $((SECONDS - start)) s"
  grep -E '^(FAILED|ERROR) tests?[/_]' "$OUT/$name.log" || [ $code = 0 ] || where "$OUT/$name.log" || tail -15 "$OUT/$name.log"
  row "$name" "$version" $((SECONDS - start)) $code "$results"
}

# start COMMAND...: runs the command in parallel with the others, as soon as a slot is free.
# Programs that compute all the time give way to the lanes, whose programs often wait for each
# other. Otherwise, each wait would take as long as the other programs compute without a break.
lanes=none
start() {
  until slot_is_free; do wait -n || true; done
  give_way "$@" &
}
# Blender sometimes waits for a disk. If no lane is left that would use that time, one more slot
# uses it.
slot_is_free() {
  local all own
  all=$(jobs -rp | grep -c .) || true
  own=$(jobs -rp | grep -cvE "^($lanes)$") || true
  [ "$own" -lt "$SLOTS" ] || { [ "$lanes" != none ] && [ "$all" -le "$SLOTS" ]; }
}
give_way() {
  renice -n $(($(nice) + 5)) -p $BASHPID >/dev/null 2>&1 || true
  "$@"
}

# in_lane NAME VERSION...: performs these runs one after the other, in addition to the slots.
in_lane() {
  [ $# -gt 0 ] || return 0
  if [ "$SLOTS" = 1 ]; then
    start in_turn "$@"
  else
    in_turn "$@" &
    lanes+="|$!"
  fi
}
in_turn() {
  while [ $# -gt 0 ] && [ -z "${stopped:-}" ]; do
    run_of "$1" "$2"
    shift 2
  done
}
trap 'trap "" TERM; kill $(jobs -rp) 2>/dev/null || true; wait' EXIT
trap 'exit 130' INT TERM

venv_bed() {  # Blender as the module bpy: a user folder of its own for each run
  local name=$1 version=$2 results=$OUT/$1.xml tests=(tests/addon)
  # All other tests also run in Blender 4.5 on Windows, and in 4.2 and 5.2 on Linux.
  if [ "$name" = bpy45 ] && [[ $named != *" bpy45 "* ]] && want win45 && [ -n "$(version_of win45)" ]; then
    mapfile -t tests < <(printf '%s\n' "${WIN_LESS[@]}" "${WIN_LESS_OF[@]%%::*}" | sort -u)
  fi
  mkdir -p "$OUT/$name"
  run "$name" "$version" "$results" env HOME="$OUT/$name" BLENDER_USER_RESOURCES="$OUT/$name" \
    "$CACHE/beds/$name/bin/python" tests/addon/run_in_blender.py -- "$ZIP" \
    "${tests[@]}" -p no:cacheprovider --junitxml "$results" ${PYTEST_ARGS:-}
}

wine_bed() {  # Blender for Windows as the module bpy, in wine; its Z: is our /
  local name=$1 version=$2 results=$OUT/$1.xml user=$OUT/$1/user tests=(tests/addon)
  if [[ $named != *" $name "* ]]; then
    if [ "$name" = win45 ]; then
      tests+=("${WIN_LESS[@]/#/--ignore=}" "${WIN_LESS_OF[@]/#/--deselect=}")
    else
      tests=("${WIN_PART[@]}")
    fi
  fi
  mkdir -p "$user"
  run "$name" "$version" "$results" env BLENDER_USER_RESOURCES="Z:${user//\//\\}" \
    bash -c '. tools/lib.sh; in_wine "$@"' tests/run.sh "$CACHE/beds/$name" \
    tests/addon/run_in_blender.py -- "$WIN_ZIP" \
    "${tests[@]}" -p no:cacheprovider --junitxml "$results" ${PYTEST_ARGS:-}
}

unpack_wheel() {  # unpack_wheel RUN TAG: into the run's folder
  "$VENV/bin/python" -m zipfile -e build/cross/wheels/araplbs-"$VERSION"-*"$2".whl "$OUT/$1" \
    >"$OUT/$1.log" 2>&1 || { row "$1" - - fail "no wheel: $(tail -1 "$OUT/$1.log")"; return 1; }
}

win_core() {  # the module that goes to Windows, in a Windows Python in wine
  local version=$1 results=$OUT/win-core.xml lib=$OUT/win-core kernels tests=(tests/package)
  [[ $named = *" win-core "* ]] || tests=("${WIN_CORE_PART[@]}" "${WIN_CORE_LESS[@]/#/--deselect=}")
  kernels=$ROOT/build/cross/win_amd64/kernels.dll
  unpack_wheel win-core win_amd64 || return 0
  run win-core "$version" "$results" env PYTHONPATH="Z:${lib//\//\\}" \
    ARAPLBS_TEST_KERNELS="Z:${kernels//\//\\}" \
    bash -c '. tools/lib.sh; in_wine "$@"' tests/run.sh "$CACHE/beds/win-core" \
    -m pytest "${tests[@]}" -p no:cacheprovider --junitxml "$results" ${PYTEST_ARGS:-}
}

arm64_core() {  # the module for Linux on arm64, by qemu
  local version=$1 results=$OUT/arm64-core.xml lib=$OUT/arm64-core tests=(tests/package)
  [[ $named = *" arm64-core "* ]] || tests=("${ARM_PART[@]}" "${ARM_LESS[@]/#/--deselect=}")
  unpack_wheel arm64-core aarch64 || return 0
  run arm64-core "$version" "$results" env ARAPLBS_PYTHONPATH="$lib" \
    ARAPLBS_TEST_KERNELS="$ROOT/build/cross/linux_aarch64/kernels.so" \
    bash -c '. tools/lib.sh; in_qemu "$@"' tests/run.sh "$CACHE/beds/arm64-core" \
    -m pytest "${tests[@]}" -p no:cacheprovider --junitxml "$results" ${PYTEST_ARGS:-}
}

# chroot_bed RUN VERSION: tests an executable, as users have it, with the extension installed by
# Blender's own command. RUN is a bed or BED-gui. Each run has a folder of its own in the chroot, so
# several runs can work at once.
chroot_bed() {
  local name=$1 version=$2 bed=${1%-gui} root place box zip inside
  root=$CACHE/beds/$bed
  place=/araplbs-$name-$(cksum <<<"$ROOT" | cut -d' ' -f1)
  box=$root$place
  zip=$place/main/$(basename "$ZIP")
  inside=("${SUDO[@]}" chroot "$root" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin
    HOME="$place/home" BLENDER_USER_RESOURCES="$place/user" LC_ALL=C.UTF-8 CI="${CI:-}"
    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 ARAPLBS_TEST_ALL="$(all_tests "$name")"
    LIBGL_ALWAYS_SOFTWARE=1 ${ARAPLBS_OLD_ZIP:+"ARAPLBS_OLD_ZIP=$place/old.zip"}
    sh -c "cd $place/main && exec \"\$@\"" sh)
  as_root rm -rf "$box"
  as_root mkdir -p "$box/main" "$box/home" "$box/out"
  as_root cp -r "$ZIP" blender_manifest.toml pyproject.toml tests demo examples "$box/main/"
  [ -z "${ARAPLBS_OLD_ZIP:-}" ] || as_root cp "$ARAPLBS_OLD_ZIP" "$box/old.zip"
  if [ -d "${ARAPLBS_DATA:-../shared}/data" ]; then  # characters some tests read; they skip without
    as_root mkdir -p "$box/shared"
    as_root cp -r "${ARAPLBS_DATA:-../shared}/data" "$box/shared/"
  fi
  if ! "${inside[@]}" blender --command extension install-file -r user_default -e "$zip" \
    >"$OUT/$name-install.log" 2>&1; then
    tail -5 "$OUT/$name-install.log"
    row "$name" - - fail "extension install-file: see build/test/$name-install.log"
  elif [ "$name" = "$bed" ]; then
    run "$name" "$version" "$OUT/$name.xml" "${inside[@]}" blender -b --python-exit-code 3 \
      -P tests/addon/run_in_blender.py -- "$zip" \
      tests/addon -p no:cacheprovider --junitxml "$place/out/results.xml" ${PYTEST_ARGS:-}
  else
    # Pixels are computed only for the tests that look at them or, in a run that is named, take
    # pictures, in a second start.
    # Chroots share the abstract sockets of X servers, so each bed counts from another number.
    run "$name" "$version" "$OUT/$name.xml" "${inside[@]}" \
      xvfb-run -a -n $((100 + $(cksum <<<"$name$ROOT" | cut -d' ' -f1) % 900)) \
      -s "-screen 0 1280x800x24" sh -c 'LP_NO_RAST=1 "$@" && exec "$@"' sh \
      blender --gpu-backend opengl --enable-event-simulate -p 0 0 1280 800 -P tests/window/run_in_gui.py \
      -- "$place/out/results.xml" "$place/out" ${GUI_TEST:-}
    mkdir -p "$OUT/$name" && cp "$box"/out/*.png "$box"/out/*.json "$OUT/$name/" 2>/dev/null || true
  fi
  cp "$box/out/results.xml" "$OUT/$name.xml" 2>/dev/null || true
  as_root rm -rf "$box"
}

version_of() { awk -F'\t' -v bed="$1" '$1 == bed && $2 == "ok" { print $3 }' build/beds.tsv; }

run_of() {  # run_of NAME VERSION
  case $1 in
    bpy*) venv_bed "$@" ;;
    win-core) win_core "$@" ;;
    arm64-core) arm64_core "$@" ;;
    win*) wine_bed "$@" ;;
    *) chroot_bed "$@" ;;
  esac
}

there=()
look_for() {  # look_for NAME...: there = NAME VERSION ..., of those that are wanted and that there are
  local name version
  there=()
  for name in "$@"; do
    version=$(version_of "${name%-gui}")
    [ -z "$version" ] || ! want "$name" || there+=("$name" "$version")
  done
}

start_beds() {  # start_beds NAME...: those that are wanted and that there are, in slots
  local name
  for name in "$@"; do
    look_for "$name"
    [ ${#there[@]} = 0 ] || start run_of "${there[@]}"
  done
}

browser() {  # for what core tests of pages; Ubuntu's apt has none, and those tests skip
  command -v chromium google-chrome >/dev/null || ! can_be_root || (apt_install chromium) ||
    say "no browser can be installed: some tests skip"
}

core() {
  local cached=()
  command -v ccache >/dev/null && cached=(CCACHE_DIR="$CACHE/ccache" CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1)
  run core - "$OUT/core.xml" env "${cached[@]}" "$VENV/bin/python" -m pytest tests/package tests/tools -p no:cacheprovider \
    --junitxml "$OUT/core.xml" ${PYTEST_ARGS:-}
}

asan() {
  local quick=--quick
  [ -z "$(all_tests asan)" ] || quick=
  run asan - "$OUT/asan.xml" tools/asan.sh $quick --junitxml "$OUT/asan.xml" ${PYTEST_ARGS:-}
}

farm() {  # outside of Blender, with one that the workers start
  local needs=$ROOT/tools/farm-requirements.txt blender=$CACHE/beds/bpy45/bin/python
  if ! cmp -s "$needs" "$VENV/.farm"; then
    if "$VENV/bin/python" -m pip install -q -r "$needs" >"$(log pip-farm)" 2>&1; then
      cp "$needs" "$VENV/.farm"
    else
      say "farm: $(grep -m1 ERROR "$(log pip-farm)"): some tests skip"
    fi
  fi
  run farm - "$OUT/farm.xml" env BLENDER="$blender" ARAPLBS_ZIP="$ZIP" "$VENV/bin/python" -m pytest \
    tests/farm -p no:cacheprovider --junitxml "$OUT/farm.xml" ${PYTEST_ARGS:-}
}

stranger() {  # in all beds and their windows; the Python of arm64-core is that of core
  local bed beds=()
  git rev-parse HEAD >"$OUT/stranger.log" 2>&1 ||
    { row stranger - - skip "not a clone: $(tail -1 "$OUT/stranger.log")"; return; }
  for bed in "${BLENDER_BEDS[@]}" win-core {trixie,sid}-gui; do
    [ -z "$(version_of "${bed%-gui}")" ] || beds+=("$bed")
  done
  ln -s clone/araplbs/build/test "$OUT/stranger"
  run stranger - "$OUT/stranger" tests/stranger.sh "$OUT/clone" "${beds[@]}"
}

# Needs the zip of this system, either the released one or the one made by gcc.
linux_zip() {
  local machine
  machine=$(uname -m)
  if "$VENV/bin/python" tools/cross.py --fetch >"$OUT/cross.log" 2>&1; then
    targets+=(--target "linux_$machine")
    ZIP=$ROOT/dist/araplbs-$VERSION-linux_$([ "$machine" = x86_64 ] && echo x64 || echo arm64).zip
    [ ${#wanted[@]} -gt 0 ] && return
  else
    say "no cross compiler here ($(tail -1 "$OUT/cross.log")): the module that gcc made is tested"
  fi
  make -s extension
}

# This is a function, so the script may be edited while it runs.
main() {
  local beds=() targets=() name state what
  for name in "${ALL_BEDS[@]}"; do
    if want "$name" || want "$name-gui" || want stranger || { [ "$name" = bpy45 ] && want farm; }; then
      beds+=("$name")
    fi
  done
  # The flags are those of `make check`, which would otherwise compile everything once more.
  ! want check || ARAPLBS_WERROR=1 tools/build_module.sh >"$OUT/build.log" 2>&1 || true
  make -s build
  # The longest runs come first, so that none of them is left alone at the end: the sanitizers while
  # the zips for the beds are made, then Blender 5.2, core, and the clone.
  want asan && start asan
  if [ ${#beds[@]} -gt 0 ] && ! linux_zip; then
    row extension - - fail "make extension"
    beds=()
  fi
  if [ ${#beds[@]} -gt 0 ]; then
    tools/testbeds.sh "${beds[@]}" || true  # its table tells
    while IFS=$'\t' read -r name state what; do
      case $state:$name in
        ok:win*) targets+=(--target win_amd64) ;;
        ok:arm64-core) targets+=(--target linux_aarch64) ;;
        ok:*) ;;
        *) row "$name" - - "$state" "$what" ;;
      esac
    done <build/beds.tsv
    # Slow tests must run in at least one place.
    grep -qE '^(sid|bpy52).ok' build/beds.tsv || named+="bpy45 "
    if [ ${#targets[@]} -gt 0 ] &&
      ! "$VENV/bin/python" tools/cross.py "${targets[@]}" >"$OUT/cross.log" 2>&1; then
      row cross - - fail "tools/cross.py: $(tail -1 "$OUT/cross.log")"
      : >build/beds.tsv
    fi
    # These two lanes take about the same time.
    look_for sid-gui trixie-gui win-core
    in_lane "${there[@]}"
    look_for win45 win42 win50 win52
    in_lane "${there[@]}"
    start_beds sid bpy52
  fi
  if want core; then
    browser
    start core
  fi
  want stranger && start stranger
  [ ${#beds[@]} = 0 ] || start_beds bpy45 bpy42
  want check && start run check - "$OUT/check.xml" tools/check.sh "$OUT/check.xml"
  if [ ${#beds[@]} -gt 0 ]; then
    start_beds bpy50 trixie arm64-core
    if want farm && grep -q "^bpy45.ok" build/beds.tsv; then start farm; fi
  fi
  wait

  for name in check extension cross core asan farm stranger "${ALL_BEDS[@]}" "${ALL_BEDS[@]/%/-gui}"; do
    cat "$OUT/rows/$name.tsv" 2>/dev/null || true
  done >"$OUT/rows.tsv"
  "$VENV/bin/python" tests/summary.py "$OUT/rows.tsv"
}
main; exit
