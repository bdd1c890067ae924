"""Creates meshes like those of generators: the creature with a second shell, an inner hull,
slightly open split edges where it bends, islands, and noise; and a union of voxels."""

import creature
import numpy as np
from shapes import box, join


def finer(cells, times):
    return {
        (x * times + i, y * times + j, z * times + k)
        for x, y, z in cells
        for i in range(times)
        for j in range(times)
        for k in range(times)
    }


def body(times=1, smoothings=2):
    vertices, triangles = creature.skin(finer(creature.cells(), times), smoothings * times)
    return vertices / times, triangles


def hull(times=2):
    """The rest of the body, two cells below its surface."""
    cells = finer(creature.cells(), times)
    for _turn in range(2):
        cells = {
            c
            for c in cells
            if all(
                (c[0] + i, c[1] + j, c[2] + k) in cells
                for i, j, k in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
            )
        }
    vertices, triangles = creature.skin(cells, times)
    return vertices / times, triangles


def size_of(vertices):
    return np.linalg.norm(np.ptp(vertices, axis=0))


def normals(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    found = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(found, triangles[:, k], np.cross(b - a, c - a))
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-30)


def doubled(depth=0.004):
    """The body, and a copy of it below its skin, turned inside out like the inner side of a thin
    wall."""
    vertices, triangles = body()
    below = vertices - depth * size_of(vertices) * normals(vertices, triangles)
    return join((vertices, triangles), (below, triangles[:, ::-1]))


def hollow():
    """The body with an invisible hull inside."""
    return join(body(), hull())


def split(apart=2e-5, seed=0):
    """Every side of the body separately, with a gap of `apart` of the size between the rims."""
    vertices, triangles = body()
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    chart = 2 * np.abs(flat).argmax(axis=1)
    chart += np.take_along_axis(flat, (chart // 2)[:, None], axis=1)[:, 0] > 0
    keys, found = np.unique(triangles.astype(np.int64) * 6 + chart[:, None], return_inverse=True)
    moved = vertices[keys // 6]
    count = np.bincount(keys // 6, minlength=len(vertices))[keys // 6]
    rng = np.random.default_rng(seed)
    way = rng.normal(size=moved.shape)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    moved = moved + (count > 1)[:, None] * apart / 2 * size_of(vertices) * way
    return moved, found.reshape(-1, 3)


def islands(count=5):
    """Fragments next to the body."""
    crumbs = [box((0.05, 0.04, 0.06), (1 + 0.2 * k, 0.9, 0.3)) for k in range(count)]
    return join(body(), *crumbs)


def noisy(seed=0, times=3):
    """The body, subdivided and rough everywhere."""
    vertices, triangles = body(times, smoothings=0)
    rng = np.random.default_rng(seed)
    return vertices + 0.25 / times * creature.CELL * rng.normal(size=vertices.shape), triangles


def voxels():
    """The body as a union of cubes, without smoothing."""
    return body(1, smoothings=0)


SET = {
    "clean": body,
    "voxels": voxels,
    "double shell": doubled,
    "inner hull": hollow,
    "split edges": split,
    "islands": islands,
    "noise": noisy,
}
