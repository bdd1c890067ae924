"""Tests the progress function: when it is called, how it stops the work, and what it must not
do."""

import gc
import signal
import sys
import threading
import time
import weakref

import araplbs
import numpy as np
import pytest
import shapes
from reports import Told, check_stops

MESH, BONES = shapes.tube(10, 21), shapes.chain(4)


def make(progress=None, **settings):
    return shapes.solver(MESH, BONES, progress=progress, **settings)


def stages_of(work):
    told = Told()
    work(told)
    return told.reports


def test_it_is_told_stages_and_fractions():
    """test_properties.py has the stages of all functions."""
    stages = [stage for stage, _ in stages_of(make)]
    assert stages[0] == "mesh" and {"visibility", "heat weights"} <= {*stages}
    iterations = [f for s, f in stages_of(lambda p: make(p).iterate(4)) if s == "iteration"]
    assert iterations == [0, 0.25, 0.5, 0.75]


def test_it_is_told_before_the_solver_begins():
    """Work on large meshes precedes the solver, and more follows: none of it is silent, and False
    stops it."""
    reports, character = [], (*MESH, BONES.heads, BONES.parents)
    araplbs.weights(*character, progress=lambda *report: reports.append(report[:2]))
    stages = [stage for stage, _fraction in reports]
    before = reports[: stages.index("mesh")]
    assert before[0] == ("reading", 0) and {"joints", "control bones"} <= {s for s, _ in before}
    assert {fraction for _stage, fraction in before} == {0}
    assert stages.count("surface strain") >= 2
    for stage in ("reading", "joints", "control bones", "surface strain"):
        with pytest.raises(araplbs.Cancelled):
            araplbs.weights(*character, progress=lambda found, *_, last=stage: found != last)


def test_measures_are_told_first():
    """Sorting the rows of large meshes takes long, so there is a report before and after."""
    poses = araplbs.sample_poses(*BONES, 1)
    rows = shapes.solve(MESH, BONES).sparse_weights
    deformation, fractions = araplbs.Deformation(*MESH, BONES.heads, BONES.tails), []
    deformation.skin(rows, poses, progress=lambda _stage, done: fractions.append(done))
    assert fractions == [0, 0, 1]


@pytest.mark.parametrize("coarsen", [0, 500])
def test_no_second_is_in_two_stages(coarsen):
    """The seconds of the stages sum to no more than the time of the calls, with or without a
    coarser mesh."""
    mesh = shapes.tube(60, 80)
    start = time.perf_counter()
    solver = shapes.solve(mesh, BONES, coarsen=coarsen, threads=1)
    report = solver.report
    took = time.perf_counter() - start
    assert (report["coarse_vertices"] > 0) == (coarsen > 0)
    seconds = report["seconds"]
    assert 0 < sum(seconds.values()) <= took
    assert seconds["levels"] > 0 or not coarsen
    for stage in ("mesh", "truss", "visibility", "heat", "poses", "maps", "local", "result"):
        assert seconds[stage] > 0, stage


def test_false_cancels_at_every_place():
    check_stops(make)


@pytest.mark.parametrize("answer", [None, True, 1, "go on", 0.0, [], np.bool_(True)])
def test_only_false_cancels(answer):
    make(lambda *a: answer).solve()
    with pytest.raises(araplbs.Cancelled):
        make(lambda *a: np.bool_(False))


def test_types_take_no_attributes():
    """The types are shared by all importers of the module."""
    for kind in (araplbs.Solver, araplbs.JointSolver, araplbs.Deformation):
        with pytest.raises(TypeError):
            kind.extra = 1
    with pytest.raises(AttributeError):
        make().extra = 1


def test_exceptions_come_through():
    class Own(Exception):
        pass

    def raising(stage, fraction):
        if stage == "iteration":
            raise Own(stage)

    solver = make(raising)
    with pytest.raises(Own, match="iteration"):
        solver.iterate(3)
    with pytest.raises(Own):
        solver.solve()
    with pytest.raises(ZeroDivisionError):
        make(lambda *a: 1 / 0)
    with pytest.raises(TypeError, match="positional argument"):
        make(lambda: None)
    assert solver.weights.shape == (len(MESH[0]), 4)


