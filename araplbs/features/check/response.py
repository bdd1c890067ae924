"""Finds bones that do not move the skin around them.

A bone without influence stretches nothing, so no other measure reveals it. The skin of a bone
consists of the vertices that are clearly nearest to the bone and face away from it, so the bone
lies behind them. A bone turns with all its children, so skin that follows a child also counts. The
response is the share of the bone's rotation that its skin follows. Weights in the file could also
identify a bone's skin, but this check is for files with doubtful weights, so only positions decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Floats, Integers
from ...skeleton.bone_names import is_end_bone
from .findings import Finding
from .quantities import ramp

if TYPE_CHECKING:
    from ...skeleton.skeleton import Skeleton
    from .inspected import Inspected

CLEARLY = 1.3  # ratio of distances to the next bone: bones below it share their skin
LEAST_SKIN, LEAST_SHARE = 4, 0.003  # vertices, and share of the surface: less is not skin
# Responses: in painted characters, no bone with such skin is below the first. See manual/check.md.
UNRESPONSIVE = 0.12, 0.0
MOST_LOOKED_AT = 30_000  # vertices: of larger regions, some at equal distances are sampled


def unresponsive_bones(look: Inspected) -> Iterator[Finding]:
    """Finds DEAF_BONE: bones that have weights but hardly move their own skin."""
    if not len(look.triangles):
        return
    for bone, vertices, share in own_skin(look):
        if not look.bone_counts[bone] or is_end_bone(look.skeleton.names[bone]):
            continue  # idle bones have their own kind
        response = response_of(look, bone, vertices)
        if share < LEAST_SHARE or response >= UNRESPONSIVE[0]:
            continue
        words = (
            f"{look.name(bone)} hardly moves the skin around it: the skin follows "
            f"{100 * response:.0f} % of its rotation"
        )
        severity = ramp(response, UNRESPONSIVE, 0.4)
        yield from look.largest_finding("DEAF_BONE", severity, vertices, response, words, bone)


def response_of(look: Inspected, bone: int, vertices: Integers) -> float:
    """The share of the rotation that these vertices follow when the bone turns about any axis
    together with all its descendants. Vertices far from the bone's joint count for more."""
    rows = look.normalized.of_vertices(vertices)
    along = np.bincount(rows.vertices, rows.weights * look.hangs_on[rows.bones, bone], rows.count)
    way = np.linalg.norm(look.vertices[vertices] - look.skeleton.heads[bone], axis=1)
    return float((along * way).sum() / max(float(way.sum()), 1e-300))


def own_skin(look: Inspected) -> Iterator[tuple[int, Integers, float]]:
    """Returns (bone, its own skin, share of the surface) for each deform bone with its own skin."""
    some = np.arange(0, len(look), 1 + len(look) // MOST_LOOKED_AT)
    normals, areas = look.outward
    points, outward = look.vertices[some], normals[some]
    first, second = (np.full(len(some), np.inf) for _ in range(2))
    nearest, seen = np.full(len(some), -1), np.zeros(len(some), bool)
    for bone in np.flatnonzero(look.skeleton.deform):
        distance, off = _from_bone(look.skeleton, int(bone), points)
        nearer = distance < first
        second = np.where(nearer, first, np.minimum(second, distance))
        first = np.where(nearer, distance, first)
        nearest[nearer] = bone
        seen[nearer] = (off[nearer] * outward[nearer]).sum(1) > 0
    own = seen & (second > CLEARLY * first) & (look.sums[some] > 0)
    total = max(float(areas[some].sum()), 1e-300)
    for bone in np.flatnonzero(look.skeleton.deform):
        vertices = some[own & (nearest == bone)]
        if len(vertices) >= LEAST_SKIN:
            yield int(bone), vertices, float(areas[vertices].sum()) / total


def _from_bone(skeleton: Skeleton, bone: int, points: Floats) -> tuple[Floats, Floats]:
    """Returns (distances (n,) of points from a bone, vectors (n, 3) from the bone to the points).
    Both distances are measured from the line between the bone's head and tail, or from its lines to
    all children."""
    ends = skeleton.tails[bone][None]
    if skeleton.ways is not None:
        children = np.flatnonzero((skeleton.parents == bone) & skeleton.ways)
        ends = skeleton.heads[children] if len(children) else ends
    best, ways = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for end in ends:
        along, to = end - skeleton.heads[bone], points - skeleton.heads[bone]
        at = np.clip(to @ along / max(float(along @ along), 1e-300), 0, 1)
        off = to - at[:, None] * along
        distance = np.linalg.norm(off, axis=1)
        nearer = distance < best
        best[nearer], ways[nearer] = distance[nearer], off[nearer]
    return best, ways
