"""The task that bakes modifiers to weights: read, solve, write. It refuses caches of
modifiers that are missing or belong to another mesh: Blender would leave the mesh unchanged, and
the unchanged mesh would be baked."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from araplbs.base.arrays import Bools
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.character.mesh import selection
from araplbs.disk.files import refuse_input
from araplbs.disk.frame_file import FrameFile
from araplbs.features.bake import (
    Baked,
    BakeProblem,
    bake,
    bake_report,
    error_colors,
    refuse_bones,
)
from araplbs.reports.report import names_in_line
from araplbs.skeleton.skeleton import Skeleton
from bpy.types import Modifier, Object, ViewLayer

from ...blender.data.binding import is_deformed_by
from ...blender.data.references import Subjects
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import present_weights, read_mesh_in_steps, refuse_mesh
from ...blender.read.targets import Targets, chosen_to_lock
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_error import write_error
from ...blender.write.write_weights import write_weights
from ...task import Task
from .new_bones import add_new_bones, free_names, key_new_bones, refuse_new_bones, taken_back
from .read_frames import (
    Take,
    action_takes,
    deforming_modifiers,
    left_out_modifiers,
    other_objects,
    played_frames_in_steps,
    random_frames_in_steps,
    scene_takes,
)


def frame_folder() -> str:
    """The folder that stores frames while they are baked. Blender removes the folder on exit."""
    return bpy.app.tempdir


@dataclass(frozen=True)
class Reading:
    subjects: Subjects
    skeleton: Skeleton
    takes: list[Take]  # the frames; empty for random poses
    problems: list[BakeProblem]
    selections: list[tuple[Bools, Bools, Bools]]  # see selection()


class BakeTask(Task):
    solutions: list[Baked] = ()  # type: ignore[assignment]

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        self.warnings = list(targets.skipped)
        armature = targets.armature
        view_layer.update()  # updates world matrices after changes by a script
        skeleton = read_armature(armature, self.options.use_joint_limits)
        refuse_bones(armature.name, skeleton, self.options.new_bones)
        takes = []
        if self.options.poses == "SCENE":
            takes = scene_takes(view_layer.id_data, self.options)
        elif self.options.poses == "ALL":
            takes = action_takes(armature, self.options)
        if self.options.new_bones:
            refuse_new_bones(armature, takes)
        locked = chosen_to_lock(targets, skeleton)
        yield
        data, problems, selections = set(), [], []
        for ob in targets.meshes:
            refuse_mesh(ob)
            refuse_caches(ob)
            if not is_deformed_by(ob, armature):
                raise Refused(f"'{ob.name}' has no Armature modifier for '{armature.name}'")
            if ob.data.session_uid in data:
                raise Refused(f"'{ob.name}' shares its mesh with another object that is baked")
            data.add(ob.data.session_uid)
            place = ob, armature, skeleton, view_layer, targets.painting, locked
            problem, selected = yield from self._read_object(*place, takes)
            problems.append(problem)
            selections.append(selected)
        subjects = Subjects.of(armature, targets.meshes)
        self.reading = Reading(subjects, skeleton, takes, problems, selections)

    def _read_object(
        self,
        ob: Object,
        armature: Object,
        skeleton: Skeleton,
        view_layer: ViewLayer,
        painting: bool,
        locked: Bools,
        takes: list[Take],
    ) -> Steps[tuple[BakeProblem, tuple[Bools, Bools, Bools]]]:
        weights = present_weights(ob, skeleton)
        yield
        mesh = yield from read_mesh_in_steps(
            ob, armature, skeleton, view_layer, painting, locked, weights
        )
        self._warn(ob, armature)
        frames = FrameFile(frame_folder())
        place = ob, armature, skeleton, mesh.matrix, frames
        if takes:
            transforms = yield from played_frames_in_steps(*place, takes, view_layer)
        else:
            transforms = yield from random_frames_in_steps(*place, self.options)
        deform = np.flatnonzero(skeleton.deform)
        problem = BakeProblem(
            ob.name,
            mesh.points,
            mesh.triangles,
            mesh.edges,
            deform,
            len(skeleton.names),
            weights,
            mesh.locked_bones,
            mesh.locked_vertices,
            frames,
            transforms[:, deform],
        )
        return problem, selection(mesh, skeleton)

    def _warn(self, ob: Object, armature: Object) -> None:
        left_out = left_out_modifiers(ob)
        if left_out:
            self.warnings.append(
                f"'{ob.name}': some modifiers were not baked because they change the "
                f"number of vertices: {names_in_line(left_out)}"
            )
        others = other_objects(ob, armature)
        if others and self.options.poses == "RANDOM":
            self.warnings.append(
                f"'{ob.name}': its modifiers depend on {names_in_line(others)}, which "
                "random poses do not move: bake scene frames in which bones move these "
                "objects"
            )

    def solve(self, progress: Listener | None = None) -> None:
        """Stores the solutions. See araplbs.features.bake."""
        problems, self.solutions = self.reading.problems, []
        progress, count = Progress.of(progress), len(problems)
        for k, problem in enumerate(problems):
            part = progress.part(k / count, 1 / count)
            self.solutions.append(bake(problem, self.options, self.threads, part))
            problem.frames.close()

    def apply(self) -> dict[str, Any]:
        """See Task. Also writes the new bones."""
        armature, objects = self.find_objects()
        count = self.options.new_bones
        free = free_names(armature, objects, count * len(objects))
        new_names = [free[k * count : (k + 1) * count] for k in range(len(objects))]
        with all_or_nothing(objects), taken_back(armature, free):
            if free:
                self._add_bones(armature, new_names)
            written = self._write(objects, new_names)
            problems = self.reading.problems
            return bake_report(armature.name, problems, self.solutions, new_names, written)

    def _write(self, objects: list[Object], new_names: list[list[str]]) -> list[dict[str, Any]]:
        names, written = self.reading.skeleton.names, []
        each = zip(objects, self.solutions, self.reading.selections, new_names, strict=True)
        for ob, baked, (groups, bones, vertices), new in each:
            more = np.ones(len(new), bool)
            groups, bones = np.append(groups, more), np.append(bones, more)
            written.append(write_weights(ob, baked.rows, [*names, *new], groups, bones, vertices))
            if self.options.show_error:
                write_error(ob, error_colors(baked))
            self._turn_off(ob)
        return written

    def _add_bones(self, armature: Object, new_names: list[list[str]]) -> None:
        """Adds the new bones of each mesh, with their keys."""
        takes = self.reading.takes
        for take in takes:
            take.find()
        add_new_bones(armature, zip(new_names, self.solutions, strict=True))
        transforms = np.concatenate([baked.new_transforms for baked in self.solutions], axis=1)
        names = [name for own in new_names for name in own]
        key_new_bones(armature, names, transforms, takes)

    def _turn_off(self, ob: Object) -> None:
        """Turns off the modifiers whose effect is now in the weights, because they would deform the
        mesh twice."""
        baked = deforming_modifiers(ob)
        volume = [m for m in ob.modifiers if m.type == "ARMATURE" and m.use_deform_preserve_volume]
        if not self.options.turn_off:
            still = [m.name for m in baked] + [f"Preserve Volume of {m.name}" for m in volume]
            if still:
                self.warnings.append(
                    f"'{ob.name}' still has modifiers turned on, although the weights "
                    f"now include their effect: {names_in_line(still)}"
                )
            return
        for modifier in baked:
            modifier.show_viewport = modifier.show_render = False
        for modifier in volume:
            modifier.use_deform_preserve_volume = False


def refuse_caches(ob: Object) -> None:
    """Raises Refused if the cache of an enabled modifier does not exist or does not match the
    object."""
    for modifier in ob.modifiers:
        if not modifier.show_viewport:
            continue
        if modifier.type == "MESH_CACHE":
            _refuse_mesh_cache(ob, modifier)
        elif modifier.type == "MESH_SEQUENCE_CACHE":
            _refuse_sequence(ob, modifier)


def _refuse_mesh_cache(ob: Object, modifier: Modifier) -> None:
    path = Path(bpy.path.abspath(modifier.filepath))
    where = f"'{ob.name}': the cache of its modifier '{modifier.name}'"
    try:
        refuse_input(path)
        with path.open("rb") as file:
            head = file.read(20)
    except (Refused, OSError) as error:
        raise Refused(f"{where} cannot be read: {error}") from None
    try:
        if modifier.cache_format == "PC2":
            count = struct.unpack("<12sii", head)[2]
        else:
            count = struct.unpack(">ii", head[:8])[1]
    except struct.error:
        raise Refused(f"{where} is not in the format {modifier.cache_format}: {path}") from None
    if count != len(ob.data.vertices):
        raise Refused(
            f"{where} has {count} vertices, but the mesh has {len(ob.data.vertices)}: the "
            "topology differs"
        )


def _refuse_sequence(ob: Object, modifier: Modifier) -> None:
    where = f"'{ob.name}': its modifier '{modifier.name}'"
    cache = modifier.cache_file
    if not cache:
        raise Refused(f"{where} has no cache file")
    if not Path(bpy.path.abspath(cache.filepath)).exists():
        raise Refused(f"{where}: there is no file {cache.filepath}")
    paths = [path.path for path in cache.object_paths]
    if paths and modifier.object_path not in paths:
        raise Refused(f"{where}: '{modifier.object_path}' is not in {cache.filepath}")
