"""Finds where twist bones help a limb, and shares the limb's weights with them.

If a limb twists, linear blending pinches its skin at the joint, like the wrapper of a candy. A
twist bone has the head and the direction of its limb, but only half of the twist, so that the skin
twists in two smaller steps. The twist bone of an upper arm or thigh takes back half of the limb's
twist. The twist bone of a forearm takes half of the hand's twist about the axis of the forearm.

A twist bone takes weight only from its limb, along the limb: near the twisting joint, all of it.
Without a twist, each twist bone moves like its limb, so the skin moves exactly as before.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.affine import placed, rotations
from ..base.arrays import Bools, Floats, Integers
from ..base.engine import engine
from ..base.refusal import Refused
from ..base.sentence import names_in_line
from ..body.limbs import Limb
from ..model.sparse_weights import SparseWeights
from ..skeleton.bone_names import is_control_name
from ..skeleton.poses import RIGID
from ..skeleton.skeleton import Skeleton, hanging
from ..skeleton.twist_bones import TwistBone, share_weights

UPPER_ARM, FOREARM, THIGH = "UPPER_ARMS", "FOREARMS", "THIGHS"
KINDS = (
    (UPPER_ARM, "Upper Arms", "Half of the twist of each upper arm"),
    (FOREARM, "Forearms", "Half of the twist of each hand"),
    (THIGH, "Thighs", "Half of the twist of each thigh"),
)
BEGIN, END = 0.4, 0.8  # of a forearm's twist bone; those of other limbs end at the first share
GROUND = 0.25  # share of the height; limbs that end below this level are legs
ON_AXIS = 0.1  # share of the limb's length; a child this near to its axis is a twist bone
TRIED = np.radians(60)  # the twist for which the gain is measured
LEAST_GAIN = 0.85  # most strain with a twist bone, relative to that without it
SIDE = re.compile(r"^(.*?)((?:[._ -](?:[lr]|left|right))?(?:\.\d+)?)$", re.IGNORECASE)


@dataclass(frozen=True)
class NewTwistBone:
    """A new child of the bone `limb`. source: the bone whose twist about its axis it reads. share:
    how much of this twist it adds to that of the limb. Indices are those of the Skeleton."""

    name: str
    kind: str
    limb: int
    source: int
    share: float
    head: Floats
    tail: Floats
    root: Floats  # of the limb
    end: Floats

    def at(self, index: int) -> TwistBone:
        """The twist bone, with an index of its own."""
        return TwistBone(index, self.limb, self.source, abs(self.share), self.root, self.end, at=0)


def missing_twist_bones(
    skeleton: Skeleton,
    up: Floats,
    kinds: Collection[str] = (UPPER_ARM, FOREARM, THIGH),
    taken: Collection[str] = (),
) -> list[NewTwistBone]:
    """Returns the twist bones of these kinds that the skeleton lacks. up (3,): a unit vector.
    taken: names that they must not have, in addition to those of bones. Both limbs of a pair get
    them, or neither. Raises Refused if no limb is found, or if all have twist bones already."""
    which = skeleton.deform & ~skeleton.left_out
    sides = zip(skeleton.limbs[::2], skeleton.limbs[1::2], strict=True)
    pairs = [pair for pair in sides if all(len(limb.bones) > 1 for limb in pair)]
    if not pairs:
        raise Refused("No pair of arms or legs was found in the skeleton")
    used, having = {*skeleton.names, *taken}, []
    found: list[NewTwistBone] = []
    for pair in pairs:
        bones = [_candidates(limb, _is_leg(limb, skeleton, up)) for limb in pair]
        for both in zip(*bones, strict=False):
            if any(bone.kind not in kinds or not _fits(skeleton, bone) for bone in both):
                continue
            limbs = zip(pair, both, strict=True)
            own = [bone.limb for limb, bone in limbs if _twists(skeleton, which, limb, bone)]
            having += [skeleton.names[bone] for bone in own]
            for bone in both if not own else ():
                name = twist_name(skeleton.names[bone.limb], used)
                used.add(name)
                found.append(replace(bone, name=name))
    if not found and having:
        raise Refused(f"The limbs have twist or bendy bones already: {names_in_line(having)}")
    if not found:
        raise Refused("The skeleton has no limbs of the chosen kinds")
    return found


def _candidates(limb: Limb, is_leg: bool) -> list[NewTwistBone]:
    """The possible twist bones, without names."""
    upper, joints = limb.bones[0], limb.joints
    kinds = [(THIGH if is_leg else UPPER_ARM, upper, upper, -0.5, joints[:2], (0.0, BEGIN))]
    if not is_leg and len(joints) > 2 and limb.feet:
        kinds.append((FOREARM, limb.bones[1], limb.feet[0], 0.5, joints[1:3], (BEGIN, END)))
    found = []
    for kind, bone, source, share, (root, end), parts in kinds:
        head, tail = (root + part * (end - root) for part in parts)
        found.append(NewTwistBone("", kind, bone, source, share, head, tail, root, end))
    return found


def _fits(skeleton: Skeleton, bone: NewTwistBone) -> bool:
    apart = bone.kind == FOREARM and skeleton.parents[bone.source] != bone.limb
    return not (apart or is_control_name(skeleton.names[bone.limb]))


def _is_leg(limb: Limb, skeleton: Skeleton, up: Floats) -> bool:
    heights = skeleton.heads[skeleton.deform] @ up
    return float(limb.end @ up) <= heights.min() + GROUND * np.ptp(heights)


def _twists(skeleton: Skeleton, which: Bools, limb: Limb, bone: NewTwistBone) -> bool:
    """Whether the limb's bone twists along its length already: it is bendy, or another deform bone
    begins on its axis, behind its first joint."""
    axis, own = bone.end - bone.root, np.zeros(len(which), bool)
    own[[*limb.bones, *limb.feet]] = True
    near = which & ~own & hanging(skeleton.parents)[:, limb.bones[0]]
    away = skeleton.heads - bone.root
    along = away @ axis / (axis @ axis)
    off = np.linalg.norm(away - along[:, None] * axis, axis=1)
    inside = (along > -ON_AXIS) & (along < 1 - ON_AXIS)
    beside = near & inside & (off < ON_AXIS * np.linalg.norm(axis))
    return skeleton.kinds[bone.limb] != RIGID or bool(beside.any())


def twist_name(limb: str, taken: Collection[str]) -> str:
    """The name of a limb's twist bone in the convention of its name: upper_arm_twist.L for
    upper_arm.L, LeftArmTwist for LeftArm."""
    match = SIDE.match(limb)
    stem, side = (match[1], match[2]) if match and match[1] else (limb, "")
    marks = re.findall(r"[_ .-]", stem)
    last = re.split(r"[_ .:-]", stem)[-1]
    word = "TWIST" if len(last) > 1 and last.isupper() else "twist"
    word = word.capitalize() if last[:1].isupper() and not last.isupper() else word
    joint = marks[-1] if marks else "" if word == "Twist" else "_"
    name, number = f"{stem}{joint}{word}{side}", 0
    while name in taken:
        number += 1
        name = f"{stem}{joint}{word}{number}{side}"
    return name


def shared_weights(
    points: Floats, rows: SparseWeights, bones: Sequence[NewTwistBone], first: int, most: int = 0
) -> SparseWeights:
    """The weights of points (n, 3) after the twist bones, which get the indices from `first` on,
    have taken their parts from their limbs. most: the limit of influences, 0 for none. A vertex
    that would exceed it gives either all of the limb's weight or none."""
    return share_weights(points, rows, [bone.at(k) for k, bone in enumerate(bones, first)], most)


