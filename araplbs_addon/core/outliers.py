"""What lies so far off that it was hardly meant, and what was taken as one because of it."""

import numpy as np

FAR = 20.0  # sizes of the skeleton or of the mesh, whichever is larger
TAKEN_AS_ONE = 0.5  # share of the vertices: less can be seams that do not quite close


def far_vertices(vertices, heads, tails):
    """Indices of those vertices (n, 3) that are far from the box around these bones."""
    ends = np.concatenate([heads, tails])
    low, high = ends.min(axis=0), ends.max(axis=0)
    beside = np.linalg.norm(np.maximum(0, np.maximum(low - vertices, vertices - high)), axis=1)
    # Of the mesh without its outermost vertices: the size of what is not far.
    inner = np.percentile(vertices, (5, 95), axis=0)
    size = max(np.linalg.norm(high - low), np.linalg.norm(inner[1] - inner[0]))
    return np.flatnonzero(beside > FAR * size)


def find_far(problem):
    """[{"object", "count", "vertex", "all"}] of the objects with vertices far from all bones."""
    skeleton, vertices, found = problem.skeleton, problem.arguments["vertices"], []
    heads, tails = skeleton.heads[skeleton.deform], skeleton.tails[skeleton.deform]
    for name, first, size in zip(problem.names, problem.first, problem.sizes, strict=False):
        far = far_vertices(vertices[first : first + size], heads, tails)
        if len(far):
            found.append(
                {"object": name, "count": len(far), "vertex": int(far[0]), "all": len(far) == size}
            )
    return found


def taken_as_one(vertices, welded):
    """How many vertices (n, 3) were welded with others that are at another place, of all that were;
    0 where it is no large share of them."""
    if welded <= TAKEN_AS_ONE * len(vertices):
        return 0
    ordered = vertices[np.lexsort(vertices.T)]
    distinct = 1 + int((ordered[1:] != ordered[:-1]).any(axis=1).sum())
    apart = welded - (len(vertices) - distinct)
    return apart if apart > TAKEN_AS_ONE * len(vertices) else 0
