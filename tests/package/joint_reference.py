"""Derives a skeleton from joints in NumPy. The code follows the rules in joint_skeleton.c directly,
without trees, for skeletons in which all bones deform and a mesh that surrounds all bones."""

import numpy as np


def tails_off(bones, factor=1.0):
    """The median distance of tails from the nearest child, relative to the distance from the head
    to this child."""
    off = []
    for b in range(len(bones)):
        children = np.flatnonzero(bones.parents == b)
        way = np.linalg.norm(bones.heads[children] - bones.heads[b], axis=1)
        end = bones.heads[b] + (bones.tails[b] - bones.heads[b]) / factor
        gap = np.linalg.norm(bones.heads[children] - end, axis=1)
        if (way > 0).any():
            off.append((gap[way > 0] / way[way > 0]).min())
    return np.median(off)


def subtree(parents):
    count = np.ones(len(parents), int)
    for b in range(len(parents)):
        up = parents[b]
        while up >= 0:
            count[up] += 1
            up = parents[up]
    return count


def vertex_areas(vertices, triangles):
    """(n,) a third of the area of each triangle at a vertex."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    thirds = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(thirds, 3), len(vertices))


def axis_child(bones, b, children):
    """The child that determines the axis of bone b."""
    ways = bones.heads[children] - bones.heads[b]
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    mean = ways.mean(axis=0)
    if np.linalg.norm(mean) > 0.5:
        return children[np.argmax(ways @ mean)]
    return children[np.argmax(subtree(bones.parents)[children])]


def joint_tails(vertices, triangles, bones):
    """(m, 3): along the ways, and for leaves in the skin beyond their joints."""
    heads, parents = bones.heads, bones.parents
    children = [np.flatnonzero(parents == b) for b in range(len(parents))]
    leaves = [b for b in range(len(parents)) if not len(children[b])]
    ends = np.array([(p, b) for b, p in enumerate(parents) if p >= 0] + [(b, b) for b in leaves])
    start, way = heads[ends[:, 0]], heads[ends[:, 1]] - heads[ends[:, 0]]
    length2 = np.maximum((way**2).sum(1), 1e-30)
    place = np.clip(((vertices[:, None] - start) * way).sum(2) / length2, 0, 1)
    gap = np.linalg.norm(vertices[:, None] - start - place[..., None] * way, axis=2)
    near = (gap > gap.min(axis=1, keepdims=True) + 1e-9).argmin(axis=1)
    at_end = place[np.arange(len(vertices)), near] > 0.999
    area, tails = vertex_areas(vertices, triangles), np.array(heads)
    for b in range(len(parents)):
        if len(children[b]):
            tails[b] = heads[axis_child(bones, b, children[b])]
            continue
        own, to = (ends[near] == b).all(axis=1), (ends[near] == (parents[b], b)).all(axis=1)
        skin = np.flatnonzero(own | (to & at_end))
        middle = (vertices[skin] * area[skin, None]).sum(0) / area[skin].sum() - heads[b]
        far = np.linalg.norm(middle)
        along = np.sort((vertices[skin] - heads[b]) @ middle / far)
        most = along[int(0.95 * (len(along) - 1))]
        tails[b] = heads[b] + middle / far * 0.9 * min(2 * far, most)
    return tails
