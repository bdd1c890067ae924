#!/bin/bash
# Runs tests/core, or another Python program, on a module built with the address and
# undefined-behavior sanitizers.
# Leaks are not looked for: Python itself never frees much of what it allocates.
# usage: asan.sh [--quick] [PYTEST_ARGUMENT...]
#   --quick, as tests/run.sh asks for: without the tests below, whose numbers take long and whose
#   code others run on smaller meshes.
#        asan.sh --run PROGRAM [ARGUMENT...]
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
LONG=(
  test_invariance.py  # whole characters
  test_quality.py test_yardstick.py
  test_kernels.py  # compiles the kernels by itself, without sanitizers
  test_acceleration.py
  test_deformation.py::test_equals_the_yardstick
  test_harmonic.py::test_stronger_is_smoother_and_less_rigid
  test_reduce.py::test_solving_again_beats_cutting_off
  test_reduce.py::test_a_limit_above_the_number_that_takes_part
  test_spines.py::test_energies_of_vertices_sum_up
  test_spines.py::test_gradient_with_transforms_fixed
  test_spines.py::test_energy_product_right_side_and_matrix
  test_joint_spines.py::test_the_quadratic_is_that_of_the_energy
  test_joint_spines.py::test_energy_never_rises_and_joints_stay_connected
  test_spines.py::test_jacobians_against_differences
  test_joint_feet.py::test_joints_come_to_the_middle_of_a_tube
  test_joint_feet.py::test_moves_of_joints_by_differences
  test_control_bones.py::test_no_bone_of_an_artist_is_lost
)
quick=()
if [ "${1:-}" = --quick ]; then
  quick=("${LONG[@]/#/--deselect=tests/core/}")
  export ARAPLBS_FAULT_STRIDE=5  # of the allocations that test_clean_up.py makes fail
  shift
fi
ARAPLBS_ASAN=1 tools/build_module.sh
asan=$(gcc -print-file-name=libasan.so)
[ -e "$asan" ] || fail "gcc has no libasan: install the package libasan of its version"
# libstdc++ comes first or C++ exceptions of numpy's and scipy's modules end the process.
LD_PRELOAD="$asan:$(gcc -print-file-name=libstdc++.so)"
export LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc PYTHONPATH=$ROOT/build/asan/lib
if [ "${1:-}" = --run ]; then
  shift
  exec "$VENV/bin/python" "$@"
fi
# --capture=sys leaves the file descriptors alone: a report written by a dying process is seen.
exec "$VENV/bin/python" -m pytest tests/core -p no:cacheprovider --capture=sys \
  "${quick[@]}" "$@"
