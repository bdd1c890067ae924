"""Tests the search for rigid loose parts, with props, buckles, boxes, and parts that stay soft.
Also tests the departure of a part (compared with NumPy), symmetry, and real characters."""

import araplbs
import numpy as np
import pytest
import shapes
from joint_reference import vertex_areas
from shared_data import Character
from test_levels import mail
from test_symmetry import BONES as TWO_ARMS
from test_symmetry import PARTNERS, PLANE, body

BONES = shapes.chain(3)
TUBE = shapes.tube(10, 13)
FIRST = len(TUBE[0])


def solved(mesh, bones=BONES, **settings):
    return shapes.solve(mesh, bones, precision="double", **settings)


def plate(at, size=(0.05, 0.1, 0.3)):
    """A thin box next to the tube."""
    return shapes.box(size, (0.25, 0, at))


def found(solver, mesh, parts):
    """The parts, by their numbers of vertices, that are rigid; none is only partly rigid."""
    assert len(mesh[0]) == sum(parts)
    whole = []
    for own in np.split(np.arange(len(mesh[0])), np.cumsum(parts)[:-1]):
        numbers = np.unique(solver.rigid_parts[own])
        assert len(numbers) == 1
        if numbers[0] >= 0:
            rows = solver.weights[own]
            assert (rows == rows[0]).all()
        whole.append(bool(numbers[0] >= 0))
    assert solver.report["found_rigid_parts"] == sum(whole)
    return whole


def test_what_moves_as_one_is_found():
    """A plate next to a bone, too far from the skin to be a layer of it, is nearly rigid. The tube
    and a long sleeve are not."""
    sleeve = shapes.tube(10, 13, radius=0.45)
    beside = plate(0.6)[0] + [0.07, 0, 0], plate(0.6)[1]
    mesh = shapes.join(TUBE, beside, sleeve)
    parts = [FIRST, 8, len(sleeve[0])]
    free = solved(mesh, rigid_departure=0)
    assert found(free, mesh, parts) == [False] * 3
    solver = solved(mesh)
    assert found(solver, mesh, parts) == [False, True, False]
    assert (solver.weights[FIRST : FIRST + 8] > 0).sum() == 8, "one bone"
    assert solver.energy < 1.02 * free.energy
    starts = solver.report["stage_starts"]
    assert starts == [*free.report["stage_starts"], len(free.energies)], "one more stage"
    assert len(solver.energies) == 1 + solver.report["iterations"] + len(starts)
    soft = np.r_[:FIRST, FIRST + 8 : len(mesh[0])]
    assert np.abs(solver.weights - free.weights)[soft].max() < 0.05


def test_with_a_coarser_mesh_the_last_stage_comes_once():
    """The coarser mesh has shown which parts are rigid, so the stage of the mesh itself does not
    start again."""
    mesh = shapes.join(shapes.tube(24, 49), plate(0.6))
    solver = solved(mesh, coarsen=300)
    assert solver.report["coarse_vertices"] and solver.report["found_rigid_parts"] == 1
    free = solved(mesh, coarsen=300, rigid_departure=0)
    assert len(solver.report["stage_starts"]) == len(free.report["stage_starts"])
    assert solver.energy < 1.02 * free.energy
    plates = [solved(mail(450), coarsen=1000, pose_count=6, rigid_departure=d) for d in (0, 0.3)]
    assert plates[1].report["coarse_vertices"] and plates[1].report["found_rigid_parts"]
    assert len(plates[1].report["stage_starts"]) == len(plates[0].report["stage_starts"])


@pytest.mark.parametrize("deformer", ["linear", "dual_quaternions"])
def test_stages_begin_in_order_after_an_edit(deformer):
    """The stages after the one to which an edit returns start again, or not at all."""
    solver = solved(shapes.join(TUBE, plate(0.6)), deformer=deformer)
    before = solver.report["stage_starts"]
    solver.edit(rigid_parts=np.repeat([-1, 0], [FIRST, 8]))
    edited = len(solver.energies)
    solver.solve()
    starts = solver.report["stage_starts"]
    assert starts == sorted(starts)
    assert starts[-1] >= edited
    assert len(starts) == len(before) - 1, "the plate is rigid before any search"


