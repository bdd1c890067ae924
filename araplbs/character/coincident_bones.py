"""Finds branches of deform bones that lie on other bones, such as a backpack's bones on the spine.
A branch moves its own loose parts, the other bones move all other vertices, and no vertex follows
both.

A branch is a double if most of its bones lie on other bones that have more descendants. In
addition, the branch's own parts must not be nearer to other bones, and must not surround the bones
on which the branch lies, as body and clothes do. If the branch's parts are as small as buttons, the
branch is not treated as a double.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import vertex_areas
from ..model.edits import Pairs
from ..skeleton.bone_distances import NEARER, close_pairs, distances_from_own
from ..skeleton.bone_evidence import SKIN
from ..skeleton.bone_names import words_of
from ..skeleton.generators import is_of_engine
from ..skeleton.skeleton import Skeleton, hanging
from .mesh import Mesh
from .patch import JoinedMeshes

COINCIDENT = 0.05  # share of the shorter bone's length; closer ends coincide (control_bones.c)
LEAST = 2  # share of the bones of a double that lie on others
MOST = 0.5  # share of the bones of a double, and of the vertices of its parts
SMALL = 0.1  # share of the skin nearest to a double, by area; smaller parts need no own bones
LEAST_COPIES = 3  # number of bones whose names differ from others' names by the same words
DECISIVE = 1.0  # evidence that decides between two chains, per bone
DEFORM_WORDS = {"def", "deform", "skin", "bind"}
REACHED = 0.4  # share of the rays from a bone that hit a part around it (rigid_search.c)
SECTIONS, RAYS = 4, 12  # along a bone and around it


@dataclass
class Double:
    bones: np.ndarray  # (m,) bool: the branch
    originals: np.ndarray  # (m,) bool: the bone it lies on


def find_doubles(skeleton: Skeleton) -> list[Double]:
    """Finds the [Double] of a Skeleton. No bone belongs to two branches."""
    same_place = _same_place(skeleton)
    if not same_place.any():
        return []
    hangs_on = hanging(skeleton.parents)
    same_place &= ~hangs_on & ~hangs_on.T
    doubled = np.count_nonzero(hangs_on[same_place.any(1)], axis=0)
    most = np.maximum(MOST * np.count_nonzero(hangs_on[skeleton.deform], axis=0), LEAST - 1)
    tops = np.flatnonzero(skeleton.deform & (doubled > most))
    roots = np.argmax(hangs_on[:, skeleton.parents < 0], axis=1)
    free, found = skeleton.deform.copy(), []
    for top in sorted(tops, key=lambda bone: np.count_nonzero(hangs_on[bone])):
        branch = hangs_on[:, top] & free
        rest = free & ~branch
        doubled = branch & same_place[:, rest].any(1)
        if np.count_nonzero(doubled) <= max(MOST * np.count_nonzero(branch), LEAST - 1):
            continue
        originals = rest & same_place[:, doubled].any(1)
        below = rest & hangs_on[:, originals].any(1)
        sizes = [
            (np.count_nonzero(own), np.count_nonzero(free & np.isin(roots, roots[own])))
            for own in (branch, below)
        ]
        if sizes[0] < sizes[1]:
            found.append(Double(branch, originals))
            free &= ~branch
    return found


def _same_place(skeleton: Skeleton) -> Bools:
    """Returns (m, m) bool: whether both ends of these two deform bones coincide."""
    deform = np.flatnonzero(skeleton.deform)
    both = np.hstack([skeleton.heads, skeleton.tails])[deform]
    both, place = np.unique(both, axis=0, return_inverse=True)  # a file may have thousands at one
    heads, tails = both[:, :3], both[:, 3:]
    length = np.linalg.norm(tails - heads, axis=1)
    same = np.diag(length > 0)
    for one, other in close_pairs(heads, heads, COINCIDENT * length):
        near = COINCIDENT * np.minimum(length[one], length[other])
        close = one != other
        for ends in (heads, tails):
            close &= np.linalg.norm(ends[one] - ends[other], axis=1) < near
        same[one[close], other[close]] = True
    found = np.zeros((len(skeleton.deform),) * 2, bool)
    found[np.ix_(deform, deform)] = same[np.ix_(place.ravel(), place.ravel())]
    np.fill_diagonal(found, False)
    return found


def parts_of_doubles(meshes: Sequence[Mesh], skeleton: Skeleton) -> list[tuple[Double, Bools]]:
    """Returns [(Double, (vertices of all meshes,) bool: its own parts)] for those that have
    parts."""
    doubles = find_doubles(skeleton)
    if not doubles:
        return []
    whole = JoinedMeshes(meshes)
    part = np.unique(whole.parts(), return_inverse=True)[1].ravel()
    area, open_, found = vertex_areas(whole.points, whole.triangles), np.ones(len(part), bool), []
    for double in doubles:
        others = skeleton.deform & ~double.bones & ~double.originals
        away = _distance(whole.points, skeleton, double.bones)
        near = _distance(whole.points, skeleton, others) >= NEARER * away
        own = np.bincount(part, near & open_) > MOST * np.bincount(part)
        own[_around(whole, part, own, skeleton, double.originals)] = False
        own = own[part]
        if own.any() and area[own].sum() >= SMALL * area[near].sum():
            found.append((double, own))
            open_ &= ~own
    return found


def bones_with_parts(meshes: Sequence[Mesh], skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: bones of doubles that have parts."""
    found = np.zeros(len(skeleton.names), bool)
    for double, _own in parts_of_doubles(meshes, skeleton):
        found |= double.bones
    return found


