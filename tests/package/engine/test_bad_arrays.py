"""Arrays of the wrong shape or type."""

import re

import araplbs
import numpy as np
import pytest
import shapes
from refusals import GOOD, MESH, WEIGHTS, M, N, refuse

SHAPES = {
    "vertices": (N, 3),
    "triangles": (len(MESH[1]), 3),
    "edges": (4, 2),
    "tets": (4, 4),
    "bone_heads": (M, 3),
    "bone_tails": (M, 3),
    "bone_parents": (M,),
    "bone_roll_axes": (M, 3),
    "bone_deform": (M,),
    "bone_limits": (M, 3, 2),
    "bone_ranges": (M, 4, 2),
    "parameters": (N, M),
    "poses": (2, M, 3, 4),
    "weights": (N, M),
    "locked_vertices": (N,),
    "locked_bones": (M,),
    "vertex_sets": (N,),
}
INTEGERS = {"triangles", "edges", "tets", "bone_parents", "vertex_sets"}
BOOLEANS = {"bone_deform", "locked_vertices", "locked_bones"}


def arguments(name, value):
    """The arguments of a Solver that checks `name`, with this value for it."""
    others = {"weights": WEIGHTS}
    if name == "vertex_sets":
        others["locked_bones"] = np.zeros((1, M), bool)
    return {**GOOD, **others, name: value}


def wrong_shapes(name):
    shape = SHAPES[name]
    yield (*shape, 1)
    yield (2, *shape)
    yield shape[:-1]
    yield (*shape[:-1], shape[-1] + 1)
    if len(shape) > 1:
        yield (*shape[:-1], shape[-1] - 1)
    yield ()
    if name not in ("vertices", "triangles", "edges", "tets", "bone_heads"):  # of any number
        at = name == "poses"
        yield (*shape[:at], shape[at] + 1, *shape[at + 1 :])


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    """Too many, too few and wrong dimensions, another number of vertices or bones; the message
    states the actual and the required shape."""
    dtype = int if name in INTEGERS else bool if name in BOOLEANS else float
    for shape in wrong_shapes(name):
        pattern = rf"^{name} has shape {re.escape(str(shape))}, expected \("
        bad = arguments(name, np.zeros(shape, dtype))
        refuse(ValueError, pattern, araplbs.Solver, **bad)


WRONG = [complex, object, "datetime64[s]", [("x", float)]]  # test_properties.py has text


@pytest.mark.parametrize("name", SHAPES)
def test_types(name):
    """Floats are neither integers nor booleans."""
    pattern = rf"^{name} must contain (numbers|integers|booleans), not "
    for kind in WRONG + [float] * (name in INTEGERS | BOOLEANS):
        bad = arguments(name, np.zeros(SHAPES[name], kind))
        refuse(TypeError, pattern, araplbs.Solver, **bad)


@pytest.mark.parametrize("name", sorted(BOOLEANS))
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8])
def test_integers_are_booleans_if_they_are_0_and_1(name, kind):
    """Codes, such as those of control_bones, and their complements are refused, because all of them
    would be true."""
    good = np.zeros(SHAPES[name], kind)
    good.flat[0] = 1
    araplbs.Solver(**arguments(name, good))
    good.flat[0] = 2
    pattern = rf"^{name} contains 2: must be True or Fal"
    refuse(ValueError, pattern, araplbs.Solver, **arguments(name, good))
    if np.iinfo(kind).min < 0:
        bad = ~np.zeros(SHAPES[name], kind)
        refuse(ValueError, rf"^{name} contains -1: must be", araplbs.Solver, **arguments(name, bad))


@pytest.mark.parametrize("name", SHAPES)
def test_ragged_lists(name):
    refuse(ValueError, rf"^{name}: ", araplbs.Solver, **arguments(name, [[1, 2], [3]]))


@pytest.mark.parametrize("name", [*GOOD])
def test_none_where_something_is_needed(name):
    if name in ("triangles", "bone_tails"):  # wires and loose vertices; joints alone
        araplbs.Solver(**{**GOOD, name: None})
        return
    refuse(TypeError, rf"{name}.* must be .*, not None", araplbs.Solver, **{**GOOD, name: None})


@pytest.mark.parametrize("name", [*GOOD])
def test_missing_arguments(name):
    refuse(TypeError, name, araplbs.Solver, **{k: v for k, v in GOOD.items() if k != name})


def test_unknown_arguments():
    refuse(TypeError, "color", araplbs.Solver, **GOOD, color=1)
    with pytest.raises(TypeError, match="positional"):
        araplbs.Solver(*GOOD.values(), MESH[1])


def test_empty_arrays_are_taken():
    """test_properties.py tests everything else that NumPy accepts, for all functions."""
    nothing = {"edges": [], "poses": [], "constraints": ([], [], [])}
    expected, solver = (shapes.solved(araplbs.Solver(**GOOD, **each)) for each in ({}, nothing))
    np.testing.assert_array_equal(solver.weights, expected.weights)


def test_sizes_that_are_free_have_letters_of_their_own():
    flat = np.zeros((2, 4, 4))
    pattern = r"^poses has shape \(2, 4, 4\), expected \(n, \d+, k, 4\)$"
    refuse(ValueError, pattern, araplbs.Solver, **{**GOOD, "poses": flat})
