"""Provides a small valid problem, and checks that invalid variants of it are refused."""

import re

import araplbs
import numpy as np
import pytest
import shapes

MESH, BONES = shapes.tube(6, 5), shapes.chain(3)
N, M, NAN, INF = len(MESH[0]), 3, np.nan, np.inf
WEIGHTS = np.full((N, M), 1 / M)
BIG = 2**31
POSES = np.tile(np.eye(3, 4), (2, M, 1, 1))
SQUARE = np.tile(np.eye(4), (2, M, 1, 1))
LIMITS = np.tile([-1.0, 1.0], (M, 3, 1))
GOOD = {
    "vertices": MESH[0],
    "triangles": MESH[1],
    "bone_heads": BONES.heads,
    "bone_tails": BONES.tails,
    "bone_parents": BONES.parents,
}


def changed(array, at, value):
    # int64 by name: with NumPy 1 on Windows, integers are C longs of 32 bits.
    array = np.array(array)
    array = array.astype(float if isinstance(value, float) else np.promote_types(array.dtype, "i8"))
    array[at] = value
    return array


def refuse(kind, pattern, function, **arguments):
    """Checks that the call raises exactly this exception, with a message that matches the pattern.
    An InputError is the engine's ValueError."""
    with pytest.raises(kind) as caught:
        function(**arguments)
    assert caught.type in (kind, araplbs.InputError if kind is ValueError else kind)
    assert re.search(pattern, str(caught.value)), str(caught.value)


def row(pattern, kind=ValueError, **changes):
    """A row of a table: the error if these arguments replace valid ones."""
    return pytest.param(kind, pattern, changes, id=f"{'-'.join(changes)}: {pattern[:30]}")


def table(function, good, *rows):
    """A test that the valid arguments are accepted, and those of each row are refused."""

    @pytest.mark.parametrize(
        ("kind", "pattern", "changes"), [pytest.param(None, None, {}, id="good"), *rows]
    )
    def test(kind, pattern, changes):
        if kind is None:
            function(**good)
        else:
            refuse(kind, pattern, function, **{**good, **changes})

    return test
