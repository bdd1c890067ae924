"""baseline_weights(): other methods' weights, to compare with."""

from __future__ import annotations

from typing import Any

from ..base.engine import load


def baseline_weights(
    vertices: Any,
    triangles: Any,
    bone_heads: Any,
    bone_tails: Any,
    bone_parents: Any,
    *,
    method: str = "heat",
    **settings: Any,
) -> Any:
    """Weights of another method, without poses or energy: "heat" (bone heat, as Blender's automatic
    weights), "nearest", "boneglow", "bbw" or "biharmonic". For comparison: araplbs.weights() is
    what this package is for.

    Sparse rows (start, bones, weights), as of Solver.sparse_weights. settings: those of Solver that
    concern bones, the mesh, threads and progress. Raises araplbs.InputError and ValueError.
    """
    arguments = vertices, triangles, bone_heads, bone_tails, bone_parents
    return load().automatic_weights(*arguments, method=method, **settings)
