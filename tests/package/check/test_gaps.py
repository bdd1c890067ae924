"""Esc takes effect within 0.2 seconds in every function and stage, which requires a call of
progress at least every 0.1 processor seconds. `make bench PART=heard` measures this; the tests here
check limits that also hold on a crowded machine, relative to a loop timed in the same process. They
measure processor seconds only if the run is named (`tests/run.sh core`)."""

import ast
import os
import time
from pathlib import Path

import araplbs
import gaps
import numpy as np
import pytest
import shapes

ROOT = Path(__file__).parents[3]
LIMIT = 0.1  # seconds where the loop takes LOOP
LOOP = 0.06


@pytest.fixture(scope="module")
def slowness():
    """How much slower this machine is than the one on which LOOP was measured, at least 1."""
    times = []
    for _ in range(5):
        begin = time.thread_time()
        sum(k * k for k in range(1_000_000))
        times.append(time.thread_time() - begin)
    return max(1.0, min(times) / LOOP)


@pytest.mark.skipif(not os.environ.get("ARAPLBS_TEST_ALL"), reason="measures: if the run is named")
@pytest.mark.parametrize("name", gaps.PROBLEMS)
def test_nothing_is_deaf_for_long(name, slowness):
    found = gaps.measure(name, gaps.TESTED)
    assert found.longest < 6 * LIMIT * slowness, f"{found.longest:.2f} s from {found.where}"


def test_the_table_has_all_that_takes_progress():
    """The stubs list the functions that take progress."""
    tree = ast.parse((ROOT / "araplbs/_engine.pyi").read_text())
    source = Path(gaps.__file__).read_text()
    found = []
    for part in tree.body:
        functions = [part] if isinstance(part, ast.FunctionDef) else getattr(part, "body", [])
        for function in functions:
            arguments = getattr(function, "args", None)
            if arguments and any(a.arg == "progress" for a in arguments.kwonlyargs):
                found.append(part.name)
    assert len(found) >= 10
    others = {"optimize_joints": "JointSolver", "Deformation": "deformation"}
    for name in found:
        assert f"araplbs.{others.get(name, name)}(" in source, name


def test_work_without_reports_of_its_own_is_heard():
    """Between two reports of a stage, the earlier one is repeated, and False then stops the work.
    The time of the repetition depends on the clock, so the problem grows until there is one."""
    last = [None]

    def stop(*report):
        again, last[0] = report == last[0], report
        return not again

    for vertices in 1_500 * 2 ** np.arange(12):
        try:
            gaps.centers(int(vertices), 12, 10)(stop)
        except araplbs.Cancelled as error:
            assert "cancelled during centers of rotation" in str(error)
            return
    pytest.fail("no report came again")


@pytest.mark.slow
def test_a_step_that_is_stopped_begins_again():
    """The step then has the same result, or ends if it cannot restart. A request in that time is
    kept. Only large problems show its long parts."""

    def made(progress):
        mesh, skeleton = gaps.tube(30_000), gaps.chain(8)
        return araplbs.Solver(
            *mesh, *skeleton, pose_count=80, iterations=2, coarsen=0, threads=1, progress=progress
        )

    last, stopped = [None], []

    def stop(*report):
        """Returns False once, if a report of a step is repeated, which depends on the clock."""
        again, last[0] = report == last[0] and report[0] == "iteration", report
        if not again or stopped:
            return True
        stopped.append(report)
        return False

    expected, solver = shapes.solved(made(None)), made(stop)
    try:
        solver.solve()
        pytest.skip("no step takes long enough on this machine")
    except araplbs.Cancelled:
        solver.solve()
    np.testing.assert_array_equal(solver.weights, expected.weights)
    np.testing.assert_array_equal(solver.energies, expected.energies)
