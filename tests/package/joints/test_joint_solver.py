"""Tests the solver of joints on any mesh and skeleton: units, threads, given weights, stopping and
continuing, and refusals."""

import threading

import araplbs
import gaps
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_weights
from joint_rigs import ARM, BONES, PLANE, moved, solver
from refusals import GOOD, row, table
from reports import Told


def test_bones_that_do_not_deform_and_gaps():
    """A helper bone in between belongs to its parent; coincident ends move together."""
    bones = shapes.tree()
    vertices, triangles = shapes.tube(8, 13, 0.3, 2.2)
    s = shapes.solved(solver(bones, (vertices, triangles), iterations=3))
    np.testing.assert_array_equal(s.tails[0], s.heads[1])
    np.testing.assert_array_equal(s.tails[2], s.heads[3])
    np.testing.assert_array_equal(s.tails[4], s.heads[5])
    assert s.report["components"] == 1
    assert s.poses.shape == (12, 6, 3, 4)


def test_single_bone():
    s = solver(shapes.chain(1), shapes.tube())
    assert s.solve() < 1e-14  # rounding: sums over poses, less sums over poses
    np.testing.assert_array_equal(s.heads, shapes.chain(1).heads)


@pytest.mark.parametrize("name", shapes.odd_meshes())
def test_any_mesh_will_do(name):
    mesh = shapes.odd_meshes()[name]
    s = shapes.solved(solver(BONES, mesh, iterations=3, centering=0.01, anchor=0.1))
    assert np.isfinite([s.heads, s.tails]).all()
    assert (np.diff(s.energies) <= 0).all()
    check_weights(s, 4, len(mesh[0]))
    if name == "no size":
        np.testing.assert_array_equal(s.heads, BONES.heads)
    else:
        assert len(s.energies) > 1 and s.energies[-1] < s.energies[0]
        assert np.abs(s.heads - BONES.heads).max() > 0.001, "nothing has moved"


@pytest.mark.parametrize("kind", ["rigid", "stb", "spine"])
def test_bones_of_no_length(kind):
    heads = np.array([[0, 0, 0], [0, 0, 1.0], [0, 0, 1.0]])
    tails = np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 2.0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 1]), kinds=[kind] * 3)
    s = shapes.solved(solver(bones, shapes.tube(), iterations=3, peak_stiffness=0.01))
    np.testing.assert_array_equal(s.heads[1], s.tails[1])
    assert (np.diff(s.energies) <= 0).all()


@pytest.mark.parametrize("kinds", [None, ["rigid", "spine", "stb"]])
def test_units_and_place_do_not_matter(kinds):
    bones = moved(BONES, 1, [0.15, 0, 0]).but(kinds=kinds)
    here = shapes.solved(solver(bones, iterations=3))
    there = solver(
        bones.but(heads=100 * bones.heads + 50, tails=100 * bones.tails + 50),
        (100 * ARM[0] + 50, ARM[1]), iterations=3,
    )  # fmt: skip
    there.solve()
    assert np.abs(here.heads - bones.heads).max() > 0.001, "nothing has moved"
    np.testing.assert_allclose(there.heads, 100 * here.heads + 50, atol=1e-3)


def test_optimize_joints_is_the_solver_run_to_its_end():
    bones = moved(BONES, 1, [0.15, 0, 0])
    heads, tails, report = araplbs.optimize_joints(
        *ARM, *bones, **bones.more, pose_count=12, iterations=3
    )
    s = shapes.solved(solver(bones, iterations=3))
    np.testing.assert_array_equal(heads, s.heads)
    np.testing.assert_array_equal(tails, s.tails)
    assert report["energy_after"] == s.energies[-1]


def test_fixed_weights_stay():
    weights = solver(pose_count=4).weights
    s = shapes.solved(solver(weights=weights, optimize_weights=False))
    np.testing.assert_allclose(s.weights, weights, atol=1e-12)
    assert s.report["weight_steps"] == 0


@pytest.mark.parametrize("method", ["alternate", "together"])
def test_given_weights_are_limited_at_once(method, rng):
    weights = shapes.random_weights(rng, len(ARM[0]), 3)
    s = solver(weights=weights, max_influences=2, method=method, **reference.PAPER_ENERGY)
    assert ((s.weights > 0).sum(1) == 2).all()
    assert s.energy == pytest.approx(araplbs.energy(*ARM, s.weights, s.poses), rel=1e-3)
    s.solve()
    assert (s.weights > 0).sum(1).max() == 2
    assert np.diff(s.energies).max() <= 0
    kept = solver(weights=weights, max_influences=2, optimize_weights=False)
    np.testing.assert_allclose(kept.weights, weights, atol=1e-12)


