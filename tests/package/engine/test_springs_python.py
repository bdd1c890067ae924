"""Tests Solver.bone_springs, a Solver's report of its springs."""

import numpy as np
import pytest
import shapes
from test_symmetry import BONES, PARTNERS, body, make

CHAIN = shapes.chain(3)
TUBE = shapes.tube(10, 13)


def start(mesh=TUBE, bones=CHAIN, **settings):
    return shapes.solver(mesh, bones, **{"pose_count": 20, **settings})


def pairs(springs, which=slice(None)):
    vertices, bones, *_rest = springs
    return set(zip(vertices[which].tolist(), bones[which].tolist(), strict=True))


def test_every_vertex_of_a_limb_is_tied_to_the_bone_inside():
    vertices, bones, held, released = start().bone_springs
    assert vertices.tolist() == list(range(len(TUBE[0])))
    assert (held == 1).all() and not released.any()
    middle = (CHAIN.heads + CHAIN.tails)[:, 2] / 2
    away = np.abs(TUBE[0][vertices, 2, None] - middle)
    np.testing.assert_allclose(away[vertices, bones], away.min(1), atol=1e-9)


def test_bones_and_vertices_are_those_of_the_caller():
    """A bone that does not deform has no spring; of welded vertices, the first has it."""
    deform = [False, True, True]
    vertices, triangles = shapes.split(*TUBE)
    solver = start((vertices, triangles), CHAIN.but(deform=np.array(deform)))
    tied, bones, _held, _released = solver.bone_springs
    first = np.unique(vertices.round(9), axis=0, return_index=True)[1]
    assert sorted(tied) == sorted(first)
    assert set(bones) == {1, 2}


def test_springs_give_way():
    """At most to a tenth, and some of them where the tube is as wide as its bones are long."""
    solver = shapes.solved(start(shapes.tube(10, 13, radius=0.8)))
    _vertices, _bones, held, _released = solver.bone_springs
    assert (held <= 1).all() and (held >= 0.1).all()
    assert held.min() < 0.9


def test_released():
    """Springs named by the current edits are released; without the edits, they hold again."""
    solver = start()
    solver.iterate(1)
    vertices, bones, *_rest = solver.bone_springs
    solver.edit(released=(vertices[3:6], bones[3:6]))
    released = solver.bone_springs[3]
    assert pairs(solver.bone_springs, released) == pairs((vertices, bones), slice(3, 6))
    solver.edit(released=([int(vertices[4])], [(int(bones[4]) + 1) % 3]))  # no spring there
    assert not solver.bone_springs[3].any()
    at_once = start(released=([int(vertices[0])], [int(bones[0])]))
    assert pairs(at_once.bone_springs, at_once.bone_springs[3]) == {(vertices[0], bones[0])}


def test_released_vertices_leave_the_bone():
    """Without springs and far from the bones, the weights differ."""
    solver = shapes.solved(start(shapes.tube(10, 13, radius=0.4)))
    before = solver.weights
    vertices, bones, *_rest = solver.bone_springs
    solver.edit(released=(vertices, bones))
    solver.solve()
    assert np.abs(solver.weights - before).max() > 0.01


def test_symmetric():
    """Each spring has its image, on the mirror plane at the same vertex; this includes released
    ones."""
    (vertices, triangles), image = body()
    right = triangles[vertices[triangles, 0].mean(1) > 0]
    solver = shapes.solved(make((vertices, np.concatenate([right, image[right][:, ::-1]]))))

    def check(tied, bones, held, released):
        images = np.lexsort((np.array(PARTNERS)[bones], image[tied]))
        order = np.lexsort((bones, tied))
        assert (image[tied][images] == tied[order]).all()
        assert (np.array(PARTNERS)[bones][images] == bones[order]).all()
        np.testing.assert_allclose(held[images], held[order], atol=1e-5)
        assert (released[images] == released[order]).all()

    tied, bones, held, _released = springs = solver.bone_springs
    assert set(bones) == set(range(len(BONES.heads)))
    assert held.min() < 0.9
    check(*springs)
    arm = np.flatnonzero(bones == 2)[:5]
    solver.edit(released=(tied[arm], bones[arm]))
    check(*solver.bone_springs)
    assert solver.bone_springs[3].sum() == 10


@pytest.mark.parametrize("count", [0, 1])
def test_none_without_a_truss(count):
    solver = start(bone_spring_stiffness=0)
    solver.iterate(count)
    assert [len(column) for column in solver.bone_springs] == [0, 0, 0, 0]
    assert [column.dtype for column in solver.bone_springs] == [np.int32, np.int32, float, bool]


def test_none_while_a_coarser_mesh_is_solved():
    mesh = shapes.tube(40, 60)
    solver = start(mesh, coarsen=1000)
    assert not len(solver.bone_springs[0])
    solver.solve()
    assert sorted(solver.bone_springs[0]) == list(range(len(mesh[0])))


def test_none_with_bones_that_carry_no_points():
    solver = start(bones=CHAIN.but(kinds=["rigid", "stb", "rigid"]))
    assert not len(solver.bone_springs[0])
