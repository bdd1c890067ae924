"""Finds legs and arms in chains of bones.

A limb is the part of a chain that bends, such as the upper and lower arm up to the hand, or a leg
from the hip to the first joint near the ground. Twist bones do not count as joints. A limb consists
of two straight segments of similar length, each with any number of bones, which together make up
most of the chain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Floats
from .chains import Chain, Tree, lengths_of

SUBDIVIDED, STRAIGHT = 0.9, float(np.cos(np.radians(3)))  # such segments are one bone
BALANCED = 0.55  # ratio of the shorter to the longer part of a limb
IN_TWO = 0.75  # with this balance and straightness, two parts of a leg are its thigh and shin
WHOLE_ARM = 0.6  # share of the distance to the hand; two segments with this share are an arm
GROUND = 0.25  # share of a leg's height; the leg ends at the first joint below this level
LEADS, ACROSS = 0.4, 0.5  # length relative to the next segment, and slope, of a lead-in
NEAR = 0.15  # share of a leg's length; feet within this distance of its end follow it
FARTHEST, STEEP = 0.35, 0.6  # shares of the size and of the path; foot below an endless leg


@dataclass(frozen=True)
class Limb:
    """A limb on one side. Positions are at rest, in armature space."""

    joints: Floats  # (k + 1, 3) from its root to its end; only two if a control has its end
    bones: tuple[int, ...] = ()  # k bones that turn; none if a control has its end
    feet: tuple[int, ...] = ()  # bones that follow its end and keep their direction
    beyond: Floats | None = None  # (j, 3) joints after its end
    control: int = -1  # the bone that its end follows
    reach: float = 0.0  # how much it follows, measured from its root

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
    """An upper and a lower arm. These end at the hand if the hand has fingers. Otherwise, they are
    the two longest consecutive segments."""
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
    """A leg from the hip to the first joint near the ground. A foot may be a child of the root
    below the height `floor`, as in rigs with inverse kinematics. If tails are meaningless, the leg
    ends where its foot begins."""
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
    """Returns ([first, middle, last joint], score) of the best division of three or more joints
    into two parts. The score grows with the parts' equality, straightness and length. whole:
    whether the parts must include all joints."""
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
    """The joints that remain if aligned bones of equal length count as one, such as an upper arm
    and its twist. All joints remain if two parts of similar length cannot be formed otherwise."""
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
    """The bone at the end of a leg that is not its child, -1 for none."""
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
