#!/bin/bash
# Runs tests/package, or another Python program, on a module built with the address and
# undefined-behavior sanitizers.
# Leaks are not reported, because Python itself never frees much of its memory.
# usage: asan.sh [--quick] [PYTEST_ARGUMENT...]
#   --quick, as tests/run.sh asks for: without those marked slow and the files below, whose numbers
#   take long and whose code others run on smaller meshes. The hosted workflow runs all.
#        asan.sh --run PROGRAM [ARGUMENT...]
. "$(dirname "$0")/lib.sh"
cd "$ROOT"
LONG=(
  test_invariance.py  # whole characters
  test_quality.py test_yardstick.py
  test_kernels.py  # compiles the kernels by itself, without sanitizers
  test_acceleration.py
  test_compare.py test_repair.py test_check.py test_examples.py  # whole solves, by way of Python
  test_cli.py test_cli_arguments.py test_cli_changes.py test_cli_jobs.py  # the same, of files
  test_gltf_formats.py test_gltf_joints.py test_gltf_page.py test_gltf_refusals.py test_gltf_scenes.py
  # Tests of solves. Each kind of solve also occurs in test_properties.py.
  test_levels.py test_joint_spines.py test_elastic.py test_dual_deformer.py test_pose_weights.py
  # According to gcov, the other tests run every branch of C that each of these files runs, except
  # two of 20,613, which test_guarantees.py and test_rigid_bars.py run.
  test_harmonic.py test_joint_anchors.py test_parts.py test_clearance.py test_fixtures.py
  test_guarantees.py test_rigid_bars.py test_ties.py test_single_factor.py test_shared_rows.py
  test_rigid_hanging.py test_rigid_search.py test_if_worse.py test_edge_weights.py test_displacements.py
  test_spine_solves.py test_mirror_plane.py test_rotation_clusters.py test_penalties.py test_steps.py
  test_spines.py test_dual_quaternions.py test_sections.py test_doubles.py test_filter.py test_heat.py
  test_worst_poses.py test_joint_motion.py test_bbw.py test_many_columns.py
  test_properties.py::test_written_to_by_progress  # the values, of the same work as its other tests
  # Tests of the values of whole solves. test_properties.py and test_fuzz.py make one solve of each
  # kind on small shapes. Stops and failing allocations are tested in test_clean_up.py.
  test_response.py test_clothes.py test_same_character.py test_doubts.py test_predicted.py test_api.py
  test_symmetry.py::test_map_of_a_body_that_is_off_smoothly
  test_transfer.py::test_matches_by_hand test_transfer_shapes.py::test_follows_the_nearest_point_and_turns
  test_bendy.py::test_weights_are_good_and_better_than_those_of_the_start test_smoothing.py::test_on_levels
  test_gaps.py test_check_gaps.py  # seconds of the processor, of which sanitizers take most
  test_nearly_symmetric.py test_shells.py
  test_steady_weights.py::test_{seeds,a_finer_mesh_of_the_same_surface}
  # Tests of the values of solves that other tests of the same file also make.
  test_sheets.py::test_strain_is_at_most_19_twentieths_of_that_of_heat
  test_inner_bones.py::test_eyes_move_nothing_else
  test_mirror_reuse.py::test_both_halves_are_as_if_each_was_visited
  test_smoothing.py::test_weights_are_smooth_there_and_hardly_change_elsewhere
  test_joints.py::test_{symmetry_is_kept_to_the_bit,derivatives_are_those_of_the_energy}
  test_joint_solver.py::test_units_and_place_do_not_matter
  test_initial_methods.py::test_biharmonic_weights_are_smoother_than_heat
  test_mixed.py::test_samples_are_blue_noise test_bone_directions.py::test_as_good_as_drawn_tails
  test_reduce.py::test_{widenings_find_better_influences,many_influences_are_limited_to_good_ones}
  test_bone_springs.py::test_gradient_by_differences_of_the_full_energy
  # These tests start a process for each routine. test_the_results_are_the_same has one with a wrong
  # routine.
  test_linear_algebra.py::test_a_wrong_routine_is_found_and_named
)
# These tests run none of our C code.
PURE=(
  test_compare_browser.py test_compare_page.py test_pictures.py test_bench_rigs.py
  test_beyond_strain.py
  test_body_parts.py test_bone_colors.py
  test_bone_evidence.py test_brush_icons.py
  test_clocks.py test_kept_files.py test_mcp.py test_agents_page.py test_blender_room.py test_printed.py
  test_dialogs.py test_readme.py test_build.py test_help.py
  test_documentation.py test_python_page.py test_predicted_page.py
  test_farm_process.py test_farm_reports.py test_languages.py test_layers.py test_likeness.py
  test_manual.py test_outputs.py test_rooms.py test_sentences.py
  test_affine.py test_arrays.py test_body.py test_bone_motion.py test_lost.py
  test_native_module.py test_progress_parts.py test_sides.py test_file_names.py
  # Because gcc's sanitizer does not prepare its allocator for fork, the child may wait for a lock
  # that a thread of its parent held.
  test_ending.py::test_a_process_that_was_forked_in_the_midst
  # These tests start other programs, without sanitizers.
  test_forest.py::test_random_forests test_forest.py::test_random_forests_have_no_race
)
deselected() {  # deselected FILE[::TEST]...: an option for each, a line each; whole files are not even read
  local each file
  for each in "$@"; do
    for file in tests/package/*/"${each%%::*}"; do
      case $each in
        *::*) echo "--deselect=$file::${each#*::}" ;;
        *) echo "--ignore=$file" ;;
      esac
    done
  done
}
mapfile -t pure < <(deselected "${PURE[@]}")
quick=()
if [ "${1:-}" = --quick ]; then
  mapfile -t quick < <(deselected "${LONG[@]}")
  quick+=(-m "not slow")
  export ARAPLBS_FAULT_STRIDE=23 ARAPLBS_STOP_STRIDE=11  # of allocations that fail; of reports that stop (check_stops)
  shift
fi
ARAPLBS_ASAN=1 tools/build_module.sh
asan=$(gcc -print-file-name=libasan.so)
[ -e "$asan" ] || fail "gcc has no libasan: install the package libasan of its version"
# libstdc++ must come first. Otherwise, C++ exceptions of the modules of numpy and scipy end the
# process.
LD_PRELOAD="$asan:$(gcc -print-file-name=libstdc++.so)"
export LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc PYTHONPATH=$ROOT/build/asan/lib
if [ "${1:-}" = --run ]; then
  shift
  exec "$VENV/bin/python" "$@"
fi
# --capture=sys does not redirect the file descriptors, so a report written by a dying process is
# visible.
exec "$VENV/bin/python" -m pytest tests/package -p no:cacheprovider --capture=sys \
  "${pure[@]}" "${quick[@]}" "$@"
