"""The task for one armature and its meshes: read, solve, write. Both the operator and the command
line use this task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from araplbs.base.arrays import Bools
from araplbs.base.progress import Listener
from araplbs.base.refusal import Refused
from araplbs.base.steps import Steps
from araplbs.base.worker import work_in_steps
from araplbs.character.coincident_bones import part_doubles
from araplbs.character.mesh import Mesh, overfull_warning, selection, unweighted_warning
from araplbs.character.problem import Problem
from araplbs.measures.armature_modifier import refuse_deformer
from araplbs.model.sparse_weights import SparseWeights
from araplbs.reports.pictures import worst_picture
from araplbs.reports.report import make_report, names_in_line
from araplbs.skeleton.skeleton import Skeleton
from araplbs.solvers.converged_cache import remember_end
from araplbs.solvers.solve import solve
from araplbs.solvers.volume import solve_volume
from araplbs.solvers.weigh import decided_in_steps
from bpy.types import Object, ViewLayer

from .blender.data.binding import (
    armature_modifier,
    armature_of,
    bind,
    following_constraints,
    moves_twice,
)
from .blender.data.edits import hold_on_bone
from .blender.data.object_targets import unknown_constraints
from .blender.data.ours import is_ours
from .blender.data.references import Subjects
from .blender.data.rest_transforms import deforming_armatures
from .blender.poses.flexible_bones import curved_parameters_in_steps
from .blender.read.control_bones import leave_out_of_armature_in_steps, mark_control_bones
from .blender.read.other_modifiers import other_modifiers, refuse_carried
from .blender.read.read_armature import read_armature
from .blender.read.read_deformer import read_joint_axes
from .blender.read.read_mesh import (
    named_entries_in_steps,
    present_weights,
    read_mesh_in_steps,
    refuse_mesh,
)
from .blender.read.read_volume import read_volume, refuse_volume
from .blender.read.targets import Targets, chosen_to_lock
from .blender.rig.rig_poses import given_poses_in_steps
from .blender.write.all_or_nothing import all_or_nothing
from .blender.write.write_weights import write_weights
from .task import Task


@dataclass(frozen=True)
class Reading:
    """The data that was read for a solver. Data about meshes is in the order of the subjects'
    meshes."""

    subjects: Subjects
    meshes: list[Mesh]
    problem: Problem
    poses: Any  # those of the file or the rig
    volume: Any  # see read_volume()
    entries: list[Any]  # NamedEntries of the meshes, None if weights are not read
    selections: list[tuple[Bools, Bools, Bools]]  # see selection()
    painting: bool  # in Weight Paint mode: nothing is bound


class WeightingTask(Task):
    reads_weights = False  # whether current weights are needed regardless of the options
    later = False  # whether the earlier state is measured only on request
    solution: Any = None
    chosen = None  # (chosen bones, all bones), None if all were chosen
    replaces_ours: Sequence[bool] = ()  # whether each mesh had weights from Auto-weight

    @property
    def problem(self) -> Problem:
        return self.reading.problem

    @property
    def selections(self) -> list[tuple[Bools, Bools, Bools]]:
        return self.reading.selections

    def read_in_steps(self, targets: Targets, view_layer: ViewLayer) -> Steps[None]:
        """See Task. The steps of animations are not short."""
        options = self.options
        armature = targets.armature
        self.warnings = targets.skipped + unknown_constraints(armature)
        has_volume = options.volume != "NONE"
        if has_volume:
            refuse_volume(options)
        view_layer.update()  # updates world matrices after changes by a script
        skeleton = self._read_skeleton(armature)
        refuse_deformer(options, skeleton)
        locked = chosen_to_lock(targets, skeleton)
        free = skeleton.deform & ~locked
        self.chosen = (int(free.sum()), int(skeleton.deform.sum())) if locked.any() else None
        yield
        objects, meshes, entries = yield from self._read_meshes(
            targets, skeleton, view_layer, locked
        )
        skeleton = self._take(objects, meshes, skeleton)

        def leave_out(meshes: list[Mesh], skeleton: Skeleton) -> Steps[tuple[list[Mesh], Skeleton]]:
            return leave_out_of_armature_in_steps(
                armature, objects, meshes, skeleton, view_layer, self.threads
            )

        meshes, skeleton = yield from decided_in_steps(
            meshes, skeleton, options, leave_out, self.threads
        )
        if locked[skeleton.deform].all():
            raise Refused(f"Only control bones of '{armature.name}' are selected")
        meshes = part_doubles(meshes, skeleton)
        yield
        objects, meshes = self._cut(objects, meshes)
        volume = read_volume(options, meshes) if has_volume else None
        skeleton.joint_axes = read_joint_axes(armature, skeleton)
        poses = yield from given_poses_in_steps(
            armature, skeleton, options, view_layer, self.warnings
        )
        subjects = Subjects.of(armature, objects)
        problem = yield from work_in_steps(
            lambda _progress: Problem(
                meshes,
                skeleton,
                poses,
                options.symmetric,
                options.start_from,
                "OFF" if volume else options.rigid_parts,
            )
        )
        problem.parameters = yield from curved_parameters_in_steps(
            armature, skeleton, problem.arguments["vertices"]
        )
        self.warnings += unweighted_warning(problem.unweighted)
        self.reading = Reading(
            subjects,
            meshes,
            problem,
            poses,
            volume,
            entries,
            [selection(mesh, skeleton) for mesh in meshes],
            targets.painting,
        )

    def _take(self, objects: list[Object], meshes: list[Mesh], skeleton: Skeleton) -> Skeleton:
        """Returns the skeleton to use after the meshes are read."""
        return skeleton

    def _cut(self, objects: list[Object], meshes: list[Mesh]) -> tuple[list[Object], list[Mesh]]:
        """The objects and meshes that are solved."""
        return objects, meshes

    def _read_skeleton(self, armature: Object) -> Skeleton:
        return read_armature(armature, self.options.use_joint_limits)

    def _read_meshes(
        self, targets: Targets, skeleton: Skeleton, view_layer: ViewLayer, locked: Bools
    ) -> Steps[tuple[list[Object], list[Mesh], list[Any]]]:
        objects: list[Object] = []
        meshes, all_entries, refusals = [], [], []
        with_entries = self.reads_weights or self.options.start_from == "PRESENT"
        for ob in targets.meshes:
            try:
                self.refuse_object(ob, targets.armature)
                _refuse_twice(ob, objects)
                shared = _sharing(ob)
                entries = weights = None
                if with_entries:
                    entries = yield from named_entries_in_steps(ob)
                    yield
                    weights = present_weights(ob, skeleton, entries)
                    yield
                mesh = yield from read_mesh_in_steps(
                    ob, targets.armature, skeleton, view_layer, targets.painting, locked, weights
                )
            except Refused as reason:
                refusals.append(str(reason))
                continue
            objects.append(ob)
            meshes.append(mesh)
            all_entries.append(entries)
            self.warnings += other_modifiers(ob, targets.armature)
            self.warnings += overfull_warning(mesh)
            others = [other.name for other in shared if other not in targets.meshes]
            if others:
                self.warnings.append(
                    f"'{ob.name}' shares its mesh, and therefore these weights, with: "
                    f"{names_in_line(others)}"
                )
        if not meshes:
            raise Refused("; ".join(refusals))
        self.warnings += [f"Skipped: {reason}" for reason in refusals]
        return objects, meshes, all_entries

    def refuse_object(self, ob: Object, armature: Object) -> None:
        """Raises Refused for objects that cannot be weighted."""
        refuse_mesh(ob)
        _refuse_bone_shape(ob)
        _refuse_foreign(ob, armature)
        refuse_carried(ob, armature)

    def solve(self, progress: Listener | None = None) -> None:
        """Stores the solution. See araplbs.solvers.solve and araplbs.solvers.volume."""
        arguments = (self.threads, progress)
        if self.reading.volume:
            self.solution = solve_volume(
                self.problem, self.options, self.reading.volume, *arguments
            )
        else:
            later = self.later and self.options.start_from != "PRESENT"  # which is displayed
            self.solution = solve(self.problem, self.options, *arguments, later)

    def apply(self) -> dict[str, Any]:
        """See Task. Also binds meshes that are not bound yet."""
        armature, objects = self.find_objects()
        parts = self.problem.split(self.solution.rows)
        names = self.problem.skeleton.names
        self.replaces_ours = [is_ours(ob) for ob in objects]
        with all_or_nothing(objects, armature, keeps=False) as present:
            written = [
                write_weights(ob, rows, names, groups, bones, vertices, entries)
                for ob, rows, (groups, bones, vertices), entries in zip(
                    objects, parts, self.reading.selections, present, strict=True
                )
            ]
            report = self.conclude(written)
        if not self.reading.volume:
            self.remember_end(self.solution.rows)
        return report

    def remember_end(self, rows: SparseWeights) -> None:
        """Marks these weights as final. A session that starts with them is already converged."""
        read = self.reading
        skeleton, parts = read.problem.skeleton, read.problem.split(rows)
        remember_end(read.meshes, skeleton, read.poses, self.options, parts)

    def picture(self) -> bytes | None:
        """A picture of the result in its worst pose as a PNG file, or None if there is nothing to
        show."""
        armature, _objects = self.find_objects()
        to_world = np.array(armature.matrix_world.to_3x3().normalized())
        return worst_picture(self.problem, self.solution.rows, self.options, to_world, self.threads)

    def conclude(self, written: list[dict[str, Any]]) -> dict[str, Any]:
        """Binds meshes that are not bound yet. Returns the report. written: the result of
        write_weights()."""
        armature, objects = self.find_objects()
        self.bind(armature, objects, written)
        mark_control_bones(armature, self.problem.skeleton)
        return make_report(self.problem, self.solution, self.options, armature.name, written)

    def bind(self, armature: Object, objects: list[Object], written: list[dict[str, Any]]) -> None:
        """Binds meshes that are not bound yet, and records this in the result of write_weights(). A
        mesh that a deform bone carries stays on this bone, even if it is weighted again."""
        held = []
        for ob, mesh, done in zip(objects, self.reading.meshes, written, strict=True):
            if not self.reading.painting:
                following = following_constraints(ob, armature)
                done["bound"] = bind(ob, armature)
                if mesh.held_on >= 0:
                    held.append((ob, self.problem.skeleton.names[mesh.held_on]))
                muted = names_in_line([c.name for c in following if c.mute])
                if muted:
                    self.warnings.append(
                        f"'{ob.name}' now follows its bones through an Armature modifier; the "
                        f"constraints that did so before are muted: {muted}"
                    )
            if moves_twice(ob, armature):
                self.warnings.append(
                    f"'{ob.name}' also follows bones as an object, through a parent, constraint "
                    "or driver, so they move it twice"
                )
        for ob, bone in held:
            hold_on_bone(ob.data, bone)
        if held:
            names = names_in_line([ob.name for ob, _bone in held])
            self.warnings.append(f"Stays on its parent bone because of pinned weights: {names}")


def _refuse_twice(ob: Object, before: list[Object]) -> None:
    for other in before:
        if other.data == ob.data:
            raise Refused(
                f"'{ob.name}' shares its mesh with '{other.name}' and gets the same weights"
            )


def _refuse_bone_shape(ob: Object) -> None:
    """A mesh that a bone shows instead of itself is no skin. Importers and rig generators make such
    meshes."""
    for rig in bpy.data.objects:
        for bone in rig.pose.bones if rig.type == "ARMATURE" else ():
            if bone.custom_shape == ob:
                raise Refused(f"'{ob.name}' is the custom shape of '{bone.name}' in '{rig.name}'")


def _refuse_foreign(ob: Object, armature: Object) -> None:
    other = armature_of(ob)
    if other and other != armature and not armature_modifier(ob, armature):
        raise Refused(f"'{ob.name}' is deformed by the armature '{other.name}'")


def _sharing(ob: Object) -> list[Object]:
    """Other objects that use the same mesh and are deformed by bones."""
    return [
        other
        for other in bpy.data.objects
        if other != ob
        and other.data == ob.data
        and other.users_scene
        and deforming_armatures(other)
    ]
