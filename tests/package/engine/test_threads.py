"""Tests Python threads: the GIL is released, solvers do not interfere, and threads may share a
solver."""

import os
import subprocess
import sys
import threading
import time

import araplbs
import numpy as np
import pytest
import shapes
from patience import HANGS


def make(limit=4, seed=0, **settings):
    mesh, bones = shapes.tube(24, 80), shapes.chain(5)
    return shapes.solver(mesh, bones, max_influences=limit, seed=seed, **settings)


def run_all(*functions):
    """Runs each function in a thread of its own and returns their results, or raises the first
    exception."""
    results, errors = [None] * len(functions), []

    def call(k):
        try:
            results[k] = functions[k]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(len(functions))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(HANGS)
        assert not t.is_alive(), "a thread does not come back"
    if errors:
        raise errors[0]
    return results


def solved(seed, limit):
    solver = shapes.solved(make(limit, seed))
    return solver.weights, solver.energies


def test_two_solvers_in_two_threads_give_what_each_gives_alone():
    alone = [solved(1, 4), solved(2, 0), solved(3, 2)]
    for _ in range(3):
        together = run_all(lambda: solved(1, 4), lambda: solved(2, 0), lambda: solved(3, 2))
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])


def test_energy_in_many_threads(rng):
    mesh, bones = shapes.tube(24, 40), shapes.chain(5)
    poses = araplbs.sample_poses(*bones, 50, **bones.more)
    weights = shapes.random_weights(rng, len(mesh[0]), 5)
    expected = araplbs.energy(*mesh, weights, poses)
    results = run_all(*[lambda: [araplbs.energy(*mesh, weights, poses) for _ in range(3)]] * 4)
    assert {e for each in results for e in each} == {expected}


def test_a_shared_solver_takes_turns():
    """Several threads iterate and read at once. The iterations add up to those of one thread, and
    each read returns a consistent state."""
    settings = {"iterations": 12, "tolerance": 0, "limit": 0}
    shared, alone = make(**settings), make(**settings)

    def iterate():
        for _ in range(4):
            shared.iterate(1)

    def read():
        for _ in range(12):
            weights, report = shared.weights, shared.report
            np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
            assert len(shared.energies) >= 1 + report["iterations"]
            assert np.isfinite(shared.raw_weights).all()
            for name in ("sparse_weights", "energy", "done", "initial_weights", "_inside"):
                getattr(shared, name)

    run_all(iterate, iterate, iterate, read, read)
    alone.iterate(12)
    np.testing.assert_array_equal(shared.energies, alone.energies)
    np.testing.assert_array_equal(shared.weights, alone.weights)


def counted_while(work):
    """The number of turns of another thread while `work`, a single call, runs. Python is set to let
    no thread give way for an hour, so a turn means that the call released the GIL."""
    turns, stop, started = [0], threading.Event(), threading.Event()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(3600)

    def count():
        started.set()
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        started.wait()
        before = turns[0]
        work()
        return turns[0] - before
    finally:
        sys.setswitchinterval(usual)
        stop.set()
        thread.join()


def test_the_gil_is_released():
    solver = make(limit=0, iterations=40, tolerance=0, threads=1)
    mesh, bones = shapes.tube(24, 80), shapes.chain(5)
    poses = araplbs.sample_poses(*bones, 200, **bones.more)
    weights = solver.weights
    jobs = {
        "create": lambda: make(threads=1, pose_count=300),
        "iterate": lambda: solver.iterate(20),
        "energy": lambda: araplbs.energy(*mesh, weights, poses, threads=1),
        "weights": lambda: (solver.iterate(1), solver.weights),
    }
    for name, job in jobs.items():
        # The system need not wake the other thread in time: sooner or later it does.
        assert any(counted_while(job) for _ in range(200)), name


def test_a_solver_in_use_outlives_its_last_reference():
    seen = []

    def work():
        mesh, bones = shapes.tube(24, 40), shapes.chain(3)
        araplbs.Solver(*mesh, *bones, progress=lambda *a: time.sleep(0)).solve()
        seen.append(True)

    run_all(work, work)
    assert seen == [True, True]


