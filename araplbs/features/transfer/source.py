"""Represents the meshes from which weights are transferred."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.arrays import Bools, Floats
from ...base.engine import engine
from ...base.extent import size_of
from ...base.refusal import Refused
from ...character.mesh import Mesh
from ...character.mirror_modifier import image_rows, reflect
from ...character.problem import join_geometry, plain_geometry
from ...model.sparse_weights import join_sparse_weights
from ...reports.report import names_in_line
from ...skeleton.skeleton import Skeleton
from .options import NEAR, TransferOptions


class Source:
    """The source meshes as one mesh in armature space, including images of Mirror modifiers."""

    def __init__(self, meshes: Sequence[Mesh], skeleton: Skeleton) -> None:
        """Takes meshes with all their weights."""
        wholes = [reflect(m.vertices, m.triangles, m.edges, m.reflections) for m in meshes]
        self.names = [mesh.name for mesh in meshes]
        geometry = join_geometry(meshes, wholes)
        self.vertices, self.triangles = geometry["vertices"], geometry["triangles"]
        self.rows = join_sparse_weights(
            [
                image_rows(mesh.weights, whole, skeleton.opposite)
                for mesh, whole in zip(meshes, wholes, strict=True)
            ]
        )
        weighted = (self.rows.sums() > 0)[self.triangles].all(1)
        self.triangles = self.triangles[weighted]
        if not len(self.triangles):
            raise Refused(f"{self.label} has no face with weights at all its corners")

    @property
    def label(self) -> str:
        return names_in_line([f"'{name}'" for name in self.names])

    @property
    def size(self) -> float:
        return size_of(self.vertices, self.triangles)

    def match(
        self, mesh: Mesh, options: TransferOptions, threads: int = 0
    ) -> tuple[Bools, Floats, Floats]:
        """Returns (matched (n,), distances (n,), angles (n,)) for the vertices of a Mesh."""
        return engine.match_surfaces(
            self.vertices,
            self.triangles,
            *list(plain_geometry([mesh]).values())[:2],
            threads=threads,
            **options.engine_arguments("match_surfaces"),
            near=NEAR,
        )
