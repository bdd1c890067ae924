"""Finds the name of the other side for all ways in which importers and riggers mark sides."""

import numpy as np
import pytest
from araplbs.skeleton.sides import opposite_bones, other_names

PAIRS = [
    ("arm.L", "arm.R"),
    ("arm_l", "arm_r"),
    ("arm-l.001", "arm-r.001"),
    ("L_arm", "R_arm"),
    ("LeftArm", "RightArm"),
    ("leftarm", "rightarm"),
    ("ARM_LEFT", "ARM_RIGHT"),
    ("mixamorig:LeftHandIndex1", "mixamorig:RightHandIndex1"),
    ("Bip01 L Thigh", "Bip01 R Thigh"),
    ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm"),
    ("J_L_Arm", "J_R_Arm"),
    ("X.L_Armature", "X.R_Armature"),
    ("Leg.L_end", "Leg.R_end"),
    ("lShldrBend", "rShldrBend"),
    ("LThigh", "RThigh"),
    ("ArmL", "ArmR"),
    ("HandL_end", "HandR_end"),
    ("DEF-forearm.L.001", "DEF-forearm.R.001"),
    ("左腕", "右腕"),
    ("腕.左", "腕.右"),
    ("finger_index_l_aux", "finger_index_r_aux"),
]
NUMBERED = [("X.L_08", "X.R_012"), ("Arm.Left_3", "Arm.Right_14"), ("l_hand_07", "r_hand_21")]
NONE = ["spine", "Bone", "Rail", "Ball", "root", "Lower", "clavicle", "頭", "tail_02", "Leaf"]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_a_side_is_found_and_changed(left, right):
    assert right in other_names(left) and left in other_names(right)
    assert opposite_bones((left, "spine", right)).tolist() == [2, 1, 0]


@pytest.mark.parametrize(("left", "right"), NUMBERED)
def test_numbers_of_exporters_do_not_matter(left, right):
    assert opposite_bones((left, "spine_04", right)).tolist() == [2, 1, 0]


@pytest.mark.parametrize("name", NONE)
def test_names_without_a_side(name):
    assert not other_names(name)


def test_letters_that_are_not_a_side():
    """A name without a counterpart has no side."""
    names = ["Bone_L_shaped", "Copyright", "cleft_chin", "hand.L"]
    assert opposite_bones(tuple(names)).tolist() == [0, 1, 2, 3]


def test_all_bones_of_a_skeleton_at_once():
    names = [name for pair in PAIRS + NUMBERED for name in pair] + NONE
    own = np.arange(len(names))
    paired = 2 * len(PAIRS + NUMBERED)
    expected = np.where(own < paired, own ^ 1, own)
    np.testing.assert_array_equal(opposite_bones(tuple(names)), expected)


def test_two_sides_in_a_name():
    """The left hand of the left one of two characters."""
    names = ["Left_hand.L", "Left_hand.R", "Right_hand.L", "Right_hand.R"]
    assert opposite_bones(tuple(names)).tolist() == [3, 2, 1, 0]  # all sides change, as in a mirror
    assert opposite_bones(tuple(names[:2])).tolist() == [1, 0]


def test_numbers_that_tell_two_of_a_side_apart_pair_none():
    names = ["toe.L_1", "toe.L_2", "toe.R_3", "toe.R_4"]
    assert opposite_bones(tuple(names)).tolist() == [0, 1, 2, 3]
    assert opposite_bones(("toe.L_1", "toe.L_2", "toe.R_1", "toe.R_2")).tolist() == [2, 3, 0, 1]


def test_the_other_side_of_the_other_side_is_the_bone():
    names = ["arm.L", "arm.R", "arm_L", "arm_R", "Arm.l", "LeftLeg", "RightLeg", "hand.R"]
    opposite = opposite_bones(tuple(names))
    np.testing.assert_array_equal(opposite[opposite], np.arange(len(names)))
