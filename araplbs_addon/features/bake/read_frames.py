"""Reads the positions to which all modifiers of a mesh move the vertices, in frames of the scene or
of actions, or in random poses.

A copy of the object is evaluated in a separate scene, so the file stays unchanged. Modifiers that
add or remove vertices are disabled on the copy. In random poses, the copy follows a bare copy of
the armature (flexible_bones.py). Other objects that its modifiers use do not move.
"""

import time
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from araplbs.base.affine import moved
from araplbs.base.refusal import Refused
from araplbs.skeleton.poses import sample
from mathutils import Matrix

from ...blender.data.mesh_shape import points_of
from ...blender.data.references import remove_made
from ...blender.poses.flexible_bones import bare_copy, pose_copy
from ...blender.poses.pose_sources import weight_of
from ...blender.poses.read_poses import PoseReader, frames_of_actions, stage
from ...blender.poses.swapped_actions import swapped_actions
from ...blender.read.other_modifiers import MAKES_VERTICES

STEP = 0.1  # seconds of work on copies
SIMULATES = {"CLOTH", "SOFT_BODY", "DYNAMIC_PAINT", "FLUID"}  # need all frames in order
NOT_DEFORMING = {"ARMATURE", "DATA_TRANSFER", "WEIGHTED_NORMAL", "NORMAL_EDIT", "COLLISION"}
NOT_DEFORMING |= {"UV_PROJECT", "UV_WARP"}


def deforming_modifiers(ob):
    """The modifiers that are baked, in addition to the Armature modifiers."""
    off = MAKES_VERTICES | NOT_DEFORMING
    return [m for m in ob.modifiers if m.type not in off and (m.show_viewport or m.show_render)]


def left_out_modifiers(ob):
    """Names of the modifiers that are not baked, because they add or remove vertices."""
    return [m.name for m in ob.modifiers if m.type in MAKES_VERTICES and m.show_viewport]


def other_objects(ob, armature):
    """Names of the objects to which deforming modifiers refer but which random poses do not
    move."""
    objects = {other for m in deforming_modifiers(ob) for _name, other in _pointers(m)}
    return sorted(other.name for other in objects - {ob, armature})


def _pointers(modifier):
    """Yields (property, object) for all objects to which a modifier refers."""
    for prop in modifier.bl_rna.properties:
        if prop.type == "POINTER" and not prop.is_readonly:
            value = getattr(modifier, prop.identifier)
            if isinstance(value, bpy.types.Object):
                yield prop.identifier, value


@dataclass(frozen=True)
class Take:
    """Frames of an action, or of the current animation. Refers to Blender's data by names, which
    survive undo."""

    action: str | None
    slot: str | None
    frames: tuple

    def find(self):
        """Returns (action, slot). Raises Refused if they have been deleted since then."""
        if self.action is None:
            return None, None
        action = bpy.data.actions.get(self.action)
        slots = {slot.identifier: slot for slot in getattr(action, "slots", ())}
        if not action or (self.slot and self.slot not in slots):
            raise Refused(f"'{self.action}' was deleted or has changed since it was read")
        return action, slots.get(self.slot)


def scene_takes(scene, options):
    """Returns a [Take] with at most options.frames frames of the scene."""
    count = scene.frame_end - scene.frame_start + 1
    wanted = np.linspace(scene.frame_start, scene.frame_end, min(options.frames, count))
    return [Take(None, None, tuple(np.unique(wanted.round().astype(int)).tolist()))]


def action_takes(armature, options):
    """A Take for every action that moves bones of the armature and whose poses count."""
    return [
        Take(action.name, slot and slot.identifier, tuple(frames))
        for action, slot, frames in frames_of_actions(armature, options.frames)
        if weight_of(action)
    ]


def random_frames_in_steps(ob, armature, skeleton, matrix, frames, options):
    """Returns the transforms (p, m, 3, 4) of options.pose_count random poses in armature space, and
    appends arrays (n, 3) to `frames`. The function is a generator of short steps. matrix: from the
    mesh to the armature at rest."""
    sampled, bends = sample(skeleton, options, None)
    if bends is None:
        bends = np.zeros((*sampled.shape[:2], 4))
    rest = [bone.matrix_local.copy() for bone in armature.data.bones]
    reader, transforms = PoseReader(armature, skeleton), []
    while len(frames) < len(sampled):
        with (
            bare_copy(armature, skeleton) as (bones, view_layer, _goes_on),
            _mesh_copy(ob, armature, bones) as copy,
        ):
            copy.parent = None
            copy.constraints.clear()
            copy.animation_data_clear()
            copy.matrix_world = bones.matrix_world @ Matrix(matrix.tolist())
            view_layer.id_data.collection.objects.link(copy)
            begin = time.perf_counter()
            while len(frames) < len(sampled) and time.perf_counter() - begin < STEP:
                k = len(frames)
                pose_copy(bones, skeleton, rest, sampled[k], bends[k])
                view_layer.update()
                transforms.append(reader.read(bones, view_layer.depsgraph)[0])
                frames.append(
                    _read(ob.name, copy, view_layer.depsgraph, matrix, f"random pose {k}")
                )
        yield
    return np.array(transforms)


