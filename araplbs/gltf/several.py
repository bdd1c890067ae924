"""Joins the characters of several files: the parts of one character, which are weighted as one, and
levels of detail, which take the weights of the first level. Bones correspond by name."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.arrays import Bools, Integers
from ..base.progress import Listener
from ..base.refusal import Refused
from ..features.transfer.options import TransferOptions
from ..features.transfer.source import Source
from ..features.transfer.transfer import transfer, transfer_report
from ..model.edits import Pairs
from ..model.sparse_weights import SparseWeights, summed_entries
from .character import Character, welded

SAME_JOINT = 0.01  # share of the size of the skeleton; joints of one character coincide within it


@dataclass
class Joined(Character):
    """Characters that are parts of one. Its skeleton is that of the file with the most joints.

    members: the characters. bones: for each of them, the bone here of each of its bones.
    """

    members: list[Character]
    bones: list[Integers]

    def write(
        self,
        rows: Sequence[SparseWeights],
        component: int | None = None,
        changed: Sequence[Bools] | None = None,
    ) -> None:
        """Stores the weights of each member in its own document."""
        begin = 0
        for member, bones in zip(self.members, self.bones, strict=True):
            place = slice(begin, begin + len(member.skinned))
            own = [to_bones(each, bones, self.skeleton.parents) for each in rows[place]]
            member.write(own, component, None if changed is None else changed[place])
            begin = place.stop


def joined(members: Sequence[Character]) -> Joined:
    """Joins the characters of several files. Raises Refused if their skeletons differ."""
    main = max(members, key=lambda each: len(each.skeleton.names))
    count, skinned, bones = len(main.skeleton.names), [], []
    for member in members:
        own = shared_bones(main, member)
        if (own < 0).any():
            name = member.skeleton.names[int(np.flatnonzero(own < 0)[0])]
            raise Refused(
                f"{main.document.path} has the most joints, but lacks joint '{name}' of "
                f"{member.document.path}"
            )
        bones.append(own)
        lacks = np.setdiff1d(np.arange(count), own)
        for each in member.skinned:
            mesh, old = each.mesh, each.mesh.weights
            n = len(mesh.vertices)
            never = Pairs(
                np.repeat(np.arange(n), len(lacks)),
                np.tile(lacks, n),
                np.zeros(n * len(lacks), bool),
            )
            edits = replace(mesh.edits, influences=mesh.edits.influences + never)
            rows = summed_entries(n, old.vertices, own[old.bones], old.weights)
            skinned.append(replace(each, mesh=replace(mesh, weights=rows, edits=edits)))
    return Joined(main.document, main.nodes, main.armature, welded(skinned), list(members), bones)


def shared_bones(main: Character, other: Character) -> Integers:
    """The bone of `main` for each bone of `other`, (m,), -1 without one. Raises Refused if there is
    none at all, or if bones of the same name lie elsewhere."""
    place = {name: bone for bone, name in enumerate(main.skeleton.names)}
    found = np.array([place.get(name, -1) for name in other.skeleton.names])
    both = np.flatnonzero(found >= 0)
    files = f"{other.document.path} and {main.document.path}"
    if not len(both):
        raise Refused(f"{files} have no joint of the same name")
    heads = main.skeleton.heads
    off = np.linalg.norm(other.skeleton.heads[both] - heads[found[both]], axis=1)
    size = float(np.ptp(heads, axis=0).max())
    if off.max() > SAME_JOINT * size:
        name = other.skeleton.names[both[int(off.argmax())]]
        raise Refused(f"{files} have joint '{name}' in different places, {off.max():.3g} apart")
    return found


def to_bones(rows: SparseWeights, bones: Integers, parents: Integers) -> SparseWeights:
    """The rows for the bones of another skeleton. bones (k,): the bone in the rows for each of its
    k bones. The weights of bones that it lacks go to the nearest ancestor that it has, or else to
    its first bone."""
    place = np.full(len(parents), -1)
    place[bones[bones >= 0]] = np.flatnonzero(bones >= 0)
    for bone, parent in enumerate(parents.tolist()):  # parents come first
        if place[bone] < 0:
            place[bone] = place[parent] if parent >= 0 else 0
    return summed_entries(rows.count, rows.vertices, place[rows.bones], rows.weights)


def carry_to_level(
    first: Sequence[tuple[Character, Sequence[SparseWeights]]],
    level: Character,
    options: TransferOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> dict[str, Any]:
    """Gives a character of another level of detail the weights of the first level, stores them in
    its document, and returns the report. first: the characters of the first level with their
    weights; the one with the most bones in common counts. Raises Refused."""
    start, names = time.perf_counter(), set(level.skeleton.names)
    main, weights = max(first, key=lambda each: len(names & set(each[0].skeleton.names)))
    bones = shared_bones(main, level)
    skeleton = level.skeleton
    source = Source(
        [
            replace(mesh, weights=to_bones(rows, bones, main.skeleton.parents))
            for mesh, rows in zip(main.meshes, weights, strict=True)
        ],
        skeleton,
    )
    done = transfer(source, level.meshes, skeleton, options, threads, progress)
    level.write([each.rows for each in done])
    nothing: list[dict[str, Any]] = [{} for _each in done]
    return transfer_report(source, level.meshes, done, options, level.name, nothing, start)
