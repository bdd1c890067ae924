"""Finds faults of a rig's weights that strain does not show: bones that do not move their skin,
loose parts on another bone, and loose parts that leave the surface that they touch.

The weights of the file determine which skin belongs to which bone. A bone without influence
stretches nothing, so feet may not move even if the strain is low. Therefore, each bone is rotated
together with its descendants, and its own skin should follow about as far as with the file's
weights. Rows are normalized, and have a column for every bone of the armature, which is zero if the
bone does not deform."""

import numpy as np
from scipy.spatial import cKDTree
from yardstick import rotation, skin

OWN = 0.5  # of the weight of a vertex in the file: it is the bone's own skin
LEAST_OWN = 4  # vertices of own skin, below which a bone is not looked at
TURN = np.radians(40)
ASKEW = np.array([0.31, 0.77, 0.55])  # any direction: the first axis is across the bone and it
UP = np.array([0.0, 0, 1])  # taken for the way of a bone without length
ELSEWHERE = 1.5  # times as far from its bone as from the nearest one: skin next to other bones
DEAF = 0.25  # share of the way with the file's weights; bones that move skin less are counted
LEAST_PART = 8  # vertices of a loose part that is looked at
HANGS, HELD = 0.9, 0.5  # mean weight of its bone in the file, and the least in ours
TOUCHES = 0.02  # of the diagonal: parts that are nearer at rest are in contact
MOST_PAIRS = 6  # of a part, and a quarter of its vertices at most: the nearest ones
MOST_PARTS = 4000  # more are hair or leaves, and contact is not looked for
WIDE = 95  # percentile over the pairs of contact


def hanging(parents):
    """(m, m) bool: whether bone j is bone i or its descendant."""
    result = np.eye(len(parents), dtype=bool)
    for bone in range(len(parents)):
        above = parents[bone]
        while above >= 0:
            result[above, bone] = True
            above = parents[above]
    return result


def responses(points, heads, tails, parents, weights, file):
    """{bone: how far its own skin goes along when it turns, of the way by the file's weights}.

    Of every bone with own skin in the file: mean way of that skin over two turns about axes across
    the bone, with all bones that hang on it."""
    hang, found = hanging(parents), {}
    for bone in range(len(parents)):
        own = np.flatnonzero(file[:, bone] > OWN)
        if len(own) < LEAST_OWN:
            continue
        along = tails[bone] - heads[bone] if (tails[bone] != heads[bone]).any() else UP
        along = along / np.linalg.norm(along)
        first = np.cross(along, ASKEW)
        ways = np.zeros(2)
        for axis in (first, np.cross(along, first)):
            moved = (points[own] - heads[bone]) @ (rotation(axis, TURN) - np.eye(3)).T
            far = np.linalg.norm(moved, axis=1)
            ways += [(w[own][:, hang[bone]].sum(1) * far).mean() for w in (weights, file)]
        if ways[1] > 1e-9:
            found[bone] = float(ways[0] / ways[1])
    return found


def deaf_bones(*arguments):
    """[bone] of responses() whose own skin hardly moves."""
    return [bone for bone, response in responses(*arguments).items() if response < DEAF]


def with_skin_elsewhere(points, heads, tails, deform, file, bones):
    """[bone] of these whose own skin in the file is next to other bones: its mean distance from the
    bone is at least ELSEWHERE times that from the nearest deforming one."""
    found, others = [], np.flatnonzero(deform)
    for bone in bones:
        own = points[file[:, bone] > OWN]
        least = np.min([_distances(own, heads[b], tails[b]) for b in others], axis=0)
        if _distances(own, heads[bone], tails[bone]).mean() >= ELSEWHERE * least.mean():
            found.append(bone)
    return found


def _distances(points, head, tail):
    """(n,) of points from the line of a bone."""
    along, off = tail - head, points - head
    at = np.clip(off @ along / max(along @ along, 1e-300), 0, 1)
    return np.linalg.norm(off - at[:, None] * along, axis=1)


def parts_on_bones(parts, weights, file):
    """[(part, the bone that it hangs on in the file, our mean weight of that bone)]

    Of the loose parts that the file hangs on one bone, except the largest part."""
    counts, found = np.bincount(parts), []
    for part in np.flatnonzero(counts >= LEAST_PART):
        own = parts == part
        mean = file[own].mean(0)
        if part != counts.argmax() and mean.max() >= HANGS:
            bone = int(mean.argmax())
            found.append((int(part), bone, float(weights[own, bone].mean())))
    return found


def contacts(points, parts):
    """(p, 2) vertices of two loose parts that touch at rest: a few for each part, where it is
    nearest to others. The largest part adds no pairs of its own."""
    counts, pairs = np.bincount(parts), []
    if not 1 < len(counts) < MOST_PARTS:
        return np.zeros((0, 2), int)
    near_enough = TOUCHES * np.linalg.norm(np.ptp(points, axis=0))
    for part in np.flatnonzero(counts):
        if part == counts.argmax():
            continue
        own, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        distances, nearest = cKDTree(points[others]).query(points[own])
        order = np.argsort(distances)[: min(max(1, len(own) // 4), MOST_PAIRS)]
        order = order[distances[order] < near_enough]
        pairs += zip(own[order], others[nearest[order]], strict=True)
    return np.array(pairs, int).reshape(-1, 2)


def gap(points, weights, poses, pairs):
    """How far pairs in contact separate: in the pose with the largest value, the WIDE percentile
    over the pairs, as a share of the diagonal."""
    if not len(pairs) or not len(poses):
        return 0.0
    used, pairs = np.unique(pairs, return_inverse=True)
    pairs = pairs.reshape(-1, 2)
    points_used, rows = points[used], weights[used]
    rest = _apart(points_used, pairs)
    widest = np.max([_apart(skin(points_used, rows, pose), pairs) - rest for pose in poses], axis=0)
    diagonal = np.linalg.norm(np.ptp(points, axis=0))
    return float(np.percentile(np.maximum(widest, 0), WIDE) / diagonal)


def _apart(points, pairs):
    return np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
