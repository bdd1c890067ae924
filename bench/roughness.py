"""Measures the roughness of weights: the energy that biharmonic weights minimize, in plain NumPy
and SciPy."""

import numpy as np
import scipy.sparse
from yardstick import Surface


class Roughness:
    """A function of (n, m) weights: the area times the integral of (Laplacian w)^2, summed over all
    bones.

    The Laplacian uses cotangents and lumped masses of a third of the triangles' areas. Coincident
    vertices are welded, and triangles without area are omitted."""

    def __init__(self, vertices, triangles):
        _, self.first, place = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
        surface = Surface(vertices, triangles)
        corners = place.ravel()[surface.triangles]
        points = vertices[self.first]
        n = len(points)
        laplacian = scipy.sparse.csr_array((n, n))
        for k in range(3):
            a, b, c = (corners[:, (k + shift) % 3] for shift in range(3))
            u, v = points[a] - points[c], points[b] - points[c]
            half = (u * v).sum(1) / (4 * surface.area)  # of the cotangent at c
            for i, j in ((a, b), (b, a)):
                laplacian = laplacian + scipy.sparse.coo_array((half, (i, j)), (n, n)).tocsr()
        self.laplacian = laplacian - scipy.sparse.diags_array(laplacian.sum(1))
        self.mass = np.bincount(corners.ravel(), np.repeat(surface.area / 3, 3), n)

    def __call__(self, weights):
        bent = self.laplacian @ weights[self.first]
        inside = self.mass > 0
        return float((bent[inside] ** 2).sum(1) @ (1 / self.mass[inside]) * self.mass.sum())
