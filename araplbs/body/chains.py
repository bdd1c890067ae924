"""Finds chains of bones and pairs of chains by shape alone, from joints instead of tails or names.

A chain begins wherever bones branch, and continues along the longest branch. Two chains form a pair
if their joints are mirror images, from the first one on and over half of their length. The symmetry
plane is the one with the most such chains, so a sword in one hand does not affect it. If the tails
are meaningless, as after an import, chains end at their last joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..base.arrays import Bools, Floats, Integers

IMAGE = 0.06  # tolerance for mirrored joints, as a share of the size of the skeleton
ALIKE = 0.5  # minimum share of the shorter of two chains that must have images in a pair
OWN = 0.1  # weight of a chain in the plane, relative to a pair of its length
LOOKED_AT = 12  # compared joints of a chain
LEAST_CHAIN = 0.04  # share of the size; shorter chains are not compared
MOST_CHAINS = 120  # number of longest chains: all their pairs are compared
LEAST_WIDE = 0.02  # share of the size; chains closer to each other do not determine planes
LEVEL = 0.2  # maximum upward share of a line across an upright plane
MOST_PLANES = 60  # number of planes tried
DRAWN = 0.57  # share of the distance to the nearest child; tails farther away are meaningless
ONE_PLACE = 0.2  # share of the same distance; palms that begin closer belong to a forearm
FINGERS = 3  # children of a hand
# Shares of the longest branch: limbs begin where another branch of one bone, or of several, is as
# long. Twist bones are single.
COMPARABLE, LEAST_BRANCH = 0.5, 0.25


def lengths_of(joints: Floats) -> Floats:
    return np.linalg.norm(np.diff(joints, axis=0), axis=1)


def parents_first(parents: Integers) -> Integers:
    """All indices, in an order in which each follows its parent, (m,)."""
    depths, above = np.zeros(len(parents), np.int64), parents
    while (above >= 0).any():
        depths += above >= 0
        above = np.where(above >= 0, parents[above], -1)
    return np.argsort(depths, kind="stable")


@dataclass(frozen=True)
class Chain:
    """A sequence of bones, or a chain that a control moves."""

    joints: Floats  # (k + 1, 3) from its first joint on; (k, 3) if the last bone has no end
    bones: tuple[int, ...] = ()
    above: int = -1  # the parent bone
    ends: int = 1  # of all branches
    hand: int = -1  # the last bone with fingers, by its index in the chain
    control: int = -1
    reach: float = 0.0

    @property
    def root(self) -> Floats:
        return self.joints[0]

    @property
    def length(self) -> float:
        return self.reach or float(lengths_of(self.joints).sum())

    def up_to(self, count: int) -> Chain:
        """The chain up to this number of joints."""
        return replace(self, joints=self.joints[:count], bones=self.bones[:count])


@dataclass(frozen=True)
class Plane:
    """A plane of symmetry: points with normal @ point = at."""

    normal: Floats
    at: float

    def image(self, points: Floats) -> Floats:
        return points - 2 * (points @ self.normal - self.at)[..., None] * self.normal

    def side(self, point: Floats) -> float:
        return float(point @ self.normal) - self.at


@dataclass(frozen=True)
class Pair:
    """A pair of chains. The left one is on the side of the plane's normal. count: the number of
    joints, from the first on, that are mirror images."""

    left: Chain
    right: Chain
    count: int

    def __iter__(self) -> Iterator[Chain]:
        return iter((self.left, self.right))

    @property
    def root(self) -> Floats:
        return (self.left.root + self.right.root) / 2


class Tree:
    """The bones of a skeleton that are considered, each below its nearest considered ancestor."""

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

    @cached_property
    def drawn(self) -> bool:
        """Whether an artist drew the tails. Tails set by importers miss every child."""
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
        """The bone and all its descendants, parents first."""
        found = [bone]
        for b in found:
            found += self.children.get(b, [])
        return found

    def lineage(self, bone: int) -> list[int]:
        """The bone and its ancestors."""
        found = []
        while bone >= 0:
            found.append(bone)
            bone = int(self.above[bone])
        return found

    def longest(self, bone: int) -> list[int]:
        """The chain that starts at a bone and is longest along its joints."""
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

    def limb(self, bone: int) -> list[int]:
        """The bones of the limb that contains a bone, parents first. A limb begins and ends where
        branches of comparable length meet, as at the chest and the hand. Short branches, such as
        twist bones, belong to the limb."""
        start = bone
        while self.above[start] >= 0 and start not in self._forks(int(self.above[start])):
            start = int(self.above[start])
        found = [start]
        for b in found:
            forks = self._forks(b)
            found += [child for child in self.children.get(b, []) if child not in forks]
        return found

    def _forks(self, bone: int) -> list[int]:
        """The children at which limbs begin: all of them if two branches are comparable."""
        children = self.children.get(bone, [])
        chains = [self.chain(child) for child in children]
        most = max((chain.length for chain in chains), default=0.0)
        shares = [COMPARABLE if len(chain.bones) == 1 else LEAST_BRANCH for chain in chains]
        long = [c.length >= share * most for c, share in zip(chains, shares, strict=True)]
        return children if sum(long) > 1 else []

    def chain(self, start: int) -> Chain:
        bones = self.longest(start)
        joints = self.heads[bones]
        if self.drawn:
            joints = np.vstack([joints, self.tails[bones[-1:]]])
        ends = sum(not self.children.get(b) for b in self.below(start))
        fingers = [len(self.children.get(b, [])) for b in bones]
        hand = max((k for k, count in enumerate(fingers) if count >= FINGERS), default=-1)
        hand += hand >= 0 and self._at_one_place(bones[hand])
        return Chain(joints, tuple(bones), int(self.above[start]), ends, int(hand))

    def _at_one_place(self, bone: int) -> bool:
        """Whether the children of a bone begin at its end, like palms at a forearm."""
        begin = self.heads[self.children[bone]]
        away = float(np.linalg.norm(begin - self.heads[bone], axis=1).mean())
        return bool(np.ptp(begin, axis=0).max() < ONE_PLACE * away)

    def chains(self) -> list[Chain]:
        """Chains from every branching point and from the roots."""
        return [
            self.chain(b)
            for above, children in self.children.items()
            for b in children
            if above < 0 or len(children) > 1
        ]


def find_pairs(
    tree: Tree, chains: list[Chain], up: Floats, size: float
) -> tuple[list[Pair], Plane] | None:
    """Returns the pairs of chains that are mirror images in one upright plane, and this plane; None
    without pairs. up: zeros if any plane will do. If one chain contains another, only the first of
    the two counts."""
    chains = [c for c in chains if c.length > LEAST_CHAIN * size and len(c.joints) > 1]
    chains = sorted(chains, key=lambda chain: -chain.length)[:MOST_CHAINS]
    if len(chains) < 2:
        return None
    compared = _Compared(chains, size)
    best, most = None, 0.0
    bound = float(compared.lengths.sum()) / 2  # if every chain has an image
    for plane in compared.planes(up):
        if most > bound * (1 - 1e-3):
            break
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
    """The joints of chains, which are compared with the mirror images of other chains."""

    def __init__(self, chains: list[Chain], size: float) -> None:
        self.size, n = size, len(chains)
        self.joints = np.full((n, LOOKED_AT, 3), np.nan)
        self.along = np.zeros((n, LOOKED_AT))  # length up to each joint
        self.lengths = np.array([chain.length for chain in chains])
        for k, chain in enumerate(chains):
            joints = chain.joints[:LOOKED_AT]
            self.joints[k, : len(joints)] = joints
            self.along[k, 1 : len(joints)] = np.cumsum(lengths_of(joints))
            if chain.reach:
                self.along[k, 1] = chain.reach

    def planes(self, up: Floats) -> Iterator[Plane]:
        """Upright planes in which the second joints of two chains are mirror images. The longest
        chains come first."""
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
        """Returns ([(left, right, joints that are images)], length of all chains with an image). A
        chain in the plane is its own image."""
        off = np.linalg.norm(plane.image(self.joints)[:, None] - self.joints[None], axis=-1)
        fits = np.cumprod(np.nan_to_num(off, nan=np.inf) <= IMAGE * self.size, axis=-1)
        counts = fits.sum(-1).astype(int)
        last = np.maximum(counts - 1, 0)
        each = np.arange(len(counts))
        alike = np.minimum(self.along[each[:, None], last], self.along[each[None], last])
        enough = ALIKE * np.minimum(self.lengths[:, None], self.lengths)
        alike = np.where((counts > 1) & (alike >= enough), alike, 0)
        mean = np.where(fits > 0, np.nan_to_num(off), 0).sum(-1) / np.maximum(counts, 1)
        order = alike - 1e-3 * mean  # the nearest of equal ones
        own = float(np.diag(alike).sum())
        np.fill_diagonal(order, np.where(np.diag(alike) > 0, np.diag(order), -np.inf))
        nearest, found, total = order.argmax(1), [], OWN * own
        side = np.nanmean(self.joints @ plane.normal - plane.at, axis=1)
        for i, j in enumerate(nearest):
            if i != j and nearest[j] == i and alike[i, j] > 0 and side[i] > 0 > side[j]:
                found.append((i, int(j), int(counts[i, j])))
                total += float(alike[i, j])
        return found, total
