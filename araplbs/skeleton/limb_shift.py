"""Finds limbs whose skin is off their bones, all by the same vector.

Such limbs occur if a mesh and its skeleton come from different versions of a character. The skin of
a bone consists of the vertices at which the bone has more than half of the current weight. Its
center, relative to the line of the bone, is an offset o_b across the bone's direction a_b. A limb
that is shifted by d has the offsets o_b = (1 - a_b a_b') d, from the thick upper arm to the thin
fingers. Least squares over a bone and its descendants give d. Directions in which most bones of the
limb point remain unknown, and d has no part in them.

Artists place bones off the center as well, by a quarter of the radius in most limbs. However, these
offsets change from bone to bone, or with the radius. A limb is listed only if two conditions hold.
First, all bones agree: no offset differs from the shift by more than half of the shift, and enough
bones lie across it. Second, the skin is off the bones, not just off the center: the shift
exceeds the radius of the skin at half of the bones. Smaller shifts do little harm.

Of 126 armatures with the weights of artists, the conditions hold for a beak and for two limbs
whose bones lie outside the skin. If limbs are shifted for a test, no other limb is found.

The computation reads each vertex a few times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import vertex_areas
from ..model.sparse_weights import SparseWeights
from .skeleton import Skeleton, hanging
from .symmetry import Symmetry

OWN = 0.5  # share of a vertex's weight at which the vertex is skin of the bone
LEAST = 6  # vertices: fewer determine no center
ENOUGH = 4  # bones across the shift that must confirm it
# share of the bones that must lie across a direction for the shift to have a part in it
ACROSS = 0.5
CONFIRMS = 0.5  # share of the shift: largest difference, and least part across a bone
BESIDE = 0.5  # share of the bones that must lie outside their skin


class LimbShift(NamedTuple):
    """bone: the first bone of the limb; shift (3,): from the bones to their skin; bones: the bones
    with skin that confirm the shift."""

    bone: int
    shift: Floats
    bones: Integers


def limb_shifts(
    points: Floats, triangles: Integers, rows: SparseWeights, skeleton: Skeleton
) -> list[LimbShift]:
    """Finds shifted limbs. A limb within another shifted limb is not listed. points (n, 3) and
    triangles (f, 3): the skin at rest; rows: its current weights."""
    skins = _skins(points, triangles, rows, skeleton)
    return _shifted(skins, hanging(skeleton.parents))


def mirrored(limbs: list[LimbShift], symmetry: Symmetry) -> list[LimbShift]:
    """The limbs, with shifts that are mirror images where limbs on both sides of the plane are
    shifted."""
    partners, _point, normal = symmetry
    shifts = {limb.bone: limb.shift for limb in limbs}
    symmetric = []
    for bone, shift, bones in limbs:
        opposite = shifts.get(int(partners[bone]))
        if opposite is not None:
            shift = (shift + opposite - 2 * (opposite @ normal) * normal) / 2
        symmetric.append(LimbShift(bone, shift, bones))
    return symmetric


class _Skins(NamedTuple):
    """The skin of each bone. offsets (m, 3): of its center, across the bone; radii (m,); across (m,
    3, 3): the projection across the bone; known (m,): whether the bone has enough skin."""

    offsets: Floats
    radii: Floats
    across: Floats
    known: Bools


def _skins(points: Floats, triangles: Integers, rows: SparseWeights, skeleton: Skeleton) -> _Skins:
    m, entries = len(skeleton.names), rows.weights > OWN
    vertices, bones = rows.vertices[entries], rows.bones[entries]
    along = skeleton.tails - skeleton.heads
    lengths = np.linalg.norm(along, axis=1)
    axes = along / np.where(lengths > 0, lengths, 1)[:, None]
    offset = points[vertices] - skeleton.heads[bones]
    position = (offset * axes[bones]).sum(axis=1)
    is_beside = (position >= 0) & (position <= lengths[bones]) & skeleton.deform[bones]
    vertices, bones = vertices[is_beside], bones[is_beside]
    offset = offset[is_beside] - position[is_beside, None] * axes[bones]
    share = rows.weights[entries][is_beside] * vertex_areas(points, triangles)[vertices]
    total = np.bincount(bones, share, m)
    total = np.where(total > 0, total, 1)
    sums = [np.bincount(bones, share * offset[:, k], m) for k in range(3)]
    offsets = np.stack(sums, axis=1) / total[:, None]
    squares = np.bincount(bones, share * ((offset - offsets[bones]) ** 2).sum(axis=1), m)
    is_known = (np.bincount(bones, share > 0, m) >= LEAST) & (lengths > 0)
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    return _Skins(offsets, np.sqrt(squares / total), across, is_known)


def _shifted(skins: _Skins, hangs: Bools) -> list[LimbShift]:
    shifted: list[LimbShift] = []
    for bone in np.flatnonzero(skins.known).tolist():
        if any(hangs[bone, limb.bone] for limb in shifted):
            continue
        limb = np.flatnonzero(hangs[:, bone] & skins.known)
        offsets, across = skins.offsets[limb], skins.across[limb]
        values, ways = np.linalg.eigh(across.sum(axis=0))
        determined = values >= ACROSS * len(limb)
        ways, values = ways[:, determined], values[determined]
        shift = ways @ ((ways.T @ offsets.sum(axis=0)) / values)
        size, expected = np.linalg.norm(shift), across @ shift
        agree = np.linalg.norm(offsets - expected, axis=1) <= CONFIRMS * size
        distances = np.linalg.norm(expected, axis=1)
        is_outside = (distances > skins.radii[limb]).mean() >= BESIDE
        confirms = distances >= CONFIRMS * size
        if size > 0 and agree.all() and is_outside and confirms.sum() >= ENOUGH:
            shifted.append(LimbShift(bone, shift, limb[confirms]))
    return shifted
