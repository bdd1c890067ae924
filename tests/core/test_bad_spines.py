"""Wrong kinds, ranges, bends and parameters of spines are refused."""

import araplbs
import numpy as np
import pytest
import shapes
from spine_rigs import KINDS

# Wrong input


MESH = shapes.tube(6, 5)


def refused(kind, message, function=None, **arguments):
    bones = shapes.chain(3)
    with pytest.raises(kind, match=message) as caught:
        (function or araplbs.Solver)(*MESH, *bones, **arguments)
    assert caught.type in (kind, araplbs.InputError if kind is ValueError else kind)


def ranges_with(bone, row, pair):
    ranges = np.full((3, 4, 2), np.nan)
    ranges[bone, row] = pair
    return ranges


POSES = np.tile(np.eye(3, 4), (2, 3, 1, 1))
STILL = np.tile([0.0, 0, 0, 1], (2, 3, 1))


def bends_with(bone, bend):
    bends = STILL.copy()
    bends[1, bone] = bend
    return {"bone_kinds": KINDS, "poses": POSES, "bends": bends}


@pytest.mark.parametrize(
    ("kinds", "kind", "message"),
    [
        (["rigid", "spline", "stb"], ValueError, r"^bone_kinds\[1\] is 'spline': must be 'rigid'"),
        (["rigid", "stb"], ValueError, "^bone_kinds has 2 entries, expected 3"),
        (["rigid", 1, "stb"], TypeError, r"^bone_kinds\[1\] is 1: not a string"),
        (["rigid", None, "stb"], TypeError, r"^bone_kinds\[1\] is None: not a string"),
        ("stb", TypeError, "^bone_kinds is 'stb', expected a sequence"),
        (3, TypeError, "^bone_kinds is 3, expected a sequence"),
    ],
)
def test_wrong_kinds(kinds, kind, message):
    refused(kind, message, bone_kinds=kinds)
    with pytest.raises(kind, match=message):
        araplbs.sample_poses(*shapes.chain(3), 2, bone_kinds=kinds)


@pytest.mark.parametrize("kinds", [tuple(KINDS), np.array(KINDS)])
def test_kinds_of_other_sequences(kinds):
    araplbs.Solver(*MESH, *shapes.chain(3), bone_kinds=kinds)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (
            ranges_with(1, 0, (0.5, 0.4)),
            r"^bone_ranges\[1, 0\] \(swing\) is \(0.5, 0.4\): no range",
        ),
        (ranges_with(0, 1, (np.nan, 1)), r"^bone_ranges\[0, 1\] \(twist\) is \(nan, 1\)"),
        (ranges_with(2, 2, (-np.inf, 1)), r"^bone_ranges\[2, 2\] \(bend\) is \(-inf, 1\)"),
        (ranges_with(2, 3, (0, 1)), r"^bone_ranges\[2, 3\] \(stretch\) is \(0, 1\): must be above"),
        (ranges_with(2, 3, (-2, -1)), r"^bone_ranges\[2, 3\] \(stretch\) is \(-2, -1\): must be"),
        (np.zeros((3, 3, 2)), r"^bone_ranges has shape \(3, 3, 2\), expected \(3, 4, 2\)"),
        (np.zeros((2, 4, 2)), r"^bone_ranges has shape \(2, 4, 2\), expected \(3, 4, 2\)"),
    ],
)
def test_wrong_ranges(ranges, message):
    refused(ValueError, message, bone_ranges=ranges, bone_kinds=KINDS)
    with pytest.raises(ValueError, match=message):
        araplbs.sample_poses(*shapes.chain(3), 2, bone_ranges=ranges)


BAD_BENDS = [
    (bends_with(1, (0, 0, 1, 0)), r"^bends\[1, 1\] has the stretch 0: must be above 0"),
    (bends_with(2, (1, 0, 0, -1)), r"^bends\[1, 2\] has the stretch -1: must be above 0"),
    (bends_with(2, (np.nan, 0, 0, 1)), r"^bends\[1, 2\] is \(nan, 0, 0, 1\): not finite"),
    (bends_with(2, (1, 0, 0, np.inf)), r"^bends\[1, 2\] is \(1, 0, 0, inf\): not finite"),
    (bends_with(0, (0, 0, 1, 1)), r"^bends\[1, 0\] is \(0, 0, 1, 1\), but bone 0 is rigid"),
    (bends_with(0, (0, 0, 0, 2)), r"^bends\[1, 0\] is \(0, 0, 0, 2\), but bone 0 is rigid"),
    (bends_with(1, (0.1, 0, 1, 1)), r"^bends\[1, 1\] turns about \(0.1, 0, 1\), but bone 1 is an"),
    (
        {"bone_kinds": KINDS, "poses": POSES, "bends": STILL[:1]},
        r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_BENDS)
def test_wrong_bends(arguments, message):
    refused(ValueError, message, **arguments)
    bones = {"bone_heads": shapes.chain(3).heads, "bone_tails": shapes.chain(3).tails}
    with pytest.raises(ValueError, match=message):
        araplbs.energy(*MESH, np.ones((30, 3)), **bones, **arguments)


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
        araplbs.forward_kinematics(*shapes.chain(3), turns, bends)
    with pytest.raises(ValueError, match=r"^bends has shape \(1, 3, 4\), expected \(2, 3, 4\)"):
        araplbs.forward_kinematics(*shapes.chain(3), turns, bends[:1])


def test_bends_without_poses_or_kinds():
    refused(ValueError, r"^bends has shape \(2, 3, 4\), expected \(0, 3, 4\)", bends=STILL)
    arguments = {"poses": POSES, "bends": STILL}
    with pytest.raises(TypeError, match=r"^bends needs bone_kinds$"):
        araplbs.energy(*MESH, np.ones((30, 3)), **arguments)
    with pytest.raises(TypeError, match=r"^bone_kinds needs bone_heads and bone_tails$"):
        araplbs.energy(*MESH, np.ones((30, 3)), **arguments, bone_kinds=KINDS)


def test_no_poses():
    bones = {"bone_heads": shapes.chain(3).heads, "bone_tails": shapes.chain(3).tails}
    for poses, bends in ((POSES[:0], STILL[:0]), ([], None)):
        with pytest.raises(ValueError, match="there are no poses"):
            araplbs.energy(
                *MESH, np.ones((30, 3)), poses, **bones, bone_kinds=KINDS, bends=bends
            )  # fmt: skip


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf])
def test_wrong_parameters(value):
    u = np.full((30, 3), 0.5)
    u[:, 0] = 7  # of a rigid bone: nobody looks
    araplbs.Solver(*MESH, *shapes.chain(3), bone_kinds=KINDS, parameters=u)
    u[4, 2] = value
    refused(
        ValueError, rf"^parameters\[4, 2\] is {value:g}: must be from 0 to 1", bone_kinds=KINDS,
        parameters=u,
    )  # fmt: skip


def test_parameters_of_the_wrong_shape():
    refused(
        ValueError,
        r"^parameters has shape \(29, 3\), expected \(30, 3\)",
        parameters=np.ones((29, 3)),
    )


def test_partners_of_different_kinds():
    refused(
        ValueError, "^the mirror partners 1 and 2 are bones of different kinds", bone_kinds=KINDS,
        symmetry=([0, 2, 1], (0, 0, 0), (1, 0, 0)),
    )  # fmt: skip