def test_sharing_does_not_wait_with_the_gil_held():
    """A thread that waits for the solver must let the working thread call its progress function."""
    calls = []
    solver = make(limit=0, iterations=10, tolerance=0, progress=lambda *a: calls.append(a))
    run_all(solver.solve, lambda: solver.weights, lambda: solver.report)
    assert len(calls) > 10


@pytest.mark.parametrize("threads", [256, 10**6])
def test_more_threads_than_there_are_chunks(threads):
    """test_properties.py tests the same for a few threads."""
    mesh, bones = shapes.tube(), shapes.chain(2)
    solver = shapes.solved(araplbs.Solver(*mesh, *bones, threads=threads))
    reference = shapes.solved(araplbs.Solver(*mesh, *bones))
    np.testing.assert_array_equal(solver.weights, reference.weights)


def test_large_systems_on_any_number_of_threads():
    """Subtrees of the factor and asynchronous work are used from a certain size on."""
    mesh, bones = shapes.tube(80, 160), shapes.chain(4)
    settings = {"pose_count": 6, "expansion_rounds": 0, "iterations": 2, "coarsen": 0}
    one, four = (araplbs.Solver(*mesh, *bones, threads=k, **settings) for k in (1, 4))
    one.solve()
    four.solve()
    assert one.report["factor_size"] > 1e6
    np.testing.assert_array_equal(one.weights, four.weights)


def test_what_more_processors_would_bring():
    """A run on one thread reports this, never more than this number of processors can save. Other
    runs do not."""
    mesh, bones = shapes.tube(80, 160), shapes.chain(4)
    settings = {"pose_count": 40, "expansion_rounds": 0, "iterations": 4, "coarsen": 0}
    one, two = (shapes.solved(araplbs.Solver(*mesh, *bones, threads=k, **settings)) for k in (1, 2))
    report = one.report
    total = sum(report["seconds"].values())
    shared, saved = report["shared_seconds"], report["saved_seconds"]
    assert 0 < shared <= total
    for count, seconds in zip((2, 4, 16), saved, strict=True):
        assert 0 < seconds <= total * (1 - 1 / count)
    assert two.report["shared_seconds"] == 0
    assert two.report["saved_seconds"] == [0, 0, 0]


def test_levels_on_any_number_of_threads():
    """Clusters are found in parallel with poses and bone_spring_stiffness, if a mesh is large
    enough for a thread."""
    mesh, bones = shapes.tube(40, 120), shapes.chain(4)
    parts = np.full(len(mesh[0]), -1)
    parts[:200] = 0
    settings = {"pose_count": 6, "iterations": 2, "rigid_parts": parts}
    one, four = (araplbs.Solver(*mesh, *bones, threads=k, **settings) for k in (1, 4))
    one.solve()
    four.solve()
    assert len(mesh[0]) > 2 * 2000 and 0 < one.report["coarse_vertices"] < len(mesh[0]) / 3
    np.testing.assert_array_equal(one.weights, four.weights)


ALONE = """
import sys
import shapes
solver = shapes.solver(shapes.tube(40, 60), shapes.chain(5), threads=int(sys.argv[1]))
solver.iterate()
print(solver.report["shared_seconds"] > 0)
"""


@pytest.mark.parametrize(
    ("threads", "environment", "alone"),
    [
        (3, {"OMP_NUM_THREADS": "1"}, False),
        (0, {"OMP_NUM_THREADS": "1"}, True),
        (0, {"OMP_NUM_THREADS": "1,3"}, True),
        (0, {"OMP_NUM_THREADS": "3"}, False),
        (0, {"OMP_NUM_THREADS": "3", "ARAPLBS_THREADS": "1"}, True),
        (0, {"OMP_NUM_THREADS": "1", "ARAPLBS_THREADS": "many"}, True),
        (0, {"OMP_NUM_THREADS": "1", "ARAPLBS_THREADS": "0"}, True),
    ],
)
def test_the_environment_says_how_many(threads, environment, alone):
    """ARAPLBS_THREADS takes precedence over OMP_NUM_THREADS, and an argument over both. Only with
    one thread does the report contain the time that more threads could share."""
    variables = {k: v for k, v in os.environ.items() if not k.endswith("_THREADS")}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    variables |= {"OPENBLAS_NUM_THREADS": "1"} | environment
    command = [sys.executable, "-c", ALONE, str(threads)]
    run = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert run.stdout == f"{alone}\n"
