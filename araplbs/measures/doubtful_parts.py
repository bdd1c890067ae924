"""Lists loose parts that other bones fit about equally well, so that an artist can choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.engine import engine
from ..base.progress import Listener
from ..character.problem import Problem
from ..model.sparse_weights import SparseWeights
from ..skeleton.symmetry import reflected

LEAST = 0.59  # how well the other bone fits, relative to the bone of the part; see part_doubts
SAME_PLACE = 0.01  # share of the size: distance between a part and the image of its partner
TAKEN = "vertices triangles edges bone_heads bone_tails bone_parents bone_deform bone_ways"


class DoubtfulPart(NamedTuple):
    """vertices: of the problem, without images; bone: index in the names of the skeleton;
    others: indices of one or two other bones; doubt: how well these fit relative to the bone;
    mirror: the index in the list of the part on the other side, if the same choice exists there and
    weights are symmetric, otherwise -1; chosen: whether the artist has chosen the bone."""

    vertices: Integers
    bone: int
    others: tuple[int, ...]
    doubt: float
    mirror: int = -1
    chosen: bool = False


def doubtful_parts(
    problem: Problem, rows: SparseWeights, threads: int = 0, progress: Listener | None = None
) -> list[DoubtfulPart]:
    """The DoubtfulParts for these weights of a Problem, the most doubtful first. They include the
    parts whose bone the artist has chosen, which come last. Parts with locked weights or other
    pinned weights are omitted."""
    arguments = problem.arguments
    if problem.numbers is not None or rows.count != len(arguments["vertices"]):
        return []
    given = {name: arguments[name] for name in TAKEN.split() if name in arguments}
    parts, owners, others, doubts = engine.part_doubts(
        weights=tuple(rows), **given, threads=threads, progress=progress
    )
    pinned, chosen = _pinned(problem, parts, owners)
    listed = np.where(pinned, chosen, doubts >= LEAST) & (others[:, 0] >= 0)
    locked = rows.vertices[problem.locked_entries(rows)]
    listed[parts[locked]] = False
    own = np.zeros(rows.count, bool)
    for first, size in zip(problem.first, problem.sizes, strict=False):
        own[first : first + size] = True
    found = []
    for part in np.flatnonzero(listed):
        vertices = np.flatnonzero((parts == part) & own)
        bone, (first, *more) = int(owners[part]), others[part].tolist()
        if len(vertices) and not _locks(problem, vertices, [bone, first]):
            more = [each for each in more if each >= 0 and not _locks(problem, vertices, [each])]
            doubt, choice = float(doubts[part]), bool(chosen[part])
            found.append(DoubtfulPart(vertices, bone, (first, *more), doubt, chosen=choice))
    found.sort(key=lambda each: (each.chosen, -round(each.doubt, 2)))  # with both sides together
    partners = _partners(problem, found)
    return [each._replace(mirror=k) for each, k in zip(found, partners, strict=True)]


def _pinned(problem: Problem, parts: Integers, owners: Integers) -> tuple[Bools, Bools]:
    """Returns (parts,) bool twice: parts with pinned weights, and those of them that are pinned as
    a whole to their owner, unless this is so because of the parent of the whole mesh."""
    vertices, bones, targets = (np.asarray(each) for each in problem.arguments["constraints"])
    count = len(owners)
    if not len(vertices):
        return np.zeros(count, bool), np.zeros(count, bool)
    own = parts[vertices]
    whole = (targets >= 1) & (bones == owners[own])
    held = np.zeros(len(parts), bool)
    for mesh, bone in enumerate(problem.held_on):
        held[problem.first[mesh] : problem.first[mesh + 1]] = bone >= 0
    pinned = np.bincount(own, minlength=count) > 0
    chosen = pinned & (np.bincount(own[whole], minlength=count) == np.bincount(parts))
    chosen[parts[held]] = False
    return pinned, chosen


def _locks(problem: Problem, vertices: Integers, bones: list[int]) -> bool:
    """Whether the group of one of these bones is locked for some of these vertices."""
    arguments = problem.arguments
    if "locked_bones" not in arguments:
        return False
    sets = np.unique(arguments["vertex_sets"][vertices])
    return bool(arguments["locked_bones"][np.ix_(sets, np.array(bones))].any())


def _partners(problem: Problem, found: list[DoubtfulPart]) -> list[int]:
    """The index of the mirrored part of each part, -1 for none."""
    if "symmetry" not in problem.arguments or not found:
        return [-1] * len(found)
    symmetry = problem.arguments["symmetry"]
    points: Floats = problem.arguments["vertices"]
    centers = np.array([points[each.vertices].mean(axis=0) for each in found])
    images = reflected(centers, symmetry)
    near = SAME_PLACE * float(np.linalg.norm(np.ptp(points, axis=0)))
    mirrors = []
    for k, each in enumerate(found):
        away = np.linalg.norm(centers - images[k], axis=1)
        fits = [
            j
            for j, other in enumerate(found)
            if j != k
            and away[j] <= near
            and [other.bone, *other.others] == symmetry[0][[each.bone, *each.others]].tolist()
            and len(other.vertices) == len(each.vertices)
        ]
        mirrors.append(min(fits, key=lambda j: away[j], default=-1))
    return mirrors


def name_of_part(problem: Problem, part: DoubtfulPart) -> str:
    """The name of the object if the part is all of it, otherwise with the place of the part."""
    vertices = part.vertices
    name, _vertex = problem.place(vertices[0])
    if problem.sizes[problem.names.index(name)] == len(vertices):
        return name
    center = problem.arguments["vertices"][vertices].mean(axis=0)
    return f"{name} ({', '.join(f'{x:.3g}' for x in center)})"


def as_entries(problem: Problem, parts: Sequence[DoubtfulPart]) -> list[dict[str, Any]]:
    """The parts as JSON-compatible dictionaries, each with one of its vertices."""
    bones = problem.skeleton.names
    return [
        {
            "object": name,
            "vertex": vertex,
            "size": len(part.vertices),
            "name": name_of_part(problem, part),
            "bone": bones[part.bone],
            "others": [bones[bone] for bone in part.others],
            "doubt": part.doubt,
            "mirror": part.mirror,
            "chosen": part.chosen,
        }
        for part in parts
        for name, vertex in [problem.place(part.vertices[0])]
    ]
