"""Finds faults of the weights themselves: missing weights, incorrect sums, too many influences,
speckle and asymmetry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Bools, Integers, ranks
from ...skeleton.bone_distances import nearest_bones
from ...skeleton.symmetry import reflected
from .inspected import SIDES
from .quantities import counted, ramp

if TYPE_CHECKING:
    from .findings import Finding
    from .inspected import Inspected

SUMS = 2e-3  # deviation from 1: single precision and 8 bits stay below it
OFF_SUM = 0.002, 2.0  # engines that do not normalize weights displace such vertices by this share
DROPPED = 0.0, 0.35  # weight lost to a limit of influences
LOOSE = 0.1  # severity of unweighted vertices that belong to no face and are invisible

CONTRAST = 0.3, 0.9  # ratio of the contrast of a speckle to its neighbors
ROUGH = 0.34  # share of its contrast that the neighbors may have among themselves

UNLIKE = 0.1, 0.8  # weight on bones that do not match the other side
ALIKE = 0.66  # share of vertices with a mirror image that a symmetric mesh requires
LEAST_UNLIKE = 2  # vertices


def unweighted(look: Inspected) -> Iterator[Finding]:
    """Finds UNWEIGHTED: vertices that do not follow any bone."""
    bare = look.sums <= 0
    for seen in (True, False):
        vertices = np.flatnonzero(bare & (look.has_face == seen))
        if not len(vertices):
            continue
        for found in look.finding("UNWEIGHTED", 0, vertices, 0, ""):
            count = len(found.vertices)
            whole = count == look.problem.sizes[found.mesh]
            found.value = count / look.problem.sizes[found.mesh]
            found.severity = min(1.0, 0.75 + found.value) if seen else LOOSE
            name = look.problem.names[found.mesh]
            which = "all vertices" if whole else counted(count)
            found.words = f"{which} of '{name}' have no weights and stay where they are"
            if count == 1 and not whole:
                found.words = f"1 vertex of '{name}' has no weights and stays where it is"
            if not seen:
                found.words += ", in no face"
            yield found


def unnormalized(look: Inspected) -> Iterator[Finding]:
    """Finds UNNORMALIZED: sums other than 1, and weights that are not numbers."""
    raw = look.raw
    strange = raw.vertices[~np.isfinite(raw.weights) | (raw.weights < 0)]
    if len(strange):
        words = "weights that are not positive numbers"
        yield from look.finding("UNNORMALIZED", 1, np.unique(strange), np.nan, words)
    off = np.abs(look.sums - 1)
    vertices = np.flatnonzero((off > SUMS) & (look.sums > 0))
    if not len(vertices):
        return
    for found in look.finding("UNNORMALIZED", 0, vertices, 0, ""):
        sums = look.sums[vertices[_in_mesh(look, vertices, found.mesh)]]
        found.value = float(sums[np.abs(sums - 1).argmax()])
        found.severity = min(0.6, ramp(abs(found.value - 1), OFF_SUM, least=0.1))
        found.words = (
            f"the weights of {counted(len(found.vertices))} of "
            f"'{look.problem.names[found.mesh]}' do not sum to 1; the worst sum is "
            f"{found.value:.3g}"
        )
        yield found


def _in_mesh(look: Inspected, vertices: Integers, mesh: int) -> Bools:
    first = look.problem.first
    return (vertices >= first[mesh]) & (vertices < first[mesh + 1])


def influences(look: Inspected) -> Iterator[Finding]:
    """Finds INFLUENCES: vertices with more bones than options.max_influences."""
    most = look.options.max_influences
    counts = np.diff(look.rows.start)
    vertices = np.flatnonzero(counts > most)
    if not most or not len(vertices):
        return
    is_beyond = ranks(look.of_vertex, -look.rows.weights) >= most
    beyond = np.bincount(look.of_vertex, look.shares * is_beyond, len(look))
    for found in look.finding("INFLUENCES", 0, vertices, 0, ""):
        own = vertices[_in_mesh(look, vertices, found.mesh)]
        found.value = float(counts[own].max())
        dropped = float(beyond[own].max())
        found.severity = min(0.6, ramp(dropped, DROPPED, least=0.1))
        found.words = (
            f"{counted(len(found.vertices))} of '{look.problem.names[found.mesh]}' have up to "
            f"{counts[own].max()} influences, but only {most} are allowed; up to "
            f"{100 * dropped:.0f} % of a vertex's weight would be cut off"
        )
        yield found


def speckles(look: Inspected) -> Iterator[Finding]:
    """Finds SPECKLE: single vertices whose weights differ from the weights of all their
    neighbors."""
    contrast, roughness = look.inspection[:2]
    bad = (contrast >= CONTRAST[0]) & (roughness <= ROUGH * contrast) & (look.sums > 0)
    ids = np.flatnonzero(bad)
    if not len(ids):
        return
    rows = look.normalized.of_vertices(ids)
    strongest = rows.bones[ranks(rows.vertices, -rows.weights) == 0]
    # The tip of a finger with its own bone does not count.
    meant = strongest == nearest_bones(look.vertices[ids], look.skeleton)
    for bone in np.unique(strongest[~meant]):
        vertices = ids[(strongest == bone) & ~meant]
        value = float(contrast[vertices].max())
        words = (
            f"{counted(len(vertices))} of {look.name(bone)} with weights unlike those around them, "
            f"up to {100 * value:.0f} % on other bones"
        )
        yield from look.finding("SPECKLE", ramp(value, CONTRAST), vertices, value, words, bone)


def asymmetry(look: Inspected) -> Iterator[Finding]:
    """Finds ASYMMETRY: weights that differ from the weights of the other side, if mesh and skeleton
    have two sides."""
    symmetry = look.problem.arguments.get("symmetry")
    if symmetry is None or not len(look.triangles):
        return
    partners = symmetry[0]
    corners, at = look.on_other_side
    there = corners[:, 0] >= 0  # not ends of wires and loose vertices: no face is near these
    own, corners, at = look.image_points[there], corners[there], at[there]
    other = corners[np.arange(len(own)), at.argmax(1)]
    off = np.linalg.norm(reflected(look.vertices[own], symmetry) - look.vertices[other], axis=1)
    near = off <= SIDES * look.size
    # If parts lie on each other, the nearest one may not be the image.
    sizes = np.bincount(look.parts)[look.parts]
    near &= sizes[own] == sizes[other]
    if np.count_nonzero(near) < ALIKE * max(len(there), 1) or not near.any():
        return
    lone = np.bincount(look.of_vertex, look.shares * (partners < 0)[look.rows.bones], len(look))
    comparable = (look.sums > 0) & (lone == 0)  # all its bones have partners
    near &= comparable[own] & comparable[other]
    own, other = own[near], other[near]
    unlike = np.zeros(len(look))
    images = look.normalized.of_vertices(other)
    images = images._replace(bones=partners[images.bones])
    differences = look.normalized.of_vertices(own).differences(images)
    unlike[own] = np.bincount(*differences, len(own)) / 2
    np.maximum.at(unlike, other, unlike[own])
    bad = unlike >= UNLIKE[0]
    for region in look.regions(bad):
        if len(region) < LEAST_UNLIKE:
            continue
        value = float(np.percentile(unlike[region], 90))
        bone = look.leading(region)
        words = (
            f"{counted(len(region))} at {look.name(bone)}: {100 * value:.0f} % of the weight is on "
            "bones that do not match the other side"
        )
        # Both sides are reported because it is unknown which one is right.
        yield from look.finding("ASYMMETRY", ramp(value, UNLIKE), region, value, words, bone)