def with_twist_bones(skeleton: Skeleton, bones: Sequence[NewTwistBone]) -> dict[str, Any]:
    """The arguments of the engine for the bones of a skeleton, followed by these twist bones."""
    return {
        "bone_heads": np.concatenate([skeleton.heads, [bone.head for bone in bones]]),
        "bone_tails": np.concatenate([skeleton.tails, [bone.tail for bone in bones]]),
        "bone_deform": np.concatenate([skeleton.deform, np.ones(len(bones), bool)]),
    }


def twisted_poses(skeleton: Skeleton, bones: Sequence[NewTwistBone], bone: NewTwistBone) -> Floats:
    """The transforms (2, m + k, 3, 4) of all bones and of the k twist bones, if only the source of
    one of them twists, in both directions."""
    m = len(skeleton.names)
    axis = (bone.end - bone.root) / np.linalg.norm(bone.end - bone.root)
    center = bone.root if bone.kind != FOREARM else bone.end
    below = hanging(skeleton.parents)[:, bone.source]
    moving = np.concatenate([below, below[[each.limb for each in bones]]])
    found = np.tile(np.eye(3, 4), (2, m + len(bones), 1, 1))
    for pose, angle in zip(found, (-TRIED, TRIED), strict=True):
        pose[moving] = placed(rotations(angle * axis), center)[:3]
        pose[m + bones.index(bone)] = placed(rotations(angle / 2 * axis), center)[:3]
    return found


