"""The task that transfers weights: read, match and solve, write."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from araplbs.base.arrays import Bools, Floats
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.directions import read_directions_in_steps
from araplbs.character.mesh import Mesh, followed_by_images
from araplbs.features.transfer.source import Source
from araplbs.features.transfer.transfer import transfer, transfer_report, transfer_warnings
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.binding import bind
from ...blender.data.bones import selected_bones
from ...blender.data.references import Reference, Subjects
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import (
    NamedEntries,
    named_entries_in_steps,
    present_weights,
    read_mesh_in_steps,
    read_weighted_in_steps,
)
from ...blender.read.transfer_targets import TransferTargets, is_again, remember_direction
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...task import Task


@dataclass(frozen=True)
class Reading:
    subjects: Subjects  # without the sources, whose weights are not written
    sources: list[Reference]
    skeleton: Skeleton
    source: Source
    meshes: list[Mesh]
    entries: list[NamedEntries]  # of the meshes
    again: bool  # whether all meshes got their current weights from these sources
    started: float


class TransferTask(Task):
    done = None  # the result of transfer()
    keeps = True  # see all_or_nothing()
    chosen: tuple[int, int] | None = None  # written bones, and all bones; None: all are written

    def read_in_steps(self, targets: TransferTargets, view_layer: ViewLayer) -> Steps[None]:
        started = time.perf_counter()
        self.warnings = list(targets.skipped)
        view_layer.update()
        armature = targets.armature
        skeleton = read_armature(armature, use_joint_limits=True)
        not_meant = self._bones_to_keep(armature, skeleton)
        yield
        given = []
        for ob in targets.sources:
            if not ob.data.polygons:
                raise Refused(f"'{ob.name_full}' has no faces to take weights from")
            entries = yield from named_entries_in_steps(ob)
            weights = present_weights(ob, skeleton, entries)
            if not (weights.weights > 0).any():
                raise Refused(f"'{ob.name_full}' has no weights for the bones of '{armature.name}'")
            yield
            given.append((yield from read_weighted_in_steps(ob, armature, view_layer, weights)))
        meshes, all_entries = [], []
        for ob in targets.meshes:
            entries = yield from named_entries_in_steps(ob)
            all_entries.append(entries)
            weights = present_weights(ob, skeleton, entries)
            yield
            meshes.append(
                (yield from read_mesh_in_steps(
                    ob, armature, skeleton, view_layer, False, not_meant, weights
                ))
            )  # fmt: skip
        skeleton = yield from read_directions_in_steps(given, skeleton, "AUTOMATIC", self.threads)
        subjects = Subjects.of(armature, targets.meshes)
        sources = [Reference.to(ob) for ob in targets.sources]
        source = Source(given, skeleton)
        again = is_again(targets)
        self.reading = Reading(
            subjects, sources, skeleton, source, meshes, all_entries, again, started
        )

    def _bones_to_keep(self, armature: Object, skeleton: Skeleton) -> Bools:
        """(m,) bool: bones whose weights are not written."""
        if self.options.bones == "ALL":
            return np.zeros(len(skeleton.names), bool)
        chosen = np.isin(skeleton.names, selected_bones(armature)) & skeleton.deform
        if not chosen.any():
            raise Refused(f"No deform bone of '{armature.name}' is selected")
        self.chosen = int(chosen.sum()), int(skeleton.deform.sum())
        return ~chosen

    def match(self) -> list[tuple[Bools, Floats, Floats]]:
        """Returns [(matched (n,), distances (n,), angles (n,))] for the targets, without solving
        anything."""
        read = self.reading
        return [read.source.match(mesh, self.options, self.threads) for mesh in read.meshes]

    def solve(self, progress: Listener | None = None) -> None:
        read = self.reading
        options = replace(self.options, force=self.options.force or read.again)
        self.done = transfer(
            read.source, read.meshes, read.skeleton, options, self.threads, progress
        )

    def apply(self) -> dict[str, Any]:
        """See Task. Also binds meshes that are not bound yet."""
        read = self.reading
        armature, objects = self.find_objects()
        with all_or_nothing(objects, armature, keeps=self.keeps):
            written = self._write(armature, objects)
            report = transfer_report(
                read.source, read.meshes, self.done, self.options, armature.name, written,
                read.started,
            )  # fmt: skip
            report["warnings"] = transfer_warnings(report)
            remember_direction([ob for ob in map(Reference.find, read.sources) if ob], objects)
        self.warnings += report["warnings"]
        return report

    @property
    def selections(self) -> list[tuple[Bools, Bools, Bools]]:
        """The data written for each mesh, as in selection()."""
        found, skeleton = [], self.reading.skeleton
        for mesh, each in zip(self.reading.meshes, self.done, strict=True):
            bones = skeleton.deform.copy()
            if mesh.locked_bones is not None:
                bones &= ~mesh.locked_bones
            groups = bones & np.isin(np.arange(len(bones)), each.rows.bones)
            groups |= followed_by_images(mesh, skeleton, groups)
            found.append((groups, bones, np.ones(len(mesh.vertices), bool)))
        return found

    def _write(self, armature: Object, objects: list[Object]) -> list[dict[str, Any]]:
        """Writes the weights. Returns the report for each object."""
        written, names = [], self.reading.skeleton.names
        for ob, each, selection in zip(objects, self.done, self.selections, strict=True):
            facts = write_weights(ob, each.rows, names, *selection)
            facts["bound"] = bind(ob, armature)
            written.append(facts)
        return written
