"""Tests the body parts of a skeleton."""

import numpy as np
from araplbs.features.compare.methods import as_sparse
from araplbs.skeleton.body_parts import (
    body_parts,
    part_of_triangles,
    strongest_bones,
)

# A body with legs, arms, and fingers at one of them.
BONES = (
    ("pelvis", -1), ("spine", 0), ("chest", 1), ("neck", 2), ("head", 3),
    ("arm.L", 2), ("hand.L", 5), ("thumb.L", 6), ("index.L", 6), ("tip.L", 8),
    ("arm.R", 2), ("leg.L", 0), ("foot.L", 11), ("leg.R", 0), ("foot.R", 13),
)  # fmt: skip
NAMES = [name for name, _parent in BONES]
PARENTS = np.array([parent for _name, parent in BONES])
TAILS = np.array([(k, 3.0, 0) for k in range(len(NAMES))])
HEADS = TAILS * (1, 0, 0)  # all of them long, as bones of a body are


def parts_of(counts, tails=TAILS, **more):
    bones = np.repeat(np.arange(len(NAMES)), counts)
    found = body_parts(NAMES, HEADS, tails, PARENTS, bones, **more)
    every = np.concatenate([bones for _name, bones in found])
    assert sorted(every) == list(range(len(NAMES))), "each bone in one part"
    return {name: [NAMES[b] for b in bones] for name, bones in found}


def test_limb_by_limb():
    counts = np.full(len(NAMES), 100)
    assert parts_of(counts) == {
        "pelvis": ["pelvis"],
        "spine": ["spine", "chest"],
        "neck": ["neck", "head"],
        "arm.L": ["arm.L", "hand.L"],
        "thumb.L": ["thumb.L"],
        "index.L": ["index.L", "tip.L"],
        "arm.R": ["arm.R"],
        "leg.L": ["leg.L", "foot.L"],
        "leg.R": ["leg.R", "foot.R"],
    }


def test_small_chains_are_taken_together():
    counts = np.full(len(NAMES), 100)
    counts[7:10] = 10  # the fingers: each below 2 % of 1,200 triangles, together above
    parts = parts_of(counts)
    assert parts["beyond hand.L"] == ["thumb.L", "index.L", "tip.L"] and "thumb.L" not in parts
    counts[7:10] = 1  # and now all of them below: they go with the arm
    assert parts_of(counts)["arm.L"] == ["arm.L", "hand.L", "thumb.L", "index.L", "tip.L"]


def test_short_chains_are_taken_together():
    tails = TAILS.copy()
    tails[7:10, 1] = 0.1
    parts = parts_of(np.full(len(NAMES), 100), tails)
    assert parts["beyond hand.L"] == ["thumb.L", "index.L", "tip.L"]
    assert parts["arm.L"] == ["arm.L", "hand.L"], "what something hangs on is not"


def test_a_root_that_moves_nothing():
    counts = np.full(len(NAMES), 100)
    counts[0] = 0
    assert parts_of(counts)["spine"] == ["pelvis", "spine", "chest"]


def test_bones_that_do_not_deform():
    deform = np.array([name not in ("thumb.L", "arm.R") for name in NAMES])
    counts = np.where(deform, 100, 0)
    parts = parts_of(counts, deform=deform)
    assert parts["arm.L"] == ["arm.L", "hand.L", "thumb.L", "index.L", "tip.L"]
    assert parts["spine"] == ["spine", "chest", "arm.R"]


def test_not_too_many():
    parents = np.array([-1] + [0] * 30)
    names = [f"leaf {k}" for k in range(31)]
    line = np.zeros((31, 3))
    found = body_parts(names, line, line, parents, np.arange(31))
    assert len(found) <= 12 and sorted(np.concatenate([b for _n, b in found])) == list(range(31))
    one = body_parts(["only"], line[:1], line[:1], np.array([-1]), np.zeros(0, int))
    assert [name for name, _bones in one] == ["only"]


def test_which_bone_and_part():
    rows = as_sparse(np.array([(0.2, 0.8, 0), (0.5, 0.2, 0.3), (0, 0, 0), (0, 0, 1)]))
    assert list(strongest_bones(rows, [2, 2, 2, 2])) == [1, 0, 2, 2]
    parts = [("a", np.array([0, 2])), ("b", np.array([1]))]
    triangles = np.array([(0, 1, 2), (1, 2, 3), (3, 0, 1)])
    assert list(part_of_triangles(triangles, parts, np.array([1, 0, 2, 2]), 3)) == [1, 0, 0]
