"""Finds faults between bones and their skin: limbs that drift from their bones, bones outside the
skin, idle bones, and loose parts that two bones fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Floats, Index, Integers, found_in
from ...measures.doubtful_parts import doubtful_parts, name_of_part
from ...skeleton.bone_names import is_control_name
from .findings import Finding
from .quantities import counted, ramp

if TYPE_CHECKING:
    from .inspected import Inspected

DRIFT = 0.3, 1.2  # radii of the limb: drift that is visible, and drift outside the limb
OUTSIDE = 0.25, 2.0  # distance from the skin, in radii of the region the bone moves
LEAST_RADIUS = 0.02  # share of the size; bones of eyes and teeth have less effect
LARGE_LIMB = 0.004  # share of the surface; lips and brows have bones like limbs but are smaller
LEAST_OUTSIDE = 0.004  # share of the size; bones of eyelids and lips lie in the skin
LEAST_DRIVEN = 4  # vertices
WRONG_PART = 0.5  # severity for a bone inside a region that other bones move
IDLE, IDLE_IN_LIMB = 0.15, 0.5  # severity: a spare bone, and one that a limb should follow
DOUBTFUL, CHOSEN = 0.1, 0.05  # severity: a question to the artist, and one that is answered
# Limits for finding the limb of a bone, as in the engine: the position of its middle, the maximum
# width, and the minimum number of vertices.
MIDDLE, WIDEST, LEAST_LIMB = (0.3, 0.7), 1.5, 6
FLAT = 0.12  # squared thickness of the region around a bone, relative to its width


def _beside(look: Inspected, bone: Index, vertices: Integers) -> tuple[Floats, Floats]:
    """Returns (distance, position from 0 to 1) of vertices relative to a bone."""
    head = look.skeleton.heads[bone]
    axis, off = look.skeleton.tails[bone] - head, look.vertices[vertices] - head
    place = np.clip(off @ axis / max(axis @ axis, 1e-300), 0, 1)
    return np.linalg.norm(off - place[:, None] * axis, axis=1), place


def _limb(look: Inspected, bone: Index) -> Integers:
    """The approximate set of vertices around the middle of a bone."""
    head, tail = look.skeleton.heads[bone], look.skeleton.tails[bone]
    middle, far = (head + tail) / 2, WIDEST * np.linalg.norm(tail - head)
    near = np.arange(len(look))
    for axis, at in zip(look.axes, middle, strict=True):
        near = near[np.abs(axis[near] - at) <= far]
    distance, place = _beside(look, bone, near)
    around = (place > MIDDLE[0]) & (place < MIDDLE[1])
    near, distance = near[around], distance[around]
    if not len(near):
        return near
    nearest = np.sort(distance)[: max(LEAST_LIMB, len(near) // 50)]
    return near[distance <= 2 * nearest.mean()]


def _surrounds(look: Inspected, bone: Index, vertices: Integers) -> bool:
    """Whether the vertices surround the bone. False if they lie flat, because the bones of facial
    muscles lie in the skin."""
    head = look.skeleton.heads[bone]
    axis, off = look.skeleton.tails[bone] - head, look.vertices[vertices] - head
    off -= np.outer(off @ axis / max(axis @ axis, 1e-300), axis)
    _along, thin, wide = np.linalg.eigvalsh(off.T @ off)
    return thin >= FLAT * wide


def drifting_limbs(look: Inspected) -> Iterator[Finding]:
    """Finds DRIFT: limbs that drift from their bones."""
    if not len(look.triangles):
        return
    drift = look.measures["bone_drift"]
    moves = look.bone_counts > 0  # idle bones have their own kind
    for bone in np.flatnonzero((np.nan_to_num(drift) >= DRIFT[0]) & moves):
        vertices = _limb(look, bone)
        vertices = vertices[look.sums[vertices] > 0]
        if not len(vertices) or not _surrounds(look, bone, vertices):
            continue
        value = float(drift[bone])
        words = f"the limb of {look.name(bone)} leaves its bone by {value:.2f} of its radius"
        share = look.area_of(vertices) / look.area
        severity = ramp(value, DRIFT) * (0.5 + 0.5 * min(1, share / LARGE_LIMB))
        yield from look.largest_finding("DRIFT", severity, vertices, value, words, bone)


def bones_outside(look: Inspected) -> Iterator[Finding]:
    """Finds BONE_OUTSIDE: bones outside the skin that they move, or inside skin that other bones
    move."""
    bones = np.flatnonzero(look.skeleton.deform & (look.bone_counts > 0))
    if not len(look.triangles) or not len(bones):
        return
    corners, heights = look.around_bones
    corners, heights = corners[:, bones], look.orientation * heights[:, bones]
    found = (corners[:, :, 0] >= 0).all(axis=0)  # if all faces are flat, there is no nearest one
    out = heights.min(axis=0)  # values of the sample nearest to the skin
    outside = found & (out > LEAST_OUTSIDE * look.size)
    m = len(look.skeleton.names)
    _at, known = found_in(corners * m + bones[:, None], look.of_vertex * m + look.rows.bones)
    lost = found & (heights < 0).all(axis=0) & (~known).all(axis=(0, 2))
    for k in np.flatnonzero(outside | lost):
        entries = np.flatnonzero(look.rows.bones == bones[k])
        share = look.shares[entries]
        driven = look.of_vertex[entries[share >= 0.5 * share.max()]]
        if len(driven) < LEAST_DRIVEN:
            continue
        if outside[k]:
            yield from _outside(look, bones[k], driven, float(out[k]))
        elif share.max() >= 0.5:
            yield from _in_wrong_part(look, bones[k], driven, corners[:, k])


def _outside(look: Inspected, bone: Index, driven: Integers, out: float) -> Iterator[Finding]:
    center = look.vertices[driven].mean(axis=0)
    radius = np.linalg.norm(look.vertices[driven] - center, axis=1).mean()
    value = out / max(float(radius), LEAST_RADIUS * look.size)
    if value >= OUTSIDE[0]:
        words = (
            f"{look.name(bone)} lies outside the mesh by {100 * out / look.size:.1f} % "
            f"of the mesh size and moves {counted(len(driven))}"
        )
        severity = ramp(value, OUTSIDE)
        yield from look.largest_finding("BONE_OUTSIDE", severity, driven, value, words, bone)


def _in_wrong_part(
    look: Inspected, bone: Index, driven: Integers, corners: Integers
) -> Iterator[Finding]:
    """Whether the bone moves none of the skin around it."""
    distance = float(_beside(look, bone, driven)[0].min())
    around = look.leading(np.unique(corners))
    value = distance / look.size
    if value < LEAST_OUTSIDE:
        return
    words = (
        f"{look.name(bone)} lies inside the part that {look.name(around)} moves, and moves "
        f"{counted(len(driven))} elsewhere"
    )
    yield from look.largest_finding("BONE_OUTSIDE", WRONG_PART, driven, value, words, bone)


def idle_bones(look: Inspected) -> Iterator[Finding]:
    """Finds IDLE_BONE: deform bones without any effect."""
    idle = np.flatnonzero(look.skeleton.deform & (look.bone_counts == 0))
    if not len(idle) or not look.bone_counts.any():
        return
    in_limb = np.zeros(len(look.bone_counts), bool)
    if len(look.triangles):
        in_limb = np.isfinite(look.measures["bone_drift"])
    for bone in idle:
        words, severity, found = f"{look.name(bone)} moves no vertex", IDLE, []
        if in_limb[bone] and not is_control_name(look.skeleton.names[bone]):
            words += ", though a limb surrounds it"
            severity, limb = IDLE_IN_LIMB, _limb(look, bone)
            found = look.largest_finding("IDLE_BONE", severity, limb, 0, words, bone)
        yield from found or [Finding("IDLE_BONE", severity, 0, int(bone), words=words)]


def doubtful(look: Inspected) -> Iterator[Finding]:
    """Finds DOUBTFUL_PART: loose parts that another bone fits about as well."""
    if not look.parts.max(initial=0):
        return
    names = look.skeleton.names
    for k, part in enumerate(doubtful_parts(look.problem, look.rows, look.threads)):
        others = "', '".join(names[bone] for bone in part.others)
        words = f"{name_of_part(look.problem, part)}: '{names[part.bone]}' (or '{others}')"
        severity = CHOSEN if part.chosen else DOUBTFUL
        for found in look.finding(
            "DOUBTFUL_PART", severity, part.vertices, part.doubt, words, part.bone
        ):
            pair = min(k, part.mirror) if part.mirror >= 0 else -1
            yield replace(found, others=part.others, pair=pair)
