"""The whole work of a transfer of weights: read, work, write."""

import time

import numpy as np

from ..blender.binding import bind
from ..blender.read_armature import read_armature, selected_bones
from ..blender.read_mesh import (
    group_entries_in_steps,
    present_weights,
    read_mesh_in_steps,
    read_weighted_in_steps,
)
from ..blender.references import Reference
from ..blender.write_weights import write_weights
from ..core.refusal import Refused
from ..core.steps import finish
from ..core.transfer import Source, transfer, transfer_report, transfer_warnings


class TransferTask:
    """The main thread reads and applies, any thread may solve; see WeightingTask.

    Until apply() nothing in Blender's data is changed, the sources never are.
    """

    def __init__(self, options, threads=0):
        self.options, self.threads = options, threads
        self.warnings, self.done = [], None

    def read(self, targets, view_layer):
        """Raises Refused when there is nothing to take or to write."""
        finish(self.read_in_steps(targets, view_layer))

    def read_in_steps(self, targets, view_layer):
        """The like as a generator of short steps."""
        self.started = time.perf_counter()
        self.warnings = list(targets.skipped)
        view_layer.update()
        armature = targets.armature
        self.skeleton = skeleton = read_armature(armature, use_joint_limits=True)
        not_meant = self._bones_to_keep(armature)
        yield
        given = []
        for ob in targets.sources:
            if not ob.data.polygons:
                raise Refused(f"'{ob.name}' has no faces to take weights from")
            entries = yield from group_entries_in_steps(ob.data)
            weights = present_weights(ob, skeleton, entries)
            if not (weights.weights > 0).any():
                raise Refused(f"'{ob.name}' has no weights for the bones of '{armature.name}'")
            yield
            given.append((yield from read_weighted_in_steps(ob, armature, view_layer, weights)))
        self.source = Source(given, skeleton)
        self.meshes = []
        for ob in targets.meshes:
            entries = yield from group_entries_in_steps(ob.data)
            weights = present_weights(ob, skeleton, entries)
            yield
            self.meshes.append(
                (yield from read_mesh_in_steps(
                    ob, armature, skeleton, view_layer, False, not_meant, weights
                ))
            )  # fmt: skip
        self.armature = Reference.to(armature)
        self.objects = [Reference.to(ob) for ob in targets.meshes]

    def _bones_to_keep(self, armature):
        """(m,) bool: bones whose weights are not written."""
        skeleton = self.skeleton
        if self.options.bones == "ALL":
            return np.zeros(len(skeleton.names), bool)
        chosen = np.isin(skeleton.names, selected_bones(armature)) & skeleton.deform
        if not chosen.any():
            raise Refused(f"No deform bone of '{armature.name}' is selected")
        return ~chosen

    def match(self):
        """[(matched (n,), distances (n,), angles (n,))] of the targets; nothing is solved."""
        return [self.source.match(mesh, self.options, self.threads) for mesh in self.meshes]

    def solve(self, progress=None):
        self.done = transfer(
            self.source, self.meshes, self.skeleton, self.options, self.threads, progress
        )

    def apply(self):
        """Writes the weights, binds what is not bound yet, and returns the report.

        Raises Refused, with nothing written, when the objects are not what they were.
        """
        armature = self.armature.get()
        objects = [reference.get() for reference in self.objects]
        if [bone.name for bone in armature.data.bones] != self.skeleton.names:
            raise Refused(f"'{armature.name}' was changed meanwhile: nothing was written")
        for ob in objects:
            if ob.mode == "EDIT":
                raise Refused(f"'{ob.name}' is in Edit mode: nothing was written")
        written = []
        for ob, mesh, each in zip(objects, self.meshes, self.done, strict=True):
            bones = self.skeleton.deform.copy()
            if mesh.locked_bones is not None:
                bones &= ~mesh.locked_bones
            groups = bones & np.isin(np.arange(len(bones)), each.rows.bones)
            every = np.ones(len(mesh.vertices), bool)
            facts = write_weights(ob, each.rows, self.skeleton.names, groups, bones, every)
            facts["bound"] = bind(ob, armature)
            written.append(facts)
        report = transfer_report(
            self.source, self.meshes, self.done, self.options, armature.name, written, self.started
        )
        report["warnings"] = transfer_warnings(report)
        self.warnings += report["warnings"]
        return report
