"""Finds edges at which the posed surface folds more sharply than at rest."""

import numpy as np
from araplbs.base.extent import triangle_sides
from layers import places

SHARP = np.radians(60)  # more than at rest, between the two faces: a crease


class Creases:
    """Edges shared by two triangles; coincident corners count as one."""

    def __init__(self, points, triangles):
        at = places(points)[triangles]
        ends = np.sort(triangle_sides(at), axis=1)
        corners = triangle_sides(triangles)
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
