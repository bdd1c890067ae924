"""Finds the bones that a character needs least, and solves the weights of the remaining bones to
approximate the effect of all bones. This module defines the options, performs the reduction and
builds the report. This module does not use bpy.

First, all bones move the vertices to the given poses. The cost of a bone is the weighted
displacement that its vertices would have if the best replacement bone took them over. The bone with
the lowest cost is removed first, with its mirror image, and the replacement bone takes over its
weights for the next choice. Then araplbs.bake solves the weights of the remaining bones for the
posed vertices. A choice by strain alone would remove the bones that move most, because a surface
that does not bend has no strain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats, Integers
from ...base.engine import engine
from ...base.extent import size_of
from ...base.option_table import OptionTable, option, option_of
from ...base.progress import Listener, Progress
from ...base.refusal import Refused
from ...measures.armature_modifier import blend_dense
from ...measures.deformation import bones_of
from ...model.options import Options
from ...model.sparse_weights import SparseWeights, dense_of
from ...reports.report import names_in_line
from ...skeleton.bone_names import is_end_bone, words_of
from ...skeleton.skeleton import Skeleton


class NothingToRemove(Refused):
    """There are no more bones than should remain, or none of the wanted kind."""


TWIST_WORDS = {"twist", "roll", "bicep", "tweak"}
# Maximum number of bones of a skinned character: Unity's advice for phones, VRChat's rank Good.
PLATFORMS = {"MOBILE": 30, "QUEST": 90, "VRCHAT": 150}
SMOOTHNESS = 1e-4  # as in Bake Modifiers


@dataclass(frozen=True)
class ReduceBonesOptions(OptionTable):
    """The options of Reduce Bones."""

    which: str = option(
        "COUNT",
        "Remove",
        "The deform bones to remove",
        choices=(
            (
                "COUNT",
                "Least Needed",
                "Remove the bones that the poses need least, down to a given number",
            ),
            ("SELECTED", "Selected", "The bones selected in Pose mode"),
            ("ENDS", "Ends and Twists", "End bones and twist bones, recognized by their names"),
        ),
    )
    platform: str = option(
        "CUSTOM",
        "Platform",
        "How many deform bones remain",
        choices=(
            ("CUSTOM", "Custom", "The number set in Bones"),
            ("MOBILE", "Mobile (30)", "The number recommended by engines for phones"),
            ("QUEST", "VRChat on Quest (90)", "Performance rank Good"),
            ("VRCHAT", "VRChat on PC (150)", "Performance rank Good"),
        ),
    )
    count: int = option(
        30, "Bones", "Number of deform bones that remain", min=2, max=10000, soft_max=200
    )
    max_influences: int = option_of(Options, "max_influences")
    animation: str = option_of(Options, "animation")

    @property
    def stays(self) -> int:
        return PLATFORMS.get(self.platform, self.count)

    def posing(self) -> Options:
        """The Options from which poses are generated."""
        return Options(max_influences=self.max_influences, animation=self.animation)


@dataclass
class Fewer:
    """rows: SparseWeights of all bones; removed bones have no weight. replaced_by: {bone: its best
    replacement}, in the order of removal. distance: the root mean square distance of the posed
    vertices from their positions with all bones, as a share of the size. The distance is given both
    for weights added to the replacement bones and for solved weights. strain: {"before", "after"}:
    (area, p99)."""

    rows: SparseWeights
    gone: np.ndarray  # (m,) bool
    replaced_by: dict[int, int]
    distance: tuple[float, float]
    strain: dict[str, tuple[float, float]]
    seconds: float
    flagged: int  # bones with Deform on before


def reduce_bones(
    vertices: Floats,
    triangles: Integers,
    rows: SparseWeights,
    skeleton: Skeleton,
    transforms: Floats,
    options: ReduceBonesOptions,
    wanted: Bools | None = None,
    edges: Integers | None = None,
    threads: int = 0,
    progress: Listener | None = None,
    unused: Bools | None = None,
) -> Fewer:
    """Computes the Fewer for vertices (n, 3) with rows of all m bones, in poses (p, m, 3, 4).
    wanted (m,) bool: the bones that the option SELECTED removes. unused (m,) bool: bones with
    Deform on that were excluded as controls. They also count and are removed first.

    Raises Refused if there is nothing to do, and araplbs.Cancelled when progress (a Listener) stops
    it.
    """
    start, progress = time.perf_counter(), Progress.of(progress)
    m = len(skeleton.names)
    dense = dense_shares(rows, m)
    size = size_of(vertices, triangles)
    frames = np.stack([blend_dense(vertices, dense, pose) for pose in transforms])
    unused = np.zeros(m, bool) if unused is None else unused
    gone, replaced_by = choose(vertices, dense, skeleton, transforms, options, wanted, unused)
    progress("choosing", 0.2)
    merged = dense.copy()
    for bone, other in replaced_by.items():
        merged[:, other] += merged[:, bone]
        merged[:, bone] = 0
    stay = np.flatnonzero(skeleton.deform & ~gone)
    flagged = int(np.count_nonzero(skeleton.deform | unused))

    def seen(found: SparseWeights) -> tuple[float, float]:
        measured = engine.deformation(
            vertices, triangles, tuple(found), transforms, **bones_of(skeleton), threads=threads
        )
        return float(measured["area"]), float(measured["p99"])

    if not (gone & skeleton.deform).any():  # no weight has to be moved
        same, now = seen(rows), time.perf_counter() - start
        strain = {"before": same, "after": same}
        return Fewer(rows, gone, replaced_by, (0.0, 0.0), strain, now, flagged)
    baked = engine.bake(
        vertices,
        frames,
        transforms[:, stay],
        triangles=triangles,
        edges=edges,
        weights=merged[:, stay],
        max_influences=options.max_influences,
        smoothness=SMOOTHNESS,
        threads=threads,
        progress=progress.part(0.2, 0.7),
    )
    begin, bones, weights = baked["weights"]
    solved = SparseWeights(begin, stay[bones].astype(np.int32), weights)

    def distance(found: Floats) -> float:
        squares = [
            np.square(blend_dense(vertices, found, pose) - frame).sum(1).mean()
            for pose, frame in zip(transforms, frames, strict=True)
        ]
        return float(np.sqrt(np.mean(squares))) / size

    return Fewer(
        solved,
        gone,
        replaced_by,
        (distance(merged), distance(dense_of(solved, m))),
        {"before": seen(rows), "after": seen(solved)},
        time.perf_counter() - start,
        flagged,
    )


def dense_shares(rows: SparseWeights, bones: int) -> Floats:
    """The weights as a dense array (n, bones), with sum 1 at each vertex that has any."""
    dense = dense_of(rows, bones)
    sums = dense.sum(1, keepdims=True)
    return np.asarray(dense / np.where(sums > 0, sums, 1))


def choose(
    vertices: Floats,
    dense: Floats,
    skeleton: Skeleton,
    transforms: Floats,
    options: ReduceBonesOptions,
    wanted: Bools | None = None,
    unused: Bools | None = None,
) -> tuple[Bools, dict[int, int]]:
    """Returns (removed (m,) bool, {removed bone: its best replacement}, in order of removal).

    Only as many unused bones are removed as necessary, beginning at the ends of chains. Both bones
    of a pair are removed, even if one would suffice. The cost is O(bones^2 * (poses + removed
    bones)). Raises Refused if no bone would be removed, or none would remain."""
    weights, stay = dense.copy(), skeleton.deform.copy()
    may, least, idle = _asked_for(skeleton, options, wanted, unused)
    center = vertices.mean(0)
    points = np.hstack([vertices - center, np.ones((len(vertices), 1))])
    products = _products(transforms, center)
    sums = {int(bone): _moments(points, weights[:, bone]) for bone in np.flatnonzero(stay)}
    replaced_by: dict[int, int] = {}
    other_side = skeleton.other_side.tolist()
    while stay.sum() > least and may.any():
        costs, best = _costs(sums, np.flatnonzero(may), np.flatnonzero(stay), products)
        pairs = {b: cost + costs.get(other_side[b], 0.0) for b, cost in costs.items()}
        first = min(pairs, key=lambda bone: (pairs[bone], bone))
        for bone in dict.fromkeys((first, other_side[first])):
            if bone not in best or not may[bone] or stay.sum() < 2:
                continue
            other = best[bone]
            if not stay[other]:  # its image was just removed
                other = replaced_by[other] if replaced_by[other] != bone else -1
            if other < 0 or not stay[other]:
                continue
            stay[bone] = may[bone] = False
            replaced_by[bone] = other
            weights[:, other] += weights[:, bone]
            weights[:, bone] = 0
            sums[other] = _moments(points, weights[:, other])
    gone, staying = skeleton.deform & ~stay, np.flatnonzero(stay)
    for bone in idle:
        off = np.linalg.norm(skeleton.heads[staying] - skeleton.heads[bone], axis=1)
        replaced_by[bone], gone[bone] = int(staying[off.argmin()]), True
    return gone, replaced_by


def _asked_for(
    skeleton: Skeleton, options: ReduceBonesOptions, wanted: Bools | None, unused: Bools | None
) -> tuple[Bools, int, list[int]]:
    """Returns ((m,) bool: deform bones that may be removed, how many deform bones remain at least,
    unused bones to remove). Raises Refused as choose() does."""
    stay, names, may = skeleton.deform, skeleton.names, skeleton.deform.copy()
    if options.which != "COUNT":
        is_selected = wanted if options.which == "SELECTED" else None
        may &= ends_and_twists(names) if is_selected is None else is_selected
    if not may.any():
        raise NothingToRemove(
            "No deform bone is selected"
            if options.which == "SELECTED"
            else "No deform bone is named as an end or twist bone"
        )
    if options.which != "COUNT":
        if (may == stay).all():
            raise Refused("All deform bones would be removed: leave at least one")
        return may, 1, []
    others = np.zeros(len(names), bool) if unused is None else unused & ~stay
    count, least = int(np.count_nonzero(stay | others)), options.stays
    if count <= least:
        raise NothingToRemove(
            f"There are {count} deform bones, no more than the {least} that should remain"
        )
    idle = _from_the_ends(others, skeleton.parents)[: count - least]
    return may, least - (int(np.count_nonzero(others)) - len(idle)), idle


def _from_the_ends(bones: Bools, parents: Integers) -> list[int]:
    """These bones (m,), each after all its descendants."""
    depth = np.zeros(len(parents), int)
    above = parents.copy()
    while (above >= 0).any():
        depth[above >= 0] += 1
        above = np.where(above >= 0, parents[above], -1)
    return sorted(np.flatnonzero(bones).tolist(), key=lambda bone: (-depth[bone], bone))


def ends_and_twists(names: Sequence[str]) -> Bools:
    return np.array([is_end_bone(n) or bool(TWIST_WORDS & set(words_of(n))) for n in names], bool)


def _moments(points: Floats, weights: Floats) -> Floats:
    """The sum of w^2 v v^T, (4, 4)."""
    return (points * (weights * weights)[:, None]).T @ points


def _products(transforms: Floats, center: Floats) -> Floats:
    """The sum over poses of A^T B for the transforms of two bones, (m, m, 4, 4). Points are
    relative to `center`. The motion shared by all bones is removed, because only differences
    matter."""
    about = transforms.copy()
    about[..., 3] += transforms[..., :3] @ center
    about[..., 3] -= about[..., 3].mean(1, keepdims=True)
    poses, m = about.shape[:2]
    flat = about.transpose(0, 2, 1, 3).reshape(3 * poses, 4 * m)
    return (flat.T @ flat).reshape(m, 4, m, 4).transpose(0, 2, 1, 3)


def _costs(
    sums: dict[int, Floats], may: Integers, stay: Integers, products: Floats
) -> tuple[dict[int, float], dict[int, int]]:
    """Returns ({bone: its cost}, {bone: its replacement}) for the bones that may be removed."""
    costs, best = {}, {}
    for bone in may.tolist():
        others = stay[stay != bone]
        if not len(others):
            continue
        both = products[others, bone]
        off = products[others, others] - both - both.transpose(0, 2, 1) + products[bone, bone]
        found = np.tensordot(off, sums[bone], 2)
        least = int(found.argmin())
        costs[bone], best[bone] = max(float(found[least]), 0.0), int(others[least])
    return costs, best


def reduce_bones_report(
    armature: str,
    skeleton: Skeleton,
    fewer: Fewer,
    written: Sequence[dict[str, Any]],
    uses: Sequence[str],
    options: ReduceBonesOptions,
) -> dict[str, Any]:
    """The report for programs. uses: lines about objects attached to the removed bones."""
    names = skeleton.names
    return {
        "armature": armature,
        "bones_before": fewer.flagged,
        "bones_after": fewer.flagged - int(fewer.gone.sum()),
        "removed": {names[bone]: names[other] for bone, other in fewer.replaced_by.items()},
        "distance_merged": fewer.distance[0],
        "distance": fewer.distance[1],
        "strain": fewer.strain,
        "uses": list(uses),
        "objects": list(written),
        "seconds": fewer.seconds,
        "options": options.as_dict(),
    }


def reduce_bones_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    before, after = (100 * report["strain"][when][0] for when in ("before", "after"))
    return (
        f"{report['bones_before']} -> {report['bones_after']} deform bones: differs from "
        f"the result with all bones by {100 * report['distance']:.2f} % of the mesh "
        f"size, stretch {before:.1f} -> {after:.1f} %"
    )


def reduce_bones_warnings(report: dict[str, Any]) -> list[str]:
    """Lines about places that a rigger should check."""
    names = names_in_line([f"'{name}'" for name in report["removed"]])
    return [f"Deform is now off for {names}", *report["uses"]]