def lesser_doubles(skeleton: Skeleton, sums: Floats, has_parts: Bools) -> Bools:
    """Returns (m,) bool: bones that lie on another one, if the sums (m,) of bone_evidence.py
    classify both as skin, the other more clearly, and neither has loose parts of its own."""
    skin = (sums <= SKIN) & ~has_parts
    more = skin & (sums < sums[:, None])
    return (_same_place(skeleton) & more).any(1) & skin


def lesser_copies(skeleton: Skeleton, sums: Floats, has_parts: Bools) -> Bools:
    """Returns (m,) bool: the controls among complete chains that lie on others and have the same
    names with an addition such as `DEF_`, as created by retargeting tools.

    All bones of a chain have the same role. The sums (m,) of bone_evidence.py decide if there is
    other evidence. Otherwise, the skin bones are the ones whose names are those of a game engine's
    skeleton, then the ones with an added word for deforming, then the originals. Chains with loose
    parts of their own stay.
    """
    found, pairs = np.zeros(len(skeleton.names), bool), defaultdict(list)
    same_place = _same_place(skeleton)
    for original in np.flatnonzero(same_place.any(1)).tolist():
        name = skeleton.names[original]
        for copy, longer in compress(enumerate(skeleton.names), same_place[original].tolist()):
            if name in longer and name != longer:
                pairs[tuple(longer.split(name, 1))].append((original, copy))
    for added, chain in pairs.items():
        originals, copies = np.array(chain).T
        joined = np.isin(skeleton.parents[copies], copies)  # unlike twist bones, on originals
        if len(chain) < LEAST_COPIES or 2 * np.count_nonzero(joined) < len(chain):
            continue
        if has_parts[[*originals, *copies]].any():
            continue
        apart = float(sums[copies].mean() - sums[originals].mean())
        if abs(apart) < DECISIVE:
            engine = is_of_engine([skeleton.names[bone] for bone in originals.tolist()])
            says_deform = not DEFORM_WORDS.isdisjoint(words_of(" ".join(added)))
            apart = -1.0 if says_deform and not engine else 1.0
        found[copies if apart > 0 else originals] = True
    return found


def _distance(points: Floats, skeleton: Skeleton, bones: Bools) -> Floats:
    """Distances from the nearest of these bones (m,) bool, as (n,)."""
    nearest = np.full(len(points), np.inf)
    for bone in np.flatnonzero(bones):
        np.minimum(nearest, distances_from_own(points, skeleton, bone), out=nearest)
    return nearest


def _around(
    whole: JoinedMeshes, part: Integers, asked: Bools, skeleton: Skeleton, bones: Bools
) -> Integers:
    """Returns (parts,) bool: the parts that surround one of these bones (m,) bool."""
    triangles = whole.triangles[asked[part[whole.triangles[:, 0]]]]
    order = np.argsort(part[triangles[:, 0]], kind="stable")
    corners = whole.points[triangles[order]]
    numbers, begin = np.unique(part[triangles[order, 0]], return_index=True)
    found = np.zeros(len(numbers), bool)
    for bone in np.flatnonzero(bones) if len(numbers) else ():
        head, along = skeleton.heads[bone], skeleton.tails[bone] - skeleton.heads[bone]
        rays, met = _rays_across(along), 0
        for section in range(SECTIONS):
            hits = _hits(corners - head - (section + 0.5) / SECTIONS * along, rays)
            met = met + np.logical_or.reduceat(hits, begin, axis=1).sum(0)
        found |= met >= REACHED * SECTIONS * RAYS
    return numbers[found]


def _rays_across(along: Floats) -> Floats:
    """Unit vectors, (RAYS, 3)."""
    x = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    x /= np.linalg.norm(x)
    y = np.cross(along / np.linalg.norm(along), x)
    angles = 2 * np.pi * (np.arange(RAYS)[:, None] + 0.5) / RAYS
    return np.cos(angles) * x + np.sin(angles) * y


def _hits(corners: Floats, rays: Floats) -> Bools:
    """Returns (rays, f) bool: whether a ray from the origin hits a triangle (f, 3, 3)."""
    a, b, c = np.moveaxis(corners, 1, 0)
    sides = [rays @ np.cross(p, q).T for p, q in ((a, b), (b, c), (c, a))]
    turn = (a * np.cross(b, c)).sum(1)
    return np.all([side * turn >= 0 for side in sides], axis=0) & (turn != 0)


def part_doubles(meshes: list[Mesh], skeleton: Skeleton) -> list[Mesh]:
    """The Meshes, with each vertex restricted either to a double or to the other bones. Only the
    vertices of a double's own parts are restricted to the double."""
    found = parts_of_doubles(meshes, skeleton)
    if not found:
        return meshes
    first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    said = np.zeros((first[-1], len(skeleton.names)), np.int8)
    for double, _own in found:
        said[:, double.bones] = -1
    for double, own in found:
        said[own] = np.where(double.bones, 1, -1) * skeleton.deform
    parted = []
    for mesh, rows in zip(meshes, np.split(said, first[1:-1]), strict=True):
        vertices, bones = np.nonzero(rows)
        parted.append(replace(mesh, doubles=Pairs(vertices, bones, rows[vertices, bones] > 0)))
    return parted
