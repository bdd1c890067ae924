"""Measures how far weights differ from the weights of the other side, on characters that have two
sides."""

import numpy as np
from scipy.spatial import cKDTree

NEAR = 0.01  # of the size: an image that is nearer to a vertex, or a bone, is its own
MOST = 0.9  # of the vertices have a partner, and every bone: a character with two sides


class Sides:
    """The axis across which most vertices have partners, and the partners of vertices and bones."""

    def __init__(self, points, heads, tails):
        self.known = False
        near = NEAR * max(np.ptp(points, axis=0).max(), 1e-300)
        best = MOST
        for axis in range(3):
            flip = np.ones(3)
            flip[axis] = -1
            ends = np.hstack([heads, tails])
            off, bones = cKDTree(ends).query(ends * np.tile(flip, 2))
            moved = np.abs(heads[:, axis]).max(initial=0) > near
            if (
                not moved
                or off.max(initial=0) > near
                or (bones[bones] != np.arange(len(bones))).any()
            ):
                continue
            off, vertices = cKDTree(points).query(points * flip)
            share = (off <= near).mean()
            if share > best:
                best, self.known = share, True
                self.bones, self.own = bones, np.flatnonzero(off <= near)
                self.partners = vertices[self.own]

    def difference(self, rows):
        """Mean over the vertices of the sum of |w - w of the other side|, from 0 to 2; NaN if the
        character does not have two sides. rows: normalized, with the bones given at creation."""
        if not self.known:
            return np.nan
        other = rows[self.partners][:, self.bones]
        return float(np.abs(rows[self.own] - other).sum(1).mean())
