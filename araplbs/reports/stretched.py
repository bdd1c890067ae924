"""Finds where a surface stretches so much that the weights are probably unusable: in loose parts,
or at bones with the wrong parent. A cause of high stretch is named only where the stretch is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.engine import engine
from ..base.extent import triangle_areas
from ..character.pose_sets import measured_poses
from ..character.problem import Problem
from ..measures.deformation import measure
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from ..skeleton.skeleton import hanging
from ..solvers.solve import Solution

MOST = 0.5  # share of the stretch that has to be where its cause is
SOME = 0.05  # share of it; less is not named
SEAM = 0.05, 0.95  # weights of a bone and its descendants at its seam


def stretched(
    problem: Problem, rows: SparseWeights, poses: Poses, torn: Sequence[int]
) -> dict[str, Any]:
    """Returns {"parts": [a vertex of the problem], "torn_off": [bone]}: the loose parts, without
    the largest, if together they have most of the stretch; and the bones in `torn` at whose seam
    there is some of it, if most of it is at their seams. The stretch is the squared strain times
    the area."""
    measured = measure(problem, rows, poses, per_triangle=True)
    vertices, triangles = problem.arguments["vertices"], problem.arguments["triangles"]
    areas = triangle_areas(vertices, triangles)
    stretch = areas * measured["triangle_strain"] ** 2
    stretch /= max(float(stretch.sum()), 1e-300)
    parts = engine.nearest_points(vertices, triangles, np.zeros((0, 3)))[3][triangles[:, 0]]
    shares = np.bincount(parts, stretch)
    shares[np.bincount(parts, areas).argmax()] = 0
    of_parts = [
        int(triangles[np.flatnonzero(parts == part)[0], 0])
        for part in np.argsort(-shares, kind="stable")
        if shares[part] >= SOME
    ]
    at_seams, seams_of = np.zeros(len(triangles), bool), []
    hangs = hanging(problem.skeleton.parents)
    for bone in torn:
        weights = np.bincount(rows.vertices, rows.weights * hangs[bone, rows.bones], rows.count)
        corners = weights[triangles]
        seam = (corners.max(axis=1) > SEAM[0]) & (corners.min(axis=1) < SEAM[1])
        at_seams |= seam
        if stretch[seam].sum() >= SOME:
            seams_of.append(int(bone))
    return {
        "parts": of_parts if shares.sum() >= MOST else [],
        "torn_off": seams_of if stretch[at_seams].sum() >= MOST else [],
    }


def where_stretched(
    problem: Problem, solution: Solution, options: Options, torn: Sequence[int]
) -> dict[str, Any] | None:
    """The entry "stretched" of a report, see make_report(). torn: bones at the end of a limb that
    have another parent."""
    if problem.numbers is not None:  # a patch
        return None
    places_of_stretch = stretched(problem, solution.rows, measured_poses(problem, options), torn)
    vertices = map(problem.place, places_of_stretch["parts"])
    return {
        "parts": [{"object": name, "vertex": vertex} for name, vertex in vertices],
        "torn_off": [problem.skeleton.names[bone] for bone in places_of_stretch["torn_off"]],
    }
