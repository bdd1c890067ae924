"""Tests the amount of work of a solve, in counts that do not depend on the load of the machine.

Decisions in the choice of influences may depend on the last bits of sums, which differ between
compilers. Therefore, the counts are for double precision, and their tolerance is the change that
results from moving vertices by 1e-9 of their coordinates. A change that reduces a count also
records it here. A change that increases one must give the reason in the commit message."""

import numpy as np
import pytest
import shapes
from creature import BONES, NAMES, creature

SLACK = {
    "poses": 0, "iterations": 0.2, "influences": 0.02, "factor_size": 0.1, "unknowns": 0.05,
    "visits": 0.2, "factor_flops": 0.25,
}  # fmt: skip


def limb():
    return shapes.tube(16, 41, caps=True), shapes.chain(4)


def small_creature():
    vertices, triangles, _first = creature()
    heads, tails = (np.array([bone[k] for bone in BONES], float) for k in (1, 2))
    parents = np.array([NAMES.index(bone[3]) if bone[3] else -1 for bone in BONES])
    across = np.tile([0.0, 1, 0], (len(BONES), 1))
    return (vertices, triangles), shapes.Bones(heads, tails, parents, roll_axes=across)


SETTINGS = {
    "default": {},
    "no bone springs": {"bone_spring_stiffness": 0},
    "two influences": {"max_influences": 2},
    "levels": {"coarsen": 200},
}
# Poses, iterations, influences of all vertices, non-zeros and unknowns of the last factor, visits
# of one-rings by the local steps on the last maps, and flops of that factor.
EXPECTED = {
    (limb, "default"): (40, 7, 1132, 7522, 474, 1181, 156796),
    (limb, "no bone springs"): (40, 7, 2235, 96751, 1577, 1316, 4674541),
    (limb, "two influences"): (40, 7, 1118, 6850, 460, 1181, 133278),
    (limb, "levels"): (40, 11, 1161, 9557, 503, 1181, 246115),
    (small_creature, "default"): (40, 10, 2039, 11464, 693, 3180, 267108),
    (small_creature, "no bone springs"): (40, 10, 2912, 74719, 1566, 2526, 2269873),
    (small_creature, "two influences"): (40, 11, 1948, 8099, 602, 3186, 143797),
    (small_creature, "levels"): (40, 14, 2073, 12586, 727, 3218, 299202),
}


@pytest.mark.parametrize(
    ("character", "settings"), EXPECTED, ids=[f"{c.__name__}, {s}" for c, s in EXPECTED]
)
def test_counts(character, settings):
    mesh, bones = character()
    solver = shapes.solve(mesh, bones, precision="double", pose_count=40, **SETTINGS[settings])
    report = solver.report | {
        "influences": np.count_nonzero(solver.weights),
        "visits": solver._inside["visits"],
    }
    expected = dict(zip(SLACK, EXPECTED[character, settings], strict=True))
    wrong = {
        name: (int(report[name]), count)
        for name, count in expected.items()
        if abs(report[name] - count) > SLACK[name] * count
    }
    assert not wrong, f"(counted, expected): {wrong}"


def test_poses_given_are_not_sampled_again():
    """Each pose is evaluated once in an iteration. Given poses come after sampled ones."""
    mesh, bones = limb()
    given = np.tile(np.eye(3, 4), (6, len(bones.heads), 1, 1))
    solver = shapes.solver(mesh, bones, pose_count=10, poses=given)
    assert solver.report["poses"] == 16


def test_no_iteration_is_left_out_or_added():
    """Without a tolerance, the number of iterations is the requested one."""
    mesh, bones = limb()
    settings = {"tolerance": 0.0, "pose_count": 10, "iterations": 9, "acceleration": 0}
    solver = shapes.solve(mesh, bones, **settings)
    assert len(solver.energies) - solver.report["stage_starts"][-1] == settings["iterations"] + 1
