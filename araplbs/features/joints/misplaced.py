"""Finds joints that contradict the current weights, and the positions at which these weights bend.

The energy hardly determines the position of a joint along a limb. A tube bends equally well
slightly farther along, so weights solved for a misplaced elbow make the elbow look right. Weights
that an artist painted, or that were solved before the joint was moved, do reveal the position. They
change from bone to bone in a ring around the joint. The ring's center c and its spread s along the
bone are computed from the vertices, weighted by w_parent w_bone. A joint farther from c along its
bone than MOST_OFF s is misplaced. The farthest of mh_game's own joints is 1.3 s off, and an elbow
moved by a quarter of the forearm is 2.5 s off. Two kinds of joints are considered. In the first
kind, a bone begins at its parent's end. In the second kind, the weights bend at the parent's end,
but the bone begins farther along its own axis. Only rings around the axis and within both bones
count, because a jaw turns about a hinge far from its ring. On 25 characters with their artists'
weights, this test finds 6 of 1,400 joints, at the ends of fingers and tails.

If the weights show that the skin of whole limbs is off their bones (skeleton/limb_shift.py),
these limbs are moved as a whole. This explains every contradiction in them, so all joints then
stay in place.

The computation reads two columns of weights per bone. This module does not use bpy, so any thread
may run it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import Bools, Floats
from ...model.sparse_weights import SparseWeights
from ...skeleton.limb_shift import LimbShift
from ...skeleton.skeleton import Skeleton, hanging
from .moved_joints import ends_of, near_joints

MOST_OFF = 2.0  # spreads
LEAST_OFF = 0.1  # share of the length of the bone; artists place joints with this tolerance
MOST_OF_LENGTH = 0.6  # share of the joint's bone lengths; rings farther away belong to another part
MOST_ASIDE = 0.6  # share of the mean direction to the ring; a ring to one side is a flap
LEAST_SHARED = 1e-3  # share of a bone's weights at all vertices; smaller shares do not form a ring
WEIGHTED = 0.5  # share of the vertices; if fewer have weights, the weights are not evidence


@dataclass(frozen=True)
class Start:
    """The starting point of a search for joints. bones: those whose heads were misplaced; shifted:
    whether whole limbs that begin with these bones were moved, and no other joint should move."""

    skeleton: Skeleton
    bones: list[int]
    shifted: bool = False


def shifted_start(
    skeleton: Skeleton, limbs: list[LimbShift], pinned: Bools, max_shift: float
) -> Start | None:
    """The Start in which these limbs lie in their skin; None without limbs that may move. A limb
    with a pinned end stays. pinned, max_shift: as in better_start(); the limit applies to the
    first bone of a limb."""
    ends, hangs = ends_of(skeleton).reshape(-1, 2, 3), hanging(skeleton.parents)
    near = near_joints(skeleton)
    moved, bones = ends.copy(), []
    for bone, shift, _bones in limbs:
        joint = np.linalg.norm(ends - ends[bone, 0], axis=2) <= near
        own = hangs[:, [bone]] | joint
        if (pinned[skeleton.deform] & own[skeleton.deform]).any():
            continue
        most = max_shift * float(np.linalg.norm(ends[bone, 1] - ends[bone, 0]))
        moved[own] += shift * min(1.0, most / float(np.linalg.norm(shift)))
        bones.append(bone)
    if not bones:
        return None
    heads, tails = moved[:, 0].copy(), moved[:, 1].copy()
    return Start(replace(skeleton, heads=heads, tails=tails), bones, shifted=True)


def better_start(
    skeleton: Skeleton, points: Floats, rows: SparseWeights, pinned: Bools, max_shift: float
) -> Start | None:
    """The Start for these SparseWeights of points (n, 3) at rest; None if they contradict no joint.
    pinned (m, 2) bool: ends that stay; max_shift: as in JointOptions."""
    if not rows.count or (rows.sums() > 0).mean() < WEIGHTED:
        return None
    ends, near = ends_of(skeleton).reshape(-1, 2, 3), near_joints(skeleton)
    found = sorted(_contradicted(skeleton, points, rows), reverse=True)
    moved, bones = ends.copy(), []
    for _off, bone, along in found:
        same = np.linalg.norm(ends - ends[bone, 0], axis=2) <= near
        if pinned[same].any() or not np.array_equal(moved[bone, 0], ends[bone, 0]):
            continue
        meeting = ends[same.any(axis=1)]
        most = max_shift * float(np.linalg.norm(meeting[:, 1] - meeting[:, 0], axis=1).mean())
        axis = ends[bone, 1] - ends[bone, 0]
        axis = axis / np.linalg.norm(axis)
        moved[same] = ends[bone, 0] + np.clip(along, -most, most) * axis
        bones.append(bone)
    if not bones:
        return None
    return Start(replace(skeleton, heads=moved[:, 0].copy(), tails=moved[:, 1].copy()), bones)


def _contradicted(
    skeleton: Skeleton, points: Floats, rows: SparseWeights
) -> list[tuple[float, int, float]]:
    """Returns (deviation in spreads, bone, distance along the bone) for each bone head that the
    weights contradict."""
    vertices, found = rows.vertices, []
    near = near_joints(skeleton)
    lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
    for bone in np.flatnonzero(skeleton.deform).tolist():
        parent = int(skeleton.parents[bone])
        axis = skeleton.tails[bone] - skeleton.heads[bone]
        length = np.linalg.norm(axis)
        if parent < 0 or not skeleton.deform[parent] or not length > 0:
            continue
        apart = skeleton.tails[parent] - skeleton.heads[bone]
        own, above = (
            np.bincount(vertices[rows.bones == b], rows.weights[rows.bones == b], rows.count)
            for b in (bone, parent)
        )
        shared = own * above
        if shared.sum() <= LEAST_SHARED * own.sum():
            continue
        places = (points - skeleton.heads[bone]) @ (axis / length)
        center = float(shared @ places / shared.sum())
        spread = float(np.sqrt(shared @ (places - center) ** 2 / shared.sum()))
        if np.linalg.norm(apart) > near and not _bends_at(apart, axis / length, center, spread):
            continue
        within = -MOST_OF_LENGTH * lengths[parent] <= center <= MOST_OF_LENGTH * length
        off = abs(center) > max(MOST_OFF * spread, LEAST_OFF * float(length))
        if within and off and spread > 0:
            around = points - skeleton.heads[bone] - places[:, None] * (axis / length)
            far = np.linalg.norm(around, axis=1)
            toward = shared @ (around / np.where(far > 0, far, 1)[:, None]) / shared.sum()
            if np.linalg.norm(toward) < MOST_ASIDE:
                found.append((abs(center) / spread, bone, center))
    return found


def _bends_at(place: Floats, axis: Floats, center: float, spread: float) -> bool:
    """Whether the weights bend at the parent's end although the bone's head has been moved away
    along the bone's axis. place: the position of the parent's end relative to the head."""
    along = float(place @ axis)
    aside = float(np.linalg.norm(place - along * axis))
    return abs(along - center) <= spread and aside <= LEAST_OFF * abs(along)


def carried(transforms: Floats, before: Skeleton, after: Skeleton) -> Floats:
    """Poses (p, m, 3, 4) of bones that turn as in `transforms`, but about the joints of another
    skeleton. The translation t_d changes by t_up and (A_up - A_d) dJ, as in
    csrc/joints/joints.c."""
    moved, shift = transforms.copy(), after.heads - before.heads
    for bone, parent in enumerate(before.parents.tolist()):
        if parent < 0:
            continue
        turned = transforms[:, parent, :, :3] - transforms[:, bone, :, :3]
        own = moved[:, parent, :, 3] - transforms[:, parent, :, 3] + turned @ shift[bone]
        moved[:, bone, :, 3] = transforms[:, bone, :, 3] + own
    return moved
