"""The task of weighting new vertices on meshes that already have weights: reads, solves patches,
writes."""

from dataclasses import replace
from typing import Any

import numpy as np
from araplbs.base.arrays import Bools, Integers
from araplbs.base.progress import Listener
from araplbs.base.refusal import NothingNew, Refused
from araplbs.base.steps import Steps
from araplbs.character.mesh import Mesh, used_bones
from araplbs.character.patch import Patch, cut_patches, patch_links
from araplbs.features.new_vertices import solve_new, written_rows
from araplbs.model.options import Options
from araplbs.model.sparse_weights import SparseWeights
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.edit_mode import flush_edit_mode, selected_vertices, write_in_edit_mode
from ...blender.write.write_weights import write_weights
from ...weighting import WeightingTask


class NewVerticesTask(WeightingTask):
    """A WeightingTask that writes only vertices without weights or, in Edit mode and with a paint
    mask, only the selected vertices. The weights of all other vertices are preserved to the last
    bit."""

    reads_weights = True
    below: Bools | None = None  # (n,) vertices to weight instead, of the only mesh

    def __init__(self, options: Options, threads: int = 0) -> None:
        super().__init__(replace(options, volume="NONE", start_from="FRESH"), threads)

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        """See WeightingTask. Raises Refused if there are no new vertices."""
        self.editing = targets.editing
        if self.editing:
            flush_edit_mode(targets.meshes)
        yield from super().read_in_steps(targets, view_layer)
        self.problem.numbers = [patch.vertices for patch in self.patches]
        edges = self.problem.arguments["edges"]
        self.problem.arguments["edges"] = np.concatenate([edges, self.links])

    def _take(self, objects: list[Object], meshes: list[Mesh], skeleton: Skeleton) -> Skeleton:
        """Takes bones that have weights as deform bones, not as control bones."""
        return replace(skeleton, taken_in=skeleton.taken_in | used_bones(meshes, skeleton))

    def _cut(self, objects: list[Object], meshes: list[Mesh]) -> tuple[list[Object], list[Mesh]]:
        new = [self._new_vertices(*pair) for pair in zip(objects, meshes, strict=True)]
        if not any(each.any() for each in new):
            raise self._nothing_new(objects, meshes)
        patches, links = cut_patches(meshes, new, self.options.link_parts)
        objects = [ob for ob, patch in zip(objects, patches, strict=True) if patch]
        self._old_links = links, patches, [len(mesh.vertices) for mesh in meshes]
        self.patches = [patch for patch in patches if patch]
        return objects, [patch.mesh for patch in self.patches]

    def _new_vertices(self, ob: Object, mesh: Mesh) -> Bools:
        if self.editing:
            return selected_vertices(ob)
        if self.below is not None:
            locked = mesh.locked_vertices
            return self.below if locked is None else self.below & ~locked
        if mesh.locked_vertices is not None:
            return ~mesh.locked_vertices
        return mesh.weights.sums() <= 0

    def _nothing_new(self, objects: list[Object], meshes: list[Mesh]) -> Refused:
        names = ", ".join(f"'{ob.name}'" for ob in objects)
        if self.editing:
            return Refused(f"No vertex of {names} is selected")
        return NothingNew(
            f"Every vertex of {names} already has weights: there is nothing new to weight"
        )

    @property
    def links(self) -> Integers:
        """(e, 2) links of new parts, as vertex indices of the problem."""
        return patch_links(*self._old_links, self.problem.first)

    def solve(self, progress: Listener | None = None) -> None:
        """See araplbs.features.new_vertices. Stores the solution."""
        self.solution = solve_new(self.problem, self.options, self.threads, progress)

    def picture(self) -> None:
        """Returns None, because an image of a patch shows little."""

    def apply(self) -> dict[str, Any]:
        """Writes the weights of the new vertices and binds meshes that are not bound yet. Returns
        the report."""
        armature, objects = self.find_objects()
        parts = self.problem.split(self.solution.rows)
        write = write_in_edit_mode if self.editing else write_weights
        with all_or_nothing(objects, armature, made=None, stroke=self.below is not None):
            written = [
                write(ob, *self._whole(ob, rows, patch, selection))
                for ob, rows, patch, selection in zip(
                    objects, parts, self.patches, self.reading.selections, strict=True
                )
            ]
            report = self.conclude(written)
        report["new_vertices"] = sum(int(patch.new.sum()) for patch in self.patches)
        report["idle_bones"] = report["idle_in_skin"] = []  # bones of other parts of the mesh
        return report

    def _whole(
        self, ob: Object, rows: SparseWeights, patch: Patch, selection: tuple[Bools, Bools, Bools]
    ) -> tuple[SparseWeights, list[str], Bools, Bools, Bools]:
        """The arguments (rows, names, bones with groups, bones, vertices) of write_weights()."""
        groups, bones, _vertices = selection
        skeleton = self.problem.skeleton
        mirrored = (groups & ~bones).any() or patch.mesh.reflections
        opposite = skeleton.opposite if mirrored else None
        count = len(ob.data.vertices)
        whole, groups, new = written_rows(rows, patch, count, groups, opposite)
        return whole, skeleton.names, groups, bones, new

    def bind(self, armature: Object, objects: list[Object], written: list[dict[str, Any]]) -> None:
        """Binds the meshes, except in Edit mode."""
        if not self.editing:
            super().bind(armature, objects, written)
