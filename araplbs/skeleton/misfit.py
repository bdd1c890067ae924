"""Decides whether a skeleton has the size, the axes and the place of its mesh, and if not, why.

Generated rigs and files in other units often differ from the mesh by one transform. The weights of
such a pair are useless, although nothing is wrong with the mesh or the skeleton alone. A skeleton
fits if its inner joints, those with children, lie in the box of the mesh and their box is about as
large. All of 57 real characters fit. A garment or a head alone does not fit the skeleton of a body
either, so a misfit also needs a cause: one of the usual mistakes makes the skeleton fit and brings
the skin much closer to the bones. Of 1,359 parts cut from the same characters, 3 have a cause.

A character that faces the other way has the same box. It is recognized by the skin, which is much
closer to the bones after half a turn. Characters whose front and back are alike are not recognized.

The cost is a few hundred points times the number of bones for each mistake that makes the skeleton
fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Floats
from ..base.extent import box_of
from .bone_distances import distances
from .skeleton import Skeleton

# share of the inner joints; margin of the box, as a share of its diagonal
INSIDE, MARGIN = 0.9, 0.05
SMALLEST, LARGEST = 0.4, 1.1  # diagonal of the box of the inner joints, as a share of the mesh's
USUAL = 0.75  # the same share in most characters
NORMALIZED, ROUNDING = (1, 2), 1e-3  # longest sides of normalized meshes; tolerance, as a share
CLOSER = 0.5  # ratio of the distances of the skin from its bones, after and before
LEAST = 3  # inner joints: fewer have no box to compare
MOST_POINTS = 400  # vertices whose distances are measured
# Ratios between meters, decimeters, centimeters, millimeters, feet and inches.
UNITS = (100, 10, 1000, 12, 2.54, 30.48, 3.28084, 39.3701)
ROUND = [(axis, degrees) for axis in "XYZ" for degrees in (90, -90, 180)]


def _turn(axis: str, degrees: int) -> Floats:
    """The rotation about an axis, (3, 3)."""
    k, (c, s) = "XYZ".index(axis), (round(f(np.radians(degrees))) for f in (np.cos, np.sin))
    turn, (i, j) = np.eye(3), ((k + 1) % 3, (k + 2) % 3)
    turn[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return turn


class Misfit(NamedTuple):
    """What would make the skeleton fit: a scale and a turn about the origin (axis, degrees), then a
    shift (3,). If there is a scale and a shift, the mesh was normalized, and both are rough."""

    scale: float = 1.0
    turn: tuple[str, int] | None = None
    shift: Floats | None = None

    def applied(self, points: Floats) -> Floats:
        moved = self.scale * (points @ _turn(*self.turn).T if self.turn else points)
        return moved if self.shift is None else moved + self.shift

    def as_entry(self) -> dict[str, Any]:
        """The Misfit as a JSON-compatible dictionary."""
        shift = None if self.shift is None else self.shift.tolist()
        return {"scale": self.scale, "turn": self.turn and list(self.turn), "shift": shift}


def misfit_of(points: Floats, skeleton: Skeleton) -> Misfit | None:
    """The Misfit of a skeleton and the vertices of its meshes at rest (n, 3); None if it fits or if
    no usual mistake explains it."""
    bones = skeleton.deform | skeleton.left_out
    inner = bones & np.isin(np.arange(len(bones)), skeleton.parents[bones])
    joints = skeleton.heads[inner]
    if len(joints) < LEAST:
        return None
    low, high = box_of(points)
    points = points[((points >= low) & (points <= high)).all(axis=1)]
    mistakes = [[Misfit(turn=("Z", 180))]]
    if not _fits(joints, low, high):
        mistakes = _mistakes(joints, low, high)
    sample = points[:: 1 + len(points) // MOST_POINTS]
    # Other tails may have been computed from this mesh.
    ends = skeleton.heads[bones], skeleton.drawn_tails[bones]
    limit = CLOSER * _away(sample, *ends)
    for alike in mistakes:
        fitting = [each for each in alike if _fits(each.applied(joints), low, high)]
        gaps = [_away(sample, *map(each.applied, ends)) for each in fitting]
        if gaps and min(gaps) <= limit:
            return fitting[int(np.argmin(gaps))]
    return None


def _fits(joints: Floats, low: Floats, high: Floats) -> bool:
    size = float(np.linalg.norm(high - low))
    is_inside = ((joints >= low - MARGIN * size) & (joints <= high + MARGIN * size)).all(axis=1)
    share = np.linalg.norm(np.ptp(joints, axis=0)) / max(size, 1e-300)
    return bool(is_inside.mean() >= INSIDE and SMALLEST <= share <= LARGEST)


def _mistakes(joints: Floats, low: Floats, high: Floats) -> list[list[Misfit]]:
    """The usual mistakes in groups, the simplest first."""
    middle = (joints.min(axis=0) + joints.max(axis=0)) / 2
    size = float(np.linalg.norm(np.ptp(joints, axis=0)))
    ratio = float(np.linalg.norm(high - low)) / max(size, 1e-300)
    units = [scale for unit in UNITS for scale in (1 / unit, unit)]
    units = [scale for scale in units if SMALLEST <= scale / ratio <= LARGEST]
    longest, center, usual = float((high - low).max()), (low + high) / 2, USUAL * ratio
    normalized = any(abs(longest - side) <= ROUNDING * side for side in NORMALIZED)
    return [
        [Misfit(scale) for scale in units],
        [Misfit(turn=turn) for turn in ROUND],
        [Misfit(shift=center - middle)],
        [Misfit(scale, turn) for scale in units for turn in ROUND],
        [Misfit(usual, shift=center - usual * middle)] if normalized else [],
    ]


def _away(points: Floats, heads: Floats, tails: Floats) -> float:
    """The mean distance of the points from their nearest bones."""
    return float(distances(points[:, None], heads, tails).min(axis=1).mean())
