"""The task that transfers shape keys: read, solve, write."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from araplbs.base.progress import Listener
from araplbs.base.steps import Steps
from araplbs.character.mesh import Mesh
from araplbs.features.transfer_shapes import (
    TransferredShapes,
    Wearer,
    Worn,
    shapes_report,
    shapes_warnings,
    transfer_shapes,
)
from bpy.types import Object, ViewLayer

from ...blender.data.mesh_shape import read_shapes_in_steps
from ...blender.data.references import Subjects
from ...blender.data.rest_transforms import moved_by, world_matrices
from ...blender.read.read_mesh import (
    read_topology,
    reflections_of,
    refuse_infinite,
    refuse_place,
)
from ...blender.read.transfer_targets import OneSource
from ...task import Task
from .write import all_keys_or_nothing, set_sliders, write_shapes


@dataclass(frozen=True)
class Reading:
    subjects: Subjects  # the mesh with keys, and the meshes that receive them
    wearer: Wearer
    meshes: list[Worn]
    started: float


class ShapesTask(Task):
    done = None  # the result of transfer_shapes()

    def read_in_steps(self, targets: OneSource, view_layer: ViewLayer) -> Steps[None]:
        started = time.perf_counter()
        self.warnings = list(targets.skipped)
        view_layer.update()
        source, objects = targets.source, [targets.source, *targets.meshes]
        places = world_matrices(objects, view_layer, moved_by(*objects))
        for ob, place in zip(objects, places, strict=True):
            refuse_place(ob, place)
        yield
        names, shapes = yield from read_shapes_in_steps(source)
        topology = _topology(source)
        yield
        wearer = Wearer(
            source.name, topology.vertices, topology.triangles, topology.edges,
            reflections_of(source, view_layer), names, shapes,
        )  # fmt: skip
        meshes = []
        for ob, place in zip(targets.meshes, places[1:], strict=True):
            own = _topology(ob)
            matrix = np.linalg.inv(places[0]) @ place
            meshes.append(Worn(ob.name, own.vertices, own.triangles, own.edges, matrix))
            yield
        subjects = Subjects.of(source, targets.meshes)
        self.reading = Reading(subjects, wearer, meshes, started)

    def solve(self, progress: Listener | None = None) -> None:
        read = self.reading
        self.done = transfer_shapes(read.wearer, read.meshes, self.options, self.threads, progress)

    def apply(self) -> dict[str, Any]:
        read = self.reading
        source, objects = self.find_objects()
        with all_keys_or_nothing(objects):
            written = [
                self._write(source, ob, each) for ob, each in zip(objects, self.done, strict=True)
            ]
            report = shapes_report(read.wearer, self.done, self.options, written, read.started)
            report["warnings"] = shapes_warnings(report)
        self.warnings += report["warnings"]
        return report

    def _write(self, source: Object, ob: Object, each: TransferredShapes) -> dict[str, Any]:
        new, replaced, locked = write_shapes(ob, each.keys, each.shapes)
        if self.options.sliders != "NONE":
            set_sliders(source, ob, new + replaced, self.options.sliders == "FOLLOW")
        return {"name": ob.name, "new": new, "replaced": replaced, "locked": locked}


def _topology(ob: Object) -> Mesh:
    """The Mesh of an object. Raises Refused for coordinates that are not finite."""
    found = read_topology(ob)
    refuse_infinite(ob, found.vertices)
    return found
