"""Arms and legs of a biped, and what they do when it walks and reaches.

A limb is two bones that bend in between: where its end is to go, a triangle of their lengths says
how they turn. A skeleton with a leg and an arm on each side is a biped; others have no such motion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Bools, Floats, Integers

LOW, HIP, SHOULDER, HAND = 0.2, 0.3, 0.55, 0.25  # of the height: where limbs begin and end
LEAST_LIMB = 0.12  # of the height: shorter ones are ears and fingers
MOST_BENT = 0.995  # of the length of a limb: it reaches no further
STRIDE, LIFT = 0.35, 0.22  # of a leg
ARM_SWING, ARM_DOWN, ARM_OUT = math.radians(25), 0.9, 0.15  # of an arm

STEPS = ("contact", "down", "passing", "up")  # of a walk, once for each side
# Name: toward up, forward and the side of the hand, of an arm's length.
REACHES = (
    ("forward", (0.0, 0.95, 0.1)),
    ("up", (0.95, 0.05, 0.15)),
    ("side", (0.05, 0.05, 0.95)),
    ("across", (-0.05, 0.6, -0.45)),
    ("down", (-0.95, 0.05, 0.15)),
)


@dataclass(frozen=True)
class Limb:
    """Of one side. Places at rest, in armature space."""

    is_leg: bool
    root: np.ndarray  # (3,)
    middle: np.ndarray | None  # (3,) None: what has its end knows how it bends
    end: np.ndarray  # (3,)
    length: float
    upper: int  # bones, or -1 where a control has its end
    lower: int
    foot: int  # what hangs on the lower one next, or -1
    control: int = -1  # what its end goes with


@dataclass(frozen=True)
class Body:
    """A biped: two legs and two arms, the left ones, at greater X, first."""

    legs: tuple[Limb, Limb]
    arms: tuple[Limb, Limb]
    up: np.ndarray  # (3,)
    forward: np.ndarray  # (3,)

    @property
    def limbs(self) -> tuple[Limb, ...]:
        return self.legs + self.arms


def find_body(limbs: list[Limb], points: Floats, up: Floats) -> Body | None:
    """The Body that these limbs are of; None where they are not those of a biped. points (k, 3): of
    all bones; up (3,): a unit vector."""
    heights = points @ up
    low, height = heights.min(), max(np.ptp(heights), 1e-12)
    found: dict[bool, list[Limb]] = {True: [], False: []}
    for limb in limbs:
        root, end = ((at @ up - low) / height for at in (limb.root, limb.end))
        if limb.length < LEAST_LIMB * height:
            continue
        if end < LOW and root - end > HIP:
            found[True].append(replace(limb, is_leg=True))
        elif root > SHOULDER and end > HAND:
            found[False].append(limb)
    pairs = []
    for each in found.values():
        each.sort(key=lambda limb: -limb.end[0])
        if len(each) != 2 or not each[0].end[0] > 0 > each[1].end[0]:
            return None
        pairs.append((each[0], each[1]))
    legs, arms = pairs
    toes = np.vstack([leg.end for leg in legs]).mean(axis=0)
    lowest = points[heights < low + LOW * height].mean(axis=0)
    forward = np.cross([1.0, 0.0, 0.0], up)  # of most characters: along -Y
    if (lowest - toes) @ forward < -0.01 * height:
        forward = -forward
    return Body(legs, arms, up, forward)


def limbs_of(
    heads: Floats, tails: Floats, parents: Integers, partners: Integers, which: Bools
) -> list[Limb]:
    """Limb by limb the two longest bones in a row of every chain that has one on the other side.

    partners: (m,) the bone of the other side, itself on the plane, -1 for none. which (m,): the
    bones that are looked at.
    """
    children: dict[int, list[int]] = {}
    nearest = np.full(len(parents), -1)
    for b in np.flatnonzero(which).tolist():
        above = parents[b]
        while above >= 0 and not which[above]:
            above = parents[above]
        nearest[b] = above
        children.setdefault(int(above), []).append(b)
    paired = which & (partners >= 0) & (partners != np.arange(len(partners)))
    found = []
    for b in np.flatnonzero(paired).tolist():
        if nearest[b] >= 0 and paired[nearest[b]]:
            continue
        chain = _longest(b, children, heads, tails)
        if len(chain) < 2:
            continue
        ends = np.vstack([heads[chain], tails[chain[-1:]]])
        lengths = np.linalg.norm(np.diff(ends, axis=0), axis=1)
        k = int((lengths[:-1] + lengths[1:]).argmax())
        foot = chain[k + 2] if k + 2 < len(chain) else -1
        places = (ends[k], ends[k + 1], ends[k + 2])
        length = float(lengths[k] + lengths[k + 1])
        found.append(Limb(False, *places, length, chain[k], chain[k + 1], foot))
    return found


def _longest(bone: int, children: dict[int, list[int]], heads: Floats, tails: Floats) -> list[int]:
    """The chain from a bone on that reaches farthest along its bones."""
    best, length = [], -1.0
    for child in children.get(bone, []):
        chain = _longest(child, children, heads, tails)
        ends = np.vstack([heads[[bone, *chain]], tails[chain[-1:]]])
        own = float(np.linalg.norm(np.diff(ends, axis=0), axis=1).sum())
        if own > length:
            best, length = chain, own
    return [bone, *best]


def motions(body: Body) -> list[tuple[str, list[tuple[Limb, Floats]]]]:
    """[(name, [(limb, (3,) where its end goes)])] of a walk in place, and of arms that reach."""
    found = []
    for k in range(2 * len(STEPS)):
        phase, side = k / (2 * len(STEPS)), "LR"[k // len(STEPS)]
        goals = []
        for n, leg in enumerate(body.legs):
            goals.append((leg, _foot(body, leg, (phase + 0.5 * n) % 1)))
        for n, arm in enumerate(body.arms):
            goals.append((arm, _hand(body, arm, (phase + 0.5 * (1 - n)) % 1)))
        found.append((f"Walk {STEPS[k % len(STEPS)]} {side}", goals))
    for name, (upward, ahead, out) in REACHES:
        goals = []
        for arm in body.arms:
            outward = np.array([np.sign(arm.end[0]), 0.0, 0.0])
            way = upward * body.up + ahead * body.forward + out * outward
            goals.append((arm, arm.root + arm.length * way))
        found.append((f"Reach {name}", goals))
    for n, side in enumerate("LR"):
        leg = body.legs[n]
        way = 0.45 * body.forward - 0.45 * body.up
        found.append((f"Step up {side}", [(leg, leg.root + leg.length * way)]))
    return found


def _foot(body: Body, leg: Limb, phase: float) -> Floats:
    """It stands and goes back for half of the time, and comes forward through the air."""
    if phase < 0.5:
        ahead, lift = 1 - 4 * phase, 0.0
    else:
        ahead, lift = 4 * phase - 3, math.sin(2 * math.pi * (phase - 0.5))
    way = STRIDE * ahead * body.forward + LIFT * lift * body.up
    return leg.end + leg.length * way


def _hand(body: Body, arm: Limb, phase: float) -> Floats:
    """It swings beside the body."""
    angle = ARM_SWING * math.cos(2 * math.pi * phase)
    side = np.array([np.sign(arm.end[0]), 0.0, 0.0])
    way = math.sin(angle) * body.forward - math.cos(angle) * body.up
    return arm.root + arm.length * (ARM_DOWN * way + ARM_OUT * side)


def within_reach(limb: Limb, goal: Floats) -> Floats:
    """(3,) the goal, or where the limb comes nearest to it."""
    way = goal - limb.root
    away = float(np.linalg.norm(way))
    return limb.root + way * min(1.0, MOST_BENT * limb.length / max(away, 1e-12))


def turns_to(body: Body, limb: Limb, goal: Floats) -> dict[int, Floats]:
    """{bone: (4, 4) from rest in armature space} that takes the end of a limb of two bones to a
    goal; the foot of a leg stays as it stands."""
    assert limb.middle is not None
    goal = within_reach(limb, goal)
    first, second = limb.middle - limb.root, limb.end - limb.middle
    a, b = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    way = goal - limb.root
    c = float(np.clip(np.linalg.norm(way), abs(a - b) + 1e-9, a + b))
    along = way / max(float(np.linalg.norm(way)), 1e-12)
    side = np.array([np.sign(limb.end[0]), 0.0, 0.0])
    hint = body.forward if limb.is_leg else 0.5 * side - 0.6 * body.forward - body.up
    across = hint - (hint @ along) * along
    across = across / max(float(np.linalg.norm(across)), 1e-12)
    cosine = np.clip((a * a + c * c - b * b) / max(2 * a * c, 1e-12), -1, 1)
    middle = limb.root + a * (cosine * along + math.sqrt(1 - cosine**2) * across)
    found = {
        limb.upper: _carried(between(first, middle - limb.root), limb.root, limb.root),
        limb.lower: _carried(between(second, goal - middle), limb.middle, middle),
    }
    if limb.is_leg and limb.foot >= 0:
        found[limb.foot] = _carried(np.eye(3), limb.end, goal)
    return found


def _carried(turn: Floats, before: Floats, after: Floats) -> Floats:
    found = np.eye(4)
    found[:3, :3] = turn
    found[:3, 3] = after - turn @ before
    return found


def between(before: Floats, after: Floats) -> Floats:
    """(3, 3) the least rotation that turns one direction into another."""
    a, b = (each / max(float(np.linalg.norm(each)), 1e-300) for each in (before, after))
    cross, cosine = np.cross(a, b), float(a @ b)
    if cosine < -1 + 1e-9:  # half a turn, about anything across
        axis = np.cross(a, np.eye(3)[np.abs(a).argmin()])
        axis = axis / np.linalg.norm(axis)
        return 2 * np.outer(axis, axis) - np.eye(3)
    k = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    return np.eye(3) + k + k @ k / (1 + cosine)