def test_nothing_starts_again_where_nothing_changes():
    cube = shapes.box((0.2, 0.2, 0.2), (9, 0, 0))
    mesh = shapes.join(TUBE, cube)
    free, solver = (solved(mesh, rigid_departure=share) for share in (0, 0.3))
    assert found(solver, mesh, [FIRST, 8]) == [False, True]
    np.testing.assert_array_equal(solver.weights, free.weights)
    np.testing.assert_array_equal(solver.energies, free.energies)


def departure(mesh, own, weights, row, poses):
    """The mean distance, as a share of their radius, by which one shared row moves these vertices
    away."""
    area, points = vertex_areas(*mesh)[own, None], mesh[0][own]
    points_h = np.c_[points, np.ones(len(points))]
    apart = np.einsum("vb,pbij,vj->pvi", weights[own] - row, poses, points_h)
    center = (area * points).sum(0) / area.sum()
    radius2 = (area * (points - center) ** 2).sum()
    return np.sqrt((area * apart**2).sum() / len(poses) / radius2)


def test_departure_is_that_of_numpy():
    """The departure of a plate across a joint is measured relative to its position, by the bone
    with the largest mean weight."""
    mesh = shapes.join(TUBE, plate(0.7))
    own = np.arange(FIRST, len(mesh[0]))
    poses = araplbs.sample_poses(*BONES, 12)
    settings = {"poses": poses, "pose_count": 0, "max_influences": 3}  # too few to share a part
    weights = solved(mesh, rigid_departure=0, **settings).weights
    area = np.ones(len(own)) / len(own)  # of a box: the corners are equal except for its triangles
    row = np.eye(3)[(area @ weights[own]).argmax()]
    share = departure(mesh, own, weights, row, poses)
    assert share > 0.05
    blend = departure(mesh, own, weights, weights[own].mean(0), poses)
    for limit, is_rigid in ((1.001 * share, True), (0.999 * share, False)):
        solver = solved(mesh, rigid_departure=limit, **settings)
        one_bone = (solver.weights[own] == 1).any()
        assert one_bone == is_rigid, (share, blend)


def test_a_buckle_follows_the_skin_beneath():
    """The buckle follows the skin as a whole, by one blend, because a single bone would tear it
    off."""
    skin = shapes.tube(16, 41)
    mesh = shapes.join(skin, shapes.box((0.04, 0.1, 0.1), (0.24, 0, 1.0)))
    first = len(skin[0])
    solver = solved(mesh, shapes.chain(2))
    assert found(solver, mesh, [first, 8]) == [False, True]
    row = solver.weights[first]
    beneath = np.linalg.norm(mesh[0][:first] - [0.2, 0, 1], axis=1) < 0.09
    np.testing.assert_allclose(row, solver.weights[:first][beneath].mean(0), atol=0.1)
    assert 0.2 < row[0] < 0.8


def test_a_blend_has_room_under_the_limit():
    skin = shapes.tube(16, 41)
    mesh = shapes.join(skin, shapes.box((0.04, 0.1, 0.1), (0.24, 0, 1.0)))
    for most in (1, 2, 3):
        solver = solved(mesh, shapes.chain(2), max_influences=most)
        assert (solver.weights > 0).sum(1).max() <= most


def test_a_box_follows_the_bone_inside():
    """The box follows the bone as a whole, because it has too few vertices for bending."""
    arm = shapes.box((0.6, 0.6, 0.9), (0, 0, 0.45))
    mesh = shapes.join(shapes.tube(10, 13, 0.2), arm)
    bones = shapes.chain(2)
    solver = solved(mesh, bones)
    assert found(solver, mesh, [len(mesh[0]) - 8, 8])[1]
    np.testing.assert_array_equal(solver.weights[-8:], [[1, 0]] * 8)


def test_what_reaches_around_two_bones_is_soft():
    """A sleeve around a joint that bends little is nearly rigid, but should bend."""
    sleeve = shapes.tube(10, 11, 0.3, 1.6)
    sleeve = sleeve[0] + [0, 0, 0.2], sleeve[1]
    bones = shapes.chain(2)
    little = {"swing": 0.8, "twist": 0.0}
    around, beside = sleeve, (sleeve[0] + [0.9, 0, 0], sleeve[1])
    for part, is_rigid in ((around, False), (beside, True)):
        mesh = shapes.join(shapes.tube(10, 13), part)
        solver = solved(mesh, bones, **little)
        assert found(solver, mesh, [len(mesh[0]) - len(part[0]), len(part[0])])[1] == is_rigid


