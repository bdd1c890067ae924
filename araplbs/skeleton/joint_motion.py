"""Computes the motion of a rig's joints in its poses, and poses in which all joints move.

A joint is a deform bone relative to its parent. A joint that the rig does not move turns on its
own, within its limits, in addition to the motion of the rig. A joint that the rig tears off in some
poses also turns on its own in these poses. Children of such a joint follow it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import size_of
from ..body.chains import parents_first
from ..model.options import Options
from .poses import BENDY
from .rig_poses import control_turns, distances
from .skeleton import Skeleton

LEAST_MOTION = 0.05  # share of the effect of a joint that turns on its own; less is not motion
REST = 1e-5  # lengths of a bone: smaller motion counts as rest
LEAST_FREE = 1e-3  # bone lengths: limits with a smaller range lock a joint
FARTHEST = 3  # sizes of the skeleton: maximum displacement of the first bone
MOST_STRETCH = 5.0  # factor by which a joint may be longer, wider, shorter or thinner
LARGEST, LEAST_VOLUME = 1e9, 1e-9  # limits of numbers and determinants in usable transforms
TORN_OFTEN = 0.5  # share of the poses; a joint torn off in more of them always turns on its own


@dataclass
class Motion:
    """The motion of d joints in p poses, with the identity for unusable transforms."""

    own: np.ndarray  # (p, d, 4, 4) relative to the parent
    segments: np.ndarray  # (p, j, 4, 4) motion of each bendy bone's segments relative to the bone
    torn: np.ndarray  # (p, d) bool: the joint is torn off


class Joints:
    """The d deform bones of a skeleton, with their deform parents."""

    def __init__(self, skeleton: Skeleton, parents: Integers) -> None:
        """parents: deform_parents()."""
        self.bones = np.flatnonzero(skeleton.deform)
        place = np.full(len(skeleton.names) + 1, -1)
        place[self.bones] = np.arange(len(self.bones))
        self.up = place[parents[self.bones]]  # (d,) or -1
        self.heads, tails = skeleton.heads[self.bones], skeleton.tails[self.bones]
        self.size = size_of(np.vstack([self.heads, tails]))
        self.lengths = np.maximum(np.linalg.norm(tails - self.heads, axis=1), 1e-6 * self.size)
        gap = distances(self.heads, self.heads[self.up], tails[self.up])
        # The approximate reach of a bone that turns with its parent, regardless of their distance.
        loose = 2 * gap + np.maximum(self.lengths, self.lengths[self.up])
        self.loose = np.where(self.up < 0, FARTHEST * self.size, loose)
        bendy = [b for b in self.bones if skeleton.kinds[b] == BENDY]
        self.owner = np.repeat(place[bendy], skeleton.segments[bendy] + 1)  # (j,) of segments

    def motion(self, transforms: Floats, segments: Floats) -> Motion:
        """The Motion in poses, given the transforms (p, m, 3, 4) of all bones and (p, j, 3, 4) of
        segments."""
        posed, of_segments = square(transforms[:, self.bones]), square(segments)
        is_usable = _usable(posed)
        posed[~is_usable] = of_segments[~is_usable[:, self.owner]] = np.eye(4)
        inverses = _inverse(posed)
        own = np.where((self.up < 0)[:, None, None], np.eye(4), inverses[:, self.up]) @ posed
        of_segments = inverses[:, self.owner] @ of_segments
        of_segments[~_usable(of_segments)] = np.eye(4)
        offsets = np.linalg.norm(_moved(own, self.heads) - self.heads, axis=-1)
        stretch = np.linalg.svd(own[..., :3, :3], compute_uv=False)
        is_whole = is_usable & (is_usable[:, self.up] | (self.up < 0)) & (offsets <= self.loose)
        is_whole &= (stretch[..., 0] <= MOST_STRETCH) & (stretch[..., 2] * MOST_STRETCH >= 1)
        own[~is_whole] = np.eye(4)
        return Motion(own, of_segments, ~is_whole)

    def extent(self, motion: Motion) -> Floats:
        """How far each joint moves, (d,), in units of its length: the root mean square over the
        poses, for the head and for points one length away from it along each axis."""
        extents = self._extent(motion.own, slice(None))
        np.maximum.at(extents, self.owner, self._extent(motion.segments, self.owner))
        return extents

    def _extent(self, transforms: Floats, which: slice | Integers) -> Floats:
        heads, lengths = self.heads[which], self.lengths[which]
        corners = heads + np.vstack([np.zeros(3), np.eye(3)])[:, None] * lengths[:, None]
        offsets = np.stack([_moved(transforms, corner) - corner for corner in corners])
        return np.sqrt((offsets**2).sum(axis=-1).mean(axis=(0, 1))) / lengths

    def composed(self, motion: Motion) -> tuple[Floats, Floats]:
        """Returns the motion as transforms from rest: (transforms (p, d, 3, 4), segments (p, j, 3,
        4))."""
        posed = motion.own.copy()
        for d in parents_first(self.up):
            if self.up[d] >= 0:
                posed[:, d] = posed[:, self.up[d]] @ posed[:, d]
        return posed[:, :, :3], (posed[:, self.owner] @ motion.segments)[:, :, :3]

    def own_turns(self, skeleton: Skeleton, options: Options) -> Floats:
        """The transforms (p, d, 4, 4) of joints if each turns on its own, within its limits."""
        shares = np.ones(len(skeleton.names))
        turns = control_turns(skeleton, skeleton.deform, shares, options)[0][:, self.bones]
        transforms = np.tile(np.eye(4), (*turns.shape[:2], 1, 1))
        transforms[..., :3, :3] = turns
        transforms[..., :3, 3] = self.heads - np.einsum("pdij,dj->pdi", turns, self.heads)
        return transforms

    def still(self, motion: Motion, turns: Floats) -> Bools:
        """Returns (d,) bool: joints that do not move although their limits would allow it. turns:
        own_turns()."""
        free = self._extent(turns, slice(None))
        moved = self.extent(motion) >= LEAST_MOTION * free
        return ~moved & (free > LEAST_FREE) & (self.up >= 0)


def complete(
    transforms: Floats, segments: Floats, joints: Joints, turns: Floats
) -> tuple[Motion, Bools] | None:
    """Returns (Motion, (d,) bool: joints that turn on their own) for the poses of a rig; None if
    nothing moves at all. In the Motion, every joint moves as far as its limits allow motion, and no
    joint is torn off. turns: own_turns()."""
    motion = joints.motion(transforms, segments)
    if joints.extent(motion).max() < REST:
        return None
    torn_off = motion.torn.mean(axis=0) > TORN_OFTEN
    alone = torn_off | joints.still(motion, turns)
    motion.own[:, torn_off] = np.eye(4)
    replaced = motion.torn | alone
    motion.own[replaced] = (motion.own @ turns)[replaced]
    return motion, alone


class Mirror:
    """The mirror images of poses. In the image, a bone without a partner moves relative to its
    parent as it does in the original pose."""

    def __init__(self, partners: Integers, joints: Joints, flip: Floats) -> None:
        """partners, flip (4, 4): from the symmetry_plane() of the skeleton."""
        self.joints, self.flip = joints, flip
        image = np.searchsorted(joints.bones, partners[joints.bones])
        self.paired = partners[joints.bones] >= 0
        self.partners = np.where(self.paired, image, np.arange(len(image)))
        owner = joints.owner
        nth = np.arange(len(owner)) - np.searchsorted(owner, owner)
        self.segments = np.searchsorted(owner, self.partners[owner]) + nth

    def image(self, motion: Motion) -> Motion:
        """The Motion of the mirror images."""
        own, segments = motion.own[:, self.partners], motion.segments[:, self.segments]
        paired = self.paired[self.joints.owner]
        own[:, self.paired] = self.flip @ own[:, self.paired] @ self.flip
        segments[:, paired] = self.flip @ segments[:, paired] @ self.flip
        return Motion(own, segments, motion.torn[:, self.partners])


def square(transforms: Floats) -> Floats:
    """Extends (..., 3, 4) to square matrices (..., 4, 4)."""
    matrices = np.zeros((*transforms.shape[:-2], 4, 4))
    matrices[..., :3, :], matrices[..., 3, 3] = transforms, 1
    return matrices


def _inverse(transforms: Floats) -> Floats:
    """Inverts affine maps (..., 4, 4)."""
    x, y, z = np.moveaxis(transforms[..., :3, :3], -1, 0)  # columns
    rows = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=-2)
    result = np.zeros_like(transforms)
    result[..., :3, :3] = rows / (x * rows[..., 0, :]).sum(axis=-1)[..., None, None]
    result[..., :3, 3] = -np.einsum("...ij,...j->...i", result[..., :3, :3], transforms[..., :3, 3])
    result[..., 3, 3] = 1
    return result


def _usable(transforms: Floats) -> Bools:
    with np.errstate(all="ignore"):
        sizes = np.abs(transforms).max(axis=(-2, -1))
        return (sizes < LARGEST) & (np.abs(np.linalg.det(transforms[..., :3, :3])) > LEAST_VOLUME)


def _moved(transforms: Floats, points: Floats) -> Floats:
    return np.einsum("...dij,dj->...di", transforms[..., :3, :3], points) + transforms[..., :3, 3]
