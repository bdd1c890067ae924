"""Which deform bones of a skeleton are mirror images of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Array, Floats, Index, Integers
from ..base.extent import size_of
from .poses import BENDY

if TYPE_CHECKING:
    from ..character.problem import Skeleton

TOLERANCE = 1e-3  # how far head and tail may be off their image, as a share of the skeleton
AT_ONCE = 64  # bones that are held against all others
LEAST_SHARE = 0.5  # of the deform bones that must have a partner

PLANE = (np.zeros(3), np.array([1.0, 0.0, 0.0]))  # point and normal: the armature's X = 0


def symmetry_plane(skeleton: Skeleton) -> tuple[Integers, Floats, Floats] | None:
    """The solver's argument `symmetry`; None for a skeleton that is not symmetric."""
    partners = bone_partners(skeleton)
    return None if partners is None else (partners, *PLANE)


def bone_partners(skeleton: Skeleton) -> Integers | None:
    """(m,) the deform bone on the other side, the bone itself on the plane, -1 for none.

    Names decide (.L and .R) where the places agree; other bones are paired where just one is in
    the right place. Bones of different kinds are no partners. None for a skeleton that is not
    symmetric.
    """
    m = len(skeleton.names)
    own, deform = np.arange(m), skeleton.deform
    ends = np.hstack([skeleton.heads, skeleton.tails]).reshape(m, 2, 3)
    images = ends * [-1, 1, 1]
    tolerance = TOLERANCE * size_of(ends.reshape(-1, 3))

    kinds, stretch = np.array(skeleton.kinds), skeleton.stretch
    segments = np.where(kinds == BENDY, skeleton.segments, 0)

    def fits(a: Integers | Index, b: Integers | Index) -> Array:
        off = np.linalg.norm(images[a] - ends[b], axis=-1).max(axis=-1)
        alike = (kinds[a] == kinds[b]) & (segments[a] == segments[b]) & (stretch[a] == stretch[b])
        return (off <= tolerance) & alike & deform[a] & deform[b]

    opposite = skeleton.opposite
    named = fits(own, opposite) & (opposite[opposite] == own)
    partners = np.where(named, opposite, -1)
    unnamed = np.flatnonzero(deform & ~named)
    one = np.full(m, -1)  # the only one that fits
    for some in np.array_split(unnamed, 1 + len(unnamed) // AT_ONCE):
        fitting = fits(some[:, None], unnamed[None])
        a, b = np.nonzero(fitting & (fitting.sum(axis=1, keepdims=True) == 1))
        one[some[a]] = unnamed[b]
    mutual = unnamed[(one[unnamed] >= 0) & (one[one[unnamed]] >= 0)]
    partners[mutual] = one[mutual]
    share = np.count_nonzero(partners >= 0) / np.count_nonzero(deform)
    return partners.astype(np.int32) if share >= LEAST_SHARE else None