def test_images_become_rigid_together():
    mesh, _map = body()
    plates = [shapes.box((0.2, 0.1, 0.05), (x, 0.2, 1.5)) for x in (0.5, -0.5)]
    middle = shapes.box((0.1, 0.05, 0.1), (0, 0.3, 0.5))
    mesh = shapes.join(mesh, *plates, middle)
    solver = solved(mesh, TWO_ARMS, symmetry=(PARTNERS, *PLANE))
    assert found(solver, mesh, [len(mesh[0]) - 24, 8, 8, 8])[1:] == [True] * 3
    left, right, center = solver.weights[-24], solver.weights[-16], solver.weights[-8]
    np.testing.assert_array_equal(left[PARTNERS], right)
    np.testing.assert_array_equal(center[PARTNERS], center)


def test_images_without_images_of_their_rows():
    """Bones without a partner: each plate has a row of its own, and is rigid if the other is."""
    mesh, _map = body()
    first = len(mesh[0])
    plates = [shapes.box((0.2, 0.1, 0.05), (x, 0.2, 1.5)) for x in (0.5, -0.5)]
    mesh = shapes.join(mesh, *plates)
    partners = [0, 1, -1, -1, -1, -1]
    for constraints, both in ((None, True), (([first], [3], [0.5]), False)):
        solver = solved(mesh, TWO_ARMS, symmetry=(partners, *PLANE), constraints=constraints)
        assert found(solver, mesh, [first, 8, 8])[1:] == [both] * 2
        np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-9)


def test_marked_wanted_and_locked_parts_are_not_searched():
    mesh = shapes.join(TUBE, plate(0.33))
    labels = np.repeat([-1, 5], [FIRST, 8])
    solver = solved(mesh, rigid_parts=labels)
    assert (solver.report["rigid_parts"], solver.report["found_rigid_parts"]) == (1, 0)
    solver.edit()
    solver.solve()
    assert (solver.report["rigid_parts"], solver.report["found_rigid_parts"]) == (1, 1)
    solver.edit(constraints=([FIRST], [2], [0.5]))
    solver.solve()
    assert solver.report["rigid_parts"] == 0, "what has target weights is left alone"
    locked = np.arange(len(mesh[0])) == FIRST
    weights = np.full((len(mesh[0]), 3), 1 / 3)
    solver = solved(mesh, weights=weights, locked_vertices=locked)
    assert solver.report["rigid_parts"] == 0


def test_strands_bend_with_the_skin():
    """Strands bend although they have no faces and are short compared with the bones."""
    strands = [[(x, 0, 0.8 + 0.02 * k) for x in (0.2, 0.25)] for k in range(20)]
    roots = len(TUBE[0]) + 2 * np.arange(20)
    vertices = np.concatenate([TUBE[0], *strands])
    solver = solved((vertices, TUBE[1]), edges=np.column_stack([roots, roots + 1]))
    assert solver.report["found_rigid_parts"] == 0


def test_threads_change_nothing():
    mesh = shapes.join(TUBE, plate(0.33), plate(1.0))
    one, three = (solved(mesh, threads=threads) for threads in (1, 3))
    np.testing.assert_array_equal(one.weights, three.weights)
    np.testing.assert_array_equal(one.rigid_parts, three.rigid_parts)


@pytest.mark.parametrize(
    ("name", "least", "share"),
    [("q_robot", 45, 0.99), ("knight", 8, 0.99), ("mage", 8, 0.99), ("cesium_man", 0, 1)],
)
def test_what_is_found_was_rigid_to_the_artist(name, least, share):
    """The comparison is by vertices, with the bones that the artist uses."""
    c = Character(name)
    deform = np.asarray(c.artist).any(0)
    solver = shapes.solved(araplbs.Solver(*c.arguments, **{**c.more, "bone_deform": deform}))
    label = solver.rigid_parts
    assert label.max() + 1 >= least
    same = sum(
        int((label == number).sum())
        for number in range(label.max() + 1)
        if np.ptp(c.artist[label == number], axis=0).max() < 1e-3
    )
    assert same >= share * (label >= 0).sum()
