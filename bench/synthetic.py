"""Generates a creature with any number of vertices and bones: a spine with arms on both sides, in
one closed surface of even quads, like a subdivided mesh."""

import numpy as np

LINK = 3  # cells per bone
UNIT = 0.1  # meters per cell; limbs are one cell thick


def skeleton(spine, arm):
    """(heads, tails, parents) in cells: `spine` bones upward and, from the middle of each spine
    bone, an arm of `arm` bones to either side. The limbs run through the middle of their cells."""
    heads, tails, parents = [], [], []
    for i in range(spine):
        heads.append((0.5, 0.5, LINK * i + (0.5 if i == 0 else 0)))
        tails.append((0.5, 0.5, LINK * (i + 1) - (0.5 if i == spine - 1 else 0)))
        parents.append(i - 1)
    for i in range(spine):
        for side in (1, -1):
            for j in range(arm):
                end = LINK * (j + 1) - (0.5 if j == arm - 1 else 0)
                height = LINK * i + LINK / 2
                heads.append((0.5 + side * (0.5 + LINK * j), 0.5, height))
                tails.append((0.5 + side * (0.5 + end), 0.5, height))
                parents.append(len(heads) - 2 if j else i)
    return np.array(heads), np.array(tails), np.array(parents)


def cells(spine, arm):
    """The cubes that the limbs fill."""
    filled = {(0, 0, z) for z in range(LINK * spine)}
    for i in range(spine):
        for x in range(1, LINK * arm + 1):
            filled |= {(x, 0, LINK * i + LINK // 2), (-x, 0, LINK * i + LINK // 2)}
    return filled


def surface(filled):
    """(corner, first side, second side) of the squares between filled and empty cells."""
    squares = []
    axes = np.eye(3, dtype=int)
    for cell in sorted(filled):
        for axis in range(3):
            u, v = axes[(axis + 1) % 3], axes[(axis + 2) % 3]
            for step in (1, -1):
                if tuple(np.add(cell, step * axes[axis])) not in filled:
                    corner = cell + axes[axis] * (step > 0)
                    squares.append((corner, u, v) if step > 0 else (corner, v, u))
    return [np.array(column) for column in zip(*squares, strict=True)]


def cut(corners, u, v, parts):
    """(vertices in parts of a cell, triangles): every square split into parts x parts."""
    i, j = (each.ravel() for each in np.mgrid[: parts + 1, : parts + 1])
    grid = parts * corners[:, None] + i[:, None] * u[:, None] + j[:, None] * v[:, None]
    points = grid.reshape(-1, 3)
    low = points.min(0)
    key = np.ravel_multi_index((points - low).T, points.max(0) - low + 1)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    a = (np.arange(parts)[:, None] * (parts + 1) + np.arange(parts)).ravel()
    b, c, d = a + parts + 1, a + parts + 2, a + 1
    pattern = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    own = (parts + 1) ** 2 * np.arange(len(corners))
    triangles = place.ravel()[own[:, None, None] + pattern]
    return points[first], triangles.reshape(-1, 3).astype(np.int32)


def rounded(vertices, spine, arm):
    """The vertices moved to a distance of half a cell from the nearest limb."""
    heads, tails, _ = skeleton(spine, arm)
    first, last = heads[:1], tails[spine - 1 : spine]
    starts = np.concatenate([first, heads[spine::arm]])
    ends = np.concatenate([last, tails[spine + arm - 1 :: arm]])
    starts[1:, 0] = 0.5  # arms begin in the spine
    least, nearest = np.full(len(vertices), np.inf), np.empty_like(vertices)
    for start, end in zip(starts, ends, strict=True):
        along = (vertices - start) @ (end - start) / np.sum((end - start) ** 2)
        point = start + np.clip(along, 0, 1)[:, None] * (end - start)
        distance = np.linalg.norm(vertices - point, axis=1)
        closer = distance < least
        least[closer], nearest[closer] = distance[closer], point[closer]
    return nearest + (vertices - nearest) * (0.5 / least)[:, None]


def creature(vertices, spine, arm):
    """(approximately this many vertices, triangles, heads, tails, parents); spine + 2 spine arm
    bones."""
    squares = surface(cells(spine, arm))
    parts = max(1, round(np.sqrt(vertices / len(squares[0]))))
    points, triangles = cut(*squares, parts)
    heads, tails, parents = skeleton(spine, arm)
    points = rounded(points / parts, spine, arm)
    return UNIT * points, triangles, UNIT * heads, UNIT * tails, parents
