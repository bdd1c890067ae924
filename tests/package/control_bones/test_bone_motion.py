"""Facts about bones that animations reveal; data that cannot reveal anything is not read."""

from dataclasses import replace

import numpy as np
from araplbs.skeleton.bone_evidence import Motion, with_motion
from araplbs.skeleton.bone_facts import BoneFacts
from araplbs.skeleton.skeleton import Skeleton

# On the spine lie a head and a helper, without bones below.
NAMES = ("hips", "spine", "head", "helper")
HEADS = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0.1, 0, 2]], float)
UP, PARENTS = np.array([0, 0, 0.9]), np.array([-1, 0, 1, 1])


def skeleton_of(names=NAMES, deform=(True,) * 4):
    bones = Skeleton.from_joints(HEADS, PARENTS, tails=HEADS + UP, names=names)
    return replace(bones, deform=np.array(deform))


def told(skeleton, away=(), turned=()):
    """(names of bones that stray, names of leaf bones), and the requested poses. away: bones that a
    key moves far; in the second of two poses, they and their descendants are there."""
    names, asked = skeleton.names, []

    def own(bones):
        asked.append([names[b] for b in np.flatnonzero(bones)])
        return np.isin(names, turned), np.where(np.isin(names, away), 9.0, 0.1)

    def poses():
        asked.append("poses")
        moved = np.isin(names, away)
        for bone in range(1, 4):
            moved[bone] |= moved[PARENTS[bone]]
        made = np.tile(np.eye(3, 4), (2, 4, 1, 1))
        made[1, moved, 0, 3] = 9
        return made

    facts = BoneFacts(names, skeleton.deform, skeleton.parents, np.arange(4))
    found = with_motion(facts, skeleton, np.array([[0.3, 0, 2.5]]), Motion(own, poses))
    bones = [[names[b] for b in np.flatnonzero(each)] for each in (found.strays, found.leaf)]
    return bones, asked


def test_an_end_that_leaves_the_others():
    bones, asked = told(skeleton_of(), away=["helper"])
    assert bones == [["helper"], []]
    assert asked == [["hips", "spine", "head", "helper"], "poses"]


def test_nothing_moves_far():
    """In this case, no pose is evaluated."""
    assert told(skeleton_of()) == ([[], []], [["hips", "spine", "head", "helper"]])


def test_ends_go_along_with_the_body():
    assert told(skeleton_of(), away=["hips"]) == ([[], []], [[*NAMES]])


def test_leaf_bones_that_an_action_turns_are_none():
    skeleton = skeleton_of((*NAMES[:3], "head_end"))
    skeleton.tails[3] = skeleton.heads[3] + UP  # as its parent: an importer's
    assert told(skeleton)[0][1] == ["head_end"]
    assert told(skeleton, turned=["head_end"])[0][1] == []


def test_without_deforming_ends_nothing_is_read():
    assert told(skeleton_of(deform=[False] * 4), away=["helper"]) == ([[], []], [])
