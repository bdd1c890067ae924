"""Finds bones that move skin across a gap, such as the skin of another finger, the other leg or the
other lip.

Two cases are not faults. If the straight line from the skin to the core of the bone passes through
the body, as from one side of a palm to the other, there is no gap. If the skin on the far side
hardly moves and is not stretched, the fault is not visible. The bone's effect on the far skin in
the poses therefore limits the severity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Bools, Floats, Index, Integers, components
from .quantities import counted, ramp

if TYPE_CHECKING:
    from .findings import Finding
    from .inspected import Inspected

# A bone moves vertices near its core in space but far from it along the surface.
DETOUR = 3.0  # ratio of distances: half of pi around a limb, 2 at the webs of fingers
DETOUR_FROM = 0.015  # additional path length, as a share of the size; the width of a finger
CORE = 0.5  # share of a bone's largest weight in its core, as in csrc/measures/inspection.c
GAP = 0.06  # share of the size; beyond this distance there is no gap, only another region
WEIGHT = 0.04, 0.6  # on the far side: visible, and worst
LEAST_BLEEDING = 2  # vertices
INWARD = -0.3  # cosine between a line and the outward normal: the line leads into the flesh
LOOKED_AT = 64  # number of equally spaced vertices of a region
MOVED = 0.01, 0.06  # movement of the skin, as shares of the size; 2 cm on a man are visible
TORN = 0.25, 0.75  # strain: visible, and torn
ALONE = 0.95  # share of the weight; above this, no other bone determines the position of the skin
OWN = 0.6  # severity if the bone has the most weight there, which may be intended


def bleeding(look: Inspected) -> Iterator[Finding]:
    """Finds BLEEDING: bones that move skin across a gap."""
    straight, along = look.inspection[2:]
    rows = look.rows
    with np.errstate(invalid="ignore"):
        far = (along > DETOUR * straight) & (along - straight > DETOUR_FROM * look.size)
    far &= (straight > 0) & (straight < GAP * look.size) & (look.shares >= WEIGHT[0])
    far[far & np.isinf(along)] = _hangs_together(look, np.flatnonzero(far & np.isinf(along)))
    for bone in np.unique(rows.bones[far]):
        entries = np.flatnonzero(far & (rows.bones == bone))
        weight = np.zeros(len(look))
        weight[look.of_vertex[entries]] = look.shares[entries]
        for region in look.regions(weight > 0):
            if len(region) < LEAST_BLEEDING:
                continue
            value = float(weight[region].max())
            if _through_flesh(look, weight, region, bone):
                continue
            severity = ramp(value, WEIGHT) * min(1, 0.5 + len(region) / 16)
            severity = min(severity, _harm(look, weight, region, bone))
            others = look.leading(region, but=bone)
            if look.leading(region) == bone:
                severity = min(severity, OWN)
            words = (
                f"{look.name(bone)} moves {counted(len(region))} across a gap, at "
                f"{look.name(others)}, by up to {100 * value:.0f} %"
            )
            yield from look.finding("BLEEDING", severity, region, value, words, bone)


def _through_flesh(look: Inspected, weight: Floats, region: Integers, bone: Index) -> bool:
    """Whether most straight lines from a region to the core of a bone point inward at both ends."""
    some = region[:: 1 + len(region) // LOOKED_AT]
    entries = np.flatnonzero(look.rows.bones == bone)
    # Distances are measured from the largest connected part of the core, where they are 0.
    strong = look.shares[entries] >= CORE * look.shares[entries].max()
    core = look.of_vertex[entries[strong & (look.inspection[2][entries] == 0)]]
    core = core[weight[core] == 0]
    low, high = look.vertices[some].min(axis=0), look.vertices[some].max(axis=0)
    near = np.abs(look.vertices[core] - (low + high) / 2) <= (high - low) / 2 + GAP * look.size
    core = core[near.all(axis=1)]
    if not len(core):
        return False
    ways = look.vertices[core][None] - look.vertices[some][:, None]
    nearest = (ways * ways).sum(axis=2).argmin(axis=1)
    ways = ways[np.arange(len(some)), nearest]
    inward = _cosines(look, some, ways) < INWARD
    end = _cosines(look, core[nearest], -ways)
    inward &= (end < INWARD) | (end == 0)  # 0: an inner vertex of tets, in no face
    return bool(2 * np.count_nonzero(inward) >= len(some))


def _cosines(look: Inspected, vertices: Integers, ways: Floats) -> Floats:
    """Cosines (k,) between the lines and the outward normals; 0 without a normal."""
    normals = look.outward[0][vertices]
    long = np.linalg.norm(normals, axis=1) * np.linalg.norm(ways, axis=1)
    return (normals * ways).sum(axis=1) / np.maximum(long, 1e-300)


def _harm(look: Inspected, weight: Floats, region: Integers, bone: Index) -> float:
    """The severity of a bone's influence on a region, based on the bone's effect on the region in
    the poses."""
    some = region[:: 1 + len(region) // LOOKED_AT]
    share = np.minimum(weight[some], ALONE)[None, :, None]
    at = look.vertices[some]
    moves = look.poses.transforms[:, bone]
    by_bone = np.einsum("pij,vj->pvi", moves[:, :3, :3], at) + moves[:, None, :3, 3]
    off = np.linalg.norm((by_bone - look.posed(some)) * share / (1 - share), axis=2)
    harm = ramp(float(np.percentile(off.max(axis=0), 90)) / look.size, MOVED)
    inside = np.zeros(len(look), bool)
    inside[region] = True
    a, b, c = inside[look.corners]
    strain = look.measures["triangle_strain"][a | b | c] if len(look.triangles) else np.zeros(0)
    return max(harm, ramp(float(np.percentile(strain, 95)), TORN)) if len(strain) else harm


def _hangs_together(look: Inspected, entries: Integers) -> Bools:
    """Mask of the entries that are connected to the bone's main region, which may be a loose part
    next to the bone."""
    parts = look.parts
    group = components(int(parts.max(initial=0)) + 1, parts[look.links])[parts]
    good = np.zeros(len(entries), bool)
    for bone in np.unique(look.rows.bones[entries]):
        own = look.rows.bones == bone
        most = np.bincount(group[look.of_vertex[own]], look.shares[own]).argmax()
        of_bone = look.rows.bones[entries] == bone
        good[of_bone] = group[look.of_vertex[entries[of_bone]]] == most
    return good
