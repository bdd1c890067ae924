"""Pairs of limbs in a skeleton, by its shape alone: no names, and joints rather than tails.

A chain begins wherever bones branch, and goes on along its longest branch. Two chains whose joints
are mirror images of each other, from the first on and over half of their length, are a pair; the
plane is the one with the most such chains. So one hand may hold a sword. Where importers leave
tails that mean nothing, chains end at their last joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Bools, Floats, Integers

IMAGE = 0.06  # of the size of the skeleton: how far a joint may be off its mirror image
ALIKE = 0.5  # of the shorter chain of two: so much of a pair has images
OWN = 0.1  # what a chain in the plane counts, of what a pair of its length does
LOOKED_AT = 12  # joints of a chain that are compared
LEAST_CHAIN = 0.04  # of the size: shorter chains are not compared
LEAST_WIDE = 0.02  # of the size: chains that are nearer to each other tell no plane
LEVEL = 0.2  # of a way across the plane: more of it upward, and it crosses no upright plane
MOST_PLANES = 60  # that are tried
DRAWN = 0.57  # of the way to the nearest child: tails that are farther off it mean nothing
SUBDIVIDED, STRAIGHT = 0.9, float(np.cos(np.radians(3)))  # equal lengths, in one line: one bone
BALANCED = 0.55  # the shorter of two parts of a limb, of the longer
IN_TWO = 0.75  # balanced and straight so far, two parts of a leg are its thigh and shin
ONE_PLACE = 0.2  # of the way there: palms that begin so near to each other hang on a forearm
WHOLE_ARM = 0.6  # of the way to the hand: two segments that are most of it are an arm
FINGERS = 3  # bones that hang on a hand
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
        return self.reach or float(_lengths(self.joints).sum())


@dataclass(frozen=True)
class Chain:
    """Bones one after the other, or what a control reaches with."""

    joints: Floats  # (k + 1, 3) from its first joint on; (k, 3) where the last has no end
    bones: tuple[int, ...] = ()
    above: int = -1  # the bone on which it hangs
    ends: int = 1  # of all branches
    hand: int = -1  # the last bone with fingers, by its place in the chain
    control: int = -1
    reach: float = 0.0

    @property
    def root(self) -> Floats:
        return self.joints[0]

    @property
    def length(self) -> float:
        return self.reach or float(_lengths(self.joints).sum())

    def up_to(self, count: int) -> Chain:
        """The first joints alone."""
        return replace(self, joints=self.joints[:count], bones=self.bones[:count])


@dataclass(frozen=True)
class Plane:
    """Of symmetry: points with normal @ point = at."""

    normal: Floats
    at: float

    def image(self, points: Floats) -> Floats:
        return points - 2 * (points @ self.normal - self.at)[..., None] * self.normal

    def side(self, point: Floats) -> float:
        return float(point @ self.normal) - self.at


@dataclass(frozen=True)
class Pair:
    """The left one is where the plane's normal points. count: joints from the first on that are
    images of each other."""

    left: Chain
    right: Chain
    count: int

    def __iter__(self) -> Iterator[Chain]:
        return iter((self.left, self.right))

    @property
    def root(self) -> Floats:
        return (self.left.root + self.right.root) / 2


class Tree:
    """Bones of a skeleton that are looked at, each on the nearest one above that is, too."""

    def __init__(self, heads: Floats, tails: Floats, parents: Integers, which: Bools) -> None:
        self.heads, self.tails = heads, tails
        self.bones = [int(b) for b in np.flatnonzero(which)]
        self.above = np.full(len(parents), -1)
        self.children: dict[int, list[int]] = {-1: []}
        for b in self.bones:
            above = int(parents[b])
            while above >= 0 and not which[above]:
                above = int(parents[above])
            self.above[b] = above
            self.children.setdefault(above, []).append(b)
        self.drawn = self._tails_are_drawn()

    def _tails_are_drawn(self) -> bool:
        """Whether somebody drew them: importers leave tails that miss every child."""
        misses = []
        for b in self.bones:
            ways = [self.heads[k] - self.heads[b] for k in self.children.get(b, [])]
            shares = [
                np.linalg.norm(self.heads[b] + way - self.tails[b]) / np.linalg.norm(way)
                for way in ways
                if way.any()
            ]
            if shares:
                misses.append(min(shares))
        return not misses or float(np.median(misses)) < DRAWN

    def below(self, bone: int) -> list[int]:
        """The bone and all that hang on it, those above others first."""
        found = [bone]
        for b in found:
            found += self.children.get(b, [])
        return found

    def lineage(self, bone: int) -> list[int]:
        """The bone and those that it hangs on."""
        found = []
        while bone >= 0:
            found.append(bone)
            bone = int(self.above[bone])
        return found

    def longest(self, bone: int) -> list[int]:
        """The chain from a bone on that reaches farthest along its joints."""
        best: dict[int, tuple[float, list[int]]] = {}
        for b in reversed(self.below(bone)):
            own = float(np.linalg.norm(self.tails[b] - self.heads[b])) if self.drawn else 0.0
            found = own, [b]
            for child in self.children.get(b, []):
                length, beyond = best[child]
                length += float(np.linalg.norm(self.heads[child] - self.heads[b]))
                if length > found[0] or len(found[1]) == 1:
                    found = length, [b, *beyond]
            best[b] = found
        return best[bone][1]

    def chain(self, start: int) -> Chain:
        bones = self.longest(start)
        joints = self.heads[bones]
        if self.drawn:
            joints = np.vstack([joints, self.tails[bones[-1:]]])
        ends = sum(not self.children.get(b) for b in self.below(start))
        hand = max((k for k, b in enumerate(bones) if self._has_fingers(b)), default=-1)
        hand += hand >= 0 and self._at_one_place(bones[hand])
        return Chain(joints, tuple(bones), int(self.above[start]), ends, int(hand))

    def _has_fingers(self, bone: int) -> bool:
        return len(self.children.get(bone, [])) >= FINGERS

    def _at_one_place(self, bone: int) -> bool:
        """Whether what hangs on a bone begins where it ends, as palms do on a forearm."""
        begin = self.heads[self.children[bone]]
        away = float(np.linalg.norm(begin - self.heads[bone], axis=1).mean())
        return bool(np.ptp(begin, axis=0).max() < ONE_PLACE * away)

    def chains(self) -> list[Chain]:
        """From every place where bones branch, and from the roots."""
        return [
            self.chain(b)
            for above, children in self.children.items()
            for b in children
            if above < 0 or len(children) > 1
        ]


def find_pairs(
    tree: Tree, chains: list[Chain], up: Floats, size: float
) -> tuple[list[Pair], Plane] | None:
    """The pairs of chains that are mirror images in one upright plane, and this plane; None where
    there are none. Of chains that hang in each other the first counts."""
    chains = [c for c in chains if c.length > LEAST_CHAIN * size and len(c.joints) > 1]
    if len(chains) < 2:
        return None
    compared = _Compared(chains, size)
    best, most = None, 0.0
    for plane in compared.planes(up):
        pairs, found = compared.images(plane)
        if found > most * (1 + 1e-6):
            best, most = (plane, pairs), found
    if best is None:
        return None
    plane, indices = best
    starts = {b for i, j, _count in indices for k in (i, j) for b in chains[k].bones[:1]}
    outer = [
        (i, j, count)
        for i, j, count in indices
        if not any(starts.intersection(tree.lineage(chains[k].above)) for k in (i, j))
    ]
    return [Pair(chains[i], chains[j], count) for i, j, count in outer], plane


class _Compared:
    """Joints of chains, held against the images of others."""

    def __init__(self, chains: list[Chain], size: float) -> None:
        self.size, n = size, len(chains)
        self.joints = np.full((n, LOOKED_AT, 3), np.nan)
        self.along = np.zeros((n, LOOKED_AT))  # length up to each joint
        self.lengths = np.array([chain.length for chain in chains])
        for k, chain in enumerate(chains):
            joints = chain.joints[:LOOKED_AT]
            self.joints[k, : len(joints)] = joints
            self.along[k, 1 : len(joints)] = np.cumsum(_lengths(joints))
            if chain.reach:
                self.along[k, 1] = chain.reach

    def planes(self, up: Floats) -> Iterator[Plane]:
        """Upright planes in which the second joints of two chains are images of each other, of the
        longest chains first."""
        i, j = np.triu_indices(len(self.lengths), 1)
        shorter = np.minimum(self.lengths[i], self.lengths[j])
        way = self.joints[i, 1] - self.joints[j, 1]
        high = np.abs(way @ up)
        way = way - (way @ up)[:, None] * up
        wide = np.linalg.norm(way, axis=1)
        chosen = np.flatnonzero((wide > LEAST_WIDE * self.size) & (high < LEVEL * wide))
        for k in chosen[np.argsort(-shorter[chosen], kind="stable")][:MOST_PLANES]:
            normal = way[k] / wide[k]
            yield Plane(normal, float(self.joints[[i[k], j[k]], 1].mean(0) @ normal))

    def images(self, plane: Plane) -> tuple[list[tuple[int, int, int]], float]:
        """([(left, right, joints that are images)], length of all chains with an image). Chains in
        the plane are their own."""
        off = np.linalg.norm(plane.image(self.joints)[:, None] - self.joints[None], axis=-1)
        fits = np.cumprod(np.nan_to_num(off, nan=np.inf) <= IMAGE * self.size, axis=-1)
        counts = fits.sum(-1).astype(int)
        last = np.maximum(counts - 1, 0)
        each = np.arange(len(counts))
        alike = np.minimum(self.along[each[:, None], last], self.along[each[None], last])
        enough = ALIKE * np.minimum(self.lengths[:, None], self.lengths)
        alike = np.where((counts > 1) & (alike >= enough), alike, 0)
        mean = np.where(fits > 0, np.nan_to_num(off), 0).sum(-1) / np.maximum(counts, 1)
        order = alike - 1e-3 * mean  # of equal ones the nearest
        own = float(np.diag(alike).sum())
        np.fill_diagonal(order, np.where(np.diag(alike) > 0, np.diag(order), -np.inf))
        nearest, found, total = order.argmax(1), [], OWN * own
        side = np.nanmean(self.joints @ plane.normal - plane.at, axis=1)
        for i, j in enumerate(nearest):
            if i != j and nearest[j] == i and alike[i, j] > 0 and side[i] > 0 > side[j]:
                found.append((i, int(j), int(counts[i, j])))
                total += float(alike[i, j])
        return found, total


def as_arm(chain: Chain) -> Limb:
    """An upper and a lower arm: up to the hand, if there is one with fingers, else the two longest
    segments in a row."""
    if chain.control >= 0:
        return Limb(chain.joints, control=chain.control, reach=chain.reach)
    whole = chain.joints[: chain.hand + 1] if chain.hand > 1 else chain.joints
    places = _whole_bones(whole)
    if len(places) > 2:
        lengths = _lengths(chain.joints[places])
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
        lengths = _lengths(chain.joints[places])
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
    along = np.concatenate([[0], np.cumsum(_lengths(joints))])
    for first in range(1 if whole else last - 1):
        for middle in range(first + 1, last):
            parts = np.diff(along[[first, middle, last]])
            ways = _lengths(joints[[first, middle, last]])
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
    """Which joints are left where bones of equal length in one line are one: an upper arm and its
    twist. All where that leaves no two parts about as long as each other."""
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
    merged = _lengths(joints[kept])
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


def _lengths(joints: Floats) -> Floats:
    return np.linalg.norm(np.diff(joints, axis=0), axis=1)
