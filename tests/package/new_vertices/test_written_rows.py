"""The rows of a patch become rows of the whole mesh."""

import numpy as np
import pytest
from araplbs.character.patch import Patch
from araplbs.features.new_vertices import written_rows
from araplbs.model.sparse_weights import dense_of, sparse_of

# Vertices 2, 4 and 5 of six; 4 and 5 are new.
PATCH = Patch(None, np.array([2, 4, 5]), np.array([False, True, True]))
ROWS = sparse_of(np.array([[0, 0, 1, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0]]))
EVERY = np.ones(4, bool)


def test_rows_and_vertices():
    whole, groups, new = written_rows(ROWS, PATCH, 6, EVERY, None)
    assert dense_of(whole, 4)[[2, 4, 5]].tolist() == dense_of(ROWS, 4).tolist()
    assert not dense_of(whole, 4)[[0, 1, 3]].any()
    assert np.flatnonzero(new).tolist() == [4, 5]
    assert groups.tolist() == [True, True, False, False], "bones of the ring need no group"


@pytest.mark.parametrize(
    ("allowed", "expected"), [(EVERY, [0, 1, 3]), (np.array([1, 1, 1, 0], bool), [0, 1])]
)
def test_groups_of_mirror_images(allowed, expected):
    opposite = np.array([3, 1, 2, 0])
    _whole, groups, _new = written_rows(ROWS, PATCH, 6, allowed, opposite)
    assert np.flatnonzero(groups).tolist() == expected
