"""The task that quantizes the current weights to the steps that game engines store: read, quantize,
write."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from araplbs.base.arrays import Integers
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.features.quantize import STEPS, quantize, quantized
from araplbs.model.sparse_weights import SparseWeights
from araplbs.reports.report import names_in_line
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Object, ViewLayer

from ...blender.data.references import Subjects
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import locked_bones, present_weights, refuse_mesh
from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...task import Task
from .engine_limits import read_limits


@dataclass(frozen=True)
class Reading:
    subjects: Subjects
    skeleton: Skeleton
    rows: list[SparseWeights]  # for each mesh
    limits: list[Integers]  # influence limits in the form that quantize() takes


class QuantizeTask(Task):
    rows: list[SparseWeights] = ()  # type: ignore[assignment]  # those that are written

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        self.warnings = list(targets.skipped)
        skeleton = read_armature(targets.armature, False)
        rows, limits = [], []
        for ob in targets.meshes:
            yield
            present, limit = self._read(ob, skeleton)
            rows.append(present)
            limits.append(limit)
        if not any(each.sums().any() for each in rows):
            names = names_in_line([f"'{ob.name}'" for ob in targets.meshes])
            raise Refused(f"No vertex of {names} has weights for deform bones")
        subjects = Subjects.of(targets.armature, targets.meshes)
        self.reading = Reading(subjects, skeleton, rows, limits)

    def _read(self, ob: Object, skeleton: Skeleton) -> tuple[SparseWeights, Integers]:
        refuse_mesh(ob)
        locked = locked_bones(ob, skeleton)
        if locked.any():
            names = names_in_line([skeleton.names[b] for b in np.flatnonzero(locked)])
            raise Refused(f"'{ob.name}' has locked vertex groups; unlock them first: {names}")
        rows = present_weights(ob, skeleton)
        if not np.isfinite(rows.weights).all():
            bad = rows.vertices[~np.isfinite(rows.weights)][0]
            raise Refused(f"'{ob.name}' has a weight that is not finite, at vertex {bad}")
        bare = int(np.count_nonzero(rows.sums() <= 0))
        if bare:
            which = "1 vertex has" if bare == 1 else f"{bare} vertices have"
            self.warnings.append(
                f"'{ob.name}': {which} no weights, and exporters would add a bone for them: use "
                "Weight Only What Is New first"
            )
        return rows, read_limits(ob, self.options.limit)

    def solve(self, progress: Listener | None = None) -> None:
        read, self.rows, progress = self.reading, [], Progress.of(progress)
        for k, (rows, limits) in enumerate(zip(read.rows, read.limits, strict=True)):
            progress.check("quantization", k / len(read.rows))
            self.rows.append(
                quantize(rows, STEPS[self.options.bits], limits, self.options.threshold)
            )

    def apply(self) -> dict[str, Any]:
        armature, objects = self.find_objects()
        with all_or_nothing(objects, made=None):
            written = self._write(objects)
        return {
            "armature": armature.name,
            "objects": written,
            "options": self.options.as_dict(),
        }

    def _write(self, objects: list[Object]) -> list[dict[str, Any]]:
        read, written = self.reading, []
        names, bones = read.skeleton.names, read.skeleton.deform
        for ob, before, rows in zip(objects, read.rows, self.rows, strict=True):
            done = write_weights(
                ob, rows, names, np.zeros(len(bones), bool), bones, np.ones(rows.count, bool)
            )
            own = {"name": ob.name, "vertices": rows.count}
            written.append(own | done | quantized(before, rows))
        return written
