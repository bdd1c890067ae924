"""Weights for what is new in meshes that have weights: read, solve patches, write."""

from dataclasses import replace

import numpy as np

from ..blender.edit_mode import flush_edit_mode, selected_vertices, write_in_edit_mode
from ..blender.write_weights import write_weights
from ..core.only_new import solve_new
from ..core.patch import cut_patches, patch_links
from ..core.refusal import Refused
from ..core.sparse_weights import make_sparse_weights
from .weighting import WeightingTask


class NewWeightsTask(WeightingTask):
    """A WeightingTask that writes to vertices without weights only, or to the selected ones in Edit
    mode and behind a paint mask; all others stay to the last bit."""

    reads_weights = True

    def __init__(self, options, threads=0):
        super().__init__(replace(options, volume="NONE", start_from="FRESH"), threads)

    def read_in_steps(self, targets, view_layer, with_entries=False):
        """As of WeightingTask. Raises Refused where nothing is new."""
        self.editing = targets.editing
        if self.editing:
            flush_edit_mode(targets.meshes)
        yield from super().read_in_steps(targets, view_layer, with_entries)
        self.problem.numbers = [patch.vertices for patch in self.patches]
        edges = self.problem.arguments["edges"]
        self.problem.arguments["edges"] = np.concatenate([edges, self.links])

    def _take(self, objects, meshes, skeleton):
        """Bones that hold weights are no control bones."""
        used = np.zeros(len(skeleton.names), bool)
        for mesh in meshes:
            used[mesh.weights.bones[mesh.weights.weights > 0]] = True
        return replace(skeleton, taken_in=skeleton.taken_in | used)

    def _cut(self, objects, meshes):
        new = [self._new_vertices(*pair) for pair in zip(objects, meshes, strict=True)]
        if not any(each.any() for each in new):
            raise Refused(self._nothing_new(objects, meshes))
        self.sizes = {ob: len(mesh.vertices) for ob, mesh in zip(objects, meshes, strict=True)}
        patches, links = cut_patches(meshes, new, self.options.link_parts)
        objects = [ob for ob, patch in zip(objects, patches, strict=True) if patch]
        self._old_links = links, patches, [len(mesh.vertices) for mesh in meshes]
        self.patches = [patch for patch in patches if patch]
        return objects, [patch.mesh for patch in self.patches]

    def _new_vertices(self, ob, mesh):
        if self.editing:
            return selected_vertices(ob)
        if mesh.locked_vertices is not None:
            return ~mesh.locked_vertices
        return mesh.weights.sums() <= 0

    def _nothing_new(self, objects, meshes):
        names = ", ".join(f"'{ob.name}'" for ob in objects)
        if self.editing:
            return f"No vertex of {names} is selected"
        return f"Every vertex of {names} has weights: nothing is new"

    @property
    def links(self):
        """(e, 2) links of new parts, in vertices of the problem."""
        return patch_links(*self._old_links, self.problem.first)

    def solve(self, progress=None):
        """See core.only_new; keeps the solution."""
        self.solution = solve_new(self.problem, self.options, self.threads, progress)

    def find_objects(self):
        armature, objects = super().find_objects()
        for ob in objects:
            if (ob.mode == "EDIT") != self.editing:
                raise Refused(f"'{ob.name}' has changed its mode: nothing was written")
        return armature, objects

    def refuse_edit_mode(self, ob):
        """What is read in Edit mode is written there."""

    def apply(self):
        """Writes the weights of the new vertices, binds what is not bound yet; the report."""
        _armature, objects = self.find_objects()
        parts = self.problem.split(self.solution.rows)
        write = write_in_edit_mode if self.editing else write_weights
        written = [
            write(ob, *self._whole(ob, rows, patch, selection))
            for ob, rows, patch, selection in zip(
                objects, parts, self.patches, self.selections, strict=True
            )
        ]
        report = self.conclude(written)
        report["new_vertices"] = sum(int(patch.new.sum()) for patch in self.patches)
        report["idle_bones"] = []  # those of other parts of the mesh
        return report

    def _whole(self, ob, rows, patch, selection):
        """(rows, names, bones with groups, bones, vertices) for write_weights()."""
        groups, bones, _vertices = selection
        new = np.zeros(len(ob.data.vertices), bool)
        new[patch.vertices[patch.new]] = True
        owner = patch.vertices[rows.vertices]
        whole = make_sparse_weights(len(new), owner, rows.bones, rows.weights)
        used = np.zeros(len(bones), bool)
        used[rows.bones[new[owner] & (rows.weights > 0)]] = True
        skeleton = self.problem.skeleton
        if (groups & ~bones).any() or patch.mesh.reflections:
            used |= used[skeleton.opposite]
        return whole, skeleton.names, groups & used, bones, new

    def bind(self, armature, objects, written):
        """Nothing is bound in Edit mode."""
        if not self.editing:
            super().bind(armature, objects, written)
