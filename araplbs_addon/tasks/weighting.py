"""The whole work on one armature and its meshes: read, solve, write. The operator and the
command line are two ways to call it."""

import bpy
import numpy as np

from ..blender.binding import (
    armature_modifier,
    armature_of,
    bind,
    following_constraints,
    moves_twice,
)
from ..blender.control_bones import mark_control_bones
from ..blender.flexible_bones import curved_parameters_in_steps
from ..blender.places import deformers
from ..blender.read_armature import bones_to_lock, read_armature
from ..blender.read_deformer import read_joint_axes
from ..blender.read_mesh import (
    group_entries_in_steps,
    present_weights,
    read_mesh_in_steps,
    refuse_mesh,
)
from ..blender.read_volume import read_volume, refuse_volume
from ..blender.references import Reference
from ..blender.whole_poses import given_poses_in_steps
from ..blender.write_weights import write_weights
from ..core.armature_modifier import refuse_deformer
from ..core.control_bones import leave_out_in_steps
from ..core.problem import Problem
from ..core.refusal import Refused
from ..core.report import make_report, names_in_line
from ..core.solve import solve
from ..core.steps import finish
from ..core.volume import solve_volume
from ..core.worst_picture import worst_picture


class WeightingTask:
    """The main thread reads and applies, any thread may solve.

    warnings: what was left out, for people. Until apply() nothing in Blender's data is changed.
    """

    reads_weights = False  # present weights are needed, whatever the options

    def __init__(self, options, threads=0):
        self.options, self.threads = options, threads
        self.solution, self.objects = None, []

    def read(self, targets, view_layer):
        """Raises Refused when there is nothing to solve."""
        finish(self.read_in_steps(targets, view_layer))

    def read_in_steps(self, targets, view_layer, with_entries=False):
        """The like as a generator of short steps (those of animations are not).

        with_entries: keep group_entries() of the objects, in their order, as `entries`.
        """
        options, self.painting = self.options, targets.painting
        self.warnings = list(targets.skipped)
        armature = targets.armature
        refuse_volume(options)
        view_layer.update()  # world matrices of what a script has just moved
        skeleton = self._read_skeleton(armature)
        refuse_deformer(options, skeleton)
        locked = (
            bones_to_lock(armature) if targets.painting else np.zeros(len(skeleton.names), bool)
        )
        if locked[skeleton.deform].all():
            raise Refused(f"No deform bone of '{armature.name}' is visible and selected")
        yield
        wanted = with_entries or self.reads_weights or options.start_from == "PRESENT"
        wanted = wanted or options.searches_rigid
        objects, meshes = yield from self._read_meshes(
            targets, skeleton, view_layer, locked, wanted
        )
        skeleton = self._take(objects, meshes, skeleton)
        if options.control_bones == "LEAVE_OUT":
            meshes, skeleton = yield from leave_out_in_steps(meshes, skeleton, self.threads)
        if locked[skeleton.deform].all():
            raise Refused(f"Only control bones of '{armature.name}' are visible and selected")
        objects, meshes = self._cut(objects, meshes)
        self.volume = read_volume(options, meshes)
        skeleton.joint_axes = read_joint_axes(armature, skeleton)
        poses = yield from given_poses_in_steps(
            armature, skeleton, options, view_layer, self.warnings
        )
        self.armature = Reference.to(armature)
        self.objects = [Reference.to(ob) for ob in objects]
        self.meshes, self.poses = meshes, poses
        self.problem = Problem(
            meshes,
            skeleton,
            poses,
            options.symmetric,
            options.start_from,
            "OFF" if self.volume else options.rigid_parts,
        )
        self.problem.parameters = yield from curved_parameters_in_steps(
            armature, skeleton, self.problem.arguments["vertices"]
        )
        self.selections = [selection(mesh, skeleton) for mesh in meshes]
        if self.problem.unweighted:
            self.warnings.append(_unweighted(self.problem.unweighted))

    def _take(self, objects, meshes, skeleton):
        """The skeleton, once the meshes are read."""
        return skeleton

    def _cut(self, objects, meshes):
        """What is solved of these."""
        return objects, meshes

    def _read_skeleton(self, armature):
        return read_armature(armature, self.options.use_joint_limits)

    def _read_meshes(self, targets, skeleton, view_layer, locked, with_entries):
        objects, meshes, refusals = [], [], []
        self.entries = []
        for ob in targets.meshes:
            try:
                self.refuse_object(ob, targets.armature)
                _refuse_twice(ob, objects)
                shared = _sharing(ob)
                entries = weights = None
                if with_entries:
                    entries = yield from group_entries_in_steps(ob.data)
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
            self.entries.append(entries)
            others = [other.name for other in shared if other not in targets.meshes]
            if others:
                self.warnings.append(
                    f"'{ob.name}' shares its mesh, and with it these weights: "
                    f"{names_in_line(others)}"
                )
        if not meshes:
            raise Refused("; ".join(refusals))
        self.warnings += [f"Skipped: {reason}" for reason in refusals]
        return objects, meshes

    def refuse_object(self, ob, armature):
        """Raises Refused for what cannot be weighted."""
        refuse_mesh(ob)
        _refuse_foreign(ob, armature)

    def solve(self, progress=None):
        """See core.solve and core.volume; keeps the solution."""
        arguments = (self.threads, progress)
        if self.volume:
            self.solution = solve_volume(self.problem, self.options, self.volume, *arguments)
        else:
            self.solution = solve(self.problem, self.options, *arguments)

    def apply(self):
        """Writes the weights, binds what is not bound yet, and returns the report.

        Raises Refused, with nothing written, when the objects are not what they were.
        """
        _armature, objects = self.find_objects()
        parts = self.problem.split(self.solution.rows)
        names = self.problem.skeleton.names
        return self.conclude(
            [
                write_weights(ob, rows, names, *selection)
                for ob, rows, selection in zip(objects, parts, self.selections, strict=True)
            ]
        )

    def picture(self):
        """A PNG file of the result in its worst pose, or None where there is nothing to show."""
        armature, _objects = self.find_objects()
        to_world = np.array(armature.matrix_world.to_3x3().normalized())
        return worst_picture(self.problem, self.solution.rows, self.options, to_world, self.threads)

    def find_objects(self):
        """(armature, [meshes]). Raises Refused when they are not what they were."""
        armature = self.armature.get()
        objects = [reference.get() for reference in self.objects]
        if [bone.name for bone in armature.data.bones] != self.problem.skeleton.names:
            raise Refused(f"'{armature.name}' was changed meanwhile: nothing was written")
        for ob in objects:
            self.refuse_edit_mode(ob)
        return armature, objects

    def refuse_edit_mode(self, ob):
        if ob.mode == "EDIT":
            raise Refused(f"'{ob.name}' is in Edit mode: nothing was written")

    def conclude(self, written):
        """Binds what is not bound yet; the report. written: what write_weights() has returned."""
        armature, objects = self.find_objects()
        self.bind(armature, objects, written)
        mark_control_bones(armature, self.problem.skeleton)
        return make_report(self.problem, self.solution, self.options, armature.name, written)

    def bind(self, armature, objects, written):
        """Binds what is not bound yet, and notes it in what write_weights() has returned."""
        for ob, done in zip(objects, written, strict=True):
            if not self.painting:
                following = following_constraints(ob, armature)
                done["bound"] = bind(ob, armature)
                muted = names_in_line([c.name for c in following if c.mute])
                if muted:
                    self.warnings.append(
                        f"'{ob.name}' follows its bones by an Armature modifier now: "
                        f"muted its constraints that did so: {muted}"
                    )
            if moves_twice(ob, armature):
                self.warnings.append(
                    f"'{ob.name}' follows bones as an object too, by a parent, constraint or "
                    "driver: they move it twice"
                )