def twist_gains(
    points: Floats,
    triangles: Integers,
    rows: SparseWeights,
    skeleton: Skeleton,
    bones: Sequence[NewTwistBone],
    most: int = 0,
    threads: int = 0,
) -> dict[str, tuple[float, float]]:
    """Returns {kind: the strain under a twist (without, with) these twist bones}."""
    sums = rows.sums()[rows.vertices]
    rows = rows._replace(weights=rows.weights / np.where(sums > 0, sums, 1))
    shared = shared_weights(points, rows, bones, len(skeleton.names), most)
    arguments = with_twist_bones(skeleton, bones)
    squares: dict[str, Floats] = {}
    for bone in bones:
        poses = twisted_poses(skeleton, bones, bone)
        strains = [
            engine.deformation(points, triangles, tuple(each), poses, **arguments, threads=threads)
            for each in (rows, shared)
        ]
        own = np.square([strain["area"] for strain in strains])
        squares[bone.kind] = squares.get(bone.kind, np.zeros(2)) + own
    return {kind: tuple(np.sqrt(each).tolist()) for kind, each in squares.items()}


def helpful(
    points: Floats,
    triangles: Integers,
    rows: SparseWeights,
    skeleton: Skeleton,
    bones: Sequence[NewTwistBone],
    most: int = 0,
    threads: int = 0,
) -> list[NewTwistBone]:
    """The twist bones of the kinds that let the skin stretch less. Raises Refused if no
    kind does."""
    gains = twist_gains(points, triangles, rows, skeleton, bones, most, threads)
    found = [bone for bone in bones if _helps(*gains[bone.kind])]
    if not found:
        raise Refused("The skin would not stretch less with twist bones")
    return found


def _helps(without: float, with_bones: float) -> bool:
    return with_bones < LEAST_GAIN * without


def twist_gain(
    points: Floats,
    triangles: Integers,
    rows: SparseWeights,
    skeleton: Skeleton,
    up: Floats,
    most: int = 0,
    threads: int = 0,
) -> float | None:
    """The share of the strain under a twist that helpful twist bones remove; None without any."""
    try:
        bones = missing_twist_bones(skeleton, up)
    except Refused:
        return None
    gains = twist_gains(points, triangles, rows, skeleton, bones, most, threads)
    found = np.array([pair for pair in gains.values() if _helps(*pair)]).reshape(-1, 2)
    was, now = np.sqrt(np.square(found).sum(axis=0)).tolist()
    return 1 - now / was if len(found) else None
