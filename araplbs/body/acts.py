"""The motions of a body that walks and reaches, and the bone rotations that produce them.

A limb of two segments reaches a position by solving the triangle of its lengths. A limb of more
segments folds. Each segment keeps its plane through the line from root to end, and all segments
move toward this line or away from it by the same factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..base.affine import placed, rotations, unit
from ..base.arrays import Floats
from .body import Body
from .limbs import Limb

MOST_BENT = 0.995  # maximum reach of a limb, as a share of its length
STRIDE, LIFT = 0.35, 0.22  # shares of a leg's length
ARM_SWING, ARM_DOWN, ARM_OUT = math.radians(25), 0.9, 0.15  # of an arm
BENDS = 0.03  # share of a limb's length; a larger bend at rest keeps its direction
CROUCH = 0.25  # share of a leg's length
NECK, TAIL, BACK = math.radians(60), math.radians(70), math.radians(40)  # of all bones together
MOST_FOLDED, HALVINGS = 4.0, 50  # maximum ratio of a joint's deviation to its deviation at rest

STEPS = ("contact", "down", "passing", "up")  # frames of a walk, one half for each side
# Name: components toward up, forward and the side of the hand, in arm lengths.
REACHES = (
    ("forward", (0.0, 0.95, 0.1)),
    ("up", (0.95, 0.05, 0.15)),
    ("side", (0.05, 0.05, 0.95)),
    ("across", (-0.05, 0.6, -0.45)),
    ("down", (-0.95, 0.05, 0.15)),
)

Turns = dict[int, Floats]  # {bone: (4, 4) from rest in armature space}


@dataclass(frozen=True)
class Act:
    """goals: the target positions for the ends of limbs. turns: the rotations of the trunk."""

    name: str
    goals: list[tuple[Limb, Floats]] = field(default_factory=list)
    turns: Turns = field(default_factory=dict)


def acts_of(body: Body, heads: Floats) -> list[Act]:
    """The acts: a walk in place, reaching arms, steps for two legs or a crouch for more, and
    bending of neck, tail and back to all sides. heads (m, 3): the heads of all bones at rest."""
    found = []
    for k in range(2 * len(STEPS)):
        phase, side = k / (2 * len(STEPS)), "LR"[k // len(STEPS)]
        goals = []
        for number, legs in enumerate(body.legs):
            for n, leg in enumerate(legs):
                later = 0.5 * n + _later(number, len(body.legs))
                goals.append((leg, _foot(body, leg, (phase + later) % 1)))
        for n, arm in enumerate(body.arms or ()):
            goals.append((arm, _hand(body, arm, (phase + 0.5 * (1 - n)) % 1, n)))
        found.append(Act(f"Walk {STEPS[k % len(STEPS)]} {side}", goals))
    if body.arms:
        found += [
            Act(f"Reach {name}", [(arm, _reached(body, arm, n, way)) for n, arm in _arms(body)])
            for name, way in REACHES
        ]
    if body.is_biped:
        for leg, side in zip(body.legs[0], "LR", strict=True):
            way = 0.45 * body.forward - 0.45 * body.up
            found.append(Act(f"Step up {side}", [(leg, leg.root + leg.length * way)]))
    else:
        every = [leg for pair in body.legs for leg in pair]
        goals = [(leg, leg.end + CROUCH * leg.length * body.up) for leg in every]
        found.append(Act("Crouch", goals))
    for name, bones, most in (
        ("Neck", body.neck, NECK),
        ("Tail", body.tail, TAIL),
        ("Back", body.spine, BACK),
    ):
        found += [Act(f"{name} {to}", turns=t) for to, t in _to_all_sides(body, bones, most, heads)]
    return found


def _later(number: int, count: int) -> float:
    """The delay of a pair of legs in a walk, relative to the last pair. Four feet come down one
    after another. Six feet move in groups of three."""
    return 0.25 * number if count == 2 else 0.5 * (number % 2)


def _arms(body: Body) -> list[tuple[int, Limb]]:
    return list(enumerate(body.arms or ()))


def _side(body: Body, number: int) -> Floats:
    """The outward direction of the left or right limb, (3,)."""
    return -body.left if number else body.left


def _reached(body: Body, arm: Limb, number: int, way: tuple[float, float, float]) -> Floats:
    upward, ahead, out = way
    toward = upward * body.up + ahead * body.forward + out * _side(body, number)
    return arm.root + arm.length * toward


def _foot(body: Body, leg: Limb, phase: float) -> Floats:
    """The position of a foot in a walk. The foot moves back on the ground for half of the time, and
    then forward through the air."""
    if phase < 0.5:
        ahead, lift = 1 - 4 * phase, 0.0
    else:
        ahead, lift = 4 * phase - 3, math.sin(2 * math.pi * (phase - 0.5))
    way = STRIDE * ahead * body.forward + LIFT * lift * body.up
    return leg.end + leg.length * way


def _hand(body: Body, arm: Limb, phase: float, number: int) -> Floats:
    """The position of a hand that swings next to the body."""
    angle = ARM_SWING * math.cos(2 * math.pi * phase)
    way = math.sin(angle) * body.forward - math.cos(angle) * body.up
    return arm.root + arm.length * (ARM_DOWN * way + ARM_OUT * _side(body, number))


def _to_all_sides(
    body: Body, bones: tuple[int, ...], most: float, heads: Floats
) -> list[tuple[str, Turns]]:
    found = []
    for name, axis, sign in (
        ("up", body.left, -1), ("down", body.left, 1),
        ("left", body.up, 1), ("right", body.up, -1),
    ):  # fmt: skip
        if bones:
            ahead = 1 if (heads[bones[-1]] - heads[bones[0]]) @ body.forward >= 0 else -1
            angle = sign * ahead * most / len(bones)
            found.append((name, _curled(bones, axis, angle, heads)))
    return found


def _curled(bones: tuple[int, ...], axis: Floats, angle: float, heads: Floats) -> Turns:
    """Rotations that turn each bone by an angle relative to the previous bone."""
    found: Turns = {}
    above = np.eye(4)
    for bone in bones:
        above = above @ placed(rotations(angle * axis), heads[bone])
        found[bone] = above
    return found


def within_reach(limb: Limb, goal: Floats) -> Floats:
    """The goal or the nearest point that the limb can reach, (3,)."""
    way = goal - limb.root
    away = float(np.linalg.norm(way))
    return limb.root + way * min(1.0, MOST_BENT * limb.length / max(away, 1e-12))


def turns_to(body: Body, limb: Limb, goal: Floats) -> Turns:
    """The rotations that move the end of a limb to a goal. Feet keep their orientation. Only for
    limbs with bones."""
    goal = within_reach(limb, goal)
    is_leg = any(limb is leg for pair in body.legs for leg in pair)
    hint = body.forward if is_leg else _elbow(body, limb)
    joints = _bent(limb.joints, goal, hint, keeps=is_leg)
    rest = np.diff(limb.joints, axis=0)
    if len(limb.bones) > 2:
        joints, turns = _folded(limb.joints, goal, hint)
    else:
        turns = [between(a, b) for a, b in zip(rest, np.diff(joints, axis=0), strict=True)]
    found = {
        bone: placed(turn, before, after)
        for bone, turn, before, after in zip(
            limb.bones, turns, limb.joints[:-1], joints[:-1], strict=True
        )
    }
    if is_leg:
        found |= {foot: placed(np.eye(3), limb.end, joints[-1]) for foot in limb.feet}
    return found


def _elbow(body: Body, limb: Limb) -> Floats:
    """The direction of the elbow, (3,): outward, back and down."""
    arms = body.arms or ()
    side = _side(body, int(len(arms) == 2 and limb is arms[1]))
    return 0.5 * side - 0.6 * body.forward - body.up


def _bent(joints: Floats, goal: Floats, hint: Floats, keeps: bool) -> Floats:
    """The joints of a limb of one or two segments whose end is at a goal. The limb bends toward the
    hint. If it should keep its bending direction, the hint is used only for a nearly straight rest
    pose."""
    root, end = joints[0], joints[-1]
    way = goal - root
    along = unit(way)
    lengths = np.linalg.norm(np.diff(joints, axis=0), axis=1)
    if len(lengths) == 1:
        return np.array([root, root + lengths[0] * along])
    if len(lengths) > 2:
        return joints
    a, b = map(float, lengths)
    straight = unit(end - root)
    off = joints[1] - root
    off = off - (off @ straight) * straight
    if keeps and np.linalg.norm(off) > BENDS * (a + b):
        hint = between(straight, along) @ off
    c = float(np.clip(np.linalg.norm(way), abs(a - b) + 1e-9, a + b))
    across = unit(hint - (hint @ along) * along)
    cosine = np.clip((a * a + c * c - b * b) / max(2 * a * c, 1e-12), -1, 1)
    middle = root + a * (cosine * along + math.sqrt(1 - cosine**2) * across)
    return np.array([root, middle, root + c * along])


def _folded(joints: Floats, goal: Floats, hint: Floats) -> tuple[Floats, list[Floats]]:
    """Returns (joints, rotations of the segments) of a limb whose end is at the distance and in the
    direction of the goal. If the limb cannot fold far enough, the end is as near as possible."""
    rest = np.diff(joints, axis=0)
    lengths = np.linalg.norm(rest, axis=1)
    units = rest / np.maximum(lengths, 1e-12)[:, None]
    along = unit(joints[-1] - joints[0])
    off = units - (units @ along)[:, None] * along
    if np.linalg.norm(off, axis=1).max() < BENDS:  # a straight limb folds in the middle
        across = unit(hint - (hint @ along) * along)
        first = np.arange(len(units)) < len(units) / 2
        off = BENDS * np.where(first, 1, -1)[:, None] * across
    sizes = np.linalg.norm(off, axis=1)
    across = off / np.maximum(sizes, 1e-12)[:, None]
    angles = np.arctan2(sizes, units @ along)

    def folded(factor: float) -> tuple[Floats, Floats]:
        turned = np.clip(factor * angles, 0, math.pi)[:, None]
        ways = np.cos(turned) * along + np.sin(turned) * across
        return ways, np.cumsum(lengths[:, None] * ways, axis=0)

    way = goal - joints[0]
    wanted, low = float(np.linalg.norm(way)), 0.0
    high = max(MOST_FOLDED, math.pi / 2 / max(float(angles.max()), 1e-12))
    for _ in range(HALVINGS):
        factor = (low + high) / 2
        longer = np.linalg.norm(folded(factor)[1][-1]) > wanted
        low, high = (factor, high) if longer else (low, factor)
    ways, places = folded(low)
    turn = between(places[-1], way)
    moved = np.vstack([joints[:1], joints[0] + places @ turn.T])
    return moved, [turn @ between(a, b) for a, b in zip(units, ways, strict=True)]


def between(before: Floats, after: Floats) -> Floats:
    """The smallest rotation between two directions, (3, 3)."""
    a, b = (each / max(float(np.linalg.norm(each)), 1e-300) for each in (before, after))
    cross, cosine = np.cross(a, b), float(a @ b)
    if cosine < -1 + 1e-9:  # half a turn about any perpendicular axis
        axis = np.cross(a, np.eye(3)[np.abs(a).argmin()])
        axis = axis / np.linalg.norm(axis)
        return 2 * np.outer(axis, axis) - np.eye(3)
    k = np.array([[0, -cross[2], cross[1]], [cross[2], 0, -cross[0]], [-cross[1], cross[0], 0]])
    return np.eye(3) + k + k @ k / (1 + cosine)
