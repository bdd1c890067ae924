"""The whole work of baking modifiers to weights: read, solve, write."""

import bpy
import numpy as np

from ..blender.binding import is_deformed_by
from ..blender.new_bones import add_new_bones, free_names, key_new_bones, refuse_new_bones
from ..blender.read_armature import bones_to_lock, read_armature
from ..blender.read_caches import refuse_caches
from ..blender.read_frames import (
    action_takes,
    deforming_modifiers,
    left_out_modifiers,
    other_objects,
    played_frames_in_steps,
    random_frames_in_steps,
    scene_takes,
)
from ..blender.read_mesh import present_weights, read_mesh_in_steps, refuse_mesh
from ..blender.references import Reference
from ..blender.write_error import write_error
from ..blender.write_weights import write_weights
from ..core.bake import BakeProblem, bake, bake_report, error_colors
from ..core.frame_file import FrameFile
from ..core.poses import BENDY
from ..core.refusal import Refused
from ..core.report import names_in_line
from ..core.steps import finish
from .weighting import selection


def frame_folder():
    """Where frames are kept while they are baked: Blender removes it when it ends."""
    return bpy.app.tempdir


class BakeTask:
    """The main thread reads and applies, any thread may solve.

    warnings: what was left out, for people. Until apply() nothing in Blender's data is changed.
    """

    def __init__(self, options, threads=0):
        self.options, self.threads = options, threads
        self.problems, self.solutions, self.objects, self.selections = [], [], [], []
        self.takes = []  # the frames; none of random poses

    def read(self, targets, view_layer):
        """Raises Refused when there is nothing to bake."""
        finish(self.read_in_steps(targets, view_layer))

    def read_in_steps(self, targets, view_layer):
        """The like as a generator of short steps."""
        self.warnings = list(targets.skipped)
        armature = targets.armature
        view_layer.update()  # world matrices of what a script has just moved
        self.skeleton = skeleton = read_armature(armature, self.options.use_joint_limits)
        refuse_bones(armature, skeleton, self.options.new_bones)
        if self.options.poses == "SCENE":
            self.takes = scene_takes(view_layer.id_data, self.options)
        elif self.options.poses == "ALL":
            self.takes = action_takes(armature, self.options)
        if self.options.new_bones:
            refuse_new_bones(armature, self.takes)
        self.armature = Reference.to(armature)
        locked = (
            bones_to_lock(armature) if targets.painting else np.zeros(len(skeleton.names), bool)
        )
        if locked[skeleton.deform].all():
            raise Refused(f"No deform bone of '{armature.name}' is visible and selected")
        yield
        for ob in targets.meshes:
            refuse_mesh(ob)
            refuse_caches(ob)
            if not is_deformed_by(ob, armature):
                raise Refused(f"'{ob.name}' has no Armature modifier for '{armature.name}'")
            if any(reference.data_uid == ob.data.session_uid for reference in self.objects):
                raise Refused(f"'{ob.name}' shares its mesh with another one that is baked")
            yield from self._read_object(ob, armature, view_layer, targets.painting, locked)

    def _read_object(self, ob, armature, view_layer, painting, locked):
        skeleton, options = self.skeleton, self.options
        weights = present_weights(ob, skeleton)
        yield
        mesh = yield from read_mesh_in_steps(
            ob, armature, skeleton, view_layer, painting, locked, weights
        )
        self._warn(ob, armature)
        frames = FrameFile(frame_folder())
        place = ob, armature, skeleton, mesh.matrix, frames
        if self.takes:
            transforms = yield from played_frames_in_steps(*place, self.takes, view_layer)
        else:
            transforms = yield from random_frames_in_steps(*place, options)
        deform = np.flatnonzero(skeleton.deform)
        self.objects.append(Reference.to(ob))
        self.selections.append(selection(mesh, skeleton))
        self.problems.append(
            BakeProblem(
                ob.name,
                mesh.vertices @ mesh.matrix[:3, :3].T + mesh.matrix[:3, 3],
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
        )

    def _warn(self, ob, armature):
        left_out = left_out_modifiers(ob)
        if left_out:
            self.warnings.append(
                f"'{ob.name}': not baked, for they change the number of vertices: "
                f"{names_in_line(left_out)}"
            )
        others = other_objects(ob, armature)
        if others and self.options.poses == "RANDOM":
            self.warnings.append(
                f"'{ob.name}': its modifiers look at {names_in_line(others)}, which random poses "
                "do not move: bake scene frames where bones move them"
            )

    def solve(self, progress=None):
        """See core.bake; keeps the solutions."""
        count = len(self.problems)
        for k, problem in enumerate(self.problems):

            def tell(stage, fraction, energy, k=k):
                return progress(stage, (k + fraction) / count, energy)

            self.solutions.append(
                bake(problem, self.options, self.threads, tell if progress else None)
            )
            problem.frames.close()

    def apply(self):
        """Writes new bones and the weights, and returns the report.

        Raises Refused, with nothing written, when the objects are not what they were.
        """
        armature = self.armature.get()
        objects = [reference.get() for reference in self.objects]
        names = self.skeleton.names
        if [bone.name for bone in armature.data.bones] != names:
            raise Refused(f"'{armature.name}' was changed meanwhile: nothing was written")
        for ob in objects:
            if ob.mode == "EDIT":
                raise Refused(f"'{ob.name}' is in Edit mode: nothing was written")
        new_names = self._add_bones(armature, objects)
        written = []
        each = zip(objects, self.solutions, self.selections, new_names, strict=True)
        for ob, baked, (groups, bones, vertices), new in each:
            more = np.ones(len(new), bool)
            groups, bones = np.append(groups, more), np.append(bones, more)
            written.append(write_weights(ob, baked.rows, [*names, *new], groups, bones, vertices))
            if self.options.show_error:
                write_error(ob, error_colors(baked))
            self._turn_off(ob)
        return bake_report(armature.name, self.problems, self.solutions, new_names, written)

    def _add_bones(self, armature, objects):
        """Names of the new bones of each mesh, which are added with their keys."""
        if not self.options.new_bones:
            return [[] for _ob in objects]
        for take in self.takes:
            take.find()
        count = self.options.new_bones
        names = free_names(armature, objects, count * len(objects))
        new_names = [names[k * count : (k + 1) * count] for k in range(len(objects))]
        add_new_bones(armature, zip(new_names, self.solutions, strict=True))
        transforms = np.concatenate([baked.new_transforms for baked in self.solutions], axis=1)
        key_new_bones(armature, names, transforms, self.takes)
        return new_names

    def _turn_off(self, ob):
        """What is in the weights now would deform twice."""
        baked = deforming_modifiers(ob)
        volume = [m for m in ob.modifiers if m.type == "ARMATURE" and m.use_deform_preserve_volume]
        if not self.options.turn_off:
            still = [m.name for m in baked] + [f"Preserve Volume of {m.name}" for m in volume]
            if still:
                self.warnings.append(
                    f"'{ob.name}': still on, and in the weights now too: {names_in_line(still)}"
                )
            return
        for modifier in baked:
            modifier.show_viewport = modifier.show_render = False
        for modifier in volume:
            modifier.use_deform_preserve_volume = False


def refuse_bones(armature, skeleton, new_bones=0):
    """Raises Refused where plain bones cannot be blended linearly."""
    bendy = [
        name
        for name, kind, deforms in zip(skeleton.names, skeleton.kinds, skeleton.deform, strict=True)
        if kind == BENDY and deforms
    ]
    if bendy:
        raise Refused(
            f"'{armature.name}' has bendy bones ({names_in_line(bendy)}): make plain bones of "
            "them first (Bendy Bones to Bones)"
        )
    if skeleton.deform.sum() + new_bones < 2:
        raise Refused(
            f"'{armature.name}' has one deform bone: it gets all weight, baking needs 2 or more"
        )
