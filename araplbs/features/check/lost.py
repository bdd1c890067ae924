"""Finds bones that have lost their skin, which they moved with the earlier weights but hardly move
with the new ones. Strain does not reveal such bones, because a bone without influence stretches
nothing. This module does not use bpy.

The skin of a bone consists of the vertices at which the bone had more than half of the weight. The
bone is rotated about two axes across it, together with its children, and the displacements of its
skin are compared. Each vertex is weighted by its distance from the axis, because the displacement
is proportional to this distance for any angle.

The reverse fault is a bone that moves skin of another limb. Such skin goes along with the bone and
does not stretch, so strain does not reveal it either. Skin is foreign to a bone if the bone and its
descendants had hardly any weight there. Without earlier weights, overreach.py finds such bones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...base.extent import vertex_areas
from ...character.mirror_images import beside_locked
from ...model.options import Options
from ...model.sparse_weights import summed_entries
from ...skeleton.poses import Poses
from ...skeleton.skeleton import hanging
from .inspected import Inspected
from .overreach import CLEARLY, LIMB, MUCH, OF_OWN, overreaches

if TYPE_CHECKING:
    from ...base.arrays import Bools, Floats
    from ...character.problem import Problem
    from ...model.sparse_weights import SparseWeights

OWN = 0.5  # share of a vertex's weight at which the vertex is skin of the bone
LEAST = 4  # vertices: a smaller skin is ignored
LOST = 0.25  # share of the earlier displacement; below this, the skin is lost
RESPONSIVE = 0.5  # share of the earlier displacement; from here on, the bone moves it as before
FOREIGN = 0.02  # earlier weight of a bone and its descendants; with less, the skin is foreign
ASKEW = np.array([0.31, 0.77, 0.55])  # any direction: the first axis is across it and the bone
UP = np.array([0.0, 0.0, 1.0])  # the direction used for a bone without length


class Responses(NamedTuple):
    """Indices, in the names of the skeleton, of the bones that had skin: all such bones, the bones
    that have lost their skin, and the bones whose skin still responds."""

    owners: list[int]
    lost: list[int]
    responsive: list[int]


def responses(problem: Problem, before: SparseWeights, after: SparseWeights) -> Responses:
    """Determines how bones move the skin that they had. Weights are scaled to sum to 1, as in
    Blender."""
    skeleton = problem.skeleton
    before, after = before.normalized(), after.normalized()
    count = len(skeleton.names)
    owner = np.full(before.count, -1)
    is_skin = before.weights > OWN
    owner[before.vertices[is_skin]] = before.bones[is_skin]
    hangs_on = hanging(skeleton.parents)
    ways = _ways(np.asarray(problem.arguments["vertices"]), owner, skeleton.heads, skeleton.tails)
    earlier, now = (_moved(rows, owner, hangs_on, ways, count) for rows in (before, after))
    had_skin = np.bincount(owner[owner >= 0], minlength=count) >= LEAST
    moved = had_skin & (earlier > 0)
    masks = had_skin, moved & (now < LOST * earlier), moved & (now >= RESPONSIVE * earlier)
    return Responses(*(np.flatnonzero(bones).tolist() for bones in masks))


def lost_bones(problem: Problem, before: SparseWeights, after: SparseWeights) -> list[int]:
    """The bones that have lost their skin."""
    return responses(problem, before, after).lost


class Reach(NamedTuple):
    """bone: moves foreign skin; owner: the bone that moved most of this skin before. Indices in the
    names of the skeleton."""

    bone: int
    owner: int


def reaching_bones(problem: Problem, before: SparseWeights, after: SparseWeights) -> list[Reach]:
    """The bones that move much skin that was foreign to them with the earlier weights."""
    areas = vertex_areas(problem.arguments["vertices"], problem.arguments["triangles"])
    before, after = before.normalized(), after.normalized()
    parents = problem.skeleton.parents
    hangs_on, count = hanging(parents), len(parents)
    sizes = np.diff(before.start)[after.vertices]
    old = before.of_vertices(after.vertices)  # the earlier weights there, for each entry of `after`
    entry = old.vertices
    with_it = hangs_on[old.bones, after.bones[entry]]
    had = np.bincount(entry, old.weights * with_it, len(sizes))
    foreign = (sizes > 0) & (had < FOREIGN)
    area = np.where(foreign, areas[after.vertices], 0.0)
    taken, clearly = (
        np.bincount(after.bones, area * weights, count)
        for weights in (after.weights, after.weights > CLEARLY)
    )
    own = np.bincount(before.bones, areas[before.vertices] * before.weights, count) @ hangs_on
    every = max(float(areas.sum()), 1e-300)
    limb = (own > LIMB[0] * every) & (own < LIMB[1] * every)
    found = []
    for bone in np.flatnonzero(limb & (clearly > MUCH * every) & (taken > OF_OWN * own)).tolist():
        here = (after.bones[entry] == bone) & foreign[entry]
        of = (area * after.weights)[entry[here]] * old.weights[here]
        found.append(Reach(bone, int(np.bincount(old.bones[here], of).argmax())))
    return found


def with_lost(
    compared: dict[str, Any], problem: Problem, before: SparseWeights, after: SparseWeights
) -> dict[str, Any]:
    """The result of standing() with "reaching", {name of a bone that moves foreign skin: name of
    the bone that moved this skin, or that it belongs to if there were no weights}. If earlier
    weights exist for comparison, the result also contains "lost", the names of these bones. If any
    bone is lost, the new weights count as worse."""
    names = problem.skeleton.names
    if "file" not in compared:
        at_rest = Poses(np.zeros((0, len(names), 3, 4)), None)
        over = overreaches(Inspected(problem, after, at_rest, Options()))
        return compared | {"reaching": {names[each.bone]: names[each.owner] for each in over}}
    lost = [names[bone] for bone in lost_bones(problem, before, after)]
    reaching = {names[bone]: names[owner] for bone, owner in reaching_bones(problem, before, after)}
    reaching = {bone: owner for bone, owner in reaching.items() if owner not in lost}
    worse = compared["worse"] or bool(lost)
    return compared | {"lost": lost, "reaching": reaching, "worse": worse}


def _ways(points: Floats, owner: np.ndarray, heads: Floats, tails: Floats) -> Floats:
    """The sum of the distances of each vertex from two axes across its bone, (n,); 0 without a
    bone."""
    along = tails - heads
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.where(length > 0, along / np.maximum(length, 1e-300), UP)
    first = np.cross(along, ASKEW)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    off, ways = points - heads[owner], np.zeros(len(points))
    for axis in (first, np.cross(along, first)):
        at = (off * axis[owner]).sum(1)
        ways += np.sqrt(np.maximum((off * off).sum(1) - at * at, 0))
    return np.where(owner >= 0, ways, 0.0)


def _moved(
    rows: SparseWeights, owner: np.ndarray, hangs_on: Bools, ways: Floats, count: int
) -> Floats:
    """The total displacement by which each bone moves its skin with these weights, (m,)."""
    bone = owner[rows.vertices]
    with_it = (bone >= 0) & hangs_on[rows.bones, bone]
    taken = (rows.weights * ways[rows.vertices])[with_it]
    return np.bincount(bone[with_it], taken, minlength=count).astype(float)


def given_back(
    before: SparseWeights, after: SparseWeights, lost: Bools, locked: Bools
) -> tuple[SparseWeights, Bools]:
    """Returns (weights, (n,) whether they differ from `after`). The weights are the earlier ones at
    the skin that these bones (m,) had, blended into `after` toward the edge of the skin. The number
    of influences per vertex stays within the maximum in `after`. Locked bones keep their weights of
    `after`, and the others share the rest."""
    lost = lost & ~locked
    share = np.bincount(before.vertices, before.weights * lost[before.bones], before.count)
    back = np.clip(share / OWN, 0.0, 1.0)
    old, new = before.vertices, after.vertices
    rows = summed_entries(
        after.count,
        np.append(old, new),
        np.append(before.bones, after.bones),
        np.append(before.weights * back[old], after.weights * (1 - back[new])),
    )
    rows = beside_locked(after, rows, locked)
    rows = rows.of(rows.weights > 0)
    most = int(np.diff(after.start).max(initial=0))
    return rows.cut_down(most, locked[rows.bones]), back > 0
