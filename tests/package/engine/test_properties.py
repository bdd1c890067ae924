"""Tests the guarantees of every function and type in the table of properties.py. The same input
gives bit-identical results for any number of threads; arrays of any layout, type or flags are
accepted, not changed, and read only once; invalid arrays are refused by name; and progress stops
the work by returning False."""

import os
import re
import sys
import threading

import araplbs
import numpy as np
import pytest
from properties import CASES, Body, arrays_of, declared, needed, problem_of, run, takes

# LARGE is of several chunks in every loop; the sanitizers look at memory, of which less will do.
ASAN = "asan" in os.environ.get("LD_PRELOAD", "")
SMALL, LARGE = Body(6, 5), Body(*((12, 24) if ASAN else (24, 48)), cells=(3, 3, 12))
THREADED = [name for name in CASES if takes(name, "threads")]
HEARD = [name for name in CASES if takes(name, "progress")]


def assert_same(found, expected):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_table_has_every_function():
    """The stubs list the functions. Exceptions do nothing."""
    names = {name.split(",")[0].split(".")[0] for name in CASES}
    exceptions = {name for name in declared() if name.endswith(("Error", "Cancelled"))}
    assert names == set(declared()) - exceptions
    assert len(THREADED) > 40 and len(HEARD) > 30


@pytest.mark.parametrize("name", CASES)
def test_same_bits(name):
    """A second run and runs with other numbers of threads give the same bits."""
    counts = (1, 2, 5) if name in THREADED else (None, None)
    how = [{} if count is None else {"threads": count} for count in counts]
    first, *others = (run(name, problem_of(name, LARGE), **each) for each in how)
    for other in others:
        assert_same(other, first)


STAGES = {  # that have to be noticed, in addition to others
    "Solver": ("mesh", "assembly", "factorization", "iteration"),
    "Solver, components": ("components",),
    "bake": ("frames", "weights", "error"),
    "elastic_poses": ("elastic poses",),
    "elastic_poses, mixed": ("mixed elements",),
    "mixed_elasticity": ("mixed elements",),
    "baseline_weights, heat": ("heat weights",),
    "baseline_weights, nearest": ("visibility",),
    "baseline_weights, boneglow": ("bone glow",),
    "baseline_weights, bbw": ("biharmonic weights",),
    "baseline_weights, biharmonic": ("biharmonic weights",),
    "control_bones": ("control bones",),
    "bone_directions": ("joints",),
    "skin_owners": ("mesh", "truss"),
    "rotation_centers": ("centers of rotation",),
    "inspect_weights": ("neighbors", "gaps"),
    "nearest_points": ("nearest points",),
    "transfer_weights": ("matching", "inpainting"),
    "transfer_shapes": ("matching", "following", "inpainting", "lifting"),
}


