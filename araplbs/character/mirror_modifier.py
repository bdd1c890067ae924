"""Adds the half created by a Mirror modifier, so that the solver works on the whole character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.affine import moved
from ..base.arrays import Bools, Floats, Integers
from ..model.sparse_weights import SparseWeights, make_sparse_weights


@dataclass
class Reflection:
    """One axis of a Mirror modifier.

    matrix (4, 4): reflection in the space of the mesh. merge: distance below which a vertex and its
    image are merged, None for never. flip: whether the image of a vertex belongs to the vertex
    groups of the opposite bones.
    """

    matrix: np.ndarray
    merge: float | None
    flip: bool


@dataclass
class Whole:
    """A mesh and its images, the mesh itself first. Arrays are in its own space."""

    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (f, 3)
    edges: np.ndarray  # (e, 2)
    source: np.ndarray  # (n,) the source vertex in the mesh for each vertex
    flipped: np.ndarray  # (n,) bool: weights are those of the opposite bones


def reflect(
    vertices: Floats, triangles: Integers, edges: Integers, reflections: Sequence[Reflection]
) -> Whole:
    """The Whole of a mesh under reflections, applied in sequence as in Blender."""
    whole = Whole(
        vertices,
        triangles,
        edges,
        np.arange(len(vertices)),
        np.zeros(len(vertices), bool),
    )
    for reflection in reflections:
        whole = _reflect_once(whole, reflection)
    return whole


def reflect_moves(vertices: Floats, moves: Floats, reflections: Sequence[Reflection]) -> Floats:
    """Displacements (..., k, 3) of all vertices of the Whole, given the displacements (..., n, 3)
    of the mesh vertices."""
    for reflection in reflections:
        image, added = _image(vertices, reflection)
        mirrored = moves[..., added, :] @ reflection.matrix[:3, :3].T
        moves = np.concatenate([moves, mirrored], axis=-2)
        vertices = np.concatenate([vertices, image[added]])
    return moves


def _image(vertices: Floats, reflection: Reflection) -> tuple[Floats, Bools]:
    """Returns the images of the vertices and a mask (n,) bool of the images that are separate
    vertices."""
    image = moved(vertices, reflection.matrix)
    added = np.ones(len(vertices), bool)
    if reflection.merge is not None:
        added = np.linalg.norm(image - vertices, axis=1) > reflection.merge
    return image, added


def _reflect_once(whole: Whole, reflection: Reflection) -> Whole:
    n = len(whole.vertices)
    image, added = _image(whole.vertices, reflection)
    to = np.arange(n)
    to[added] = n + np.arange(np.count_nonzero(added))
    triangles, edges = to[whole.triangles], to[whole.edges]
    # A vertex in the mirror plane is its own image and must not be duplicated.
    triangles = triangles[~np.all(triangles == whole.triangles, axis=1)]
    edges = edges[~np.all(edges == whole.edges, axis=1)]
    return Whole(
        np.concatenate([whole.vertices, image[added]]),
        np.concatenate([whole.triangles, triangles[:, ::-1]]),  # keeps the outside on the outside
        np.concatenate([whole.edges, edges]),
        np.concatenate([whole.source, whole.source[added]]),
        np.concatenate([whole.flipped, whole.flipped[added] ^ reflection.flip]),
    )


def image_rows(rows: SparseWeights, whole: Whole, opposite: Integers) -> SparseWeights:
    """Weights of all vertices of a Whole, given the weights of its mesh. opposite (m,): the index
    of each bone's opposite."""
    rows = rows.of_vertices(whole.source)
    bones = np.where(whole.flipped[rows.vertices], opposite[rows.bones], rows.bones)
    return make_sparse_weights(rows.count, rows.vertices, bones, rows.weights)
