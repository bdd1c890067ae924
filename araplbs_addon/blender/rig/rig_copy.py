"""A hidden copy of a rig whose bones are moved by constraints and drivers.

References of the rig to itself become references of the copy to itself. Objects that depend on the
rig, such as curves with hooks, are copied as well. Like the copy in flexible_bones.py, this copy is
recreated for each step."""

import time
from contextlib import contextmanager

from araplbs.base.steps import is_at_once
from mathutils import Matrix

from ..data.references import remove_made
from ..poses.flexible_bones import BENT, NEUTRAL, STEP
from ..poses.read_poses import stage
from .rig_relations import bone_in, constraint_objects, drivers, object_targets


class NotDrivable(Exception):
    """Raised if the rig cannot be driven, with the reason."""


@contextmanager
def driven_copy(armature, plan, prepare=None):
    """(a copy of the object and its data that constraints and drivers move, at rest; the view layer
    in which it is evaluated; a function that returns whether time is left). prepare: called before
    anything is evaluated, with the copy and a list that collects data to remove."""
    start = time.perf_counter()
    made = []
    try:
        copy, helpers = _copy(armature, made)
        set_up(copy, plan)
        if prepare:
            prepare(copy, made)
        with stage(copy) as scene:
            for helper in helpers:
                scene.collection.objects.link(helper)
            view_layer = scene.view_layers[0]
            view_layer.update()
            _note_broken(copy.evaluated_get(view_layer.depsgraph), plan)
            now = time.perf_counter()
            end = now + max(STEP, 4 * (now - start))
            yield copy, view_layer, lambda: is_at_once() or time.perf_counter() < end
    finally:
        remove_made(*made)


def _copy(armature, made):
    """(the copy, copies of the objects attached to it). All new data is appended to `made`."""
    try:
        copy = armature.copy()
        made.append(copy)
        copy.data = armature.data.copy()
        made.append(copy.data)
        new = {armature: copy, armature.data: copy.data}
        for ob in _hanging(armature):
            new[ob] = ob.copy()
            made.append(new[ob])
    except RuntimeError as error:
        raise NotDrivable(str(error).strip()) from None
    for data in (copy, copy.data):
        if data.animation_data:
            _keep_drivers(data.animation_data, new)
    helpers = [new[ob] for ob in new if ob not in (armature, armature.data)]
    for posed in copy.pose.bones:
        for constraint in posed.constraints:
            _retarget(constraint, new)
    for helper in helpers:
        if helper.parent in new:
            helper.parent = new[helper.parent]
        for each in (*helper.constraints, *helper.modifiers):
            _retarget(each, new)
    return copy, helpers


def _keep_drivers(animation, new):
    animation.action = None
    for track in list(animation.nla_tracks):
        animation.nla_tracks.remove(track)
    for curve in list(animation.drivers):
        if curve.data_path.endswith(".hide"):
            animation.drivers.remove(curve)
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id in new:
                    target.id = new[target.id]


def _retarget(struct, new):
    kept = struct.matrix_inverse.copy() if struct.type == "HOOK" else None
    for name in ("target", "pole_target", "object"):
        if getattr(struct, name, None) in new:
            setattr(struct, name, new[getattr(struct, name)])
    for each in getattr(struct, "targets", ()):
        if each.target in new:
            each.target = new[each.target]
    if kept:  # a hook with a new object starts from that object's position
        struct.matrix_inverse = kept


def _hanging(armature):
    """Objects that the bone constraints target and that are themselves attached to the armature."""

    def hangs(ob, seen):
        return ob == armature or any(
            hangs(target, seen | {ob}) for target, _name in object_targets(ob) if target not in seen
        )

    found, work = [], constraint_objects(armature)
    while work:
        ob = work.pop()
        if ob not in found and ob != armature and hangs(ob, {ob}):
            found.append(ob)
            work += [target for target, _name in object_targets(ob)]
    return found


def set_up(copy, plan):
    """Prepares the copy at rest with the ends of limbs tied to the limbs' parents. Bones that no
    deform bone follows do not move."""
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
    constraints belong to these bones, this halves the evaluation time. Muted constraints still
    determine Blender's evaluation order; removing them takes longer."""
    for name in names:
        posed = copy.pose.bones[name]
        for constraint in posed.constraints:
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
    """Converts the effect of ties on controls into their own pose."""
    posed = copy.evaluated_get(view_layer.depsgraph).pose.bones
    places = {}
    for name in names:
        bone, above = copy.data.bones[name], {}
        if bone.parent:
            up = posed[bone.parent.name]
            above = {"parent_matrix": up.matrix, "parent_matrix_local": bone.parent.matrix_local}
        places[name] = bone.convert_local_to_pose(
            posed[name].matrix, bone.matrix_local, invert=True, **above
        )
    for name, own in places.items():
        copy.pose.bones[name].matrix_basis = own
