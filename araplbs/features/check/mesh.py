"""Finds faults of the mesh itself, as in generated meshes: shells inside or on top of other parts,
split edges, floating parts and noise. A fault is rated as severe if it opens into a gap in
a pose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Floats, Integers
from ...character.mesh_faults import NOISY, nearest_on
from .quantities import ramp

if TYPE_CHECKING:
    from .findings import Finding
    from .inspected import Inspected

OPENS = 0.001, 0.02  # shares of the size: a visible gap, and one that ruins the surface
NAMED = 0.06  # severity of a harmless fault
MANY = 0.02  # share of the edges; fewer coincident split edges are the seams of any import
WORDS = {
    "INNER": ("INNER_SHELL", "an inner shell", "lies inside another part"),
    "DOUBLE": ("DOUBLE_SHELL", "a double shell", "lies on another part"),
}


def mesh_faults(look: Inspected) -> Iterator[Finding]:
    """Finds INNER_SHELL, DOUBLE_SHELL, SPLIT_EDGES, ISLANDS and NOISE."""
    if not len(look.triangles) or look.problem.numbers is not None:
        return
    yield from _shells(look)
    yield from _split(look)
    for mesh, vertices, count in look.islands:
        what = "1 island floats" if count == 1 else f"{count:,} islands float"
        words = f"{what} free of '{look.problem.names[mesh]}'"
        yield from look.finding("ISLANDS", NAMED, vertices, count, words)
    for mesh, (name, (share, faces)) in enumerate(
        zip(look.problem.names, look.noises, strict=True)
    ):
        if share >= NOISY:
            own = np.arange(*look.problem.first[mesh : mesh + 2])
            words = (
                f"'{name}' ({faces:,} triangles) is rough all over: {100 * share:.0f} % of its "
                "edges are sharply bent"
            )
            yield from look.finding("NOISE", NAMED, own, share, words)


def _shells(look: Inspected) -> Iterator[Finding]:
    surface = look.surface
    for shell in look.shells:
        rest = surface.vertices[shell.vertices]
        corners, at, heights, _parts = nearest_on(surface, shell.host, rest, look.threads)
        posed, _triangles, below = look.posed_on(shell.vertices, corners, at)
        gap = np.linalg.norm(posed - below, axis=2) - np.abs(heights)
        kind, name, where = WORDS[shell.kind]
        words = f"{name} of {shell.faces:,} faces {where}"
        yield from _opening(look, kind, shell.vertices, gap, words)


def _split(look: Inspected) -> Iterator[Finding]:
    surface, split = look.surface, look.surface.split
    if split is None:
        return
    own = np.flatnonzero(split.groups != np.arange(len(look)))
    both = np.concatenate([own, split.groups[own]])
    used, local = np.unique(both, return_inverse=True)
    posed = look.posed(used)[:, local.reshape(2, -1)]
    rest = np.linalg.norm(surface.vertices[own] - surface.vertices[split.groups[own]], axis=1)
    gap = np.linalg.norm(posed[:, 0] - posed[:, 1], axis=2) - rest
    what = "1 edge is" if split.edges == 1 else f"{split.edges:,} edges are"
    named = not split.exact or split.edges >= MANY * surface.side_count
    yield from _opening(look, "SPLIT_EDGES", np.unique(both), gap, f"{what} split", named)


def _opening(
    look: Inspected,
    kind: str,
    vertices: Integers,
    gap: Floats,
    words: str,
    named: bool = True,
) -> Iterator[Finding]:
    """The finding of a fault. gap (p, k): how much wider the gap at each vertex is than at rest.
    named: whether to report the fault even if no gap opens."""
    each = gap.max(axis=1, initial=0) / look.size if gap.size else np.zeros(1)
    pose, value = int(each.argmax()), float(each.max())
    if value > OPENS[0]:
        more = f"{words}, and opens by up to {100 * value:.1f} % of the mesh size"
        yield from look.finding(kind, ramp(value, OPENS), vertices, value, more, -1, pose)
    elif named:
        yield from look.finding(kind, NAMED, vertices, value, words)
