"""Finds faults of the posed surface: stretch, collapse, floating parts, and skin that pokes through
cloth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Bools, Floats, Integers
from ...base.engine import engine
from ...base.extent import triangle_normals
from .inspected import COVERED, TOUCHES
from .quantities import counted, ramp

if TYPE_CHECKING:
    from .findings import Finding
    from .inspected import Inspected

# Stretch and collapse are the largest and smallest singular values of the map of each triangle in
# any pose. Painted characters, with every joint turned by up to 60 degrees at once, reach 2.5 and
# 0.15 in most armpits and crotches.
STRETCH = 2.5, 7.0  # factor: visible, and ruined
COLLAPSE = 0.8, 1.0  # lost share of a length: visible, and ruined
IN_REGION = 0.75  # quantile over the triangles of a region: a single one is noise
LEAST_REGION = 3  # vertices: fewer are a speckle or a sliver
LARGE_REGION = 0.004  # share of the surface; smaller regions are less severe
# A fold on one side of a limb closes on itself, as inside any bend, and nobody sees into it. Such a
# fold does not ruin the skin, but the loss of a limb's girth does. The area vectors of half a
# tube add up to 0.64 of their total length, and the normals of a whole tube to 0. Each pose counts
# by itself: in different poses, a limb may fold on opposite sides without losing its girth.
ONE_SIDE = 0.6
FOLD = 0.6  # severity of a fold on one side, at most

# Shares of the size of the character.
FLOATS = 0.01, 0.06  # distance between a part and the surface below it: 2 cm on a man are visible
THROUGH = 0.002, 0.015  # depth of the skin that comes through: 4 mm on a man are visible
ALIKE = 0.5  # cosine between the normals of skin and cloth in contact
ABOVE = 0.7  # cosine between the normal of cloth and the direction to the skin above it
CARRIED = 0.1  # quantile over the contact: a part is carried if some of the contact is
LEAST_COVERED = 12  # vertices: fewer are a joint in a socket, not clothing
LEAST_THROUGH = 3  # vertices
# Severity at most if the parts cross at rest and in the pose, such as an eye and its socket: only
# the line along which they cross moves.
CROSSING = 0.6
# Depth below cloth at rest, 0.4 mm on a man. Nearer surfaces lie on each other, such as copies of a
# mesh for other levels of detail, and rounding decides which surface is below.
BELOW = 0.0002


def strained(look: Inspected) -> Iterator[Finding]:
    """Finds STRETCH and COLLAPSE, with one finding for each bone that has the most weight in such
    regions."""
    some, most, least = look.strained
    yield from _regions_of(look, "STRETCH", most, STRETCH, some)
    yield from _regions_of(look, "COLLAPSE", 1 - least, COLLAPSE, some)


def _regions_of(
    look: Inspected, kind: str, values: Floats, limits: tuple[float, float], triangles: Integers
) -> Iterator[Finding]:
    """The findings of a kind for triangles whose values (p, t) exceed the first limit."""
    if not values.size:
        return
    worst = values.max(axis=0)
    kept = worst >= limits[0]
    values, worst, triangles = values[:, kept], worst[kept], triangles[kept]
    corners = look.triangles[triangles]
    bad = np.zeros(len(look), bool)
    bad[corners] = True
    bad &= look.sums > 0
    region_of, regions = np.full(len(look), -1), look.regions(bad)
    bones = np.full(len(regions) + 1, -1)
    for number, some in enumerate(regions):
        region_of[some] = number
        if len(some) >= LEAST_REGION:
            bones[number] = look.leading(some)
    region = region_of[corners].max(axis=1)
    bone_of = bones[region]
    for bone in np.unique(bone_of[bone_of >= 0]):
        own = np.flatnonzero(bone_of == bone)
        vertices = np.flatnonzero(bad & (bones[region_of] == bone))
        value = float(np.quantile(worst[own], IN_REGION, method="lower"))
        pose = int(values[:, own].mean(axis=1).argmax())
        share = look.areas[triangles[own]].sum() / look.area
        severity = ramp(value, limits) * (0.4 + 0.6 * min(1, np.sqrt(share / LARGE_REGION)))
        amount = f"{value:.1f} times as long"
        if kind == "COLLAPSE":
            amount = f"{100 * value:.0f} % of a length lost"
            if severity > FOLD:
                lossy = values[:, own] >= limits[0]
                around = _around_limbs(look, lossy, triangles[own], region[own])
                lost = np.where(around, values[:, own], 0).max(axis=0)[around.any(axis=0)]
                left = float(np.quantile(lost, IN_REGION, method="lower")) if len(lost) else 0.0
                severity = max(FOLD, min(severity, ramp(left, limits)))
        words = f"{counted(len(vertices))} at {look.name(bone)}: up to {amount} in the worst pose"
        yield from look.finding(kind, severity, vertices, value, words, bone, pose)


def _around_limbs(look: Inspected, bad: Bools, triangles: Integers, region: Integers) -> Bools:
    """The bad triangles (p, t) without folds. The triangles of a region that are bad in the same
    pose are a fold if most of their area faces one direction."""
    faces, areas = look.normals[triangles], look.areas[triangles]
    around = bad.copy()
    for pose in range(len(bad)):
        for number in np.unique(region[bad[pose]]):
            some = bad[pose] & (region == number)
            total = float(np.linalg.norm(faces[some].sum(axis=0)))
            around[pose, some] = total < 2 * ONE_SIDE * float(areas[some].sum())
    return around


def loose_parts(look: Inspected) -> Iterator[Finding]:
    """Finds LOOSE_PART: parts that leave the surface on which they sit."""
    if not len(look.triangles):
        return
    corners, at, heights, parts = look.neighbors
    if parts.max() == 0:
        return
    counts = np.bincount(parts)
    distance = np.abs(heights)
    nearest = np.full(len(counts), np.inf)
    np.minimum.at(nearest, parts, distance)
    touching = distance <= nearest[parts] + TOUCHES * look.size / 2
    touching &= (nearest[parts] <= TOUCHES * look.size) & (corners[:, 0] >= 0)
    touching[touching] = np.isin(np.flatnonzero(touching), look.triangles)
    touching &= counts[parts] <= counts[parts[corners[:, 0]]]
    chosen = np.flatnonzero(touching)
    if not len(chosen):
        return
    posed, _triangles, below = look.posed_on(chosen, corners[chosen], at[chosen])
    gap = np.linalg.norm(posed - below, axis=2)
    leaves = np.abs(gap - distance[chosen]) / look.size
    for part in np.unique(parts[chosen]):
        own = parts[chosen] == part
        each = np.quantile(leaves[:, own], CARRIED, axis=1, method="lower")
        pose, value = int(each.argmax()), float(each.max())
        if value < FLOATS[0]:
            continue
        vertices = np.flatnonzero(parts == part)
        bone = look.leading(vertices)
        host = look.leading(np.unique(corners[chosen[own]]))
        words = (
            f"a part of {counted(len(vertices))} at {look.name(bone)} leaves the surface "
            f"it sits on, at {look.name(host)}, by {100 * value:.1f} % of the mesh size"
        )
        severity = ramp(value, FLOATS)
        yield from look.finding("LOOSE_PART", severity, vertices, value, words, bone, pose)


def intersections(look: Inspected) -> Iterator[Finding]:
    """Finds INTERSECTION: vertices that lie below another part at rest and emerge from it in a
    pose."""
    if not len(look.triangles):
        return
    corners, at, heights, parts = look.neighbors
    if parts.max() == 0:
        return
    under = np.flatnonzero((heights < -BELOW * look.size) & (heights > -COVERED * look.size))
    if not len(under):
        return
    rest = look.vertices[corners[under]]
    facing = triangle_normals(look.vertices, corners[under])
    own = look.orientation * look.outward[0][under]
    long = np.linalg.norm(facing, axis=1) * np.linalg.norm(own, axis=1)
    to = look.vertices[under] - np.einsum("kci,kc->ki", rest, at[under])
    under = under[((facing * own).sum(1) > ALIKE * long) & ((facing * to).sum(1) < 0)]
    pair = parts[under].astype(np.int64) * (int(parts.max()) + 1) + parts[corners[under, 0]]
    _, pair, counts = np.unique(pair, return_inverse=True, return_counts=True)
    stays = counts[pair.reshape(-1)] >= LEAST_COVERED
    under, pair = under[stays], pair.reshape(-1)[stays]
    if not len(under):
        return
    posed, triangles, on_cloth = look.posed_on(under, corners[under], at[under])
    a, b, c = np.moveaxis(triangles, 2, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-300)
    out = ((posed - on_cloth) * normal).sum(2) / look.size
    for number in np.unique(pair):
        of_pair = np.flatnonzero(pair == number)
        through = out[:, of_pair] > THROUGH[0]
        pose = int(through.sum(1).argmax())
        some = under[of_pair[through[pose]]]
        if len(some) >= LEAST_THROUGH:
            yield from _come_through(look, some, int(parts[corners[some[0], 0]]), pose)


def _come_through(look: Inspected, some: Integers, cloth: int, pose: int) -> Iterator[Finding]:
    """The findings at vertices that are really outside a part in a pose and not below another
    region of the part."""
    faces = look.triangles[look.parts[look.triangles[:, 0]] == cloth]
    used, local = np.unique(faces, return_inverse=True)
    points = look.posed(some, slice(pose, pose + 1))[0]
    surface = look.posed(used, slice(pose, pose + 1))[0]
    local = local.reshape(-1, 3)
    corners, at, heights, _parts = engine.nearest_points(
        surface, local, points, threads=look.threads
    )
    above = _is_above(points, surface[corners], at, heights)
    height = np.zeros(len(look))
    height[some] = heights / look.size
    out = np.zeros(len(look), bool)
    out[some] = above & (heights > THROUGH[0] * look.size)
    for region in look.regions(out):
        if len(region) < LEAST_THROUGH:
            continue
        value = float(height[region].max())
        bone = look.leading(region)
        over = look.problem.place(int(used[0]))[0]
        words = (
            f"{counted(len(region))} at {look.name(bone)} protrude through '{over}' by "
            f"{100 * value:.1f} % of the mesh size"
        )
        severity = ramp(value, THROUGH) * min(1, 0.4 + 0.6 * len(region) / LEAST_COVERED)
        if severity > CROSSING and _crosses(look, region, cloth, pose, (surface, local)):
            severity = CROSSING
        yield from look.finding("INTERSECTION", severity, region, value, words, bone, pose)


def _is_above(points: Floats, triangles: Floats, at: Floats, heights: Floats) -> Bools:
    """Whether points (k, 3) are on the outside of their nearest triangles (k, 3, 3), and not beyond
    a hem, where the direction to the nearest point runs along the cloth."""
    a, b, c = triangles.swapaxes(0, 1)
    normal = np.cross(b - a, c - a)
    off = points - np.einsum("kci,kc->ki", triangles, at)
    return (off * normal).sum(1) > ABOVE * np.linalg.norm(normal, axis=1) * np.abs(heights)


def _crosses(
    look: Inspected,
    region: Integers,
    cloth: int,
    pose: int,
    surface: tuple[Floats, Integers],
) -> bool:
    """Whether the skin around a region crosses a part both at rest and in the pose, given the posed
    surface of the part (vertices, triangles). At rest, most of the vertices that are less deep than
    the region are above the part. Vertices beyond a hem are not above it. In the pose, some of the
    others are below."""
    corners, at, heights, parts = look.neighbors
    inside = np.zeros(len(look), bool)
    inside[region] = True
    a, b, c = inside[look.corners]
    around = np.unique(look.triangles[a | b | c])
    around = around[~inside[around]]
    near = (corners[around, 0] >= 0) & (parts[corners[around, 0]] == cloth)
    near &= heights[around] > heights[region].mean()
    deep, around = around[~near], around[near]
    if not len(around) or not len(deep):
        return False
    below = look.vertices[corners[around]]
    above = _is_above(look.vertices[around], below, at[around], heights[around])
    above &= heights[around] > 0
    posed = look.posed(deep, slice(pose, pose + 1))[0]
    now = engine.nearest_points(surface[0], surface[1], posed, threads=look.threads)[2]
    return bool(2 * np.count_nonzero(above) > len(around) and (now < 0).any())
