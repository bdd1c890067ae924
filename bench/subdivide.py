"""Subdivides meshes."""

import numpy as np


def edges_of(triangles):
    """(edges, the three edges of each triangle): those after its first, second and third corner."""
    pairs = np.concatenate([triangles[:, [c, (c + 1) % 3]] for c in range(3)])
    edges, which = np.unique(np.sort(pairs, 1), axis=0, return_inverse=True)
    return edges, which.reshape(3, -1).T


def quarters(triangles, middles):
    """Returns four triangles in place of each. middles (3, n): the vertices in the middle of the
    edges after its first, second and third corner."""
    (a, b, c), (ab, bc, ca) = triangles.T, middles
    corners = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return np.concatenate([np.column_stack(each) for each in corners])


def subdivided(vertices, triangles):
    edges, which = edges_of(triangles)
    fine = quarters(triangles, (which + len(vertices)).T)
    return np.concatenate([vertices, vertices[edges].mean(1)]), fine
