"""Copies the weights of one mesh unchanged to copies of the mesh and to its other side.

Meshes with the same edges, such as copies or mirror images of a character, are matched by index.
For all other meshes, the other side is found by reflection. Each vertex takes the weights of the
nearest point on the mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.engine import engine
from ..base.extent import size_of
from ..base.option_table import OptionTable, option
from ..base.refusal import Refused
from ..model.sparse_weights import SparseWeights, make_sparse_weights
from ..reports.report import names_in_line
from ..solvers.follow_host import mixed

ON = 1e-3  # share of the size; an image within this distance coincides with the vertex
LEAST = 1e-4  # smaller weights at points between vertices are dropped


@dataclass(frozen=True)
class CopyOptions(OptionTable):
    """The options of Copy Weights."""

    side: str = option(
        "MIRROR",
        "Side",
        "The side whose weights the other meshes get",
        choices=(
            (
                "MIRROR",
                "Mirrored",
                "Weights of the bones on the other side, for example for the other glove",
            ),
            ("SAME", "Same", "Weights of the same bones, for copies with the same vertices"),
        ),
    )
    distance: float = option(
        0.02,
        "Distance",
        "Maximum distance between the image of a mesh and a target with different "
        "vertices, as a fraction of the mesh size",
        min=0.0,
        max=1.0,
        soft_max=0.1,
    )


@dataclass(frozen=True)
class Given:
    """The mesh that provides the weights, or one that receives them. Positions are in armature
    space."""

    name: str
    points: np.ndarray  # (n, 3)
    triangles: np.ndarray
    edges: np.ndarray  # (e, 2) all edges


@dataclass
class Copied:
    """The result for one mesh."""

    rows: SparseWeights  # of the bones of the source
    by_index: bool
    off: int  # vertices whose image is farther away than ON


def same_edges(a: Integers, b: Integers) -> bool:
    """Whether two sets of edges are equal, in any order."""
    if a.shape != b.shape:
        return False

    def keys(edges: Integers) -> Integers:
        return np.sort(edges.min(axis=1).astype(np.int64) << 32 | edges.max(axis=1))

    return bool(np.array_equal(keys(a), keys(b)))


def copy_weights(
    source: Given, rows: SparseWeights, target: Given, options: CopyOptions, threads: int = 0
) -> Copied:
    """Computes the weights of a target. Raises Refused if the target is neither a copy nor a mirror
    image."""
    alike = len(source.points) == len(target.points) and same_edges(source.edges, target.edges)
    if alike and len(source.edges):
        return Copied(rows, True, 0)
    if options.side == "SAME":
        raise Refused(
            f"'{target.name}' has different vertices or edges than '{source.name}': Transfer "
            "Weights matches by position"
        )
    if not len(source.triangles):
        raise Refused(f"'{source.name}' has no faces")
    image = target.points * [-1.0, 1.0, 1.0]
    corners, at, heights, _parts = engine.nearest_points(
        source.points, source.triangles, image, threads=threads
    )
    size = max(size_of(source.points, source.triangles), 1e-30)
    far = int((np.abs(heights) > options.distance * size).sum())
    if far:
        raise Refused(
            f"{far} of {len(image)} vertices of '{target.name}' are farther from the image of "
            f"'{source.name}' than Distance allows: is it on the other side of the armature?"
        )
    off = int((np.abs(heights) > ON * size).sum())
    return Copied(_between(rows, corners, at), False, off)


def _between(rows: SparseWeights, corners: Integers, at: Floats) -> SparseWeights:
    """Weights of points in triangles, with sum 1 if the corners' weights have this sum. A point at
    a corner gets exactly the corner's weights."""
    at = np.where(at < 1e-6, 0.0, at)
    at = at / at.sum(axis=1, keepdims=True)
    rows = mixed(rows, corners, at)
    return rows.of(rows.weights >= LEAST)


def for_bones(
    rows: SparseWeights, to: Integers, count: int, names: Sequence[str], target: str
) -> SparseWeights:
    """The rows mapped to the corresponding bones of a target: to (m,) indices among its `count`
    bones, -1 for none. Raises Refused if a bone with weight has no counterpart. names: the bone
    names for the message."""
    bones = to[rows.bones]
    lost = np.unique(rows.bones[(bones < 0) & (rows.weights > 0)])
    if len(lost):
        missing = names_in_line([f"'{names[b]}'" for b in lost.tolist()])
        raise Refused(f"The armature of '{target}' has no deform bones {missing}")
    kept = bones >= 0
    return make_sparse_weights(rows.count, rows.vertices[kept], bones[kept], rows.weights[kept])


def copies_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    objects = report["objects"]
    where = names_in_line([f"'{each['name']}'" for each in objects])
    how = "mirrored" if report["options"]["side"] == "MIRROR" else "the same"
    vertices = sum(each["vertices"] for each in objects)
    return f"Weights of '{report['source']}', {how}, for {where}: {vertices:,} vertices"


def copies_warnings(done: Sequence[tuple[str, Copied]]) -> list[str]:
    """Lines about parts of the mesh that an artist should check."""
    return [
        (
            f"'{name}' is not an exact image: {each.off} of {each.rows.count} vertices take "
            "weights from a nearby point"
        )
        for name, each in done
        if each.off
    ]


def written_bones(deform: Bools, locked: Bools, names: Sequence[str], target: str) -> Bools:
    """Returns (m,) bool: the bones whose groups are written. Raises Refused if one is locked."""
    if locked.any():
        which = names_in_line([names[b] for b in np.flatnonzero(locked).tolist()])
        raise Refused(f"'{target}' has locked vertex groups; unlock them first: {which}")
    return deform
