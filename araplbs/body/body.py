"""Finds the legs, arms and trunk of a body.

chains.py finds the pairs of chains. A pair that reaches down to the lowest joints is a pair of
legs. A second pair far from the first indicates a quadruped, and more pairs an insect. A pair on
the trunk above the hips is a pair of arms if it is about as long as the longest such pair. These
rules exclude tails, hair, ears, skirts and weapons, which are not pairs, do not end low, or are
children of the head. Bone names are not used."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ..base.affine import unit
from ..base.arrays import Floats
from .chains import Chain, Pair, Plane, Tree, find_pairs
from .limbs import Limb, as_arm, as_leg

LOW, DROP = 0.25, 0.1  # shares of the height; legs end below LOW and begin at least DROP higher
FLOOR = 0.12  # share of the height; a foot that is not a child of a leg is below this level
UPRIGHT = 0.15  # minimum drop, as a share of a leg's length; wings are horizontal
LEAST_LIMB = 0.12  # share of the height; shorter chains are ears and fingers
LEAST_DROP = 0.5  # share of the height of the first pair; pairs that begin lower are not legs
APART = 0.5  # share of a leg's length; legs with feet closer to those of others are skirts
ABOVE = 0.15  # share of the distance from the hips to the top; arms begin above this level
AS_LONG = 0.4  # share of the longest pair above the hips; shorter ones are not arms
NO_TURN = 0.01  # share of the size; feet that point less far forward do not determine the direction
MIDDLE = 0.04  # maximum distance of trunk bones from the symmetry plane, as a share of the size
LEAST_TRUNK = 0.1  # share of the size; shorter necks and tails are ignored
ALSO_LOW = 0.7  # share of the drop of two legs; with other chains of this drop, they are fingers


@dataclass(frozen=True)
class Body:
    """legs: pair by pair, from back to front, with the left leg of each pair first. spine, neck,
    tail: bones in the middle, parents first."""

    legs: tuple[tuple[Limb, Limb], ...]
    arms: tuple[Limb, Limb] | None
    up: Floats  # (3,)
    forward: Floats  # (3,)
    spine: tuple[int, ...] = ()
    neck: tuple[int, ...] = ()
    tail: tuple[int, ...] = ()

    @property
    def limbs(self) -> tuple[Limb, ...]:
        return tuple(limb for pair in self.legs for limb in pair) + (self.arms or ())

    @property
    def left(self) -> Floats:
        return np.cross(self.up, self.forward)

    @property
    def is_biped(self) -> bool:
        return len(self.legs) == 1


def find_body(tree: Tree, chains: list[Chain], up: Floats) -> Body | None:
    """Finds the Body formed by these chains, or None. up (3,): a unit vector."""
    if not chains:
        return None
    joints = np.vstack([tree.heads[tree.bones], *(chain.joints for chain in chains)])
    size = float(np.ptp(joints, axis=0).max())
    found = find_pairs(tree, chains, up, size)
    if found is None:
        return None
    pairs, plane = found
    heights = joints @ up
    height = float(np.ptp(heights))
    legs = _legs(tree, pairs, up, size, float(heights.min()), height)
    if not legs:
        return None
    forward = _forward(tree, chains, legs, plane, up, size)
    if forward @ np.cross(plane.normal, up) < 0:  # the normal should point to the left
        legs = [(pair, (right, left)) for pair, (left, right) in legs]
    legs.sort(key=lambda leg: float(_feet_of(leg) @ forward))
    arms = None
    if len(legs) == 1:
        others = [pair for pair in pairs if pair is not legs[0][0]]
        arms = _arms(tree, others, legs[0][0], up, float(heights.max()), height)
        if arms is None and _is_hand(chains, legs[0], up, float(heights.min()), height):
            return None
    if arms and (arms[0].end - arms[1].end) @ np.cross(up, forward) < 0:
        arms = arms[::-1]
    body = Body(tuple(limbs for _pair, limbs in legs), arms, up, forward)
    return _with_trunk(tree, chains, body, [pair for pair, _limbs in legs], plane, size)


Leg = tuple[Pair, tuple[Limb, Limb]]


def _legs(
    tree: Tree, pairs: list[Pair], up: Floats, size: float, low: float, height: float
) -> list[Leg]:
    """The pairs of legs. The pairs that begin highest come first."""
    found: list[tuple[float, Leg]] = []
    for pair in pairs:
        left, right = (as_leg(tree, chain, up, size, low + FLOOR * height) for chain in pair)
        length = min(left.length, right.length)
        end = float((left.end + right.end) @ up) / 2
        drop = float((left.root + right.root) @ up) / 2 - end
        goes_down = drop > max(DROP * height, UPRIGHT * length)
        if goes_down and end - low < LOW * height and length >= LEAST_LIMB * height:
            found.append((drop, (pair, (left, right))))
    found.sort(key=lambda each: -each[0])
    kept: list[Leg] = []
    for drop, leg in found:
        feet = _feet_of(leg)
        away = [np.linalg.norm(feet - _feet_of(other)) for other in kept]
        far = all(each >= APART * leg[1][0].length for each in away)
        if far and drop >= LEAST_DROP * found[0][0] and not (kept and _helps(tree, leg, kept[0])):
            kept.append(leg)
    return kept


def _helps(tree: Tree, leg: Leg, other: Leg) -> bool:
    """Whether this chain of one bone is above another of several bones, like the pole target of a
    knee."""
    above, trunk = leg[0].left.above, tree.lineage(other[0].left.above)
    return len(leg[1][0].bones) < min(2, len(other[1][0].bones)) and above in [-1, *trunk[1:]]


def _feet_of(leg: Leg) -> Floats:
    left, right = leg[1]
    return (left.end + right.end) / 2


def _forward(
    tree: Tree, chains: list[Chain], legs: list[Leg], plane: Plane, up: Floats, size: float
) -> Floats:
    """The forward direction, (3,), in which feet point and knees bend. For a quadruped, it is the
    direction of the feet or of the highest end of the trunk. If nothing determines it, it is -Y, as
    for most characters."""
    ahead = np.cross(plane.normal, up)
    ahead = ahead if ahead[np.abs(ahead).argmax()] < 0 else -ahead
    feet, knees = 0.0, 0.0
    for _pair, limbs in legs:
        for limb in limbs:
            if limb.beyond is not None and len(limb.beyond):
                feet += float((limb.beyond.mean(0) - limb.end) @ ahead)
            if len(limb.joints) > 2:
                straight = unit(limb.end - limb.root)
                off = limb.joints[1] - limb.root
                knees += 2 * float((off - (off @ straight) * straight) @ ahead)
    center = np.mean([limb.root for _pair, limbs in legs for limb in limbs], axis=0)
    ends = [
        chain.joints[-1]
        for chain in chains
        if max(abs(plane.side(joint)) for joint in chain.joints) < MIDDLE * size
        and abs((chain.joints[-1] - center) @ ahead) > LEAST_TRUNK * size
    ]
    rises = float((max(ends, key=lambda end: float(end @ up)) - center) @ ahead) if ends else 0.0
    for vote in (feet + knees, rises) if len(legs) == 1 else (feet, rises):
        if abs(vote) > NO_TURN * size:
            return ahead if vote > 0 else -ahead
    return ahead


def _arms(
    tree: Tree, pairs: list[Pair], legs: Pair, up: Floats, top: float, height: float
) -> tuple[Limb, Limb] | None:
    hips = float(legs.root @ up)
    found = []
    for pair in pairs:
        left, right = (as_arm(chain.up_to(pair.count)) for chain in pair)
        above = float(left.root @ up) > hips + ABOVE * (top - hips)
        if above and min(left.length, right.length) >= LEAST_LIMB * height:
            found.append((pair, left, right))
    most = max((left.length for _pair, left, _right in found), default=0.0)
    found = [each for each in found if each[1].length >= AS_LONG * most]
    if not found:
        return None

    behind = tree.lineage(legs.left.above)

    def order(each: tuple[Pair, Limb, Limb]) -> tuple[bool, int, int, float]:
        chain = each[0].left
        on_hips = chain.control < 0 and (chain.above in behind or chain.above < 0)
        return on_hips, len(tree.lineage(chain.above)), -chain.ends, -each[1].length

    _pair, left, right = min(found, key=order)
    return left, right


def _is_hand(chains: list[Chain], leg: Leg, up: Floats, low: float, height: float) -> bool:
    """Whether other chains have a similar drop to these legs."""
    pair, _limbs = leg
    own = {chain.bones[:1] for chain in pair}
    drop = float((pair.root - _feet_of(leg)) @ up)
    return any(
        chain.bones[:1] not in own
        and chain.above == pair.left.above
        and (chain.root - chain.joints[-1]) @ up > ALSO_LOW * drop
        and chain.joints[-1] @ up - low < LOW * height
        for chain in chains
    )


def _with_trunk(
    tree: Tree, chains: list[Chain], body: Body, legs: list[Pair], plane: Plane, size: float
) -> Body:
    """Adds neck, tail and, between the legs of a quadruped, spine."""
    if any(not chain.bones for pair in legs for chain in pair):
        return body
    middle = {b for b in tree.bones if abs(plane.side(tree.heads[b])) < MIDDLE * size}
    behind, before = (tree.lineage(legs[k].left.above) for k in (0, -1))
    spine = [b for b in before if b not in behind and b in middle][::-1]
    spine = spine or [b for b in behind if b not in before and b in middle][::-1]
    hips, chest = (
        float(np.mean([limb.root for limb in body.legs[k]], axis=0) @ body.forward) for k in (0, -1)
    )
    ends = []  # (bones, position of the end, way to it) of chains in the middle, all forward
    for chain in chains:
        bones = list(itertools.takewhile(middle.__contains__, chain.bones))
        if bones and bones[0] not in {*behind, *before}:
            last = chain.joints[min(len(bones), len(chain.joints) - 1)]
            ahead = float((last - chain.root) @ body.forward)
            ends.append((bones, float(last @ body.forward), ahead))
    least = LEAST_TRUNK * size
    tail = _longest([(bones, hips - end, -ahead) for bones, end, ahead in ends], least)
    if body.is_biped:
        return replace(body, tail=tuple(tail))
    neck = _longest([(bones, end - chest, ahead) for bones, end, ahead in ends], least)
    back = (hips + chest) / 2
    spine = spine or [b for b in neck if tree.heads[b] @ body.forward < back]
    neck = _to_the_head(tree, [b for b in neck if b not in spine])
    tail = [b for b in tail if tree.heads[b] @ body.forward < back]
    return replace(body, spine=tuple(spine), neck=tuple(neck), tail=tuple(tail))


def _longest(chains: list[tuple[list[int], float, float]], least: float) -> list[int]:
    """The bones of the chain that reaches farthest, [] if none does by more than `least`. chains:
    their bones, reach and length."""
    chains = [chain for chain in chains if min(chain[1:]) > least]
    return max(chains, key=lambda chain: chain[1])[0] if chains else []


def _to_the_head(tree: Tree, neck: list[int]) -> list[int]:
    """The bones of a chain up to the first one with several children."""
    for k, bone in enumerate(neck):
        if len(tree.children.get(bone, [])) > 1:
            return neck[: k + 1]
    return neck
