"""Makes, applies and inverts rotations and affine transforms on the calling thread.

If NumPy uses OpenBLAS, inv() and large matrix products wake a thread. This thread then spins for a
tenth of a second on a processor core that the engine could use.
"""

import numpy as np

from .arrays import Array, Floats

AT_ONCE = 16384  # points: a product of this size wakes no thread


def moved(points: Floats, matrix: Array) -> Floats:
    """Points (n, 3) transformed by an affine matrix (3 or 4, 4)."""
    turned = np.empty((len(points), 3), np.result_type(points, matrix))
    for begin in range(0, len(points), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        np.matmul(points[part], matrix[:3, :3].T, out=turned[part])
    turned += matrix[:3, 3]
    return turned


def inverse(matrix: Array) -> Floats:
    """Inverses of invertible affine matrices (..., 4, 4)."""
    columns = np.swapaxes(matrix[..., :3, :3], -1, -2)
    rows = np.cross(columns[..., [1, 2, 0], :], columns[..., [2, 0, 1], :])
    volume = (rows[..., 0, :] * columns[..., 0, :]).sum(-1)
    found = np.zeros(matrix.shape)
    found[..., :3, :3] = rows / volume[..., None, None]
    found[..., :3, 3:] = -found[..., :3, :3] @ matrix[..., :3, 3:]
    found[..., 3, 3] = 1
    return found


def placed(turn: Floats, before: Floats, after: Floats | None = None) -> Floats:
    """The affine matrix (4, 4) that turns by a rotation (3, 3) and moves the point `before` to
    `after`; by default, the point stays in place."""
    found = np.eye(4)
    found[:3, :3] = turn
    found[:3, 3] = (before if after is None else after) - turn @ before
    return found


def unit(way: Floats) -> Floats:
    """The unit vector in a direction, (3,)."""
    return way / max(float(np.linalg.norm(way)), 1e-12)


def rotations(vectors: Floats) -> Floats:
    """Converts rotation vectors (..., 3) to rotation matrices (..., 3, 3)."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    k = np.zeros((*vectors.shape, 3))
    x, y, z = np.moveaxis(vectors, -1, 0)
    k[..., 0, 1], k[..., 0, 2], k[..., 1, 2] = -z, y, -x
    k -= np.swapaxes(k, -1, -2)
    return np.eye(3) + np.sinc(angle / np.pi) * k + np.sinc(angle / 2 / np.pi) ** 2 / 2 * (k @ k)
