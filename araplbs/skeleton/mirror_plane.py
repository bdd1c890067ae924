"""Finds a plane of any direction in which a skeleton is symmetric within 1 % of its size.

Only joints are compared, because tails from importers are not mirror images of each other.
Candidate planes lie between bones whose names have sides. Without such names, the candidates are
perpendicular to the axes and to the main directions of joints and skin. Each plane is fitted three
times to the joints that are partners in it, and the plane with the most partners is kept. The skin
then decides between this plane and similar planes, which have their normal along a nearby axis or
pass through the origin or the middle of the skin. If the skeleton lies in the plane, it has no
pairs of bones, so the skin must be symmetric.

The cost is O(bones log bones) per candidate plane if few joints lie close together, and O(vertices
log vertices) for the skin.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..base.arrays import Bools, Floats, Integers, found_in
from ..base.extent import size_of
from .bone_distances import close_pairs
from .skeleton import Skeleton

WIDE = 0.01  # tolerance for a mirrored joint, as a share of the size of the joints
FITS = 3  # number of times that a plane is fitted
ENOUGH = 0.5  # share of the bones; with this share found by names, no other planes are tried
SAME = 1e-4  # share of the size; smaller differences can be rounding errors of an importer
TAIL = 0.1  # weight of a tail's deviation in the choice between bones at one joint
NEAR_AXIS = 0.02  # share of the normal's length; a normal this close to an axis may be the axis
CELL = 1e-3  # share of the skin's size; a vertex within this distance matches an image
OF_SKIN = 50_000  # approximate number of vertices examined
SYMMETRIC = 0.5  # minimum share of the vertices off the plane for symmetric skin
AT_ONCE = 64  # points that are compared with all others
LAST = (1 << 17) - 1  # bits of a cell number that are compared first
SOME = 0.2  # below this share, only the joints decide

Plane = tuple[Floats, float]  # normal (3,) and its distance from the origin


def find_plane(
    skeleton: Skeleton, kinds: Integers, points: Floats | None = None
) -> tuple[Integers, Floats, Floats] | None:
    """Returns (partners (m,), point, normal) of the plane in which most deform bones have a
    partner; None if no bone has one. kinds: (m,), equal for bones that can be partners. points: see
    symmetry_plane()."""
    joints = _Joints(skeleton, kinds)
    if not joints.size > 0:
        return None
    best: tuple[int, Plane] | None = None
    for plane in joints.planes(points):
        fitted, count = joints.fitted(plane)
        if best is None or count > best[0]:
            best = count, fitted
        if best[0] >= len(joints.which):
            break
    if best is None or not best[0]:
        return None
    plane, score = best[1], 0.0
    if points is not None and len(points):
        plane, score = _by_skin(points, plane, joints, best[0])
    partners = joints.partners(plane)
    own = joints.own
    if score < SYMMETRIC and not ((partners >= 0) & (partners != own)).any():
        return None
    whole = np.full(len(skeleton.names), -1, np.int32)
    paired = partners >= 0
    whole[joints.which[paired]] = joints.which[partners[paired]]
    return whole, plane[0] * plane[1], plane[0]


class _Joints:
    """The deform bones as points with partners."""

    def __init__(self, skeleton: Skeleton, kinds: Integers) -> None:
        self.which = np.flatnonzero(skeleton.deform)
        self.heads, self.tails = skeleton.heads[self.which], skeleton.tails[self.which]
        self.size = size_of(_distinct(self.heads)) if len(self.which) > 1 else 0.0
        kind = kinds[self.which]
        self.alike = kind[:, None] == kind
        positions = np.full(len(skeleton.names), -1)
        self.own = own = np.arange(len(self.which))
        positions[self.which] = own
        opposite = positions[skeleton.other_side[self.which]]
        self.named = np.where((opposite >= 0) & self.alike[own, opposite], opposite, own)
        up = skeleton.deform_ancestors[self.which]
        self.up = np.where(up >= 0, positions[up], -1)
        self.is_named = self.named != own
        self._of_planes: dict[bytes, tuple[Plane, int]] = {}
        self._of_partners: dict[bytes, Plane | None] = {}

    def planes(self, points: Floats | None) -> Iterator[Plane]:
        """The candidate planes: by names first, then others."""
        left = np.flatnonzero(self.named > self.own)
        differences = self.heads[left] - self.heads[self.named[left]]
        if len(left) and np.linalg.norm(differences, axis=1).max() > WIDE * self.size:
            middles = (self.heads[left] + self.heads[self.named[left]]) / 2
            plane = _plane_between(differences, middles)
            yield plane
            if self.fitted(plane)[1] >= ENOUGH * len(self.own):
                return
        for normals in (np.eye(3), _main_directions(self.heads)):
            for normal in normals:
                coordinates = _along(self.heads, normal)
                for offset in (
                    0.0,
                    float(np.median(coordinates)),
                    float(np.ptp(coordinates) / 2 + coordinates.min()),
                ):
                    yield normal, offset
        if points is not None and len(points) > 1:
            for normal in _main_directions(points):
                yield normal, float((_along(points, normal)).mean())

    def fitted(self, plane: Plane) -> tuple[Plane, int]:
        """Returns (the plane fitted to the joints that are partners in `plane`, the number of such
        bones). Many candidates are equal or have equal partners, so each is fitted once."""
        key = np.append(*plane).tobytes()
        if key not in self._of_planes:
            self._of_planes[key] = self._fitted(plane)
        return self._of_planes[key]

    def _fitted(self, plane: Plane) -> tuple[Plane, int]:
        partners = self.partners(plane)
        best, best_count = plane, int(np.count_nonzero(partners >= 0))
        for _round in range(FITS):
            between = self._between(partners)
            if between is None:
                break
            former, partners = partners, self.partners(between)
            count = int(np.count_nonzero(partners >= 0))
            if count >= best_count:
                best, best_count = between, count
            if (partners == former).all():  # the next round would find this plane again
                break
        return best, best_count

    def _between(self, partners: Integers) -> Plane | None:
        """The plane between these partners, None without a pair."""
        key = partners.tobytes()
        if key not in self._of_partners:
            pairs = np.flatnonzero(partners > self.own)
            distances = _lengths(self.heads[pairs] - self.heads[partners[pairs]])
            pairs = pairs[distances > SAME * self.size]  # others point anywhere
            heads, images = self.heads[pairs], self.heads[partners[pairs]]
            self._of_partners[key] = (
                _plane_between(heads - images, (heads + images) / 2) if len(pairs) else None
            )
        return self._of_partners[key]

    def partners(self, plane: Plane) -> Integers:
        """The partner of each bone, (deform bones,): the bone itself if it lies on the plane, -1
        for none. Partners are found by names, or else by the positions of the joint and its
        parent."""
        images = _image(self.heads, plane)
        tolerance = WIDE * self.size
        fits = self.is_named & (_lengths(images - self.heads[self.named]) <= tolerance)
        fits &= fits[self.named]
        partners = np.where(fits, self.named, -1)
        free = np.flatnonzero(~fits)
        if not len(free):
            return partners
        heads, tails, alike = self.heads, self.tails, self.alike
        if len(free) < len(fits):
            heads, tails, images = heads[free], tails[free], images[free]
            alike = alike[np.ix_(free, free)]
        tail_images, count = _image(tails, plane), len(free)
        nearest, lowest = np.zeros(count, int), np.full(count, np.inf)
        unpaired = np.zeros(count, bool)
        for rows, columns in close_pairs(images, heads, np.full(count, tolerance)):
            distances = _lengths(images[rows] - heads[columns])
            is_near = (distances <= tolerance) & alike[rows, columns]
            if not is_near.any():
                continue
            rows, columns, distances = rows[is_near], columns[is_near], distances[is_near]
            ends = _lengths(tail_images[rows] - tails[columns])
            # Tails decide between bones at one joint, even if they are meaningless.
            cost = distances + TAIL * np.minimum(ends, self.size)
            begins = np.flatnonzero(np.diff(rows, prepend=-1))
            row = rows[begins]
            lowest[row] = np.minimum.reduceat(cost, begins)
            equal = np.where(cost == lowest[rows], columns, count)
            nearest[row] = np.minimum.reduceat(equal, begins)
            tied = (cost <= lowest[rows] + SAME * self.size).astype(int)
            unpaired[row] = np.add.reduceat(tied, begins) == 1
        mutual = np.isfinite(lowest) & unpaired & (nearest[nearest] == self.own[:count])
        partners[free[mutual]] = free[nearest[mutual]]
        return self._alike_above(partners, ~fits)

    def _alike_above(self, partners: Integers, asked: Bools) -> Integers:
        """Removes partners whose parents are neither one bone nor partners of each other. In a
        chain across the plane, the joints are images of each other, but the bones are not."""
        while True:
            up, opposites = self.up, np.maximum(partners, 0)
            is_right = (up == up[opposites]) | ((up >= 0) & (partners[up] == up[opposites]))
            is_wrong = asked & (partners >= 0) & ~is_right
            if not is_wrong.any():
                return partners
            partners[is_wrong] = -1


def _lengths(vectors: Floats) -> Floats:
    """The lengths of vectors, (..., 3)."""
    return np.sqrt(np.add.reduce(vectors * vectors, axis=-1))


def _distinct(points: Floats) -> Floats:
    """The points without those at the place of an earlier one."""
    near = SAME * float(np.linalg.norm(np.ptp(points, axis=0)))
    numbers, repeated = np.arange(len(points)), np.zeros(len(points), bool)
    for some in np.array_split(numbers, 1 + len(points) // AT_ONCE):
        close = _lengths(points[some, None] - points) <= near
        repeated[some] = (close & (numbers < some[:, None])).any(axis=1)
    return points[~repeated]


def _along(points: Floats, direction: Floats) -> Floats:
    """The positions of points along a direction, (n,), computed on the calling thread (see
    affine.py)."""
    return np.einsum("ni,i->n", points, direction)


def _image(points: Floats, plane: Plane) -> Floats:
    normal, offset = plane
    return points - 2 * (_along(points, normal) - offset)[:, None] * normal


def _plane_between(differences: Floats, middles: Floats) -> Plane:
    """The plane that bisects these vectors (k, 3)."""
    normal = np.linalg.svd(differences, full_matrices=False)[2][0]
    normal = normal * np.sign(normal[np.argmax(np.abs(normal))])
    return normal, float(np.median(_along(middles, normal)))


def _main_directions(points: Floats) -> Floats:
    """Unit vectors (3, 3) along the main directions."""
    return np.linalg.eigh(np.cov(points - points.mean(axis=0), rowvar=False))[1].T


def _by_skin(points: Floats, plane: Plane, joints: _Joints, count: int) -> tuple[Plane, float]:
    """Returns (plane, share of the skin that is symmetric in it) for the similar plane with the
    largest share; the given plane if the skin is symmetric in none of them."""
    normals = [plane[0]]
    axis = np.zeros(3)
    axis[np.argmax(np.abs(plane[0]))] = 1
    if np.linalg.norm(axis - plane[0]) < NEAR_AXIS:
        normals.insert(0, axis)
    skin = _Skin(points)
    best, best_share = plane, -1.0
    for normal in normals:
        coordinates = _along(points, normal)
        middle = float(coordinates.min() + coordinates.max()) / 2
        for offset in dict.fromkeys((0.0, middle, float(coordinates.mean()), float(plane[1]))):
            tried = normal, offset
            if np.count_nonzero(joints.partners(tried) >= 0) < count:
                continue
            share = skin.symmetric_share(coordinates, tried)
            if share > best_share + CELL:
                best, best_share = tried, share
    return (best, best_share) if best_share >= SOME else (plane, max(best_share, 0.0))


class _Skin:
    """The points of the skin, which may be symmetric in a plane."""

    def __init__(self, points: Floats) -> None:
        self.points = points
        self.cell = CELL * float(np.linalg.norm(np.ptp(points, axis=0)))
        self.step = 1 + len(points) // OF_SKIN  # of the cells
        self._across: dict[bytes, Floats] = {}

    def across(self, normal: Floats) -> Floats:
        """The positions in a plane with this normal, (n, 2)."""
        key = normal.tobytes()
        if key not in self._across:
            first, second = np.linalg.svd(normal[None])[2][1:]
            self._across[key] = np.column_stack(
                [_along(self.points, first), _along(self.points, second)]
            )
        return self._across[key]

    def symmetric_share(self, coordinates: Floats, plane: Plane) -> float:
        """The share of the points off the plane that have another point at their mirror image: in
        the same cell of a symmetric grid, or in the same cell of this grid shifted by half a cell.
        along: the positions along the normal, (n,)."""
        normal, offset = plane
        places, cell = np.column_stack([self.across(normal), coordinates - offset]), self.cell
        if not cell > 0:
            return 0.0
        off = places[:, 2] > cell, places[:, 2] < -cell
        places[:, 2] = np.abs(places[:, 2])
        places /= cell
        if self.step > 1:
            is_sampled = _cells(places) % self.step == 0
            off = off[0] & is_sampled, off[1] & is_sampled
        one, other = (places[side] for side in off)
        if not len(one) or not len(other):
            return 0.0
        keys = _cells(one), _cells(other)
        matches = _is_in(keys[0], keys[1]), _is_in(keys[1], keys[0])
        keys = _cells(one + 0.5), _cells(other + 0.5)
        for k, match in enumerate(matches):
            match[~match] = _is_in(keys[k][~match], keys[1 - k])
        return float(np.concatenate(matches).mean())


def _is_in(keys: Integers, wanted_keys: Integers) -> Bools:
    """Whether each key is among the others, (n,). The last bits rule out most keys without a
    search."""
    last = np.zeros(LAST + 1, bool)
    last[wanted_keys & LAST] = True
    is_last = last[keys & LAST]
    last_keys = keys[is_last]
    if len(last_keys):
        is_last[is_last] = found_in(last_keys, np.sort(wanted_keys))[1]
    return is_last


def _cells(places: Floats) -> Integers:
    """Cell numbers, (n,)."""
    x, y, z = np.floor(places).astype(np.int64).T
    return (x * 73856093) ^ (y * 19349663) ^ (z * 83492791)
