"""Finds rigid parts, in which all vertices have the same weights. Rigid parts are parts that the
user marked, and parts whose vertices share one row of current weights. The module also lists all
rigid parts for the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Integers, components, ranks
from ..model.edits import Edits
from ..model.sparse_weights import SparseWeights
from .mesh import Mesh, places_of

if TYPE_CHECKING:
    from .problem import Problem

SAME = 1e-3  # weights with smaller differences are equal


def loose_parts(mesh: Mesh) -> Integers:
    """The number of the loose part of each vertex of a Mesh, (n,). Coincident vertices count as
    one."""
    places = places_of(mesh.vertices)
    corners = places[mesh.triangles]
    pairs = [corners[:, :2], corners[:, 1:], places[mesh.edges.reshape(-1, 2)]]
    label = components(int(places.max(initial=-1)) + 1, np.concatenate(pairs))
    return np.unique(label[places], return_inverse=True)[1].ravel()


def parts_of_artist(meshes: Sequence[Mesh]) -> list[list[Integers]]:
    """Returns [[vertices of a part]] for each Mesh: its loose parts whose vertices all have the
    same current weights. None if all vertices of all meshes have the same weights, because then the
    character has not been weighted."""
    found: list[list[Integers]] = []
    rows = []
    for mesh in meshes:
        own: list[Integers] = []
        if mesh.weights is not None and len(mesh.vertices):
            label = loose_parts(mesh)
            order = np.argsort(label, kind="stable")
            for part in np.split(order, np.cumsum(np.bincount(label))[:-1]):
                row = _same_row(mesh.weights, part)
                rows.append(row)
                if row and len(part) > 1:
                    own.append(part)
        found.append(own)
    if all(row is not None and row == rows[0] for row in rows):
        return [[] for _mesh in meshes]
    return found


def _same_row(weights: SparseWeights, vertices: Integers) -> dict[int, float] | None:
    """The common weights {bone: weight} of these vertices; {} if they have no weights, None if the
    weights differ."""
    rows = weights.of_vertices(vertices)
    rows = rows.of(rows.weights > SAME)
    counts = np.diff(rows.start)
    if (counts != counts[0]).any():
        return None
    bones, values = (column.reshape(rows.count, -1) for column in (rows.bones, rows.weights))
    if (bones != bones[0]).any() or (np.abs(values - values[0]) > SAME).any():
        return None
    return {b: round(w, 2) for b, w in zip(bones[0].tolist(), values[0].tolist(), strict=True)}


def labels(
    problem: Problem, edits: Sequence[Edits], found: Sequence[Sequence[Integers]]
) -> Integers | None:
    """Numbers for Solver(rigid_parts=...), (vertices of the problem,); None without rigid parts.

    edits: the Edits of each mesh; found: the detected parts of each mesh, used if nothing is
    marked. The images of a Mirror modifier are separate parts, unless a part reaches the mirror
    plane.
    """
    label, count = np.full(problem.first[-1], -1, np.int32), 0
    for mesh, (own, others) in enumerate(zip(edits, found, strict=True)):
        marked = np.zeros(problem.sizes[mesh], bool)
        for part in own.rigid:
            marked[part] = True
        for part in [*own.rigid, *(part for part in others if not marked[part].any())]:
            which, vertices = problem.images(mesh, part)
            copies = np.bincount(which, minlength=len(part))
            apart = (copies == copies[0]).all()  # no vertex is its own image
            number = ranks(which) if apart else np.zeros(len(which), np.int64)
            label[vertices] = count + number
            count += int(number.max(initial=0)) + 1
    return label if count else None


def rigid_bones(label: Integers, rows: SparseWeights) -> list[tuple[int, int, int]]:
    """Returns [(first vertex, vertices, bone)] for the rigid parts with these labels
    (Solver.rigid_parts). The bone is the one with the largest weight in SparseWeights."""
    numbers, first, sizes = np.unique(label, return_index=True, return_counts=True)
    found, parts = [], np.stack([first, sizes], axis=1)[numbers >= 0]
    for vertex, size in parts.tolist():
        entries = slice(rows.start[vertex], rows.start[vertex + 1])
        if len(rows.bones[entries]):
            bone = int(rows.bones[entries][np.argmax(rows.weights[entries])])
            found.append((vertex, size, bone))
    return found
