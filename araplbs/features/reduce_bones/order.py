"""Computes the order in which Reduce Bones removes bones. The order is known before any weights are
solved, so a dialog can name the bones. The choice is greedy, so the bones removed for a larger
target are the first ones removed for a smaller target. This module does not use bpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import Bools, Floats
from ...model.sparse_weights import SparseWeights
from ...skeleton.skeleton import Skeleton
from .reduce_bones import ReduceBonesOptions, choose, dense_shares, ends_and_twists

FEWEST = 2  # number of remaining bones, see ReduceBonesOptions.count


@dataclass(frozen=True)
class Order:
    """names: the names of the bones. unused: bones without skin of their own, which are removed
    first. groups: all other bones in order, grouped if they are removed together. wanted: the
    selected bones. ends: end and twist bones, recognized by name."""

    names: list[str]
    flagged: int
    unused: list[int]
    groups: list[list[int]]
    wanted: list[int]
    ends: list[int]

    def going(self, options: ReduceBonesOptions) -> list[str]:
        """Names of the bones that these options remove, in order."""
        if options.which != "COUNT":
            found = self.wanted if options.which == "SELECTED" else self.ends
            return [self.names[bone] for bone in found]
        left, gone = self.flagged, []
        for group in [*([bone] for bone in self.unused), *self.groups]:
            if left <= options.stays:
                break
            gone += group
            left -= len(group)
        return [self.names[bone] for bone in gone]


def removal_order(
    vertices: Floats,
    rows: SparseWeights,
    skeleton: Skeleton,
    transforms: Floats,
    options: ReduceBonesOptions,
    wanted: Bools,
    unused: Bools,
) -> Order:
    """The order in which choose() would remove bones, for any number of bones and any choice."""
    dense = dense_shares(rows, len(skeleton.names))
    flagged = int(np.count_nonzero(skeleton.deform | unused))
    idle: list[int] = []
    groups: list[list[int]] = []
    if flagged > FEWEST:
        fewest = replace(options, which="COUNT", platform="CUSTOM", count=FEWEST)
        place = vertices, dense, skeleton, transforms
        gone, replaced_by = choose(*place, fewest, wanted, unused)
        idle = [bone for bone in replaced_by if not skeleton.deform[bone]]
        groups = _together([b for b in replaced_by if gone[b] and skeleton.deform[b]], skeleton)
    return Order(
        list(skeleton.names),
        flagged,
        idle,
        groups,
        np.flatnonzero(wanted & skeleton.deform).tolist(),
        np.flatnonzero(ends_and_twists(skeleton.names) & skeleton.deform).tolist(),
    )


def _together(order: Sequence[int], skeleton: Skeleton) -> list[list[int]]:
    """Groups each bone with its mirror image, because both are removed together."""
    other_side = skeleton.other_side.tolist()
    groups: list[list[int]] = []
    for bone in order:
        if groups and groups[-1] == [other_side[bone]] and other_side[bone] != bone:
            groups[-1].append(bone)
        else:
            groups.append([bone])
    return groups
