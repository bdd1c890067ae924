"""Collects facts about bones in a file, except their positions, as the input of bone_evidence.py.

Each fact is one bool per bone for the m bones of an armature. If a file contains only names and
parents, only facts about names are available.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import Bools, Floats, Index, Integers
from ..model.sparse_weights import SparseWeights
from .bone_distances import MOST_AT_ONCE, NEARER, distances_from_own
from .bone_names import is_end_bone, is_steering_name
from .skeleton import Skeleton

LED = 0.6  # a bone with at least this share of a vertex's weight leads it
JOINED = 0.05  # share of a bone's length; other bones this close to its ends begin and end there
COPIED = 0.02  # tolerance for an importer's copy: share of the parent's length, and rotation
AT = 0.9  # cosine between a bone and the direction to the child at which it points
AHEAD = 0.95  # cosine of the angle within which a bone points at another
BESIDE = 0.1  # share of a bone's length; bones within this distance lie on its line


def _none() -> Bools:
    return np.zeros(0, bool)


@dataclass
class BoneFacts:
    """Facts about bones. Empty facts are unknown. See EVIDENCE for the weight of each."""

    names: list[str]
    deform: np.ndarray  # (m,) bool
    parents: np.ndarray  # (m,) -1 for roots
    opposite: np.ndarray  # (m,) the mirror image of the bone, or the bone itself
    ik_target: np.ndarray = field(default_factory=_none)
    pole_target: np.ndarray = field(default_factory=_none)
    aimed_at: np.ndarray = field(default_factory=_none)  # by Track To, Stretch To...
    followed: np.ndarray = field(default_factory=_none)  # by Copy Location
    choice: np.ndarray = field(default_factory=_none)  # one of several targets that a bone copies
    carries: np.ndarray = field(default_factory=_none)  # lattices, curves, sockets
    drives: np.ndarray = field(default_factory=_none)  # through custom properties of its own
    shaped: np.ndarray = field(default_factory=_none)  # by a custom shape
    colored: np.ndarray = field(default_factory=_none)
    visible: np.ndarray = field(default_factory=_none)
    control_collection: np.ndarray = field(default_factory=_none)
    deform_collection: np.ndarray = field(default_factory=_none)
    apart: np.ndarray = field(default_factory=_none)  # not in the collection of deform bones
    handle: np.ndarray = field(default_factory=_none)  # of a bendy bone
    spanned: np.ndarray = field(default_factory=_none)  # see spanned()
    lesser: np.ndarray = field(default_factory=_none)  # see lesser_doubles() of coincident_bones.py
    locked: np.ndarray = field(default_factory=_none)  # all nine channels
    copies: np.ndarray = field(default_factory=_none)  # another bone, by Copy Transforms
    pulled: np.ndarray = field(default_factory=_none)  # by IK, Track To, Stretch To...
    bendy: np.ndarray = field(default_factory=_none)
    strays: np.ndarray = field(default_factory=_none)  # see strays()
    painted: np.ndarray = field(default_factory=_none)  # see painted()
    has_parts: np.ndarray = field(default_factory=_none)  # see coincident_bones.py
    leaf: np.ndarray = field(default_factory=_none)  # see leaf_bones()
    steers_end: np.ndarray = field(default_factory=_none)  # see steers_end()
    points_aside: np.ndarray = field(default_factory=_none)  # see points_aside()

    def known(self, name: str) -> Bools:
        """The fact with this name, (m,) bool; all False if it is unknown."""
        fact = getattr(self, name)
        return fact if len(fact) else np.zeros(len(self.names), bool)


def strays(poses: Floats, skeleton: Skeleton, points: Floats, asked: Bools) -> Bools:
    """Returns (m,) bool: the queried bones that no other deform bone follows.

    Such a bone strays from every other bone in at least one of the poses (p, m, 3, 4), by more than
    a radius. The radius is the largest of three values: the distance between the two bones at rest,
    the distance of the skin (points, in armature space), and half the bone's own length.
    """
    straying = np.zeros(len(skeleton.names), bool)
    for bone in np.flatnonzero(asked) if len(poses) else ():
        others = np.flatnonzero(skeleton.deform & ~asked)
        if not len(others):
            continue
        middle = (skeleton.heads[bone] + skeleton.tails[bone]) / 2
        middle_4 = np.append(middle, 1)
        offsets = np.linalg.norm((poses[:, others] - poses[:, [bone]]) @ middle_4, axis=2).max(0)
        skin = np.linalg.norm(points - middle, axis=1).min(initial=np.inf)
        half = np.linalg.norm(skeleton.tails[bone] - skeleton.heads[bone]) / 2
        radius = np.maximum(distances_from_own(middle[None], skeleton, others), max(half, skin))
        straying[bone] = (offsets > radius).all()
    return straying


def leaf_bones(skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: deform bones that an exporter has added to mark the end of a chain.

    Leaf bones have names for end bones, no children, and no tails drawn by an artist. Because the
    importer finds no bone to point at, it gives them the direction and length of their parents."""
    is_leaf, ways = np.zeros(len(skeleton.names), bool), skeleton.drawn_tails - skeleton.heads
    lengths = np.linalg.norm(ways, axis=1)
    is_parent = np.isin(np.arange(len(is_leaf)), skeleton.parents)
    for bone in np.flatnonzero(skeleton.deform & ~is_parent & (skeleton.parents >= 0)).tolist():
        parent = skeleton.parents[bone]
        is_copied = np.abs(lengths[bone] - lengths[parent]) <= COPIED * lengths[parent]
        is_aligned = ways[bone] @ ways[parent] >= (1 - COPIED) * lengths[bone] * lengths[parent]
        is_leaf[bone] = is_copied and is_aligned and is_end_bone(skeleton.names[bone])
    return is_leaf


