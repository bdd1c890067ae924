"""Computes the names, rest positions and weights of n bones that replace one bendy bone.

Blender moves a vertex at u (0 to 1 along a bone of S segments) by the transforms of two joints,
(1 - t) M[i] + t M[i + 1] with i + t = u S. S + 1 bones that move by M[0] ... M[S] give the same
blend if each weight is multiplied by the hat functions of u S, so the conversion is exact. Any
other number of bones n divides the range of u into n - 1 equal parts and gives an approximation.
"""

import itertools
import re
from collections.abc import Callable, Set

import numpy as np

from ...base.arrays import Floats, Integers

LONGEST_NAME = 63  # maximum bytes of a bone name

# Name endings that Blender's mirror tools recognize, including a number that follows.
_SIDE = re.compile(r"([ ._-][lr]|[ ._-]?(left|right))(\.\d+)?$", re.IGNORECASE)


def segment_names(name: str, count: int, taken: Set[str]) -> list[str]:  # type: ignore[return]
    """Names of the bones that replace one bone. No name is in `taken`. For example, arm.L becomes
    arm_1.L and arm_2.L, so mirror tools still recognize the side."""
    side = _SIDE.search(name)
    stem, suffix = (name[: side.start()], side[0]) if side and side.start() else (name, "")
    digits = len(str(count))
    for tries in itertools.count():  # counts without end
        ends = [f"_{'b' * tries}{k:0{digits}}{suffix}" for k in range(1, count + 1)]
        room = LONGEST_NAME - len(ends[0].encode())
        start = stem.encode()[:room].decode(errors="ignore")
        names = [start + end for end in ends]
        if taken.isdisjoint(names):
            return names


def split_weights(
    u: Floats, weights: Floats, count: int | Integers, *, middles: bool = False
) -> tuple[Integers, Integers, Floats]:
    """Hat functions of (k,) u in 0..1 times weights, over `count` equally spaced bones, a number or
    (k,). The hats peak at the ends of the bones from u = 0 to u = 1 or, with `middles`, in the
    middle of each of `count` equal parts.

    Returns the nonzero entries (index among the k, bone, weight), at most two per index.
    """
    share = np.clip(np.asarray(u, np.float64), 0, 1)
    place = np.clip(share * count - 0.5, 0, count - 1) if middles else share * (count - 1)
    below = np.minimum(place.astype(np.int64), count - 2)
    above = place - below
    which = np.tile(np.arange(len(place)), 2)
    bones = np.concatenate([below, below + 1])
    parts = np.concatenate([weights * (1 - above), weights * above])
    entry = parts > 0
    return which[entry], bones[entry], parts[entry]


def stations(joints: Floats, count: int) -> Floats:
    """Points (count, 3) at equal u on the polyline through (S + 1, 3) joints."""
    at = np.linspace(0, 1, len(joints))
    u = np.linspace(0, 1, count)
    return np.stack([np.interp(u, at, joints[:, axis]) for axis in range(3)], axis=1)


def slide_to(u: Callable[[float], float], wanted: float, bracket: float) -> float:
    """Finds, by bisection, the s nearest to 0 at which the increasing function u(s) is `wanted`; 0
    if none is within 16 times `bracket`. The result is exact at the ends of the bone, beyond which
    u stays 0 or 1."""
    below = (lambda s: u(s) < wanted) if wanted > 0 else (lambda s: u(s) <= 0)
    for _ in range(5):
        low, high = -bracket, bracket
        if below(low) and not below(high):
            break
        bracket *= 2
    else:
        return 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return high if wanted > 0 else low


def largest_share(before: Floats, after: Floats) -> float:
    """The largest distance between (n, 3) points, as a share of their bounding-box diagonal."""
    diagonal = np.linalg.norm(before.max(axis=0) - before.min(axis=0))
    distance = np.linalg.norm(after - before, axis=1).max()
    return float(distance / diagonal) if diagonal > 0 else 0.0