def played_frames_in_steps(ob, armature, skeleton, matrix, frames, takes, view_layer):
    """Does the same as random_frames_in_steps(), for the frames of Takes."""
    scene = view_layer.id_data
    simulates = any(m.type in SIMULATES for m in ob.modifiers)
    if simulates and takes[0].action is not None:
        raise Refused(f"'{ob.name}' is simulated: bake Scene Frames, which are consecutive")
    reader, transforms = PoseReader(armature, skeleton), []
    for take in takes:
        ahead = list(take.frames)
        if simulates:
            ahead = list(range(scene.frame_start, scene.frame_end + 1))
        while ahead:
            with (
                stage(armature) as own,
                _played(armature, take, view_layer),
                _mesh_copy(ob, armature, armature) as copy,
            ):
                own.collection.objects.link(copy)
                if simulates:
                    _link_forces(own, scene, ob)
                begin = time.perf_counter()
                while ahead and (simulates or time.perf_counter() - begin < STEP):
                    frame = ahead.pop(0)
                    own.frame_set(frame)
                    if frame not in take.frames:
                        continue
                    depsgraph = own.view_layers[0].depsgraph
                    transforms.append(reader.read(armature, depsgraph)[0])
                    at = f"frame {frame}" + (f" of '{take.action}'" if take.action else "")
                    frames.append(_read(ob.name, copy, depsgraph, matrix, at))
            yield
    transforms = np.array(transforms)
    if not np.isfinite(transforms).all():
        raise Refused(f"'{armature.name}' has non-finite poses in these frames")
    return transforms


@contextmanager
def _played(armature, take, view_layer):
    """Makes the armature play the action of a Take. Bones without a key keep their current pose."""
    if take.action is None:
        yield
        return
    action, slot = take.find()
    with swapped_actions(armature, view_layer) as play:
        play(action, slot)
        yield


def _link_forces(own, scene, ob):
    """Links the colliders and the wind that affect cloth."""
    for other in scene.objects:
        blows = other.field and other.field.type != "NONE"
        collides = any(m.type == "COLLISION" for m in other.modifiers)
        if (blows or collides) and other != ob and other.name not in own.collection.objects:
            own.collection.objects.link(other)


@contextmanager
def _mesh_copy(ob, armature, bones):
    """A copy of an object in which modifiers and drivers refer to `bones` instead of the
    armature."""
    copy = ob.copy()
    data = None
    try:
        copy.hide_viewport = False
        if bones != armature:
            data = copy.data = ob.data.copy()
            for modifier in copy.modifiers:
                for name, value in list(_pointers(modifier)):
                    if value == armature:
                        setattr(modifier, name, bones)
            _follow(data.shape_keys, armature, bones)
        for modifier in copy.modifiers:
            if modifier.type in MAKES_VERTICES:
                modifier.show_viewport = False
        yield copy
    finally:
        remove_made(copy, *filter(None, (data,)))


def _follow(data, armature, bones):
    """Lets the drivers of shape keys follow `bones`, and stops the animation of the keys."""
    animation = data and data.animation_data
    if not animation:
        return
    animation.action = None
    for curve in animation.drivers:
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id == armature:
                    target.id = bones


def _read(name, copy, depsgraph, matrix, where):
    """The positions (n, 3) float32 in armature space. Raises Refused if the number of vertices
    differs."""
    mesh = copy.evaluated_get(depsgraph).data
    if len(mesh.vertices) != len(copy.data.vertices):
        raise Refused(
            f"'{name}' has {len(copy.data.vertices)} vertices, but {len(mesh.vertices)} after its "
            f"modifiers at {where}: a changing topology cannot be baked"
        )
    points = points_of(mesh)
    if not np.isfinite(points).all():
        raise Refused(f"'{name}' has coordinates that are not finite at {where}")
    return moved(points, matrix).astype(np.float32)
