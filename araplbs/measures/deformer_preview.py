"""Poses a mesh with its current weights and other deformers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.extent import vertex_normals
from ..base.progress import Listener
from ..character.problem import Problem
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from .armature_modifier import Columns, blend_linearly, effective_rows

DEFORMERS = ("LINEAR", "DUAL_QUATERNIONS", "CENTERS")


class DeformerPreview:
    """The vertices of a Problem, with SparseWeights of its bones.

    Data that depends only on the weights is computed once. The centers of rotation are computed on
    first use.
    """

    def __init__(
        self, problem: Problem, rows: SparseWeights, threads: int = 0, by_modifier: bool = True
    ) -> None:
        """by_modifier: whether the weights act as in the Armature modifier of the only mesh."""
        arguments, deformer = problem.arguments, problem.deformers[0] if by_modifier else None
        self.vertices, self.triangles = arguments["vertices"], arguments["triangles"]
        self.threads = threads
        self._centers: Floats | None = None
        if deformer:
            rows = effective_rows(rows, self.vertices, problem.skeleton, deformer)
        self._columns = Columns(problem.skeleton)
        self._rows = self._columns.expand(rows, self.vertices, problem.parameters)

    def centers(self, progress: Listener | None = None) -> Floats:
        """The optimized centers of rotation, (n, 3), NaN for vertices without one. Raises
        araplbs.Cancelled when progress(stage, fraction) returns False."""
        if self._centers is None:
            self._centers = engine.rotation_centers(
                self.vertices,
                self.triangles,
                tuple(self._rows),
                progress=progress,
                threads=self.threads,
            )
        return self._centers

    def posed(self, poses: Poses, deformer: str, progress: Listener | None = None) -> Floats:
        """The vertex positions in armature space, (p, n, 3), in these Poses with one of
        DEFORMERS."""
        transforms = self._columns.transforms(poses)
        if deformer == "LINEAR":
            return blend_linearly(self.vertices, self._rows, transforms)
        more: dict[str, Any] = {"bone_axes": self._columns.axes(), "threads": self.threads}
        arguments = self.vertices, tuple(self._rows), transforms
        if deformer == "DUAL_QUATERNIONS":
            return engine.dual_quaternion_skinning(*arguments, **more)
        return engine.center_of_rotation_skinning(*arguments, self.centers(progress), **more)


def shaded(points: Floats, triangles: Integers, color: Floats | Sequence[float]) -> Floats:
    """Colors (n, 4) float32 of a posed surface, lit from above. color: three numbers."""
    light = 0.3 + 0.7 * (0.5 + 0.5 * vertex_normals(points, triangles) @ LIGHT)
    return np.column_stack([light[:, None] * color, np.ones(len(points))]).astype(np.float32)


LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])
