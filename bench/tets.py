"""Creates a tet mesh of a character with vertices on the bones, as bounded biharmonic weights
require."""

import igl
import numpy as np
import tetgen

QUALITY = 1.4  # largest ratio of circumradius to shortest edge


class NoTets(Exception):
    """The character has no inside that can be filled."""


def weld(vertices, triangles):
    """(distinct vertices, triangles without collapsed ones, position of each vertex)."""
    distinct, place = np.unique(vertices, axis=0, return_inverse=True)
    place = place.ravel()
    t = place[triangles]
    flat = (t[:, 0] == t[:, 1]) | (t[:, 1] == t[:, 2]) | (t[:, 2] == t[:, 0])
    return distinct, t[~flat].astype(np.int32), place


def is_closed(triangles):
    """Whether every edge has two triangles."""
    edges = np.concatenate([triangles[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    _, counts = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    return bool((counts == 2).all())


def samples(heads, tails, step):
    """(points inside the bones about a step apart, bone of each). Ends are omitted, because they
    belong to two bones."""
    points, owners = [], []
    for bone, (head, tail) in enumerate(zip(heads, tails, strict=True)):
        count = max(1, round(np.linalg.norm(tail - head) / step))
        share = (np.arange(count) + 0.5) / count
        points.append(head + share[:, None] * (tail - head))
        owners += [bone] * count
    return np.concatenate(points), np.array(owners)


def fill(vertices, triangles, heads, tails):
    """(nodes, tets, place, handles, owners): the node of each vertex, the nodes on bones, and the
    bone of each of these. Bones without a part inside have no handle."""
    points, faces, place = weld(vertices, triangles)
    if not is_closed(faces):
        raise NoTets("not closed")
    edges = points[faces[:, 1]] - points[faces[:, 0]]
    handles, owners = samples(heads, tails, np.linalg.norm(edges, axis=1).mean())
    _, first = np.unique(np.round(handles, 9), axis=0, return_index=True)
    handles, owners = handles[first], owners[first]
    inside = igl.fast_winding_number(points, faces.astype(np.int64), handles) > 0.5
    handles, owners = handles[inside], owners[inside]
    try:
        mesh = tetgen.TetGen(np.concatenate([points, handles]), faces)
        # No new vertices on the surface, because its weights should be those of the tets.
        nodes, tets = mesh.tetrahedralize(minratio=QUALITY, nobisect=True)[:2]
    except RuntimeError as error:
        raise NoTets("TetGen: " + str(error).strip().splitlines()[0]) from error
    given = np.concatenate([points, handles])
    if not np.array_equal(nodes[: len(given)], given):
        raise NoTets("TetGen moved vertices")
    return nodes, tets.astype(np.int64), place, len(points) + np.arange(len(handles)), owners
