"""Finds edges at which the posed surface folds more sharply than at rest."""

import numpy as np
from layers import places

SHARP = np.radians(60)  # more than at rest, between the two faces: a crease


class Creases:
    """Edges shared by two triangles; coincident corners count as one."""

    def __init__(self, points, triangles):
        at = places(points)[triangles]
        ends = np.sort(np.concatenate([at[:, [0, 1]], at[:, [1, 2]], at[:, [2, 0]]]), axis=1)
        corners = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        _, edge, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(edge.ravel(), kind="stable")
        first = order[(np.cumsum(counts) - counts)[counts == 2]]
        second = order[(np.cumsum(counts) - 1)[counts == 2]]
        self.triangles = triangles
        self.faces = np.stack([first, second]) % len(triangles)
        a, b = points[corners[first]].swapaxes(0, 1)
        self.length = np.linalg.norm(b - a, axis=1)
        self.rest = self.angles(points)

    def angles(self, points):
        """(edges,) angles between the normals of the two faces."""
        a, b, c = points[self.triangles].swapaxes(0, 1)
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        one, other = normals[self.faces]
        return np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), (one * other).sum(1))

    def share(self, points):
        """The share of creases in the total edge length at rest."""
        sharp = self.angles(points) - self.rest > SHARP
        return float(self.length[sharp].sum() / max(self.length.sum(), 1e-300))
