"""Random poses of the controls of a rig: how far each turns, and where what limbs reach for goes.

A joint that several controls turn, as those of a spine do, shall swing no further than one that has
a single control: a few poses show how far it goes, and the turns of its controls are made smaller
by that. All numbers come in pairs of poses, of which the second mirrors the first.
"""

import math
from dataclasses import replace

import numpy as np

from .poses import RIGID, sample
from .symmetry import symmetry_plane

SHIFT = 0.1  # of what a control moves: how far it is moved itself
BEND = 1.5  # of the swing: how far a limb bends in all when its end is moved
LATTICE = np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703])  # Roberts' R3
FARTHEST = 3  # sizes of the skeleton: how far a bone may be from where it was
TOLERATED = 1.25  # times the turn of a joint that is controlled by itself: chance in a few poses
LEAST_TURN = 1e-5  # radians or sizes: a smaller motion is none


def control_turns(skeleton, controls, shares, options):
    """(rotations (p, m, 3, 3) about the heads, in rest orientation, of the controls alone; bends as
    of sample()). shares: (m,) of the turns that are sampled within the limits."""
    own = replace(
        skeleton,
        deform=controls,
        parents=np.full(len(controls), -1, np.int32),
        kinds=[kind if c else RIGID for kind, c in zip(skeleton.kinds, controls, strict=True)],
        own_stretch=skeleton.own_stretch & controls,
        stretch=skeleton.own_stretch & controls,
        control=np.zeros(len(controls), np.int32),
    )
    symmetry = symmetry_plane(own) if options.symmetric else None
    apart = replace(options, reach_poses=0.0)  # limbs reach by their IK targets
    transforms, bends = sample(own, apart, symmetry)
    vectors = rotation_vectors(transforms[..., :3])
    fixed = ((skeleton.limits[..., 0] > 0) | (skeleton.limits[..., 1] < 0)).any(axis=1)
    vectors *= np.where(fixed, 1, shares)[:, None]
    return rotations(vectors), bends, None if symmetry is None else symmetry[0]


def turned_joints(skeleton, reached, turns, whole):
    """{control: deform bones that it may turn in their parents}, none of the controls `whole` (m,)
    that move everything together.

    reached: {control: what follows it}; turns: {control: what turns with it}, less than that.
    """
    deform = set(np.flatnonzero(skeleton.deform).tolist())
    parents = deform_parents(skeleton)
    found = {}
    for bone, followers in reached.items():
        joints = set()
        for moved in () if whole[bone] else (followers & deform, turns[bone] & deform):
            joints |= {b for b in moved if parents[b] not in moved}
        found[bone] = sorted(joints)
    return found


def shares_by_pilot(transforms, skeleton, joints, swing):
    """(m,) by which the turns of each control are made smaller, so that none of its joints turns
    further than by a control of its own, as these poses (p, m, 3, 4) do that have all of them."""
    shares = np.zeros(len(skeleton.names))
    parents, excess = deform_parents(skeleton), np.ones(len(shares))
    turns = nearest_rotations(transforms[:, skeleton.deform, :, :3])
    whole = np.tile(np.eye(3), (len(transforms), len(shares) + 1, 1, 1))  # the last: no parent
    whole[:, np.flatnonzero(skeleton.deform)] = turns
    own = np.swapaxes(whole[:, parents], -1, -2) @ whole[:, :-1]
    angles = np.linalg.norm(rotation_vectors(own), axis=-1)
    if swing > 0:
        excess = np.sqrt((angles**2).mean(axis=0)) / (swing / math.sqrt(3))
    for bone, turned in joints.items():
        if turned:
            most = excess[turned].max()
            shares[bone] = 1 / most if most > TOLERATED else 1
    return shares


def deform_parents(skeleton):
    """(m,) the nearest deform bone up the chain, or on a bone there (Rigify's ORG and DEF); -1."""
    ends = np.round(np.hstack([skeleton.heads, skeleton.tails]), 5)
    on = {tuple(ends[b]): b for b in np.flatnonzero(skeleton.deform)}
    stand_in = [b if skeleton.deform[b] else on.get(tuple(ends[b]), -1) for b in range(len(ends))]
    found = np.full(len(ends), -1)
    for bone in range(len(ends)):
        up = skeleton.parents[bone]
        while up >= 0 and stand_in[up] in (-1, bone):
            up = skeleton.parents[up]
        found[bone] = stand_in[up] if up >= 0 else -1
    return found


