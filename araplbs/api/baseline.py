"""baseline_weights(): weights computed by other methods, for comparison."""

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
    """Compute weights with another method, without poses or energy: "heat" (bone heat, as in
    Blender's automatic weights), "nearest", "boneglow", "bbw" or "biharmonic". Use these weights
    for comparison only. The function araplbs.weights() computes the weights of this package's own
    method.

    vertices (n, 3), triangles (f, 3) or None; bone_heads, bone_tails (m, 3), in the space and unit
    of the vertices; bone_parents (m,), -1 for roots. settings: edges (e, 2), tets (t, 4), bone_ways
    and bone_deform (m,) of bool, max_influences=4, min_weight=0.001, link_parts=True, threads=0
    and progress(stage, fraction), which returns False to stop.

    Returns sparse rows (start (n + 1,), bones, weights), like Solver.sparse_weights.

    Raises araplbs.InputError if the mesh or the skeleton cannot be used, ValueError or TypeError
    for any other invalid argument, araplbs.SolverError if solving fails, and araplbs.Cancelled.
    Source: Baran & Popovic 2007; Wareham & Lasenby 2008; Jacobson et al. 2011 (docs/methods.md).
    """
    arguments = vertices, triangles, bone_heads, bone_tails, bone_parents
    return load().automatic_weights(*arguments, method=method, **settings)
