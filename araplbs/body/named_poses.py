"""Poses with names that riggers try first: arms up, sit, fist and twist, or for animals a walk, a
crouch and bends of head, tail and back. Without a body, the longest chain curls and twists.

Limbs, hands and trunk are found by shape (body.py, chains.py). A fist curls all chains of a hand
toward the palm. The palm is where the fingers bend at rest. If they are straight, it follows from
the thumb, and without a thumb, it faces down."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..base.affine import placed, rotations, unit
from ..base.arrays import Floats, Integers
from .acts import Act, Turns, acts_of, turns_to
from .body import Body
from .chains import FINGERS, Tree, parents_first

# Acts of acts.py that become poses, and the names of the poses.
OF_BIPEDS = {"Reach up": "Arms up", "Walk contact L": "Walk"}
OF_ANIMALS = {
    "Walk contact L": "Walk",
    "Neck down": "Head down",
    "Tail up": "Tail up",
    "Crouch": "Crouch",
    "Back left": "Back to the side",
}
MOST = 4  # poses
CURL, THUMB = math.radians(70), math.radians(30)  # of each joint of a finger and of a thumb
KNUCKLES = 3  # joints of a finger that curl; earlier bones of its chain are in the palm
APART = math.cos(math.radians(25))  # the finger that points farther from all others is a thumb
BENT = 0.1  # radians; with a larger mean bend of the fingers, the palm follows from it
TWIST, WRIST = math.radians(70), math.radians(75)  # of the trunk, and of each hand
COIL = math.radians(150)  # of a chain, if there is no body


@dataclass(frozen=True)
class NamedPose:
    """transforms (m, 3, 4): from rest in armature space. around: the bones to look at; empty for
    all."""

    name: str
    transforms: Floats
    around: tuple[int, ...] = ()


@dataclass
class _Turned:
    """turns: transforms from rest. own: rotations (3, 3) of bones relative to their parents."""

    name: str
    turns: Turns = field(default_factory=dict)
    own: dict[int, Floats] = field(default_factory=dict)
    around: tuple[int, ...] = ()


def named_poses(
    tree: Tree, body: Body | None, heads: Floats, parents: Integers, up: Floats
) -> list[NamedPose]:
    """At most MOST poses of m bones. heads (m, 3); up (3,): a unit vector."""
    hands = _hands(tree, body)
    own = [_fist(tree, hands, body, up)] if hands else []
    if body is None:
        chain = max((tree.longest(b) for b in tree.children[-1]), key=len, default=[])
        own += _coiled(chain, heads) if len(chain) > 1 and not hands else []
    else:
        own += [_twist(tree, body, hands)]
        acts = {act.name: act for act in acts_of(body, heads)}
        names = OF_BIPEDS if body.is_biped and body.arms else OF_ANIMALS
        found = [_acted(body, acts[act], names[act]) for act in names if act in acts]
        own = [*found[:1], *([_seated(body)] if body.is_biped else found[1:3]), *own, *found]
    chosen = {each.name: each for each in own if each.turns or each.own}
    return [
        NamedPose(each.name, _carried(each, heads, parents), each.around)
        for each in [*chosen.values()][:MOST]
    ]


def _acted(body: Body, act: Act, name: str) -> _Turned:
    found = _Turned(name, dict(act.turns))
    for limb, goal in act.goals:
        found.turns |= turns_to(body, limb, goal) if limb.bones else {}
    return found


def _seated(body: Body) -> _Turned:
    """Thighs forward and shins down."""
    goals = []
    for leg in body.legs[0]:
        thigh = float(np.linalg.norm(leg.joints[1] - leg.root)) if len(leg.joints) > 2 else 0.0
        goals.append((leg, leg.root + thigh * body.forward - (leg.length - thigh) * body.up))
    return _acted(body, Act("Sit", goals), "Sit")


def _hands(tree: Tree, body: Body | None) -> list[int]:
    """The bones whose children are fingers, at the ends of both arms or, without a body, in the
    only hand."""
    if body is not None:
        ends = [arm.feet[0] for arm in body.arms or () if arm.feet]
    else:
        ends = tree.children[-1][:1]
    return [hand for end in ends if (hand := _branching(tree, end, body is None)) >= 0]


def _branching(tree: Tree, bone: int, alone: bool) -> int:
    """The first bone with several children below a bone, -1 for none. A hand that is alone has as
    many fingers as a hand, and nothing else."""
    while len(tree.children.get(bone, [])) == 1:
        (bone,) = tree.children[bone]
    chains = [tree.longest(b) for b in tree.children.get(bone, [])]
    if alone:
        branches = [tree.children.get(b, []) for b in tree.below(bone)[1:]]
        fingers = len(chains) > FINGERS and all(len(each) < 2 for each in branches)
        return bone if fingers and min(map(len, chains)) > 1 else -1
    return bone if len(chains) > 1 else -1


def _fist(tree: Tree, hands: list[int], body: Body | None, up: Floats) -> _Turned:
    found = _Turned("Fist", around=tuple(tree.below(hands[0])[1:]))
    for hand in hands:
        chains = [tree.longest(b) for b in tree.children[hand]]
        ways = [unit(tree.heads[chain[-1]] - tree.heads[chain[0]]) for chain in chains]
        ways = [
            way if way.any() else unit(tree.tails[c[0]] - tree.heads[c[0]])
            for way, c in zip(ways, chains, strict=True)
        ]
        mean = unit(np.sum(ways, axis=0))
        thumb = _thumb(ways)
        palm = _palm(tree, chains, ways, mean)
        if palm is None and thumb >= 0 and body is not None:
            across = np.cross(mean, ways[thumb])
            left = (tree.heads[hand] - body.legs[0][0].root) @ body.left
            other = (tree.heads[hand] - body.legs[0][1].root) @ body.left
            palm = unit(across if left + other > 0 else -across)
        if palm is None:
            palm = unit(-up + (up @ mean) * mean)
        for k, (chain, way) in enumerate(zip(chains, ways, strict=True)):
            axis, angle = unit(np.cross(way, palm)), THUMB if k == thumb else CURL
            found.own |= {bone: rotations(angle * axis) for bone in chain[-KNUCKLES:]}
    return found


def _thumb(ways: list[Floats]) -> int:
    """The index of the thumb, -1 for none."""
    if len(ways) < FINGERS:
        return -1
    cosines = [unit(np.sum(ways, axis=0) - way) @ way for way in ways]
    k = int(np.argmin(cosines))
    return k if cosines[k] < APART else -1


def _palm(tree: Tree, chains: list[list[int]], ways: list[Floats], mean: Floats) -> Floats | None:
    """The direction in which the fingers bend at rest, (3,); None if they are straight."""
    bends = []
    for chain, way in zip(chains, ways, strict=True):
        steps = np.diff(tree.heads[chain[-KNUCKLES - 1 :]], axis=0)
        if len(steps) > 1 and way @ mean > APART:
            bends.append(unit(steps[-1]) - unit(steps[0]))
    if not bends:
        return None
    bend = np.mean(bends, axis=0)
    bend = bend - (bend @ mean) * mean
    return unit(bend) if np.linalg.norm(bend) > BENT else None


def _twist(tree: Tree, body: Body, hands: list[int]) -> _Turned:
    """Trunk and hands turn about themselves."""
    trunk = list(body.spine)
    if body.arms and all(limb.bones for limb in body.limbs):
        above = [tree.lineage(arm.bones[0]) for arm in body.arms]
        hips = {b for leg in body.legs[0] for b in tree.lineage(leg.bones[0])}
        trunk = [b for b in above[0] if b in above[1] and b not in hips][::-1]
    axis = body.up if body.is_biped else body.forward
    found = _Turned("Twist", own={b: rotations(TWIST / len(trunk) * axis) for b in trunk})
    for arm, sign in zip(body.arms or (), (1, -1), strict=False):
        for hand in arm.feet[:1]:
            found.own[hand] = rotations(sign * WRIST * unit(arm.end - arm.joints[-2]))
    return found


def _coiled(chain: list[int], heads: Floats) -> list[_Turned]:
    along = unit(heads[chain[-1]] - heads[chain[0]])
    across = unit(np.cross(along, np.eye(3)[np.abs(along).argmin()]))
    return [
        _Turned(name, own={b: rotations(COIL / len(chain) * axis) for b in chain})
        for name, axis in (("Curl", across), ("Twist", along))
    ]


def _carried(pose: _Turned, heads: Floats, parents: Integers) -> Floats:
    """The transforms of all bones (m, 3, 4). Bones that are not turned follow their parents."""
    found = np.tile(np.eye(4), (len(parents), 1, 1))
    for bone in parents_first(parents).tolist():
        if parents[bone] >= 0:
            found[bone] = found[parents[bone]]
        if bone in pose.turns:
            found[bone] = pose.turns[bone]
        elif bone in pose.own:
            found[bone] = found[bone] @ placed(pose.own[bone], heads[bone])
    return found[:, :3]
