"""The whole work on one armature and its meshes: read, solve, write. The operator and the
command line are two ways to call it."""

import numpy as np

from .blender.binding import armature_modifier, armature_of, bind
from .blender.read_armature import bones_to_keep, read_armature
from .blender.read_mesh import read_mesh, refuse_mesh
from .blender.read_poses import read_poses
from .blender.references import Reference
from .blender.write_weights import write_weights
from .core.errors import Refused
from .core.problem import Problem
from .core.report import make_report
from .core.solve import solve


class Job:
    """Reads on creation; the main thread creates and applies, any thread may solve.

    warnings: what was left out, for people. Creating it raises Refused when there is nothing to
    solve; until apply() nothing in Blender's data is changed.
    """

    def __init__(self, targets, options, view_layer, threads=0):
        self.options, self.threads, self.painting = options, threads, targets.painting
        self.warnings = list(targets.skipped)
        self.solution = None
        armature = targets.armature
        view_layer.update()  # world matrices of what a script has just moved
        skeleton = read_armature(armature, options.use_joint_limits)
        kept = bones_to_keep(armature) if targets.painting else np.zeros(len(skeleton.names), bool)
        if kept[skeleton.deform].all():
            raise Refused(f"No deform bone of '{armature.name}' is visible and selected")
        objects, meshes = self._read_meshes(targets, skeleton, view_layer, kept)
        poses = read_poses(armature, options.animation, options.animation_frames, view_layer)
        self.armature = Reference.to(armature)
        self.objects = [Reference.to(ob) for ob in objects]
        self.problem = Problem(meshes, skeleton, poses, options.symmetric)
        self.selections = [_selection(mesh, skeleton) for mesh in meshes]

    def _read_meshes(self, targets, skeleton, view_layer, kept):
        objects, meshes, refusals = [], [], []
        for ob in targets.meshes:
            try:
                refuse_mesh(ob)
                _refuse_twice(ob, objects)
                _refuse_foreign(ob, targets.armature)
                mesh = read_mesh(ob, targets.armature, skeleton, view_layer, targets.painting, kept)
            except Refused as reason:
                refusals.append(str(reason))
                continue
            objects.append(ob)
            meshes.append(mesh)
        if not meshes:
            raise Refused("; ".join(refusals))
        self.warnings += [f"Skipped: {reason}" for reason in refusals]
        return objects, meshes

    def solve(self, progress=None):
        """See core.solve; keeps the solution."""
        self.solution = solve(self.problem, self.options, self.threads, progress)

    def apply(self):
        """Writes the weights, binds what is not bound yet, and returns the report.

        Raises Refused, with nothing written, when the objects are not what they were.
        """
        armature = self.armature.get()
        objects = [reference.get() for reference in self.objects]
        if [bone.name for bone in armature.data.bones] != self.problem.skeleton.names:
            raise Refused(f"'{armature.name}' was changed meanwhile: nothing was written")
        for ob in objects:
            if ob.mode == "EDIT":
                raise Refused(f"'{ob.name}' is in Edit mode: nothing was written")
        parts = self.problem.split(self.solution.rows)
        written = []
        for ob, rows, selection in zip(objects, parts, self.selections, strict=True):
            done = write_weights(ob, rows, self.problem.skeleton.names, *selection)
            if not self.painting:
                done["bound"] = bind(ob, armature)
            written.append(done)
        return make_report(self.problem, self.solution, self.options, armature.name, written)


def _selection(mesh, skeleton):
    """What is written of a mesh: (bones with groups, bones with weights, vertices), all bool."""
    bones = skeleton.deform.copy()
    vertices = np.ones(len(mesh.vertices), bool)
    if mesh.keeps:
        bones &= ~mesh.kept_bones
    if mesh.kept_vertices is not None:
        vertices = ~mesh.kept_vertices
    groups = bones.copy()
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
