"""The half that a Mirror modifier adds, so that the solver sees the whole character."""

from dataclasses import dataclass

import numpy as np

from .sparse_weights import make_sparse_weights


@dataclass
class Reflection:
    """One axis of a Mirror modifier.

    matrix (4, 4): reflection in the space of the mesh. merge: distance below which a vertex and
    its image become one, None for never. flip: the image of a vertex group is that of the
    opposite bone.
    """

    matrix: np.ndarray
    merge: float | None
    flip: bool


@dataclass
class Whole:
    """A mesh and its images. The mesh itself comes first; arrays are in its own space."""

    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (f, 3)
    edges: np.ndarray  # (e, 2)
    source: np.ndarray  # (n,) the vertex of the mesh that each one is an image of
    flipped: np.ndarray  # (n,) bool: its weights are those of the opposite bones


def reflect(vertices, triangles, edges, reflections):
    """The Whole of a mesh under reflections, applied one after the other as Blender does."""
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


def _reflect_once(whole, reflection):
    n = len(whole.vertices)
    image = whole.vertices @ reflection.matrix[:3, :3].T + reflection.matrix[:3, 3]
    added = np.ones(n, bool)
    if reflection.merge is not None:
        added = np.linalg.norm(image - whole.vertices, axis=1) > reflection.merge
    to = np.arange(n)
    to[added] = n + np.arange(np.count_nonzero(added))
    triangles, edges = to[whole.triangles], to[whole.edges]
    # What lies in the mirror plane is its own image and must not be there twice.
    triangles = triangles[~np.all(triangles == whole.triangles, axis=1)]
    edges = edges[~np.all(edges == whole.edges, axis=1)]
    return Whole(
        np.concatenate([whole.vertices, image[added]]),
        np.concatenate([whole.triangles, triangles[:, ::-1]]),  # outside stays outside
        np.concatenate([whole.edges, edges]),
        np.concatenate([whole.source, whole.source[added]]),
        np.concatenate([whole.flipped, whole.flipped[added] ^ reflection.flip]),
    )


def image_rows(rows, whole, opposite):
    """Weights of all vertices of a Whole from those of its mesh. opposite (m,): bone indices."""
    per_vertex = np.diff(rows.start)[whole.source]
    vertices = np.repeat(np.arange(len(whole.source)), per_vertex)
    within = np.arange(len(vertices)) - np.repeat(np.cumsum(per_vertex) - per_vertex, per_vertex)
    entries = rows.start[whole.source][vertices] + within
    bones = rows.bones[entries]
    bones = np.where(whole.flipped[vertices], opposite[bones], bones)
    return make_sparse_weights(len(whole.source), vertices, bones, rows.weights[entries])
