"""Generates random poses of a rig's controls: the rotation of each control, and the positions of
limb targets.

A joint turned by several controls, as in a spine, swings no farther than a joint with a single
control. A few poses measure the swing of the joint, and the rotations of its controls are reduced
accordingly. All numbers are generated for pairs of poses, in which the second pose mirrors the
first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.affine import placed, rotations
from ..base.arrays import Bools, Floats, Index, Integers
from ..model.options import Options
from .poses import sample
from .skeleton import Skeleton
from .symmetry import symmetry_plane

SHIFT = 0.1  # displacement of a control, as a share of the size of the part that it moves
BEND = 1.5  # total bend of a limb when its end is moved, relative to the swing
LATTICE = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])  # Roberts' R3
TOLERATED = 1.25  # tolerance for the rotation of a joint, relative to a joint with one control


def control_turns(
    skeleton: Skeleton, controls: Bools, shares: Floats, options: Options
) -> tuple[Floats, Floats | None, Integers | None]:
    """Returns (rotations (p, m, 3, 3) of the controls alone, about their heads and in rest
    orientation; bends as in sample()). shares: (m,) factors for the rotations sampled within the
    limits."""
    controls_alone = replace(
        skeleton,
        deform=controls,
        parents=np.full(len(controls), -1, np.int32),
        own_stretch=skeleton.own_stretch & controls,
        stretch=skeleton.own_stretch & controls,
        control=np.zeros(len(controls), np.int32),
    )
    symmetry = symmetry_plane(controls_alone) if options.symmetric else None
    without_reaches = replace(options, reach_poses=0.0)  # limbs reach by their IK targets
    transforms, bends = sample(controls_alone, without_reaches, symmetry)
    vectors = rotation_vectors(transforms[:, controls, :, :3])
    fixed = ((skeleton.limits[..., 0] > 0) | (skeleton.limits[..., 1] < 0)).any(axis=1)
    vectors *= np.where(fixed, 1, shares)[controls, None]
    turns = np.tile(np.eye(3), (*transforms.shape[:2], 1, 1))
    turns[:, controls] = rotations(vectors)
    return turns, bends, None if symmetry is None else symmetry[0]


def turned_joints(
    skeleton: Skeleton,
    parents: Integers,
    reached: dict[int, set[int]],
    turns: dict[int, set[int]],
    whole: Bools,
) -> dict[int, list[int]]:
    """Returns {control: deform bones that it may turn relative to their parents}, without the
    controls `whole` (m,), which move all bones together.

    parents: deform_parents(). reached: {control: bones that follow it}; turns: {control: bones that
    turn with it}, a subset of the bones that follow.
    """
    deform = set(np.flatnonzero(skeleton.deform).tolist())
    joints_of_controls = {}
    for bone, followers in reached.items():
        joints = set()
        for moved in () if whole[bone] else (followers & deform, turns[bone] & deform):
            joints |= {b for b in moved if parents[b] not in moved}
        joints_of_controls[bone] = sorted(joints)
    return joints_of_controls


def shares_by_pilot(
    transforms: Floats,
    skeleton: Skeleton,
    parents: Integers,
    joints: dict[int, list[int]],
    swing: float,
) -> Floats:
    """Factors (m,) that reduce the rotations of each control, so no joint of the control turns
    farther than a joint with a single control. The shares are measured in these poses (p, m, 3, 4),
    in which all controls move."""
    shares = np.zeros(len(skeleton.names))
    excess = np.ones(len(shares))
    turns = nearest_rotations(transforms[:, skeleton.deform, :, :3])
    padded = np.tile(np.eye(3), (len(transforms), len(shares) + 1, 1, 1))  # the last: no parent
    padded[:, np.flatnonzero(skeleton.deform)] = turns
    relative = np.swapaxes(padded[:, parents], -1, -2) @ padded[:, :-1]
    angles = np.linalg.norm(rotation_vectors(relative), axis=-1)
    if swing > 0:
        excess = np.sqrt((angles**2).mean(axis=0)) / (swing / math.sqrt(3))
    for bone, bones in joints.items():
        if bones:
            largest = excess[bones].max()
            shares[bone] = 1 / largest if largest > TOLERATED else 1
    return shares


def deform_parents(skeleton: Skeleton) -> Integers:
    """The deform parent of each bone, (m,), -1 for the topmost bone.

    The deform parent is the nearest deform bone among the ancestors, or a deform bone that
    coincides with an ancestor (Rigify's ORG and DEF). Separate trees of deform bones are attached
    to the nearest bone of the trees joined so far, beginning with the largest tree.
    """
    ends = np.round(np.hstack([skeleton.heads, skeleton.tails]), 5)
    bone_at = {tuple(ends[b]): b for b in np.flatnonzero(skeleton.deform)}
    twins = [b if skeleton.deform[b] else bone_at.get(tuple(ends[b]), -1) for b in range(len(ends))]
    strict = [b if skeleton.deform[b] else -1 for b in range(len(ends))]
    for stand_in in (twins, strict):  # coincident bones may form cycles
        deform_parent = _up_the_chain(skeleton.parents, stand_in)
        roots = _roots(deform_parent)
        if roots is not None:
            break
    _join_trees(deform_parent, roots, skeleton)
    return deform_parent


def _up_the_chain(parents: Integers, stand_in: Sequence[Index]) -> Integers:
    parents_found = np.full(len(parents), -1)
    for bone in range(len(parents)):
        ancestor = parents[bone]
        while ancestor >= 0 and stand_in[ancestor] in (-1, bone):
            ancestor = parents[ancestor]
        parents_found[bone] = stand_in[ancestor] if ancestor >= 0 else -1
    return parents_found


def _roots(parents: Integers) -> Integers | None:
    """The root of the tree of each bone, (m,); None if the parents form a cycle."""
    roots = np.arange(len(parents))
    for _ in range(len(parents)):
        has_parent = parents[roots] >= 0
        if not has_parent.any():
            return roots
        roots = np.where(has_parent, parents[roots], roots)
    return None


def _join_trees(parents: Integers, roots: Integers, skeleton: Skeleton) -> None:
    """Attaches the first deform bone of each tree except the largest to a bone that is already
    joined."""
    deform = np.flatnonzero(skeleton.deform)
    sizes = np.bincount(roots[deform], minlength=len(parents))
    trees = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    unjoined, added = trees[1:], deform[roots[deform] == trees[:1]]
    nearest, gaps = np.full(len(unjoined), -1), np.full(len(unjoined), np.inf)
    while len(unjoined):
        ends = skeleton.heads[added], skeleton.tails[added]
        to_new = distances(skeleton.heads[unjoined, None], *ends)
        closest = to_new.argmin(axis=1)
        nearer = to_new.min(axis=1) < gaps
        nearest[nearer], gaps[nearer] = added[closest[nearer]], to_new.min(axis=1)[nearer]
        tree = gaps.argmin()
        parents[unjoined[tree]] = nearest[tree]
        added = deform[roots[deform] == unjoined[tree]]
        unjoined, nearest, gaps = (np.delete(each, tree) for each in (unjoined, nearest, gaps))


def distances(points: Floats, heads: Floats, tails: Floats) -> Floats:
    """Distances (...) between points (..., 3) and segments."""
    along = tails - heads
    share = ((points - heads) * along).sum(axis=-1) / np.maximum((along**2).sum(axis=-1), 1e-300)
    nearest = heads + np.clip(share, 0, 1)[..., None] * along
    return np.linalg.norm(points - nearest, axis=-1)


def numbers(count: int, which: Bools, seed: int, partners: Integers | None) -> Floats:
    """Numbers (count, m, 3) in [0, 1) for pairs of poses: low-discrepancy lattices in random order
    for the bones `which` (m,), 0 for all other bones. partners: (m,) bones that share a lattice, or
    None. Both poses of a pair have the same numbers."""
    pairs = (count + 1) // 2
    samples = np.zeros((pairs, len(which), 3))
    for b in np.flatnonzero(which):
        partner = -1 if partners is None else partners[b]
        source: Any = partner if 0 <= partner < b else b
        rng = np.random.default_rng([seed, source])
        points = (rng.random(3) + np.arange(pairs)[:, None] * LATTICE) % 1
        samples[:, b] = points[rng.permutation(pairs)]
    return np.repeat(samples, 2, axis=0)[:count]


def shifts(u: Floats, sizes: Floats, partners: Integers | None) -> Floats:
    """Displacements (p, m, 3) of controls, in rest orientation: up to `sizes` (m,) along each axis.
    u: numbers()."""
    displacements = (2 * u - 1) * sizes[:, None]
    displacements[1::2, :, 0] *= -1
    if partners is not None:
        plane = partners >= 0
        images = displacements[::2, partners] * [-1, 1, 1]
        displacements[1::2, plane] = images[: len(displacements[1::2]), plane]
    return displacements


def reach(
    root: Floats, end: Floats, length: float, u: Floats, swing: float
) -> tuple[Floats, Floats]:
    """Two transforms (2, 4, 4): one moves the end of a limb to a target, and the other turns the
    whole limb along with its end. From `root` on, the limb turns by at most the swing and bends by
    BEND times the swing in total.

    u: (3,) in [0, 1). length: the length of the limb, 0 if it cannot bend.
    """
    along = end - root
    distance = np.linalg.norm(along)
    along = along / distance
    across = np.linalg.svd(along[None])[2][1:]
    angle, around = swing * u[0], 2 * math.pi * u[1]
    axis = math.cos(around) * across[0] + math.sin(around) * across[1]
    turn = placed(rotations(angle * axis), root)
    bend = min(BEND * swing, math.pi / 1.2) * u[2]
    shift = np.eye(4)
    if length:
        shift[:3, 3] = along * (length * math.cos(bend / 2) - distance)
    return turn @ shift, turn


def mirrored(transform: Floats) -> Floats:
    """The mirror image of an affine map (4, 4) at X = 0."""
    flip = np.diag([-1.0, 1, 1, 1])
    return flip @ transform @ flip


def nearest_rotations(matrices: Floats) -> Floats:
    """The rotations nearest to matrices, (..., 3, 3); identity for matrices that are not finite."""
    finite = np.isfinite(matrices).all(axis=(-1, -2), keepdims=True)
    u, _stretches, v = np.linalg.svd(np.where(finite, matrices, np.eye(3)))
    u[..., -1] *= np.linalg.det(u @ v)[..., None]
    return u @ v


def rotation_vectors(matrices: Floats) -> Floats:
    """Rotation vectors (..., 3) of rotations (..., 3, 3) by less than half a turn."""
    skew = np.stack(
        [
            matrices[..., 2, 1] - matrices[..., 1, 2],
            matrices[..., 0, 2] - matrices[..., 2, 0],
            matrices[..., 1, 0] - matrices[..., 0, 1],
        ],
        axis=-1,
    )
    sine = np.linalg.norm(skew, axis=-1) / 2
    cosine = (np.trace(matrices, axis1=-2, axis2=-1) - 1) / 2
    angle = np.arctan2(sine, cosine)
    factor = np.where(sine > 1e-9, angle / np.maximum(2 * sine, 1e-30), 0.5)
    return skew * factor[..., None]