def points_aside(skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: roots and their children that have several deform bones as children but
    point at none of them, in armatures with meaningless lengths. The end of such a bone is unknown,
    and it may be only the parent of the body."""
    is_aside, parents = np.zeros(len(skeleton.names), bool), skeleton.parents
    ways = skeleton.tails - skeleton.heads
    for bone in np.flatnonzero(skeleton.deform).tolist():
        parent = parents[bone]
        children = np.flatnonzero(skeleton.deform & (parents == bone))
        if skeleton.directions != "LENGTHS" or (parent >= 0 and parents[parent] >= 0):
            continue
        ways_to_children = skeleton.heads[children] - skeleton.heads[bone]
        size = np.linalg.norm(ways_to_children, axis=1) * np.linalg.norm(ways[bone])
        is_aside[bone] = len(children) > 1 and not (ways_to_children @ ways[bone] > AT * size).any()
    return is_aside


def steers_end(skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: deform bones that begin where the last bone of a chain points and whose
    names mark them as controls of the chain. The chain moves the skin there. The bone that it
    reaches for does not. The two have no common ancestor except a root."""
    is_steering = np.zeros(len(skeleton.names), bool)
    parents, deform = skeleton.solver_parents, skeleton.deform
    has_name = np.array([is_steering_name(name) for name in skeleton.names], bool)
    is_parent = np.isin(np.arange(len(is_steering)), parents[deform])
    ends = np.flatnonzero(deform & ~is_parent & ~has_name & (parents >= 0))
    ways = skeleton.tails[ends] - skeleton.heads[ends]
    lengths = np.linalg.norm(ways, axis=1)
    for bone in np.flatnonzero(deform & ~is_parent & has_name).tolist():
        offsets = skeleton.heads[bone] - skeleton.heads[ends]
        gaps = np.linalg.norm(offsets, axis=1)
        is_ahead = (gaps >= (1 - JOINED) * lengths) & (
            (offsets * ways).sum(1) > AHEAD * gaps * lengths
        )
        is_steering[bone] = any(_are_apart(parents, bone, end) for end in ends[is_ahead].tolist())
    return is_steering


def _are_apart(parents: Integers, a: Index, b: Index) -> bool:
    """Whether two bones have no common ancestor except a root."""
    ancestors = set()
    while (a := int(parents[a])) >= 0:
        ancestors.add(a)
    while (b := int(parents[b])) >= 0 and b not in ancestors:
        pass
    return bool(b < 0 or parents[b] < 0)


def spanned(skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: deform bones that span a chain of shorter bones on their line, from head
    to tail. They carry the chain, whose bones are the skin."""
    is_spanned = np.zeros(len(skeleton.names), bool)
    deform = np.flatnonzero(skeleton.deform)
    heads, tails = skeleton.heads[deform], skeleton.tails[deform]
    lengths = np.linalg.norm(tails - heads, axis=1)
    is_begun = _begun(heads, lengths)
    rows = (each[is_begun] for each in (deform, heads, tails, lengths))
    for bone, head, tail, length in zip(*rows, strict=True):
        axis, tolerance = (tail - head) / length, BESIDE * length
        is_on_line = lengths < (1 - JOINED) * length
        for ends in (heads, tails):
            offsets = ends - head - ((ends - head) @ axis)[:, None] * axis
            is_on_line &= np.linalg.norm(offsets, axis=1) < tolerance
        begin, end = (heads[is_on_line] - head) @ axis, (tails[is_on_line] - head) @ axis
        reached = np.zeros(1)
        for link in np.argsort(begin, kind="stable"):
            if np.abs(reached - begin[link]).min() < JOINED * length:
                reached = np.append(reached, end[link])
        is_spanned[bone] = (np.abs(reached - length) < JOINED * length).any()
    return is_spanned


def _begun(heads: Floats, lengths: Floats) -> Bools:
    """Returns (bones,) bool: whether a shorter bone begins approximately at the bone's head, as a
    chain along the bone must."""
    is_begun = np.zeros(len(heads), bool)
    step = max(1, MOST_AT_ONCE // max(1, len(heads)))
    for begin in range(0, len(heads), step):
        block = slice(begin, begin + step)
        offsets = heads - heads[block, None]
        reach = (JOINED + BESIDE) * lengths[block, None]
        is_near = np.einsum("kij,kij->ki", offsets, offsets) < reach**2
        is_begun[block] = (is_near & (lengths < lengths[block, None])).any(axis=1)
    return is_begun


def painted(points: Floats, rows: SparseWeights, skeleton: Skeleton, asked: Bools) -> Bools:
    """Returns (m,) bool: the queried bones with weights that no automatic method produces, because
    most of the vertices that such a bone leads are nearer to another bone.

    points: (n, 3) in armature space; rows: the SparseWeights of the points.
    """
    is_painted = np.zeros(len(skeleton.names), bool)
    leads = (rows.weights >= LED) & asked[rows.bones]
    deform = np.flatnonzero(skeleton.deform)
    for bone in np.unique(rows.bones[leads]):
        skin = points[rows.vertices[leads & (rows.bones == bone)]]
        others, nearer = deform[deform != bone], 0
        step = max(1, MOST_AT_ONCE // max(1, len(others)))
        for start in range(0, len(skin) if len(others) else 0, step):
            part = skin[start : start + step]
            gaps = distances_from_own(part[:, None], skeleton, others).min(1)
            nearer += int((gaps < NEARER * distances_from_own(part, skeleton, bone)).sum())
        is_painted[bone] = 2 * nearer > len(skin)
    return is_painted
