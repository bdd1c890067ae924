"""Tests the anchors of springs, which move with the joints. The energy and its gradient are
compared with explicit sums, and joints come to the middle of their limbs."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from joint_rigs import chained, moved, solver
from test_bone_springs import joint_problem


class WithFeet:
    """A JointSolver with fixed weights, and the same energy by explicit sums for any positions of
    its joints: anchors keep their height along the bone, and move across it."""

    def __init__(self, rng):
        self.bones, mesh, weights, self.poses, given = joint_problem(rng)
        settings = {
            **given,
            "optimize_weights": False,
            "max_influences": 0,
            "component_stiffness": 1e6,
        }
        self.solver = araplbs.JointSolver(*mesh, *self.bones, **settings)
        inside = araplbs.Solver(
            *mesh, *self.bones, **given, start_from_weights=True, max_influences=0
        )._inside
        points, _, self.diagonal = reference.normalize_to_solver(mesh[0], self.poses)
        center = (mesh[0].min(0) + mesh[0].max(0)) / 2
        a = reference.edge_weights(points, mesh[1])[1]
        a = reference.balanced(points, a, 3, inside["unit"])
        points, self.a, self.whole = reference.with_springs(points, a, weights, inside)
        self.points = points * self.diagonal + center
        self.first, self.foot_bone = len(mesh[0]), inside["spring_bone"]
        heads, tails = self.bones.heads[self.foot_bone], self.bones.tails[self.foot_bone]
        along, feet = tails - heads, self.points[self.first :]
        self.at = np.sum((feet - heads) * along, 1) / np.sum(along**2, 1)
        np.testing.assert_allclose(heads + self.at[:, None] * along, feet, atol=1e-12)
        assert ((self.at > 0.01) & (self.at < 0.99)).any()
        self.unit = reference.vertex_energies(self.points, self.a, self.whole, self.poses)[1].sum()

    def energy(self, heads, tails, poses=None):
        up, segments = np.array([-1, 0, 0, -1, 3]), np.array([2, 1, 1, 1, 1])
        if poses is None:
            poses = chained(self.bones, self.poses, heads, up, segments)
        points, b, at = self.points.copy(), self.foot_bone, self.at[:, None]
        along = self.bones.tails[b] - self.bones.heads[b]
        along = along / np.linalg.norm(along, axis=1)[:, None]
        move = (1 - at) * (heads - self.bones.heads)[b] + at * (tails - self.bones.tails)[b]
        points[self.first :] += move - np.sum(move * along, 1)[:, None] * along
        return reference.vertex_energies(points, self.a, self.whole, poses)[0].sum() / self.unit

    def moved(self, joint, axis, by):
        """Heads and tails."""
        report = self.solver.report
        heads, tails = self.bones.heads.copy(), self.bones.tails.copy()
        heads[report["joint_of_head"] == joint, axis] += by
        tails[report["joint_of_tail"] == joint, axis] += by
        return heads, tails


@pytest.mark.slow
def test_moves_of_joints_by_differences(rng):
    """Anchors move with the joints about which bones rotate. Free ends stay."""
    s = WithFeet(rng)
    _, slope, unit, _ = s.solver._inside
    start = s.energy(s.bones.heads, s.bones.tails)
    assert s.solver.report["energy_before"] == pytest.approx(start, rel=1e-9)
    step = 2e-6 * s.diagonal
    for joint in range(s.solver.report["joints"]):
        for axis in range(3):
            there, back = (s.energy(*s.moved(joint, axis, by)) for by in (step, -step))
            slopes = (there - back) / (2 * step) * s.diagonal
            if joint not in s.solver.report["joint_of_head"][[1, 2, 4]]:
                assert slope[3 * joint + axis] == 0
                continue
            expected = -2 * slope[3 * joint + axis] / unit
            # The rest is the drift of the two trees, which goes with 1 / drift.
            assert slopes == pytest.approx(expected, abs=4e-5 * np.abs(slope / unit).max())


def test_steps_of_joints_have_the_energy_of_their_places(rng):
    """After some steps of the joints, the energy is that of the new positions, including the
    anchors."""
    s = WithFeet(rng)
    s.solver.iterate(3)
    assert s.solver.report["joint_steps"] > 1
    energies = s.solver.energies
    assert (np.diff(energies) <= 0).all()
    assert energies[-1] < 0.99 * energies[0]
    told = s.energy(s.solver.heads, s.solver.tails, s.solver.poses)
    assert energies[-1] == pytest.approx(told, rel=1e-8)


TUBES = {  # (mesh, bones, radius)
    "three bones": (shapes.tube(12, 25, 0.25, 3.0), shapes.chain(3, 3.0), 0.25),
    "two thick ones": (shapes.tube(16, 31, 0.4, 3.0), shapes.chain(2, 3.0), 0.4),
    "three thin ones": (shapes.tube(12, 31, 0.15, 4.0), shapes.chain(3, 4.0), 0.15),
}


@pytest.mark.parametrize("name", TUBES)
@pytest.mark.parametrize("off", [0, 0.2, 0.4])
@pytest.mark.slow
def test_joints_come_to_the_middle_of_a_tube(name, off):
    """Joints come to the middle with the default bone springs and enough poses to prefer no side. A
    joint that is already in the middle stays."""
    mesh, bones, radius = TUBES[name]
    start = moved(bones, 1, np.array([0.8, 0.6, 0]) * off * radius)
    s = shapes.solved(solver(start, mesh, pose_count=240))
    assert (np.diff(s.energies) <= 0).all()
    across = np.linalg.norm(s.heads[1:, :2], axis=1) / radius
    assert (across < (0.05 if off == 0 else 0.15)).all(), across
    assert (np.abs(s.heads[:, 2] - start.heads[:, 2]) < 0.1 * radius).all(), "nor do they slide"
    np.testing.assert_array_equal(s.heads[0], start.heads[0])
    np.testing.assert_array_equal(s.tails[-1], start.tails[-1])
