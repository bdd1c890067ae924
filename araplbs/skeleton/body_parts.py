"""Finds the body parts of a skeleton, so each limb can be measured.

A chain of bones begins at a root and after every bone with several deforming children. A chain is
named after its first bone. Chains that are short or move little of the mesh are merged, first with
other chains on the same bone, such as fingers, then with their parent chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..body.chains import parents_first
from ..model.sparse_weights import SparseWeights
from .skeleton import hanging

LEAST_SHARE = 0.02  # share of the triangles; smaller parts are merged with others
SHORT = 0.12  # share of the skeleton size; shorter chains on one bone form one part
MOST_PARTS = 12


class _Part:
    name: str | None

    def __init__(self, first: int, above: int, bones: Iterable[int]) -> None:
        self.name, self.first, self.above, self.bones = None, first, above, list(bones)


def body_parts(
    names: Sequence[str],
    heads: Floats,
    tails: Floats,
    parents: Integers,
    triangle_bones: Integers,
    deform: Bools | None = None,
) -> list[tuple[str, Integers]]:
    """Returns [(name, bones)] in the order of the skeleton, with each bone in one part.

    names, heads and tails (m, 3), parents (m,): bone data, with parent -1 for roots. triangle_bones
    (f,): the bone that each triangle follows. deform (m,) bool: deform bones; every other bone
    joins the part of its parent.
    """
    m = len(names)
    deform = np.ones(m, bool) if deform is None else deform
    counts = np.bincount(triangle_bones, minlength=m)
    lengths = np.linalg.norm(tails - heads, axis=1)
    short = SHORT * np.linalg.norm(np.ptp(np.concatenate([heads, tails]), axis=0))
    parts = [_Part(bones[0], above, bones) for bones, above in _chains(parents, deform)]
    subtree_sizes = np.count_nonzero(hanging(parents), axis=0)  # with the bone itself

    def size(part: _Part) -> int:
        return counts[part.bones].sum()

    smallest_size = LEAST_SHARE * max(counts.sum(), 1)
    for bone in sorted({part.above for part in parts if part.above >= 0}):
        together = [
            p
            for p in parts
            if p.above == bone
            and (size(p) < smallest_size or lengths[p.bones].sum() < short)
            and subtree_sizes[p.first] == len(p.bones)  # without descendants
        ]
        if len(together) > 1:
            together[0].name = f"beyond {names[bone]}"
            for other in together[1:]:
                together[0].bones += other.bones
                parts.remove(other)
    while len(parts) > 1:
        smallest = min(parts, key=lambda part: (size(part), part.first))
        if size(smallest) >= smallest_size and len(parts) <= MOST_PARTS:
            break
        parts.remove(smallest)
        target = next((p for p in parts if smallest.above in p.bones), None)
        if target is None:  # a root, merged with its largest child chain
            children = [p for p in parts if p.above in smallest.bones]
            target = max(children or parts, key=lambda part: subtree_sizes[part.first])
            target.above = smallest.above
        target.bones += smallest.bones
    parts.sort(key=lambda part: part.first)
    return [(part.name or names[part.first], np.array(sorted(part.bones))) for part in parts]


def _chains(parents: Integers, deform: Bools) -> list[tuple[list[int], int]]:
    """Returns [(bones of the chain, parent bone or -1)]."""
    # Whether the bone or one of its descendants deforms:
    moves = np.count_nonzero(hanging(parents)[deform], axis=0) > 0
    of_bone = np.full(len(parents), -1)
    chains: list[tuple[list[int], int]] = []
    for bone in parents_first(parents).tolist():
        parent = int(parents[bone])
        is_only_child = parent >= 0 and np.count_nonzero(moves[parents == parent]) == 1
        if parent >= 0 and (is_only_child or not moves[bone]):
            of_bone[bone] = of_bone[parent]
            chains[of_bone[bone]][0].append(bone)
        else:
            of_bone[bone] = len(chains)
            chains.append(([bone], parent))
    return chains


def strongest_bones(rows: SparseWeights, fallback: Integers) -> Integers:
    """The bone with the most weight at each vertex of SparseWeights, (n,); the bone in `fallback`
    (n,) at a vertex without weights."""
    vertices = rows.vertices
    order = np.lexsort((rows.weights, vertices))
    result = np.array(fallback)
    result[vertices[order]] = rows.bones[order]
    return result


def part_of_triangles(
    triangles: Integers, parts: list[tuple[str, Integers]], vertex_bones: Integers, bone_count: int
) -> Integers:
    """The part of each triangle, (f,), determined by the bone at the triangle's first corner."""
    of_bone = np.zeros(bone_count, np.int64)
    for part, (_name, bones) in enumerate(parts):
        of_bone[bones] = part
    return of_bone[vertex_bones[triangles[:, 0]]]
