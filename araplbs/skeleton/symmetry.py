"""Finds the symmetry plane of a character, and the deform bones that are mirror images of each
other in this plane.

A skeleton drawn in Blender has its plane at X = 0, so this plane is tried first. Imported or
sculpted characters may face along any axis and be slightly asymmetric. Their plane is found by
skeleton/mirror_plane.py.
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import Array, Floats, Index, Integers
from ..base.extent import size_of
from .mirror_plane import find_plane
from .poses import BENDY
from .skeleton import Skeleton

TOLERANCE = 1e-3  # tolerance for the mirrored head and tail, as a share of the skeleton size
CROWD = 3  # bones at one place, which their places then do not tell apart
AT_ONCE = 64  # bones that are compared with all others
LEAST_SHARE = 0.5  # share of the deform bones that must have a partner
DRAWN_SHARE = 0.9  # share of the deform bones; with this share at X = 0, no other plane is sought

PLANE = (np.zeros(3), np.array([1.0, 0.0, 0.0]))  # point and normal: the armature's X = 0

Symmetry = tuple[Integers, Floats, Floats]  # partners (m,), point and normal (3,) of the plane


def symmetry_plane(skeleton: Skeleton, points: Floats | None = None) -> Symmetry | None:
    """The solver's argument `symmetry`; None for a skeleton that is not symmetric.

    points: (n, 3) the skin in armature space. The skin makes planes other than X = 0 more precise.
    Without it, a flat skeleton can only be symmetric at X = 0.
    """
    drawn, count = _drawn_partners(skeleton), np.count_nonzero(skeleton.deform)
    if drawn is not None and _has_pairs(drawn) and _paired(drawn) >= DRAWN_SHARE * count:
        return drawn, *PLANE
    fitted = find_plane(skeleton, _kinds(skeleton), points)
    if fitted is None or _paired(fitted[0]) < LEAST_SHARE * count:
        return None if drawn is None else (drawn, *PLANE)
    if drawn is None or (_has_pairs(fitted[0]) and _paired(fitted[0]) > _paired(drawn)):
        return fitted
    return drawn, *PLANE


def bone_partners(skeleton: Skeleton) -> Integers | None:
    """The deform bone on the other side, (m,): the bone itself if it lies on the plane, -1 for
    none. None for a skeleton that is not symmetric."""
    symmetry = symmetry_plane(skeleton)
    return None if symmetry is None else symmetry[0]


def on_one_side(points: Floats, symmetry: Symmetry | None, margin: float) -> Integers:
    """Indices of the points (n, 3) on one side of the plane or within tolerance of it; none without
    a symmetry."""
    if symmetry is None:
        return np.zeros(0, int)
    _partners, point, normal = symmetry
    return np.flatnonzero(np.einsum("ni,i->n", points - point, normal) > -margin)


def reflected(points: Floats, symmetry: Symmetry | None) -> Floats:
    """The mirror images of points, (..., 3); the points themselves without a symmetry."""
    if symmetry is None:
        return points
    _partners, point, normal = symmetry
    away = np.einsum("...i,i->...", points - point, normal)
    return points - 2 * away[..., None] * normal


def reflection(symmetry: Symmetry) -> Floats:
    """The reflection as a matrix, (4, 4)."""
    _partners, point, normal = symmetry
    matrix = np.eye(4)
    matrix[:3, :3] -= 2 * np.outer(normal, normal)
    matrix[:3, 3] = 2 * (point @ normal) * normal
    return matrix


def _paired(partners: Integers) -> int:
    return int(np.count_nonzero(partners >= 0))


def _has_pairs(partners: Integers) -> bool:
    return bool(((partners >= 0) & (partners != np.arange(len(partners)))).any())


def _kinds(skeleton: Skeleton) -> Integers:
    """A number for each kind of bone, (m,): only bones of the same kind are partners."""
    segments = [
        n if kind == BENDY else 0 for kind, n in zip(skeleton.kinds, skeleton.segments, strict=True)
    ]
    kinds = [*zip(skeleton.kinds, segments, skeleton.stretch.tolist(), strict=True)]
    number = {kind: k for k, kind in enumerate(dict.fromkeys(kinds))}
    return np.array([number[kind] for kind in kinds], int)


def _drawn_partners(skeleton: Skeleton) -> Integers | None:
    """Partners at X = 0, within a thousandth of the size.

    Names (.L and .R) decide if the positions agree. A bone without such a name is paired if exactly
    one bone is at the mirrored position, or with itself if at most two are there. Bones of
    different kinds are not partners. None for a skeleton that is not symmetric.
    """
    m = len(skeleton.names)
    own, deform = np.arange(m), skeleton.deform
    ends = np.hstack([skeleton.heads, skeleton.tails]).reshape(m, 2, 3)
    images = ends * [-1, 1, 1]
    tolerance = TOLERANCE * size_of(ends.reshape(-1, 3))

    kinds = _kinds(skeleton)

    def fits(a: Integers | Index, b: Integers | Index) -> Array:
        off = np.linalg.norm(images[a] - ends[b], axis=-1).max(axis=-1)
        return (off <= tolerance) & (kinds[a] == kinds[b]) & deform[a] & deform[b]

    opposite = skeleton.other_side
    named = fits(own, opposite) & (opposite[opposite] == own)
    unpaired = np.flatnonzero(named & (opposite == own))  # a star of limbs from one joint?
    keys = np.column_stack([ends.reshape(m, 6), kinds])[unpaired]  # equal bones are looked at once
    _keys, first, key_of_bone = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    at_image = [fits(np.full(m, bone), own) & (opposite == own) for bone in unpaired[first]]
    named[unpaired] = np.array([each.sum() < CROWD for each in at_image], bool)[key_of_bone.ravel()]
    sided = deform & deform[opposite] & (opposite != own)
    if np.count_nonzero(named & sided) < LEAST_SHARE * np.count_nonzero(sided):
        return None  # the sides of names are elsewhere
    partners = np.where(named, opposite, -1)
    unnamed = np.flatnonzero(deform & ~named)
    only_image = np.full(m, -1)  # the only bone at this position
    for block in np.array_split(unnamed, 1 + len(unnamed) // AT_ONCE):
        fitting = fits(block[:, None], unnamed[None])
        a, b = np.nonzero(fitting & (fitting.sum(axis=1, keepdims=True) == 1))
        only_image[block[a]] = unnamed[b]
    mutual = unnamed[(only_image[unnamed] >= 0) & (only_image[only_image[unnamed]] >= 0)]
    partners[mutual] = only_image[mutual]
    share = np.count_nonzero(partners >= 0) / np.count_nonzero(deform)
    return partners.astype(np.int32) if share >= LEAST_SHARE else None
