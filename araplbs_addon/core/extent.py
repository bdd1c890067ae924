"""How large things are, whatever lies far off: the rule of csrc/extent.c, for Python."""

import numpy as np

FENCE = 50  # of the box of all but the outermost
SHARE = 200  # one in so many on either side of each axis is outermost, and at least one
LEAST = 4  # points that have outliers


def not_far_off(points):
    """(n,) bool: the points (n, 3) that do not lie far off."""
    n = len(points)
    if n < LEAST:
        return np.ones(n, bool)
    outermost = max(1, n // SHARE)
    low, high = np.partition(points, (outermost, n - 1 - outermost), axis=0)[
        [outermost, n - 1 - outermost]
    ]
    reach = FENCE * float(np.linalg.norm((high - low).astype(float)))
    if not reach > 0:  # most points are at one place
        return np.ones(n, bool)
    return ((points >= low - reach) & (points <= high + reach)).all(axis=1)


def size_of(points):
    """The diagonal of the bounding box of the points (n, 3) that do not lie far off."""
    return float(np.linalg.norm(np.ptp(points[not_far_off(points)], axis=0)))
