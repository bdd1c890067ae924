"""Invalid kinds, ranges, bends and parameters of spines are refused."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import BONES, GOOD, MESH, POSES, M, N, row, table
from spine_rigs import KINDS

STILL = np.tile([0.0, 0, 0, 1], (2, M, 1))
ENDS = {"bone_heads": BONES.heads, "bone_tails": BONES.tails}
ENERGY = {**dict(zip(("vertices", "triangles"), MESH, strict=True)), "weights": np.ones((N, M))}
ENERGY |= {**ENDS, "poses": POSES}
SAMPLE = {**ENDS, "bone_parents": BONES.parents, "count": 2}


def range_of(bone, number, *pair):
    ranges = np.full((M, 4, 2), np.nan)
    ranges[bone, number] = pair
    return {"bone_ranges": ranges}


def bends_with(bone, bend):
    bends = STILL.copy()
    bends[1, bone] = bend
    return {"bone_kinds": KINDS, "poses": POSES, "bends": bends}


WRONG_KINDS = (
    row(r"^bone_kinds\[1\] is 'spline': must be 'rigid'", bone_kinds=["rigid", "spline", "stb"]),
    row("^bone_kinds has 2 entries, expected 3", bone_kinds=["rigid", "stb"]),
    row(r"^bone_kinds\[1\] is 1: must be a string", TypeError, bone_kinds=["rigid", 1, "stb"]),
    row(
        r"^bone_kinds\[1\] is None: must be a string", TypeError, bone_kinds=["rigid", None, "stb"]
    ),
    row("^bone_kinds is 'stb', expected a sequence", TypeError, bone_kinds="stb"),
    row("^bone_kinds is 3, expected a sequence", TypeError, bone_kinds=3),
)
WRONG_RANGES = (
    row(r"^bone_ranges\[1, 0\] \(swing\) is \(0.5, 0.4\): not a range", **range_of(1, 0, 0.5, 0.4)),
    row(r"^bone_ranges\[0, 1\] \(twist\) is \(nan, 1\)", **range_of(0, 1, np.nan, 1)),
    row(r"^bone_ranges\[2, 2\] \(bend\) is \(-inf, 1\)", **range_of(2, 2, -np.inf, 1)),
    row(r"^bone_ranges\[2, 3\] \(stretch\) is \(0, 1\): must be above", **range_of(2, 3, 0, 1)),
    row(r"^bone_ranges\[2, 3\] \(stretch\) is \(-2, -1\): must be", **range_of(2, 3, -2, -1)),
    row(r"^bone_ranges\[2, 3\] \(stretch\) is \(1, 1e\+09\): must be", **range_of(2, 3, 1, 1e9)),
    row(r"^bone_ranges\[0, 0\] \(swing\) is \(-1e\+200, 1\): must", **range_of(0, 0, -1e200, 1)),
    row(r"^bone_ranges has shape \(3, 3, 2\), expected \(3, 4, 2", bone_ranges=np.zeros((3, 3, 2))),
    row(r"^bone_ranges has shape \(2, 4, 2\), expected \(3, 4, 2", bone_ranges=np.zeros((2, 4, 2))),
)
WRONG_BENDS = (
    row(r"^bends\[1, 1\] has the stretch 0: must be above 0", **bends_with(1, (0, 0, 1, 0))),
    row(r"^bends\[1, 2\] has the stretch -1: must be above 0", **bends_with(2, (1, 0, 0, -1))),
    row(r"^bends\[1, 2\] is \(nan, 0, 0, 1\): not finite", **bends_with(2, (np.nan, 0, 0, 1))),
    row(r"^bends\[1, 2\] is \(1, 0, 0, inf\): not finite", **bends_with(2, (1, 0, 0, np.inf))),
    row(r"^bends\[1, 0\] is \(0, 0, 1, 1\), but bone 0 is rigid", **bends_with(0, (0, 0, 1, 1))),
    row(r"^bends\[1, 0\] is \(0, 0, 0, 2\), but bone 0 is rigid", **bends_with(0, (0, 0, 0, 2))),
    row(r"^bends\[1, 1\] turns about \(0.1, 0, 1\), but", **bends_with(1, (0.1, 0, 1, 1))),
    row(r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)",
        bone_kinds=KINDS, poses=POSES, bends=STILL[:1]),
)  # fmt: skip
test_a_solver = table(
    araplbs.Solver, {**GOOD, "bone_kinds": KINDS}, *WRONG_KINDS, *WRONG_RANGES, *WRONG_BENDS,
    row(r"^bends has shape \(2, 3, 4\), expected \(0, 3, 4\)", bends=STILL),
    row(r"^parameters has shape \(29, 3\), expected \(30, 3\)", parameters=np.ones((29, 3))),
    row("^the mirror partners 1 and 2 are bones of different kinds",
        symmetry=([0, 2, 1], (0, 0, 0), (1, 0, 0))),
)  # fmt: skip
test_sampled_poses = table(araplbs.sample_poses, SAMPLE, *WRONG_KINDS, *WRONG_RANGES)
test_energy = table(
    araplbs.energy, ENERGY, *WRONG_BENDS,
    row("^bends needs bone_kinds$", TypeError, bends=STILL),
    row("^bone_kinds needs bone_heads and bone_tails$", TypeError,
        bends=STILL, bone_kinds=KINDS, bone_heads=None, bone_tails=None),
    row("there are no poses", bone_kinds=KINDS, poses=POSES[:0], bends=STILL[:0]),
    row("there are no poses", bone_kinds=KINDS, poses=[]),
)  # fmt: skip


@pytest.mark.parametrize("kinds", [tuple(KINDS), np.array(KINDS)])
def test_kinds_of_other_sequences(kinds):
    araplbs.Solver(**GOOD, bone_kinds=kinds)


@pytest.mark.parametrize(
    ("bend", "message"),
    [
        ((1, 0, 0, 0), r"^bends\[1, 2\] has the stretch 0: must be above 0"),
        ((1, 0, np.inf, 1), r"^bends\[1, 2\] is \(1, 0, inf, 1\): not finite"),
    ],
)
def test_wrong_bends_of_forward_kinematics(bend, message):
    turns, bends = POSES[..., :3], bends_with(2, bend)["bends"]
    with pytest.raises(ValueError, match=message):
        araplbs.forward_kinematics(*BONES, turns, bends)
    with pytest.raises(ValueError, match=r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)"):
        araplbs.forward_kinematics(*BONES, turns, bends[:1])


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf])
def test_wrong_parameters(value):
    u = np.full((N, M), 0.5)
    u[:, 0] = 7  # of a rigid bone: nobody looks
    shapes.solver(MESH, BONES.but(kinds=KINDS), parameters=u)
    u[4, 2] = value
    with pytest.raises(ValueError, match=rf"^parameters\[4, 2\] is {value:g}: must be from 0 to 1"):
        shapes.solver(MESH, BONES.but(kinds=KINDS), parameters=u)
