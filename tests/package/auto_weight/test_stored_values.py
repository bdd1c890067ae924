"""Vertex group entries and stored edits become weights and constraints."""

import numpy as np
import pytest
from araplbs.character.mesh import Mesh, overfull_warning, unweighted_warning
from araplbs.model.edits import EDIT_KINDS, Edits
from araplbs.model.group_entries import bone_weights
from araplbs.model.sparse_weights import dense_of, sparse_of


def entries(*each):
    vertices, groups, weights = zip(*each, strict=True) if each else ((), (), ())
    return np.array(vertices, np.int64), np.array(groups, np.int64), np.array(weights)


def test_bone_weights():
    """Group 1 belongs to no bone, and group 3 is no longer in the list."""
    read = entries((0, 0, 0.25), (0, 1, 0.5), (1, 2, 1.0), (1, 3, 0.75))
    rows = bone_weights(["b", "mask", "a"], read, {"a": 0, "b": 1}, 3)
    assert dense_of(rows, 2).tolist() == [[0, 0.25], [1, 0], [0, 0]]


@pytest.mark.parametrize("names", [[], ["a"]])
@pytest.mark.parametrize("read", [(), ((0, 7, 1.0),)])
def test_no_weights_of_bones(names, read):
    rows = bone_weights(names, entries(*read), {"a": 0}, 2)
    assert rows.count == 2 and len(rows.bones) == 0


def test_weights_of_some_bones():
    rows = sparse_of(np.array([[0.5, 0.25, 0.25], [0, 1, 0]]))
    some = rows.of_bones(np.array([True, False, True]))
    assert dense_of(some, 3).tolist() == [[0.5, 0, 0.25], [0, 0, 0]]


def of(kind, bone, *values):
    return Edits.of([(kind, bone, np.array(values, np.float32))])


def pairs(found):
    return [each.tolist() for each in (found.vertices, found.bones, found.values)]


def test_edits():
    assert pairs(of("WEIGHT", 2, 0, 1.25, 3).constraints) == [[1, 2], [2, 2], [0.25, 1]]
    assert pairs(of("INFLUENCE", 1, 1, 0, -1).influences) == [[0, 2], [1, 1], [True, False]]
    assert pairs(of("RELEASE", 0, 0, 1).released) == [[1], [0], [1]]
    assert pairs(of("SMOOTH", -1, 0.5, 2).smoothed) == [[0, 1], [-1, -1], [0.5, 1]]
    assert of("LINK", -1, 1, 0, 1).links.tolist() == [[0, 2]]
    assert of("LINK", -1, 1, 0, 0).links.tolist() == []
    assert [part.tolist() for part in of("RIGID", -1, 0, 1, 1).rigid] == [[1, 2]]
    assert not any(of(kind, -1, 0, 0).any for kind in EDIT_KINDS)


def test_several_edits():
    pin, part = np.array([2.0, 0, 0]), np.array([0, 1.0, 1])
    edits = Edits.of([("WEIGHT", 0, pin), ("RIGID", -1, part), ("WEIGHT", 1, pin)])
    assert pairs(edits.constraints) == [[0, 0], [0, 1], [1, 1]] and len(edits.rigid) == 1


@pytest.mark.parametrize(
    ("weights", "expected"),
    [((0.5, 0.5), []), ((1.0, 0.5), ["1 vertex has"]), ((1.0, 1.0), ["2 vertices have"])],
)
def test_locked_weights_above_the_total(weights, expected):
    """Bones 0 and 1 are locked; bone 2 is not."""
    rows = sparse_of(np.array([[0.5, weights[0], 9], [0.5, weights[1], 0]]))
    locked = np.array([True, True, False])
    mesh = Mesh("Body", np.zeros((2, 3)), np.zeros((0, 3), int), np.zeros((0, 2), int), np.eye(4))
    assert overfull_warning(mesh) == []
    mesh.weights, mesh.locked_bones = rows, locked
    words = [line.partition(" a total weight")[0] for line in overfull_warning(mesh)]
    assert words == [f"'Body': {each}" for each in expected]


def test_vertices_without_weights():
    after = "no weights yet, and fresh weights are computed"
    assert unweighted_warning(0) == []
    assert unweighted_warning(1) == [f"1 vertex has {after}"]
    assert unweighted_warning(3) == [f"3 vertices have {after}"]