def numbers(count, which, seed, partners):
    """(count, m, 3) in [0, 1) for poses in pairs, of the bones `which` (m,): lattices of low
    discrepancy in random order, 0 of other bones. partners: (m,) with the same lattices, or None.
    Both poses of a pair have the same."""
    pairs = (count + 1) // 2
    found = np.zeros((pairs, len(which), 3))
    for b in np.flatnonzero(which):
        partner = -1 if partners is None else partners[b]
        first = partner if 0 <= partner < b else b
        rng = np.random.default_rng([seed, first])
        points = (rng.random(3) + np.arange(pairs)[:, None] * LATTICE) % 1
        found[:, b] = points[rng.permutation(pairs)]
    return np.repeat(found, 2, axis=0)[:count]


def shifts(u, sizes, partners):
    """(p, m, 3) by which controls are moved, in rest orientation: up to `sizes` (m,) along each
    axis. u: numbers()."""
    found = (2 * u - 1) * sizes[:, None]
    found[1::2, :, 0] *= -1
    if partners is not None:
        plane = partners >= 0
        images = found[::2, partners] * [-1, 1, 1]
        found[1::2, plane] = images[: len(found[1::2]), plane]
    return found


def reach(root, end, length, u, swing):
    """(2, 4, 4) what takes the end of a limb to where it reaches, and what turns the whole limb on
    the way there: from `root` on it turns by at most the swing, and bends by BEND times it in all.

    u: (3,) in [0, 1). Length is that of the limb.
    """
    along = end - root
    distance = np.linalg.norm(along)
    along = along / distance
    across = np.linalg.svd(along[None])[2][1:]
    angle, around = swing * u[0], 2 * math.pi * u[1]
    axis = math.cos(around) * across[0] + math.sin(around) * across[1]
    turn = np.eye(4)
    turn[:3, :3] = rotations((angle * axis)[None])[0]
    turn[:3, 3] = root - turn[:3, :3] @ root
    bend = min(BEND * swing, math.pi / 1.2) * u[2]
    shift = np.eye(4)
    shift[:3, 3] = along * (length * math.cos(bend / 2) - distance)
    return turn @ shift, turn


def mirrored(transform):
    """The image of an affine map (4, 4) at X = 0."""
    flip = np.diag([-1.0, 1, 1, 1])
    return flip @ transform @ flip


def usable(transforms, skeleton, size):
    """(p,) bool: finite poses in which no deform bone is far away, by pairs."""
    deform = skeleton.deform
    heads = skeleton.heads[deform]
    with np.errstate(all="ignore"):
        own = transforms[:, deform]
        moved = np.einsum("pbij,bj->pbi", own[..., :3], heads) + own[..., 3]
        off = np.linalg.norm(moved - heads, axis=2).max(axis=1)
        good = np.isfinite(transforms).all(axis=(1, 2, 3)) & (off <= FARTHEST * size)
    for first in range(0, len(good) - 1, 2):
        good[first : first + 2] = good[first : first + 2].all()
    return good


def moves_something(transforms, skeleton, size):
    """Does any deform bone leave its rest?"""
    off = np.abs(transforms[:, skeleton.deform] - np.eye(3, 4))
    return bool((off[..., :3] > LEAST_TURN).any() or (off[..., 3] > LEAST_TURN * size).any())


def nearest_rotations(matrices):
    """(..., 3, 3) those nearest to matrices; identity for what is not finite."""
    finite = np.isfinite(matrices).all(axis=(-1, -2), keepdims=True)
    u, _stretches, v = np.linalg.svd(np.where(finite, matrices, np.eye(3)))
    u[..., -1] *= np.linalg.det(u @ v)[..., None]
    return u @ v


def rotation_vectors(matrices):
    """(..., 3) of rotations (..., 3, 3) by less than half a turn."""
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


def rotations(vectors):
    """(..., 3, 3) rotations by vectors (..., 3)."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    k = np.zeros((*vectors.shape, 3))
    x, y, z = np.moveaxis(vectors, -1, 0)
    k[..., 0, 1], k[..., 0, 2], k[..., 1, 2] = -z, y, -x
    k -= np.swapaxes(k, -1, -2)
    return np.eye(3) + np.sinc(angle / np.pi) * k + np.sinc(angle / 2 / np.pi) ** 2 / 2 * (k @ k)
