"""Tests weights for dual quaternions: energy and gradient are compared with dense sums and finite
differences, the energy decreases, and all other requirements on weights hold."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
import test_symmetry
from refusals import refuse
from reports import check_stops
from test_dual_quaternions import skin

TUBE, BONES = shapes.tube(8, 13, 0.25, 3.0), shapes.chain(3, 3.0)
DUAL = {"deformer": "dual_quaternions"}
FEW = {"pose_count": 6, "swing": 1.5, "twist": 1.5, "precision": "double"}


def make(mesh=TUBE, bones=BONES, **settings):
    return shapes.solver(mesh, bones, **settings)


def solved(*problem, **settings):
    return shapes.solved(make(*problem, **settings))


class Dense:
    """The present problem of a solver, with its springs as vertices of one bone."""

    def __init__(self, solver):
        inside = solver._inside
        n, poses = len(inside["points"]), inside["transform"]
        a = reference.edge_matrix(inside)
        self.rows = np.repeat(np.arange(n), np.diff(inside["start"]))
        self.bones, self.poses = inside["bone"], poses
        weights = solver.raw_weights
        if "spring_bone" in inside:
            self.points, self.a, self.weights = reference.with_springs(
                inside["points"], a, weights, inside
            )
        else:
            self.points, self.a, self.weights = inside["points"], a, weights

    def energy(self, weights):
        """The absolute energy, and its unit."""
        energy = unit = 0.0
        for posed in skin(self.points, weights, self.poses):
            rotations, _ = reference.local_step(self.points, self.a, posed)
            for i, k in reference.edges_of(self.a):
                e = self.points[k] - self.points[i]
                energy += self.a[i, k] * np.sum((posed[k] - posed[i] - rotations[i] @ e) ** 2)
                unit += self.a[i, k] * np.sum(e**2)
        return energy, unit


@pytest.mark.parametrize("bone_spring_stiffness", [0, 12])
def test_energy_and_slope(bone_spring_stiffness, rng):
    mesh = shapes.tube(4, 7, 0.3, 3.0)
    solver = solved(
        mesh, **DUAL, **{**FEW, "pose_count": 3}, bone_spring_stiffness=bone_spring_stiffness
    )
    inside, dense = solver._inside, Dense(solver)
    assert ("spring_bone" in inside) == bool(bone_spring_stiffness)
    energy, unit = dense.energy(dense.weights)
    assert solver.energies[-1] == pytest.approx(energy / unit, rel=1e-9)
    force, scale = inside["right_side"], np.abs(inside["right_side"]).max()
    assert not inside["product"].any()
    free = np.flatnonzero(dense.weights[dense.rows, dense.bones] > 0.02)
    for e in rng.choice(free, 6, replace=False):
        step = np.zeros_like(dense.weights)
        step[dense.rows[e], dense.bones[e]] = 1e-5
        after, before = (dense.energy(dense.weights + s)[0] for s in (step, -step))
        assert force[e] == pytest.approx(-(after - before) / 4e-5, abs=2e-6 * scale)


def energy_of(solver, weights, mesh=TUBE):
    poses = araplbs.sample_poses(*BONES, 6, swing=1.5, twist=1.5, **BONES.more)
    posed = araplbs.dual_quaternion_skinning(mesh[0], weights, poses)
    return araplbs.posed_energy(*mesh, posed)


def test_lower_energy_than_weights_for_linear_blending():
    settings = {**FEW, **reference.PAPER_ENERGY, "link_parts": False, "min_weight": 0}
    linear, dual = solved(**settings), solved(**settings, **DUAL)
    one, other = (energy_of(s, s.weights) for s in (linear, dual))
    assert other < 0.9 * one
    assert dual.energy == pytest.approx(other, rel=1e-6)
    assert dual.report["energy_after"] == pytest.approx(dual.energy, rel=1e-6)
    before = energy_of(dual, dual.initial_weights)
    assert dual.report["energy_before"] == pytest.approx(before, rel=1e-6)


def test_the_energy_falls_in_that_stage_only():
    """The stages before are bit-identical to those of linear blending."""
    linear, dual = solved(**FEW), solved(**FEW, **DUAL)
    count, start = len(linear.energies), dual.report["stage_starts"][-1]
    np.testing.assert_array_equal(dual.energies[:start], linear.energies)
    assert start == count
    last = dual.energies[start:]
    assert len(last) > 2
    assert (np.diff(last) <= 0).all()
    assert dual.report["iterations"] > linear.report["iterations"]
    assert dual.done


@pytest.mark.parametrize("mesh", [TUBE, shapes.tube(40, 60, 0.25, 3.0)], ids=["small", "coarse"])
def test_weights_are_weights(mesh):
    solver = solved(mesh, **FEW, **DUAL, max_influences=2)
    weights = solver.weights
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert weights.min() >= 0
    assert (weights > 0).sum(1).max() == 2
    assert (solver.report["coarse_vertices"] > 0) == (len(mesh[0]) > 1000)


def test_locked_weights_stay(rng):
    weights = shapes.random_weights(rng, len(TUBE[0]), 3)
    locked = np.arange(len(TUBE[0])) % 3 == 0
    solver = solved(**FEW, **DUAL, weights=weights, locked_vertices=locked)
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])


def test_rigid_parts_keep_one_row():
    parts = np.full(len(TUBE[0]), -1)
    parts[40:56] = 0
    rows = solved(**FEW, **DUAL, rigid_parts=parts, rigid_influences=0).weights[40:56]
    assert (rows == rows[0]).all()


def test_symmetric_weights_stay_symmetric():
    mesh, partner = test_symmetry.body()
    solver = test_symmetry.solved(mesh, **DUAL)
    assert test_symmetry.asymmetry(solver.weights, partner) == 0


def test_constraints_hold():
    constraint = (np.array([50]), np.array([0]), np.array([0.75]))
    free, held = solved(**FEW, **DUAL), solved(**FEW, **DUAL, constraints=constraint)
    assert abs(held.weights[50, 0] - 0.75) < 0.02 < abs(free.weights[50, 0] - 0.75)


def test_edits_begin_it_again():
    solver = solved(**FEW, **DUAL)
    energy = solver.energy
    solver.edit(constraints=(np.array([50]), np.array([0]), np.array([0.75])))
    assert not solver.done
    solver.solve()
    assert abs(solver.weights[50, 0] - 0.75) < 0.02
    solver.edit()
    solver.solve()
    assert solver.energy < 1.02 * energy
    assert abs(solver.weights[50, 0] - 0.75) > 0.02


def test_cancelled_it_goes_on():
    check_stops(lambda told: make(**FEW, **DUAL, progress=told), "iteration", every=3)


@pytest.mark.parametrize("kind", ["stb", "spine", "bendy"])
def test_only_rigid_bones(kind):
    bones = BONES.but(kinds=["rigid", kind, "rigid"], segments=[0, 3, 0])
    pattern = f"deformer is 'dual_quaternions', but bone 1 is '{kind}': must be 'rigid'"
    refuse(ValueError, pattern, make, mesh=TUBE, bones=bones, **DUAL)


def test_unknown_deformer():
    refuse(ValueError, "^deformer is 'centers': must be", make, deformer="centers")
