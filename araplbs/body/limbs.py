"""Legs and arms out of chains of bones.

A limb is the part of a chain that bends: an upper and a lower arm up to the hand, or a leg from
the hip to the first joint near the ground. Twist bones are not joints. The two parts of a limb are
two segments that are about equal, straight and most of the chain, with any number of bones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Floats
from .chains import Chain, Tree, lengths_of

SUBDIVIDED, STRAIGHT = 0.9, float(np.cos(np.radians(3)))  # equal lengths, in one line: one bone
BALANCED = 0.55  # the shorter of two parts of a limb, of the longer
IN_TWO = 0.75  # balanced and straight so far, two parts of a leg are its thigh and shin
WHOLE_ARM = 0.6  # of the way to the hand: two segments that are most of it are an arm
GROUND = 0.25  # of a leg's height: its end is the first joint below
LEADS, ACROSS = 0.4, 0.5  # of the next segment, and its slope: such a first one only leads to a leg
NEAR = 0.15  # of the length of a leg: feet that are nearer to its end go with it
FARTHEST, STEEP = 0.35, 0.6  # of the size, and of the way there: a foot below a leg without an end


@dataclass(frozen=True)
class Limb:
    """Of one side. Places at rest, in armature space."""

    joints: Floats  # (k + 1, 3) from its root to its end; 2 where a control has its end
    bones: tuple[int, ...] = ()  # k, that turn; none where a control has its end
    feet: tuple[int, ...] = ()  # what goes with its end and keeps its direction
    beyond: Floats | None = None  # (j, 3) joints after its end
    control: int = -1  # what its end goes with
    reach: float = 0.0  # how far it does so from its root

    @property
    def root(self) -> Floats:
        return self.joints[0]

    @property
    def end(self) -> Floats:
        return self.joints[-1]

    @property
    def length(self) -> float:
        return self.reach or float(lengths_of(self.joints).sum())


def as_arm(chain: Chain) -> Limb:
    """An upper and a lower arm: up to the hand, if there is one with fingers, else the two longest
    segments in a row."""
    if chain.control >= 0:
        return Limb(chain.joints, control=chain.control, reach=chain.reach)
    whole = chain.joints[: chain.hand + 1] if chain.hand > 1 else chain.joints
    places = _whole_bones(whole)
    if len(places) > 2:
        lengths = lengths_of(chain.joints[places])
        k = int((lengths[:-1] + lengths[1:]).argmax())
        balance = min(lengths[k : k + 2]) / max(lengths[k : k + 2])
        places = places[k : k + 3]
        most = float(lengths[k : k + 2].sum()) >= WHOLE_ARM * float(lengths.sum())
        if chain.hand > 1 and not (most and balance >= BALANCED):
            places = _in_two(whole)[0]
    return _limb(chain, places)


def as_leg(tree: Tree, chain: Chain, up: Floats, size: float, floor: float) -> Limb:
    """From the hip to the first joint near the ground. A foot may hang on the root, as in rigs with
    inverse kinematics, below the height `floor`: where tails mean nothing, the leg ends where its
    foot begins."""
    if chain.control >= 0:
        return as_arm(chain)
    apart = _foot_apart(tree, chain, up, size, floor)
    if apart >= 0 and not tree.drawn:
        chain = replace(chain, joints=np.vstack([chain.joints, tree.heads[apart]]))
    places = _whole_bones(chain.joints)
    heights = chain.joints[places] @ up
    low, high = heights.min(), heights[0]
    grounded = [k for k in range(1, len(places)) if heights[k] - low <= GROUND * (high - low)]
    places = places[: (grounded[0] if grounded else len(places) - 1) + 1]
    while len(places) > 3:
        lengths = lengths_of(chain.joints[places])
        level = abs((chain.joints[places[1]] - chain.joints[places[0]]) @ up) < ACROSS * lengths[0]
        if not level and lengths[0] >= LEADS * lengths[1]:
            break
        places = places[1:]
    if len(places) > 3:
        first = places[0]
        parts, score = _in_two(chain.joints[first : places[-1] + 1], whole=True)
        if score >= IN_TWO:
            places = [first + k for k in parts]
    limb = _limb(chain, places)
    if apart < 0 or apart in limb.feet:
        return limb
    toes = tree.below(apart)
    beyond = tree.heads[toes[1:]]
    if tree.drawn:
        beyond = np.vstack([beyond, tree.tails[toes[-1:]]])
    return replace(limb, feet=(*limb.feet, apart), beyond=np.vstack([limb.beyond, beyond]))


def _in_two(joints: Floats, whole: bool = False) -> tuple[list[int], float]:
    """([first, middle, last joint], how equal, straight and long they are) of the best two parts
    that end at the last of three joints or more; whole: those of all joints."""
    last, best = len(joints) - 1, ([0, 1, len(joints) - 1], -1.0)
    along = np.concatenate([[0], np.cumsum(lengths_of(joints))])
    for first in range(1 if whole else last - 1):
        for middle in range(first + 1, last):
            parts = np.diff(along[[first, middle, last]])
            ways = lengths_of(joints[[first, middle, last]])
            score = float(parts.min() / max(parts.max(), 1e-12))
            score *= float(np.prod(ways / np.maximum(parts, 1e-12))) ** 4
            score *= float(np.sqrt(parts.sum() / max(along[-1], 1e-12)))
            if score > best[1]:
                best = [first, middle, last], score
    return best


def _limb(chain: Chain, places: list[int]) -> Limb:
    last = places[-1]
    return Limb(
        chain.joints[places],
        tuple(chain.bones[k] for k in places[:-1]),
        chain.bones[last : last + 1],
        chain.joints[last + 1 :],
    )


def _whole_bones(joints: Floats) -> list[int]:
    """The joints that remain if bones of equal length in one line count as one, such as an upper
    arm and its twist. All joints, if this leaves no two parts of similar length."""
    ways = np.diff(joints, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    ways = ways / np.maximum(lengths, 1e-12)[:, None]
    kept = [0]
    for k in range(1, len(lengths)):
        alike = min(lengths[k - 1 : k + 1]) > SUBDIVIDED * max(lengths[k - 1 : k + 1])
        if not (alike and ways[k - 1] @ ways[k] > STRAIGHT):
            kept.append(k)
    kept.append(len(lengths))
    every = list(range(len(joints)))
    if len(kept) < 3:
        return every
    merged = lengths_of(joints[kept])
    k = int((merged[:-1] + merged[1:]).argmax())
    balance = min(merged[k : k + 2]) / max(merged[k : k + 2])
    return kept if balance >= BALANCED else every


def _foot_apart(tree: Tree, chain: Chain, up: Floats, size: float, floor: float) -> int:
    """The bone at the end of a leg that does not hang on it, -1 for none."""
    own = {*tree.below(chain.bones[0]), *tree.lineage(chain.bones[0])}
    heights, found = chain.joints @ up, []
    ground = heights.min() + GROUND * np.ptp(heights)
    low = chain.joints[heights <= ground]
    for b in tree.bones:
        if b in own or int(tree.above[b]) not in own | {-1} or tree.heads[b] @ up > ground:
            continue
        way = tree.heads[b] - chain.joints[-1]
        away, lower = float(np.linalg.norm(way)), -float(way @ up)
        near = np.linalg.norm(tree.heads[b] - low, axis=1).min() <= NEAR * chain.length
        below = away <= FARTHEST * size and lower > STEEP * away and tree.heads[b] @ up <= floor
        if near or (below and not tree.drawn):
            found.append((away, b))
    return min(found)[1] if found else -1