def _unweighted(count):
    which = "1 vertex has" if count == 1 else f"{count} vertices have"
    return f"{which} no weights yet: fresh ones there"


def selection(mesh, skeleton):
    """What is written of a mesh: (bones with groups, bones with weights, vertices), all bool."""
    bones = skeleton.deform | skeleton.left_out  # whose old weights would go on deforming
    vertices = np.ones(len(mesh.vertices), bool)
    if mesh.locked_bones is not None:
        bones &= ~mesh.locked_bones
    if mesh.locked_vertices is not None:
        vertices = ~mesh.locked_vertices
    groups = bones & skeleton.deform
    if any(reflection.flip for reflection in mesh.reflections):
        # The images need groups to follow, if only empty ones.
        groups |= bones[skeleton.opposite] & skeleton.deform
    return groups, bones, vertices


def _refuse_twice(ob, before):
    for other in before:
        if other.data == ob.data:
            raise Refused(f"'{ob.name}' shares its mesh with '{other.name}' and gets its weights")


def _refuse_foreign(ob, armature):
    other = armature_of(ob)
    if other and other != armature and not armature_modifier(ob, armature):
        raise Refused(f"'{ob.name}' is deformed by the armature '{other.name}'")


def _sharing(ob):
    """Other objects of the same mesh that bones deform."""
    return [
        other
        for other in bpy.data.objects
        if other != ob and other.data == ob.data and other.users_scene and deformers(other)
    ]
