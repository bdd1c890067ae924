"""Small loose parts share rows while influences are chosen."""

import araplbs
import numpy as np
import pytest
import shapes
from guarantees import check_weights
from reports import check_stops
from test_levels import BONES, mail

PLATES, OF_PLATE = 900, 20
MAIL = mail(PLATES)
PLATE = np.arange(OF_PLATE)  # the vertices of the first one


def start(mesh=MAIL, bones=BONES, **settings):
    settings = {"coarsen": 1000, "pose_count": 6, **settings}
    return shapes.solver(mesh, bones, **settings)


def lumped(**settings):
    return start(**settings).report["lumped_parts"]


def spread(solver):
    """(plates) how far the weights of a plate are from its first row."""
    weights = solver.weights.reshape(-1, OF_PLATE, 4)
    return abs(weights - weights[:, :1]).max((1, 2))


def mirrored():
    """Plates on both sides of the plane x = 0, which are images of each other, and the plane."""
    points, faces = MAIL
    left = points[:, 0].reshape(-1, OF_PLATE).min(1) > 0.01
    at = np.repeat(left, OF_PLATE)
    renumbered = np.cumsum(at) - 1
    half = points[at], renumbered[faces[at[faces].all(1)]]
    whole = shapes.join(half, (half[0] * [-1, 1, 1], half[1][:, ::-1]))
    return whole, (np.arange(4), (0, 0, 0), (1, 0, 0))


def test_plates_are_rows_until_the_last_stage_of_the_coarse_mesh():
    solver = start(expansion_rounds=2)
    assert solver.report["lumped_parts"] == PLATES
    assert spread(solver).max() < 1e-12
    while len(solver.report["stage_starts"]) < 2:
        solver.iterate(1)
    assert spread(solver).max() < 1e-12
    while len(solver.report["stage_starts"]) < 3:
        solver.iterate(1)
    assert solver.report["unknowns"] == 0, "still on the coarse mesh"
    assert (spread(solver) > 1e-3).mean() > 0.3
    solver.solve()
    check_weights(solver, 4, len(MAIL[0]))
    assert solver.report["lumped_parts"] == PLATES


@pytest.mark.slow
def test_as_good_as_without_a_coarse_mesh():
    lumps, direct = (shapes.solved(start(coarsen=n, pose_count=20)) for n in (1000, 0))
    assert lumps.report["lumped_parts"] == PLATES and direct.report["lumped_parts"] == 0
    assert lumps.report["energy_after"] < 1.4 * direct.report["energy_after"]


def test_parts_found_before_the_last_stage_are_one_row():
    solver = shapes.solved(start(rigid_departure=1.0))
    parts, found = solver.rigid_parts, solver.report["found_rigid_parts"]
    assert found == solver.report["rigid_parts"] == len(set(parts[parts >= 0])) > PLATES / 10
    whole = (parts.reshape(-1, OF_PLATE) >= 0).all(1)
    assert whole.sum() == found
    assert spread(solver)[whole].max() == 0
    none = shapes.solved(start(rigid_departure=0))
    assert none.report["lumped_parts"] == PLATES and none.report["rigid_parts"] == 0


FREE = {  # settings, and how many plates stay free for them
    "constraint": ({"constraints": ([3], [1], [0.5])}, 1),
    "allowed": ({"influences": ([3, 4], [1, 2], [True, True])}, 1),
    "forbidden": ({"influences": (np.arange(OF_PLATE), [1] * OF_PLATE, [False] * OF_PLATE)}, 1),
    "smoothed": ({"smoothed": (PLATE, np.ones(OF_PLATE))}, 1),
    "locked": (
        {
            "weights": np.full((len(MAIL[0]), 4), 0.25),
            "locked_vertices": np.arange(len(MAIL[0])) < OF_PLATE,
        },
        1,
    ),
    "rigid": ({"rigid_parts": np.where(np.arange(len(MAIL[0])) < OF_PLATE, 7, -1)}, 1),
    "one stage": ({"expansion_rounds": 0}, PLATES),
    "no coarser mesh": ({"coarsen": 0}, PLATES),
    "longer than bones": ({"bones": shapes.chain(40)}, PLATES),
    "a coarse mesh that is not large": ({"mesh": mail(450)}, PLATES),
}


@pytest.mark.parametrize("what", FREE)
def test_what_stays_free(what):
    settings, free = FREE[what]
    assert lumped(**settings) == PLATES - free


def test_locked_plates_stay_free():
    solver = shapes.solved(start(**FREE["locked"][0]))
    np.testing.assert_allclose(solver.weights[PLATE], 0.25, atol=1e-12)


def test_strands_stay_free():
    points, _ = MAIL
    edges = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], -1)
    edges = edges[edges[:, 1] % OF_PLATE > 0]
    strands = araplbs.Solver(points, None, *BONES, edges=edges, coarsen=1000, pose_count=6)
    assert strands.report["coarse_vertices"] >= 4096 and strands.report["lumped_parts"] == 0


def test_beside_a_body():
    """Small plates share rows on a mesh that consists mostly of them, but not on one that has all
    their vertices."""
    mesh = shapes.join(shapes.tube(120, 240, caps=True), MAIL)
    assert lumped(mesh=mesh) == PLATES
    level = start(mesh, coarsen=40000)
    assert level.report["coarse_vertices"] > len(MAIL[0]) and level.report["lumped_parts"] == 0


def test_images_are_lumped_together():
    mesh, plane = mirrored()
    plates = len(mesh[0]) // OF_PLATE
    solver = start(mesh, symmetry=plane)
    assert solver.report["lumped_parts"] == plates
    assert start(mesh, symmetry=plane, constraints=([3], [1], [0.5])).report["lumped_parts"] == (
        plates - 2
    )
    labels = np.where(np.arange(len(mesh[0])) < OF_PLATE, 7, -1)
    assert start(mesh, symmetry=plane, rigid_parts=labels).report["lumped_parts"] == plates - 2
    solver.solve()
    half = len(mesh[0]) // 2
    np.testing.assert_array_equal(solver.weights[:half], solver.weights[half:])


def test_the_same_on_any_number_of_threads():
    one, three = (shapes.solved(start(threads=n)).weights for n in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_edits_end_lumps():
    solver = start()
    solver.iterate(1)
    solver.edit(influences=([3], [0], [False]))
    solver.solve()
    assert solver.weights[3, 0] == 0
    check_weights(solver, 4, len(MAIL[0]))


def test_stopped_and_gone_on():
    check_stops(lambda told: start(progress=told, rigid_departure=1.0), every=19)