def test_sparse_weights_are_the_same():
    s = shapes.solved(solver(iterations=1))
    np.testing.assert_array_equal(shapes.dense(s.sparse_weights, 3), s.weights)


@pytest.mark.parametrize("method", ["alternate", "together"])
def test_cancelled_iterations_can_go_on(method):
    """Wherever the solver is stopped, joints and weights come from an accepted step."""
    bones = moved(BONES, 1, [0.15, 0, 0])
    settings = {"iterations": 2, "method": method, **reference.PAPER_HELD}
    told = Told()
    weights = solver(bones).weights
    whole = solver(bones, weights=weights, progress=told, **settings)
    created, _ = len(told), whole.solve()
    assert len(told) > created + 5
    for call in range(created + 1, len(told) + 1):
        s = solver(bones, weights=weights, progress=Told(call), **settings)
        with pytest.raises(araplbs.Cancelled):
            s.solve()
        np.testing.assert_array_equal(s.heads[1:], s.tails[:-1])
        if len(s.energies):
            assert abs(araplbs.energy(*ARM, s.weights, s.poses) - s.energies[-1]) < 1e-3
        s.solve()
        assert s.done
        assert (np.diff(s.energies) <= 0).all()
        assert abs(s.energy - whole.energy) < 0.05 * whole.energy


def test_an_object_at_work_is_not_used_by_its_progress():
    def progress(stage, fraction):
        return s.heads is None

    s = None
    s = solver(progress=lambda *a: s is None or progress(*a))
    with pytest.raises(RuntimeError, match="JointSolver is running"):
        s.iterate()


def test_other_threads_wait():
    s = solver(iterations=3)
    worker = threading.Thread(target=s.solve)
    worker.start()
    assert s.heads.shape == (3, 3)
    worker.join()
    assert s.done


NAN = np.nan


test_bad_input_is_refused = table(
    araplbs.JointSolver,
    GOOD,
    row("max_shift is -1", max_shift=-1.0),
    row("max_shift is nan", max_shift=NAN),
    row("anchor is -1", anchor=-1.0),
    row("centering is -1", centering=-1.0),
    row("component_stiffness is -1", component_stiffness=-1.0),
    row("min_length is 2", min_length=2.0),
    row("iterations is 0", iterations=0),
    row("tolerance is 2", tolerance=2.0),
    row("edge_power is 5: must be from 0 to 4", edge_power=5.0),
    row("bone_spring_stiffness is -1", bone_spring_stiffness=-1.0),
    row("peak_stiffness is nan", peak_stiffness=NAN),
    row("^joint_stiffness is -1: must be", joint_stiffness=-1.0),
    row("joint_stiffness has shape", joint_stiffness=np.ones(3)),
    row("joint_stiffness|float", joint_stiffness="soft", kind=TypeError),
    row("^tangential is None: must be a real number", tangential=None, kind=TypeError),
    row("pinned has shape", pinned=np.zeros(3, bool)),
    row("pinned must contain", pinned=np.full((3, 2), 0.5), kind=TypeError),
    row("method is 'both'", method="both"),
    row("bone 1 is bendy", bone_kinds=["rigid", "bendy", "rigid"]),
    row("optimize_weights is False", optimize_weights=False),
    row("there are no poses", pose_count=0),
    row("mirror partner of bone 0", symmetry=([7, 1, 2], *PLANE)),
    row("weights has shape", weights=np.ones((3, 3))),
)


def test_it_is_created_once_and_first():
    s = solver()
    with pytest.raises(RuntimeError, match="created only once"):
        s.__init__(*ARM, *BONES)
    with pytest.raises(RuntimeError, match="not been created"):
        araplbs.JointSolver.__new__(araplbs.JointSolver).solve()
    with pytest.raises(ValueError, match="cannot go back"):
        s.iterate(-1)


@pytest.mark.slow
def test_many_joints():
    """The system is solved in panels, and the resulting step lowers the energy at once."""
    mesh, bones, rng = gaps.tube(1_200, 20), gaps.chain(520), np.random.default_rng(1)
    ends = np.concatenate([bones.heads, bones.tails[-1:]]) + rng.normal(size=(521, 3)) * 0.004
    weights = gaps.band(mesh[0], 520, 3)
    s = araplbs.JointSolver(
        *mesh, ends[:-1], ends[1:], bones.parents, weights=weights, optimize_weights=False,
        pose_count=4, iterations=1
    )  # fmt: skip
    s.iterate(1)
    assert s.report["joint_steps"] and s.energies[-1] < s.energies[0]
