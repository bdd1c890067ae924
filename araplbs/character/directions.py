"""Determines the directions of bones. A bone points to its tail or, in an armature with meaningless
tails, from joint to joint, because FBX and glTF importers preserve only the joints. The engine
chooses and computes the directions (bone_directions)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.arrays import Bools, Floats
from ..base.engine import engine
from ..base.steps import Steps
from ..base.worker import work_in_steps
from ..skeleton.poses import BENDY
from ..skeleton.skeleton import Skeleton
from .control_bones import LEAF
from .mesh import Mesh
from .problem import geometry_of

# The possible sources of the directions, with their names in the engine and in a report.
FOUND = {"tails": "TAILS", "lengths": "LENGTHS", "joints": "JOINTS"}


def read_directions_in_steps(
    meshes: Sequence[Mesh], skeleton: Skeleton, choice: str, threads: int = 0
) -> Steps[Skeleton]:
    """Returns the Skeleton with the tails, ways and directions selected by the options, as a
    generator of short steps. Call it again after excluding bones, because other bones may have
    become leaves."""
    drawn = replace(skeleton, tails=skeleton.drawn_tails, ways=None, directions="TAILS")
    bendy = np.array([kind == BENDY for kind in skeleton.kinds], bool)
    if choice == "TAILS" or (choice == "AUTOMATIC" and bendy.any()):
        return drawn
    automatic = choice == "AUTOMATIC" and skeleton.directions != "JOINTS"
    tails, ways, found = yield from work_in_steps(
        lambda progress: engine.bone_directions(
            **geometry_of(meshes),
            bone_heads=skeleton.heads,
            bone_tails=skeleton.drawn_tails if automatic else None,
            bone_parents=skeleton.solver_parents,
            bone_deform=skeleton.deform,
            progress=progress,
            threads=threads,
        )
    )
    if found == "tails":
        return drawn
    limits = skeleton.limits
    if found == "joints":
        # Bendy bones bend along their own tails, and limits refer to the resulting axes.
        parents = skeleton.solver_parents
        ways &= ~((parents >= 0) & bendy[parents])
        limited = ~np.isnan(limits).all(axis=(1, 2))
        goes_on = np.zeros(len(ways), bool)
        goes_on[parents[ways]] = True
        _to_leaves(skeleton, goes_on, tails)
        as_drawn = bendy | (limited & goes_on)
        tails[as_drawn] = skeleton.drawn_tails[as_drawn]
        limits = limits.copy()
        limits[limited & ~as_drawn] = np.nan
    return replace(skeleton, tails=tails, ways=ways, limits=limits, directions=FOUND[found])


def _to_leaves(skeleton: Skeleton, goes_on: Bools, tails: Floats) -> None:
    """Ends the last bones of chains at the leaf bones that an exporter added, not at the skin
    beyond the chains' last joints."""
    for leaf in np.flatnonzero(skeleton.control == LEAF).tolist():
        up = skeleton.parents[leaf]
        if (
            skeleton.deform[up]
            and not goes_on[up]
            and (skeleton.heads[leaf] != skeleton.heads[up]).any()
        ):
            tails[up] = skeleton.heads[leaf]
