"""The task of Copy Weights, for the other side of a mesh and for copies of a mesh."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from araplbs.base.affine import moved
from araplbs.base.arrays import Integers
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.features.copy_weights import (
    Copied,
    Given,
    copies_warnings,
    copy_weights,
    for_bones,
    written_bones,
)
from araplbs.model.sparse_weights import SparseWeights
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.binding import armature_of, bind
from ...blender.data.mesh_shape import edge_vertices
from ...blender.data.ours import is_ours
from ...blender.data.references import Reference, Subjects
from ...blender.read.read_armature import opposite_bone, read_armature
from ...blender.read.read_mesh import (
    locked_bones,
    matrix_between,
    present_weights,
    read_topology,
    refuse_mesh,
)
from ...blender.read.transfer_targets import OneSource
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...task import Task


@dataclass(frozen=True)
class Receiver:
    subjects: Subjects  # the mesh and its armature
    given: Given
    skeleton: Skeleton
    to: Integers  # (m,) for each bone of the source: index of its counterpart, or -1
    missing: list[str]  # (m,) names of the counterparts


@dataclass(frozen=True)
class Reading:
    source: Reference
    given: Given
    rows: SparseWeights
    receivers: list[Receiver]


class CopyTask(Task):
    done: Any = None  # [(Copied, SparseWeights of the target's bones)]

    def read_in_steps(self, targets: OneSource, view_layer: ViewLayer) -> Steps[None]:
        self.warnings = []
        view_layer.update()
        source = targets.source
        armature = armature_of(source)
        skeleton = read_armature(armature, False)
        rows = present_weights(source, skeleton)
        if not rows.sums().any():
            raise Refused(f"'{source.name}' has no weights for deform bones")
        given = _given(source, armature, view_layer)
        yield
        receivers = []
        for ob in targets.meshes:
            refuse_mesh(ob)
            own = armature_of(ob) or armature
            bones = skeleton if own == armature else read_armature(own, False)
            written_bones(bones.deform, locked_bones(ob, bones), bones.names, ob.name)
            receivers.append(
                Receiver(
                    Subjects.of(own, [ob]), _given(ob, own, view_layer), bones,
                    *self._bones(skeleton, armature, bones),
                )
            )  # fmt: skip
            yield
        self.reading = Reading(Reference.to(source), given, rows, receivers)

    def _bones(
        self, skeleton: Skeleton, armature: Object, receiving: Skeleton
    ) -> tuple[Integers, list[str]]:
        index = {name: b for b, name in enumerate(receiving.names) if receiving.deform[b]}
        wanted = list(skeleton.names)
        if self.options.side == "MIRROR":
            wanted = [opposite_bone(armature, name) for name in wanted]
        return np.array([index.get(name, -1) for name in wanted]), wanted

    def solve(self, progress: Listener | None = None) -> None:
        read, progress, self.done = self.reading, Progress.of(progress), []
        max_influences = int(np.diff(read.rows.start).max(initial=0))
        for k, receiver in enumerate(read.receivers):
            progress.check("matches", k / len(read.receivers))
            copied = copy_weights(read.given, read.rows, receiver.given, self.options, self.threads)
            copied = Copied(copied.rows.cut_down(max_influences), copied.by_index, copied.off)
            count = len(receiver.skeleton.names)
            rows = for_bones(copied.rows, receiver.to, count, receiver.missing, receiver.given.name)
            self.done.append((copied, rows))

    def apply(self) -> dict[str, Any]:
        """See Task. Also binds meshes that are not bound yet."""
        read = self.reading
        source = read.source.get()
        found = [each.subjects.find() for each in read.receivers]
        objects = [ob for _armature, (ob,) in found]
        with all_or_nothing(objects, made=is_ours(source)):
            written = [
                self._write(*each) for each in zip(objects, read.receivers, self.done, strict=True)
            ]
        named = [
            (each["name"], copied) for each, (copied, _rows) in zip(written, self.done, strict=True)
        ]
        self.warnings += copies_warnings(named)
        return {
            "source": source.name,
            "objects": written,
            "options": self.options.as_dict(),
            "warnings": list(self.warnings),
        }

    def _write(
        self, ob: Object, receiver: Receiver, done: tuple[Copied, SparseWeights]
    ) -> dict[str, Any]:
        """Writes the mirrored or copied counterparts of the source's groups, including empty
        groups."""
        copied, rows = done
        skeleton = receiver.skeleton
        source = self.reading.source.get()
        source_groups = {group.name for group in source.vertex_groups}
        bones = zip(armature_of(source).data.bones, receiver.to, strict=True)
        with_group = np.zeros(len(skeleton.names), bool)
        with_group[[to for bone, to in bones if bone.name in source_groups and to >= 0]] = True
        with_group[rows.bones] = True
        every = np.ones(rows.count, bool)
        wrote = write_weights(ob, rows, skeleton.names, with_group, skeleton.deform, every)
        bound = bind(ob, receiver.subjects.armature.get())
        return {
            "name": ob.name,
            "vertices": rows.count,
            **wrote,
            "by_index": copied.by_index,
            "off": copied.off,
            "bound": bool(bound),
        }


def _given(ob: Object, armature: Object, view_layer: ViewLayer) -> Given:
    mesh = read_topology(ob)
    if not np.isfinite(mesh.vertices).all():
        raise Refused(f"'{ob.name}' has coordinates that are not finite")
    matrix = matrix_between(ob, armature, view_layer)
    points = moved(mesh.vertices, matrix)
    return Given(ob.name, points, mesh.triangles, edge_vertices(ob.data))