@pytest.mark.parametrize("name", HEARD)
def test_false_stops_it(name):
    """The work stops at every report. A report is repeated if the work until the next one takes
    long."""
    told = []
    run(name, problem_of(name, SMALL), progress=lambda *report: told.append(report))
    assert told and all(0 <= fraction <= 1 for _stage, fraction in told)
    assert set(STAGES.get(name, ())) <= {stage for stage, _ in told}
    if name in ("bake", "elastic_poses"):
        assert [f for _, f in told] == sorted(f for _, f in told), told
    reports = list(dict.fromkeys(told))
    for stop in reports[:: 1 + len(reports) // 12]:
        with pytest.raises(araplbs.Cancelled, match=f"cancelled during {stop[0]}"):
            run(name, problem_of(name, SMALL), progress=lambda *now, stop=stop: now != stop)


def in_single_precision(value):
    """Numbers that both precisions can represent."""
    if isinstance(value, tuple):
        return tuple(map(in_single_precision, value))
    is_float = isinstance(value, np.ndarray) and value.dtype == float
    return value.astype(np.float32).astype(float) if is_float else value


def spread(array):
    """Every second entry of a larger array, in Fortran order."""
    return np.repeat(np.asfortranarray(array), 2, axis=0)[::2]


def locked(array):
    array = array.copy()
    array.flags.writeable = False
    return array


LIKE = {
    "locked": locked,
    "spread": spread,
    "of another byte order": lambda a: a.astype(a.dtype.newbyteorder("S")),
    "small": lambda a: a.astype({"f": np.float32, "i": np.int16, "b": bool}[a.dtype.kind]),
    "lists": lambda a: a.tolist(),
}


def every_array(change, value):
    if isinstance(value, tuple):
        return tuple(every_array(change, part) for part in value)
    return change(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", CASES)
def test_whatever_numpy_takes(name):
    """The result is that of plain arrays, and the arguments stay unchanged."""
    problem = {key: in_single_precision(v) for key, v in problem_of(name, SMALL).items()}
    kept = {key: array.copy() for key, array in arrays_of(problem).items()}
    expected = run(name, problem)
    assert_same(arrays_of(problem).values(), kept.values()) if kept else None
    for change in LIKE.values():
        changed = {key: every_array(change, value) for key, value in problem.items()}
        assert_same(run(name, changed), expected)


def each_array():
    return [(case, name) for case in CASES for name in arrays_of(problem_of(case, SMALL))]


def replaced(problem, name, change):
    """The problem with `change` applied to one of its arrays."""
    key, _, rest = name.partition("[")
    if not rest:
        return {**problem, key: change(problem[key])}
    parts, k = list(problem[key]), int(rest.rstrip("]"))
    parts[k] = change(parts[k])
    return {**problem, key: tuple(parts)}


SAID = {"weights": "weight", "constraints": "constraint", "symmetry": "(symmetry|mirror plane)"}
# NaN there means: nothing given.
OPEN = {"bone_roll_axes", "bone_limits", "bone_ranges", "parameters", "centers"}


@pytest.mark.parametrize(("case", "name"), each_array())
def test_bad_arrays_are_named(case, name):
    """Text, too many dimensions, NaN."""
    problem, key = problem_of(case, SMALL), name.partition("[")[0]
    bad = [lambda a: np.full(a.shape, "x"), lambda a: np.zeros((*a.shape, 1, 1), a.dtype)]
    if arrays_of(problem)[name].dtype == float and key not in OPEN:
        bad.append(lambda a: np.where(np.arange(a.size).reshape(a.shape) == 1, np.nan, a))
    for change in bad:
        with pytest.raises((ValueError, TypeError)) as refusal:
            run(case, replaced(problem, name, change))
        assert re.search(SAID.get(key, key), str(refusal.value)), refusal.value


@pytest.mark.parametrize("name", CASES)
def test_what_is_needed_is_named(name):
    """Arrays that must be given, negative weights, numbers of threads, functions to be called."""
    problem = problem_of(name, SMALL)
    for key in needed(name) & {*problem}:
        with pytest.raises(TypeError, match=key):
            run(name, {**problem, key: None})
    weights = {"weights", "weights[2]"} & {*arrays_of(problem)}
    for key in weights if name != "prune" else ():  # which takes any numbers
        with pytest.raises(ValueError, match="weight"):
            run(name, replaced(problem, key, lambda a: -a))
    if name in THREADED:
        with pytest.raises(ValueError, match="threads is -1: must be"):
            run(name, problem, threads=-1)
    if name in HEARD and name != "Solver.edit":
        with pytest.raises(TypeError, match="progress must be callable, not"):
            run(name, problem, progress=3)


def spoil(array):
    """Writes invalid values into the array, in place."""
    if array.dtype == bool:
        array[...] = ~array
    else:
        array[...] = np.nan if array.dtype == float else 2**30


# Frames are read one by one, whenever they are needed.
KEPT = [each for each in each_array() if each[0] in HEARD and each != ("bake", "frames")]


@pytest.mark.parametrize(("case", "name"), KEPT)
def test_written_to_by_progress(case, name):
    """The module reads copies: writing to the caller's array during a call changes nothing."""
    expected = run(case, problem_of(case, SMALL), progress=lambda *_: True)
    problem, calls = problem_of(case, SMALL), []
    array = arrays_of(problem)[name]

    def progress(*_):
        if not calls:
            spoil(array)
        calls.append(1)

    found = run(case, problem, progress=progress)
    assert calls, "there was no progress to write at"
    assert_same(found, expected)


def is_refused(case, problem, array):
    """Whether every part of the spoiled array is refused; inverted flags, and limits that are not
    numbers, may be valid."""
    if array.dtype == bool:
        return False
    good = array.copy()
    spoil(array)
    try:
        run(case, problem)
    except ValueError:
        return True
    finally:
        array[...] = good
    return False


NUMPY_KEEPS_THE_GIL = 500  # elements: NumPy copies larger arrays without it


@pytest.fixture
def patient_threads():
    """Another thread runs only if the current one waits or releases the GIL."""
    if os.name == "nt":
        pytest.skip("under wine, a waiting thread gets the GIL before its interval ends")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("case", [name for name in CASES if name not in HEARD])
def test_written_to_by_a_thread(case, patient_threads):
    """The arrays are read before the GIL is released: a thread that writes then changes nothing."""
    problem = problem_of(case, SMALL)
    if "poses" in problem:
        problem["poses"] = problem["poses"][:4].copy()
    expected = run(case, problem)
    arrays = {
        name: array
        for name, array in arrays_of(problem).items()
        if array.size <= NUMPY_KEEPS_THE_GIL and is_refused(case, problem, array)
    }
    assert arrays
    for name, array in arrays.items():
        for _ in range(10):
            good, called = array.copy(), threading.Event()

            def write(array=array, called=called):
                called.wait()
                spoil(array)

            thread = threading.Thread(target=write)
            thread.start()
            called.set()  # the thread continues when run() releases the GIL
            try:
                found = run(case, problem)
            except ValueError as refusal:
                pytest.fail(f"{name} was read after the GIL was released: {refusal}")
            finally:
                thread.join()
                array[...] = good
            for one, other in zip(found, expected, strict=True):
                assert np.array_equal(one, other), f"with {name} written to: {one}, not {other}"
