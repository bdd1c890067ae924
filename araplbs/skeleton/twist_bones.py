"""Finds the twist bones of a rig, poses them, and shares the weights of their limbs with them.

A twist bone turns only about the axis of its limb, so that the skin twists in smaller steps. In an
upper arm or a thigh, it takes a share of the twist of its limb. In a forearm or a shin, it takes a
share of the twist of the hand or foot. The share comes from a constraint, or from the poses of the
rig. Otherwise, the twist bones of a limb take equal steps, in their order along the limb, and
several of them leave it no weight, as in the bodies of Unreal 5.

Optimization in random poses gives such bones little skin, because they move almost like their
limbs. They take part in no solve. Instead, each takes weight from its limb, by a hat function along
it, so a limb that does not twist keeps its shape exactly. New twist bones (new_twist_bones.py) take
their weights in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.affine import rotations
from ..base.arrays import Bools, Floats, Integers
from ..body.limbs import Limb
from ..model.sparse_weights import SparseWeights, all_entries, summed_entries
from .bone_names import is_control_name, words_of
from .poses import RIGID
from .skeleton import Skeleton, hanging

WORDS = {"twist", "roll"}
OFF_AXIS = 0.1  # share of the limb's length: maximum distance of a head from the limb
ALONG = float(np.cos(np.radians(10)))  # of a bone that is known only by its direction
SAME = 0.1  # share of the limb's length: tolerance between both sides
# Shares of the length of the limb, from the twisting joint on: a bone with half of the twist has
# the whole weight of the limb up to the first share, and none beyond the second one.
FULL, NONE = 0.3, 0.9
ALIKE_PLACES = 2  # decimals of positions along the limb that count as one
TWISTED = np.radians(3)  # smallest twist that gives a share
SWUNG = np.radians(3)  # greatest swing of a twist bone
UNKNOWN = float("nan")
LEAST_SLOPE, ALIKE = 0.05, 0.5  # of the taken twist; share of it that its source explains


@dataclass(frozen=True)
class TwistBone:
    """bone: takes the share of the twist of the bone `source` about the axis of the bone `limb`.
    The source is the limb itself in upper arms and thighs."""

    bone: int
    limb: int
    source: int
    share: float
    root: Floats  # (3,) of the limb
    end: Floats
    at: float  # position along the limb
    whole: bool = False  # whether the twist bones of the limb take all of its weight

    @property
    def axis(self) -> Floats:
        return (self.end - self.root) / np.linalg.norm(self.end - self.root)

    def knot(self, share: float) -> float:
        """The position along the limb where a bone with a share of the twist has all of its
        weight. The limb itself has the share 1 in upper arms and thighs, and 0 in others."""
        half = 0.5 if self.whole else FULL if self.source == self.limb else 1 - FULL
        return half + 2 * (NONE - FULL) * (share - 0.5)


def find_twist_bones(skeleton: Skeleton, poses: Floats | None = None) -> list[TwistBone]:
    """The twist bones of a skeleton, limb by limb. poses: (p, m, 3, 4) of the rig."""
    is_deform = skeleton.deform & ~skeleton.left_out
    twist_bones: list[TwistBone] = []
    for left, right in zip(skeleton.limbs[::2], skeleton.limbs[1::2], strict=True):
        sides = [_of_limb(skeleton, is_deform, limb, poses) for limb in (left, right)]
        for own, opposites in (sides, sides[::-1]):
            paired = []
            for bone in own:
                images = [other for other in opposites if _are_images(bone, other)]
                if images:
                    image = min(images, key=lambda other: abs(other.at - bone.at))
                    shares = [share for share in (bone.share, image.share) if not np.isnan(share)]
                    share = float(np.mean(shares)) if shares else UNKNOWN
                    paired.append(replace(bone, share=share))
            for source in dict.fromkeys(bone.source for bone in paired):
                twist_bones += _with_steps([bone for bone in paired if bone.source == source])
    return twist_bones


def _are_images(first: TwistBone, second: TwistBone) -> bool:
    upper = [bone.source == bone.limb for bone in (first, second)]
    return upper[0] == upper[1] and abs(first.at - second.at) < SAME


def _of_limb(
    skeleton: Skeleton, is_deform: Bools, limb: Limb, poses: Floats | None
) -> list[TwistBone]:
    twist_bones: list[TwistBone] = []
    if len(limb.bones) < 2 or len(limb.joints) < 3:
        return twist_bones
    descendants = hanging(skeleton.parents)
    sources = [(limb.bones[0], limb.bones[0], 0)]
    if limb.feet and skeleton.parents[limb.feet[0]] == limb.bones[1]:
        sources.append((limb.bones[1], limb.feet[0], 1))
    for bone, source, k in sources:
        root, end = limb.joints[k : k + 2]
        length = float(np.linalg.norm(end - root))
        for child in np.flatnonzero((skeleton.parents == bone) & is_deform).tolist():
            chain = np.count_nonzero(descendants[:, child] & is_deform) > 1
            if child in (*limb.bones, *limb.feet) or chain or skeleton.kinds[child] != RIGID:
                continue
            way = skeleton.heads[child] - root
            position = float(way @ (end - root)) / length**2
            distance = float(np.linalg.norm(way - position * (end - root)))
            if distance > OFF_AXIS * length or not -OFF_AXIS < position < 1 + OFF_AXIS / 2:
                continue
            twist = TwistBone(child, bone, source, UNKNOWN, root, end, position)
            share = _share_of_rig(skeleton, twist)
            if np.isnan(share) and poses is not None:
                share = _share_in(skeleton, twist, poses)
            looks = _looks_like(skeleton, twist) and not _turns(skeleton, twist, poses)
            if looks or not np.isnan(share):
                twist_bones.append(replace(twist, share=share))
    return twist_bones


def _with_steps(bones: Sequence[TwistBone]) -> list[TwistBone]:
    """The twist bones of a limb, with equal steps of the twist where the share is unknown. If no
    share of several bones is known, the limb is divided among them, and gets no weight itself."""
    positions, rank = np.unique(
        np.round([bone.at for bone in bones], ALIKE_PLACES), return_inverse=True
    )
    steps = (rank.ravel() + 0.5) / len(positions)
    whole = len(positions) > 1 and all(np.isnan(bone.share) for bone in bones)
    return [
        replace(bone, share=float(step), whole=whole) if np.isnan(bone.share) else bone
        for bone, step in zip(bones, steps, strict=True)
    ]


def _share_of_rig(skeleton: Skeleton, bone: TwistBone) -> float:
    """The share that a constraint gives to the bone, or UNKNOWN."""
    factor = skeleton.turners.get(bone.bone, {}).get(bone.source, UNKNOWN)
    return float(np.clip(factor + (bone.source == bone.limb), 0, 1))


def _looks_like(skeleton: Skeleton, bone: TwistBone) -> bool:
    """Whether a bone whose share is unknown is a twist bone: its source turns it, or it has such a
    name and, if an artist drew it, the direction of the limb."""
    if bone.source in skeleton.turners.get(bone.bone, {}):
        return True
    way = skeleton.drawn_tails[bone.bone] - skeleton.heads[bone.bone]
    is_along = abs(float(way @ bone.axis)) >= ALONG * float(np.linalg.norm(way))
    name = skeleton.names[bone.bone]
    named = not WORDS.isdisjoint(words_of(name)) and not is_control_name(name)
    return named and (is_along or skeleton.directions != "TAILS")


def _relative(transforms: Floats, bone: int, parent: int) -> Floats:
    """The rotations (p, 3, 3) of a bone relative to another one; to rest if that is -1."""
    turns = transforms[:, bone, :, :3]
    return turns if parent < 0 else np.swapaxes(transforms[:, parent, :, :3], 1, 2) @ turns


def twist_about(turns: Floats, axis: Floats) -> Floats:
    """The angles (t,) from -pi to pi of the twists of rotations (t, 3, 3) about a unit axis."""
    odd = turns[:, [2, 0, 1], [1, 2, 0]] - turns[:, [1, 2, 0], [2, 0, 1]]  # 4 w (x, y, z)
    # w (x, y, z) . axis and w^2, which have the ratio tan(angle / 2), fail at w = 0. The twist has
    # the same ratio of (axis . q)^2, from the symmetric part.
    trace = np.trace(turns, axis1=1, axis2=2)
    scalar = np.maximum(1 + trace, 0)  # 4 w^2
    along = np.maximum(1 + 2 * np.einsum("i,tij,j->t", axis, turns, axis) - trace, 0)
    sign = np.where(odd @ axis < 0, -1.0, 1.0)
    angles: Floats = 2 * sign * np.arctan2(np.sqrt(along), np.sqrt(scalar))
    return angles


def _source_twists(skeleton: Skeleton, bone: TwistBone, transforms: Floats) -> Floats:
    upper = bone.source == bone.limb  # poses move only bones that deform
    parent = int(skeleton.deform_ancestors[bone.limb]) if upper else bone.limb
    return twist_about(_relative(transforms, bone.source, parent), bone.axis)


def _turns(skeleton: Skeleton, bone: TwistBone, poses: Floats | None) -> bool:
    """Whether a bone swings relative to its limb."""
    if poses is None or not len(poses):
        return False
    cosines = _relative(poses, bone.bone, bone.limb) @ bone.axis @ bone.axis
    return bool(np.arccos(np.clip(cosines, -1, 1)).max() > SWUNG)


def _share_in(skeleton: Skeleton, bone: TwistBone, poses: Floats) -> float:
    """The share of the twist that a bone takes in the poses of its rig; UNKNOWN if they do not
    twist the limb, or if the bone moves like its limb or in another way."""
    if not len(poses) or _turns(skeleton, bone, poses):
        return UNKNOWN
    twists = _source_twists(skeleton, bone, poses)
    taken = twist_about(_relative(poses, bone.bone, bone.limb), bone.axis)
    is_small = np.abs(twists) < np.pi / 2  # a larger twist may have passed half a turn
    power = float(twists[is_small] @ twists[is_small])
    if np.abs(twists[is_small]).max(initial=0) < TWISTED:
        return UNKNOWN
    slope = float(taken[is_small] @ twists[is_small]) / power
    if abs(slope) < LEAST_SLOPE or slope**2 * power < ALIKE * float(
        taken[is_small] @ taken[is_small]
    ):
        return UNKNOWN
    share = 1 + slope if bone.source == bone.limb else slope
    return float(np.clip(share, 0, 1))


def twisted(transforms: Floats, bones: Sequence[TwistBone], skeleton: Skeleton) -> Floats:
    """The transforms (p, m, 3, 4) of all bones, with each twist bone moved by its limb and its
    share of the twist."""
    result = transforms.copy()
    for bone in bones:
        share = bone.share - 1 if bone.source == bone.limb else bone.share
        angles = share * _source_twists(skeleton, bone, transforms)
        turns = rotations(angles[:, None] * bone.axis)
        moves = np.broadcast_to(np.eye(4), (len(turns), 4, 4)).copy()
        moves[:, :3, :3], moves[:, :3, 3] = turns, bone.root - turns @ bone.root
        result[:, bone.bone] = transforms[:, bone.limb] @ moves
    return result


def share_weights(
    points: Floats,
    rows: SparseWeights,
    bones: Sequence[TwistBone],
    most: int = 0,
    rigid: Integers | None = None,
    locked: Bools | None = None,
    to_cut: bool = False,
) -> SparseWeights:
    """The weights of points (n, 3) after the twist bones have taken their parts of the weights of
    their limbs. most: the limit of influences, 0 for none. A vertex that would exceed it gives all
    of the limb's weight to one bone. rigid: (n,) the rigid part of each vertex, -1 for none; the
    whole part has the weights of its middle. locked: (entries,) those that stay, in addition to the
    limit. to_cut: the vertex exceeds the limit if another bone has a smaller weight to cut."""
    free = np.ones(len(rows.bones), bool) if locked is None else ~locked
    columns = [(rows.vertices, rows.bones, rows.weights.copy())]
    counts = np.bincount(rows.vertices[free], minlength=rows.count)
    points = points if rigid is None else _middles(points, rigid)
    for limb in dict.fromkeys(bone.limb for bone in bones):
        twists = [bone for bone in bones if bone.limb == limb]
        entries = np.flatnonzero(free & (rows.bones == limb))
        vertices = rows.vertices[entries]
        parts = _hats(twists, points[vertices])
        if most:
            is_over = counts[vertices] + np.count_nonzero(parts, axis=1) - 1 > most
            if to_cut:
                nearest = np.full(rows.count, np.inf)
                is_other = free & (rows.bones != limb)
                np.minimum.at(nearest, rows.vertices[is_other], rows.weights[is_other])
                smallest = np.where(parts > 0, parts, np.inf).min(axis=1) * rows.weights[entries]
                is_over &= smallest <= nearest[vertices]
            parts[is_over] = np.eye(parts.shape[1])[parts[is_over].argmax(axis=1)]
        counts[vertices] += np.count_nonzero(parts, axis=1) - 1
        for bone, part in zip(twists, parts.T[1:], strict=True):
            columns.append((vertices, np.full(len(part), bone.bone), rows.weights[entries] * part))
        columns[0][2][entries] *= parts[:, 0]
    shared = all_entries(rows.count, *columns)
    return shared.of(shared.weights > 0)


def merged_weights(rows: SparseWeights, limbs: Mapping[int, int]) -> SparseWeights:
    """The weights in which each of these bones gives its weights to another: {bone: other}."""
    owner = np.arange(max([*limbs, rows.bones.max(initial=0)]) + 1)
    owner[list(limbs)] = list(limbs.values())
    return summed_entries(rows.count, rows.vertices, owner[rows.bones], rows.weights)


def _middles(points: Floats, rigid: Integers) -> Floats:
    """The points (n, 3), with the middle of its part for each vertex of a rigid part."""
    centers, is_rigid = points.copy(), rigid >= 0
    if is_rigid.any():
        _names, part = np.unique(rigid[is_rigid], return_inverse=True)
        counts = np.bincount(part)
        for axis in range(3):
            centers[is_rigid, axis] = (np.bincount(part, points[is_rigid, axis]) / counts)[part]
    return centers


def _hats(bones: Sequence[TwistBone], points: Floats) -> Floats:
    """The parts (n, 1 + k) of a limb's weight that the limb keeps and that its k twist bones take
    at points (n, 3)."""
    twist = bones[0]
    coordinates = (points - twist.root) @ twist.axis / np.linalg.norm(twist.end - twist.root)
    end = twist.knot(float(twist.source == twist.limb))
    knots = np.array([bone.knot(bone.share) for bone in bones])
    places = np.unique(knots if twist.whole else np.append(knots, end))
    hats = [
        np.interp(
            coordinates, places, np.where(places == knot, 1.0 / np.count_nonzero(knots == knot), 0)
        )
        for knot in knots
    ]
    rest = np.where(np.isin(places, knots), 0.0, 1.0)
    return np.column_stack([np.interp(coordinates, places, rest), *hats])
