"""Objects that lie far from all bones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.extent import far_from_bones

if TYPE_CHECKING:
    from .problem import Problem


def objects_far_from_bones(problem: Problem) -> list[dict[str, Any]]:
    """[{"object", "count", "vertex", "all"}] of the objects with vertices far from all bones."""
    skeleton, vertices, found = problem.skeleton, problem.arguments["vertices"], []
    heads, tails = skeleton.heads[skeleton.deform], skeleton.tails[skeleton.deform]
    for name, first, size in zip(problem.names, problem.first, problem.sizes, strict=False):
        far = far_from_bones(vertices[first : first + size], heads, tails)
        if len(far):
            vertex = problem.place(first + far[0])[1]
            found.append(
                {"object": name, "count": len(far), "vertex": vertex, "all": len(far) == size}
            )
    return found
