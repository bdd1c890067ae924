"""Creates a hidden copy of a rig at rest, in which constraints and drivers move the bones. Like the
copy in flexible_bones.py, this copy is recreated for each step."""

import time
from contextlib import contextmanager

from araplbs.base.refusal import Refused
from araplbs.base.steps import is_at_once
from mathutils import Matrix

from ..data.bones import bone_in, local_to_pose
from ..data.object_targets import constraints_of
from ..data.references import remove_made
from ..poses.copied_rig import copied_rig
from ..poses.flexible_bones import BENT, NEUTRAL, STEP
from ..poses.read_poses import stage
from .rig_relations import drivers


class NotDrivable(Exception):
    """The rig cannot be driven. The message gives the reason."""


@contextmanager
def driven_copy(armature, plan, prepare=None):
    """Yields (a copy of the object and its data, at rest and moved by constraints and drivers; the
    view layer in which the copy is evaluated; a function that returns whether time is left).
    prepare: called before anything is evaluated, with the copy and a list that collects data to
    remove."""
    start = time.perf_counter()
    made = []
    try:
        try:
            copy, helpers = copied_rig(armature, made)
        except Refused as reason:
            raise NotDrivable(str(reason)) from None
        set_up(copy, plan)
        if prepare:
            prepare(copy, made)
        with stage(copy, *helpers) as scene:
            view_layer = scene.view_layers[0]
            view_layer.update()
            _note_broken(copy.evaluated_get(view_layer.depsgraph), plan)
            now = time.perf_counter()
            end = now + max(STEP, 4 * (now - start))
            yield copy, view_layer, lambda: is_at_once() or time.perf_counter() < end
    finally:
        remove_made(*made)


def set_up(copy, plan):
    """Puts the copy at rest and ties the ends of limbs to the limbs' parents. Bones that no deform
    bone follows are kept still."""
    names = plan.skeleton.names
    _let_go(copy, {name for b, name in enumerate(names) if b not in plan.needed})
    copy.hide_viewport = False
    identity = Matrix()
    for posed in copy.pose.bones:
        posed.matrix_basis = identity
        if posed.bone.bbone_segments > 1:
            for name in BENT:
                setattr(posed, name, NEUTRAL[name])
    for bone, name in plan.relations.outside:
        copy.pose.bones[bone].constraints[name].mute = True
    for bone, own in zip(copy.data.bones, plan.stretched, strict=True):
        if own and bone.parent:
            bone.inherit_scale = "NONE"
    for r in plan.reaches:
        if r.anchor < 0:
            continue
        for b in {r.control, r.pole} - {-1}:
            tie = copy.pose.bones[names[b]].constraints.new("CHILD_OF")
            tie.target, tie.subtarget = copy, names[r.anchor]
            tie.inverse_matrix = (copy.matrix_world @ plan.rest[r.anchor]).inverted_safe()


def _let_go(copy, names):
    """Mutes constraints and drivers of these bones, and straightens bendy bones. If most of the
    constraints belong to these bones, muting them halves the evaluation time. Muted constraints
    still affect Blender's evaluation order, but removing them would take longer."""
    for name in names:
        posed = copy.pose.bones[name]
        for constraint in constraints_of(posed):
            constraint.mute = True
        if posed.bone.bbone_segments > 1:
            posed.bone.bbone_segments = 1
    for curve in drivers(copy):
        if bone_in(curve.data_path) in names:
            curve.mute = True


def _note_broken(evaluated, plan):
    for curve in drivers(evaluated):
        path = curve.data_path
        if "bones[" not in path or (curve.is_valid and curve.driver.is_valid):
            continue
        if plan.broken is None:
            raise NotDrivable(f"its driver of {path} does not run")
        if path not in plan.broken:
            plan.broken.append(path)


def untie(copy, view_layer, names):
    """Converts the effect of ties on controls into the controls' own pose."""
    posed = copy.evaluated_get(view_layer.depsgraph).pose.bones
    places = {}
    for name in names:
        bone = copy.data.bones[name]
        above = bone.parent and posed[bone.parent.name].matrix
        places[name] = local_to_pose(bone, posed[name].matrix, above, invert=True)
    for name, basis in places.items():
        copy.pose.bones[name].matrix_basis = basis