def test_using_the_solver_inside_is_refused():
    errors = []
    holder = []

    def meddle(stage, fraction):
        if not holder:
            return
        for use in (
            lambda s: s.weights,
            lambda s: s.iterate(1),
            lambda s: s.solve(),
            lambda s: s.report,
        ):
            try:
                use(holder[0])
            except RuntimeError as error:
                errors.append(str(error))

    solver = make(meddle)
    holder.append(solver)
    solver.iterate(2)
    assert len(errors) >= 8
    assert set(errors) == {"the Solver is running: its progress function cannot use it"}
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)


def test_other_solvers_may_be_used_inside():
    other = make()
    shapes.solved(make(lambda *a: other.weights is not None))


def test_creating_it_twice_is_refused_even_from_inside():
    solver = make()
    before = solver.weights
    with pytest.raises(RuntimeError, match="created only once"):
        solver.__init__(*MESH, *BONES)
    np.testing.assert_array_equal(solver.weights, before)
    errors = []
    fresh = araplbs.Solver.__new__(araplbs.Solver)

    def again(stage, fraction):
        try:
            fresh.__init__(*MESH, *BONES)
        except RuntimeError as error:
            errors.append(str(error))

    fresh.__init__(*MESH, *BONES, progress=again)
    assert errors
    assert "is running" in errors[0]
    fresh.solve()


def test_a_solver_that_was_not_created_is_refused():
    solver = araplbs.Solver.__new__(araplbs.Solver)
    for name in ("weights", "report", "energies", "done", "_inside", "sparse_weights"):
        with pytest.raises(RuntimeError, match="not been created"):
            getattr(solver, name)
    with pytest.raises(RuntimeError, match="not been created"):
        solver.iterate(1)
    with pytest.raises(ValueError, match="no vertices"):
        solver.__init__(np.zeros((0, 3)), [], *BONES)
    with pytest.raises(RuntimeError, match="not been created"):
        solver.solve()


def test_a_failed_creation_can_be_tried_again():
    solver = araplbs.Solver.__new__(araplbs.Solver)
    with pytest.raises(araplbs.Cancelled):
        solver.__init__(*MESH, *BONES, progress=lambda *a: False)
    solver.__init__(*MESH, *BONES)
    solver.solve()


class Watched:
    def __call__(self, stage, fraction):
        pass


def test_references_to_the_progress_function():
    """Held as long as the solver lives, and released by failures and by the garbage collector."""
    watched = Watched()
    count = sys.getrefcount(watched)
    for _ in range(5):
        solver = araplbs.Solver.__new__(araplbs.Solver)
        for _ in range(3):
            with pytest.raises(ValueError, match="vertices"):
                solver.__init__(np.full((3, 3), np.nan), [[0, 1, 2]], *BONES, progress=watched)
        with pytest.raises(ValueError, match="threads"):
            make(watched, threads=-1)
        make(watched).solve()
        del solver
    assert sys.getrefcount(watched) == count
    watched.solver = make(watched)
    gone = weakref.ref(watched)
    del watched
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals need the main thread"
)
def test_control_c_stops_the_work():
    """Control-C also stops the work without a progress function, because Python's signal handlers
    run between steps. The thread that sends the signal runs when the call releases the GIL, not
    before, because Python is set to let no thread give way for an hour."""
    solver = make(iterations=10**6, tolerance=0, max_influences=0)
    # A shell's background job ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    usual, begun = sys.getswitchinterval(), threading.Event()

    def interrupt():
        begun.wait()
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    sys.setswitchinterval(3600)
    try:
        with pytest.raises(KeyboardInterrupt):
            begun.set()
            solver.iterate(10**6)
    finally:
        sys.setswitchinterval(usual)
        thread.join()
        signal.signal(signal.SIGINT, before)
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)


def test_iterations_and_solve():
    """solve() is iterate() until done. Afterwards, both have nothing to do."""
    solver, other = make(), make()
    assert not solver.done
    assert solver.iterate(0) == solver.energies[-1] == solver.energies[0]
    energy = solver.solve()
    assert solver.done
    assert energy == solver.energies[-1]
    while not other.done:
        assert other.iterate() == other.energies[-1]
    np.testing.assert_array_equal(solver.weights, other.weights)
    count = solver.report["iterations"]
    assert solver.solve() == solver.iterate(5) == energy
    assert solver.report["iterations"] == count
    steps = make()
    steps.iterate(10**6)
    np.testing.assert_array_equal(steps.weights, solver.weights)


def test_results_are_copies():
    solver = make()
    for name in ("weights", "initial_weights", "raw_weights", "energies"):
        array = getattr(solver, name)
        kept = array.copy()
        array[...] = -1
        np.testing.assert_array_equal(getattr(solver, name), kept)
