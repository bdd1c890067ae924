"""Converts bendy bones of an armature to plain bones with their own groups, for formats without
bendy bones.

The bendy bone stays as the control, with Deform off. Each new bone follows it through an Armature
constraint, which moves the new bone as the bendy bone would move a vertex at the new bone's rest
head. Nothing else may move the new bones. They inherit neither rotation nor scale from a parent,
and a Limit Location constraint removes the inherited location. Only exporters need the parent.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from araplbs.base.affine import moved
from araplbs.base.refusal import Refused
from araplbs.features.bendy.diffused import diffused_parameters_in_steps
from araplbs.features.bendy.handles import (
    largest_share,
    segment_names,
    slide_to,
    split_weights,
    stations,
)
from araplbs.features.bendy.report import Converted
from araplbs.model.group_entries import batches
from mathutils import Matrix, Vector

from ...blender.data.binding import armature_modifiers
from ...blender.poses.posed import evaluated_vertices
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import (
    VERTICES_A_STEP,
    coordinates,
    matrix_between,
    named_entries_in_steps,
    read_shape_in_steps,
)
from ...blender.write.write_weights import drop_groups, make_groups
from .refusals import deformed_meshes, refuse_groups, refuse_one_sided

SHEAR = 1e-3  # share of a bone's scale; smaller shear is not visible


def bendy_bones(armature):
    """Names of the deform bones that bend."""
    return [b.name for b in armature.data.bones if b.use_deform and b.bbone_segments > 1]


@dataclass
class _Plan:
    """The plain bones that replace one bendy bone."""

    bone: str
    names: list[str]
    rests: list[Matrix]  # of the new bones, in the space of the armature
    length: float  # of each
    exact: bool  # every joint is the head of a new bone


def convert_in_steps(
    armature, names, view_layer, count=0, parameter="BLENDER", group="", chain=False
):
    """Converts these bendy bones of an armature in Object mode, for all meshes, as a generator of
    short steps that returns a Converted. If the generator is closed before its end, everything is
    undone.

    count: new bones per bendy bone, 0 for as many as it has joints. parameter: the meaning of u;
    BLENDER: as Blender deforms, which is exact, DIFFUSED: along the mesh, GROUP: the weight in
    `group`. chain: each new bone is the parent of the next. Raises Refused, with nothing changed.
    """
    view_layer.update()
    done = Converted()
    meshes = deformed_meshes(armature)
    for name in names:
        for ob in meshes:
            if name in ob.vertex_groups and ob.vertex_groups[name].lock_weight:
                done.locked.setdefault(name, ob.name)
    names = [name for name in names if name not in done.locked]
    if not names:
        bone, ob = next(iter(done.locked.items()))
        raise Refused(f"'{ob}': the vertex group '{bone}' is locked")
    plans = _make_plans(armature, names, count, meshes)
    new = {plan.bone: plan.names for plan in plans}
    meshes = [ob for ob in meshes if any(name in ob.vertex_groups for name in names)]
    for ob in meshes:
        refuse_groups(ob, armature, view_layer)
        refuse_one_sided(ob, armature, new, done.locked)
    split = []
    for ob in meshes:
        entries, most = yield from _split(ob, plans, armature, view_layer, parameter, group)
        split.append(entries)
        done.most_influences = max(done.most_influences, most)

    try:
        _add_bones(armature, plans, chain, view_layer)
        for ob, entries in zip(meshes, split, strict=True):
            yield from _write(ob, plans, entries)
    except BaseException:
        _take_back(armature, meshes, plans)
        raise
    _switch(armature, meshes, plans, view_layer, done)
    done.sheared = [n for plan in plans for n in plan.names if _shears(armature.pose.bones[n])]
    done.meshes = [ob.name for ob in meshes]
    return done


def _switch(armature, meshes, plans, view_layer, done):
    """Lets the new bones deform the meshes instead of the bendy bones, and notes the difference.
    This is one step, so both shapes are compared in the same frame."""
    measured = [ob for ob in meshes if _is_measured(ob, armature, view_layer)]
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shapes = [evaluated_vertices(ob, depsgraph) for ob in measured]
    for plan in plans:
        armature.data.bones[plan.bone].use_deform = False
        for name in plan.names:
            armature.data.bones[name].use_deform = True
        done.names[plan.bone] = plan.names
    for ob in meshes:
        kept = drop_groups(ob, armature, done.names)
        done.kept_groups += [(ob.name, name) for name in kept]
        ob.data.update_tag()
    view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for ob, shape in zip(measured, shapes, strict=True):
        new_shape = evaluated_vertices(ob, depsgraph)
        if len(shape) == len(new_shape) > 0:
            done.difference[ob.name] = largest_share(shape, new_shape)


def _make_plans(armature, names, count, meshes):
    taken = {bone.name for bone in armature.data.bones}
    taken.update(group.name for ob in meshes for group in ob.vertex_groups)
    # A name that is available on only one side would separate the two sides.
    taken.update([bpy.utils.flip_name(name) for name in taken])
    plans = []
    for name in names:
        bone = armature.data.bones[name]
        number = count or bone.bbone_segments + 1
        plan = _Plan(
            bone=name,
            names=segment_names(name, number, taken),
            rests=_rest_matrices(bone, _evaluated(armature, name), number),
            length=bone.length / (number - 1),
            exact=(number - 1) % bone.bbone_segments == 0,
        )
        taken.update(plan.names)
        plans.append(plan)
    return plans


def _evaluated(armature, name):
    """A pose bone as evaluated by Blender. The reference must not be kept across steps."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return armature.evaluated_get(depsgraph).pose.bones[name]


def _rest_matrices(bone, evaluated, count):
    """The rest matrices of the new bones. The bones lie at or next to the joints, at positions
    where Blender computes the u of the joint. They turn with the joints, so they need no shear."""
    segments = bone.bbone_segments
    joints = [evaluated.bbone_segment_matrix(k, rest=True) for k in range(segments + 1)]
    turns = [joint.to_quaternion() for joint in joints]
    points = stations(np.array([joint.translation for joint in joints]), count)
    straight = bone.bbone_mapping_mode == "STRAIGHT"
    u = _u_as_blender(evaluated, segments)
    rests = []
    for k, point in enumerate(points.tolist()):
        below, part = divmod(k * segments, count - 1)
        turn = turns[below]
        if part:
            turn = turn.slerp(turns[below + 1], part / (count - 1))
        head, along = Vector(point), turn @ Vector((0, 1, 0))
        if straight:  # u is the position along the bone's own Y
            head.y = bone.length * k / (count - 1)
        else:
            head += along * slide_to(
                lambda s, head=head, along=along: u(bone.matrix_local @ (head + s * along)),
                k / (count - 1),
                bone.length / segments,
            )
        rests.append(bone.matrix_local @ Matrix.Translation(head) @ turn.to_matrix().to_4x4())
    return rests


def _u_as_blender(evaluated, segments):
    """The function that returns u of a rest-space point of the armature."""

    def u(point):
        index, blend = evaluated.bbone_segment_index(point)
        return (index + blend) / segments

    return u


def _split(ob, plans, armature, view_layer, parameter, u_group):
    """Returns the entries (vertices, consecutive new bones, weights) of a mesh and the resulting
    maximum number of influences per vertex, in steps. Raises Refused if the mesh lacks the group
    with u."""
    matrix = matrix_between(ob, armature, view_layer)
    names, (vertices, groups, weights) = yield from named_entries_in_steps(ob)
    place = {name: index for index, name in enumerate(names)}
    count = len(ob.data.vertices)
    bendy = [plan.bone for plan in plans]
    given = {}  # u of all vertices, unless Blender's is used
    if parameter == "GROUP":
        if u_group not in place:
            raise Refused(f"'{ob.name}' has no vertex group '{u_group}'")
        of_u = groups == place[u_group]
        painted = np.zeros(count)
        painted[vertices[of_u]] = weights[of_u]
        given = dict.fromkeys(bendy, painted)
    elif parameter == "DIFFUSED":
        mesh = yield from read_shape_in_steps(ob, armature, view_layer)
        skeleton = read_armature(armature, use_joint_limits=False)
        given = yield from diffused_parameters_in_steps(mesh, skeleton, bendy)
    points = moved(coordinates(ob), matrix)
    parts, first = [], 0
    deform = {bone.name for bone in armature.data.bones if bone.use_deform}
    deform.difference_update(bendy)
    others = [index for name, index in place.items() if name in deform]
    of_others = vertices[np.isin(groups, others) & (weights > 0)]
    influences = np.bincount(of_others, minlength=count)
    for plan in plans:
        if plan.bone in place:
            of_bone = groups == place[plan.bone]
            owners, weight = vertices[of_bone], weights[of_bone]
            places = points[owners].tolist()
            bone = armature.data.bones[plan.bone]
            if bone.use_envelope_multiply:
                weight = weight * np.array([bone.evaluate_envelope(place) for place in places])
            if plan.bone in given:
                u = given[plan.bone][owners]
            else:
                u_of = _u_as_blender(_evaluated(armature, plan.bone), bone.bbone_segments)
                u = np.array([u_of(place) for place in places])
            which, bones, values = split_weights(u, weight, len(plan.names))
            influences += np.bincount(owners[which], minlength=count)
            parts.append((owners[which], first + bones, values))
        first += len(plan.names)
        yield
    entries = tuple(np.concatenate(part) for part in zip(*parts, strict=True))
    return entries, int(influences.max(initial=0))


def _add_bones(armature, plans, chain, view_layer):
    parents = _parents(armature, plans, chain)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        bones = armature.data.edit_bones
        for plan in plans:
            bendy = bones[plan.bone]
            for name, rest in zip(plan.names, plan.rests, strict=True):
                bone = bones.new(name)
                bone.head, bone.tail = (0, 0, 0), (0, plan.length, 0)
                bone.matrix = rest
                bone.bbone_x, bone.bbone_z = bendy.bbone_x, bendy.bbone_z
                bone.use_inherit_rotation, bone.inherit_scale = False, "NONE"
                bone.use_deform = False  # until all groups exist
                for collection in bendy.collections:
                    collection.assign(bone)
        for name, parent in parents.items():
            bones[name].parent = bones[parent] if parent else None
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    view_layer.update()  # creates the pose of the new bones
    for plan in plans:
        for name in plan.names:
            _follow(armature, name, plan)


def _parents(armature, plans, chain):
    """Returns {new bone: its parent or None}. The parent is the nearest deforming ancestor of the
    bendy bone."""
    new = {plan.bone: plan.names for plan in plans}
    parents = {}
    for plan in plans:
        above = armature.data.bones[plan.bone].parent
        while above and (not above.use_deform or (above.name in new and not chain)):
            above = above.parent
        parent = above and new.get(above.name, [above.name])[-1]
        for name in plan.names:
            parents[name] = parent
            if chain:
                parent = name
    return parents


def _follow(armature, name, plan):
    """Makes a new bone move as the bendy bone moves the skin at the new bone's head, regardless of
    its parent's motion."""
    bone = armature.pose.bones[name]
    if bone.parent:
        limit = bone.constraints.new("LIMIT_LOCATION")
        limit.owner_space = "POSE"
        for axis, value in zip("xyz", bone.bone.head_local, strict=True):
            for side in ("min", "max"):
                setattr(limit, f"use_{side}_{axis}", True)
                setattr(limit, f"{side}_{axis}", value)
    follow = bone.constraints.new("ARMATURE")
    # Between two joints, the sum of the joints' matrices would shear.
    follow.use_deform_preserve_volume = not plan.exact
    target = follow.targets.new()
    target.target, target.subtarget = armature, plan.bone


def _shears(bone):
    """Whether a bone's pose relative to its parent contains more than a location, a rotation and a
    scale."""
    seen = bone.parent.matrix.inverted_safe() @ bone.matrix if bone.parent else bone.matrix
    difference = np.array(Matrix.LocRotScale(*seen.decompose())) - np.array(seen)
    return np.abs(difference[:3, :3]).max() > SHEAR * max(seen.to_scale())


def _write(ob, plans, entries):
    """Replaces the groups of the bendy bones in a mesh with those of the new bones and their
    weights, in steps. Groups without weights are created as well, because a Mirror modifier looks
    for them."""
    vertices, bones, weights = entries
    names = [name for plan in plans for name in plan.names]
    wanted = [plan.bone in ob.vertex_groups for plan in plans for _name in plan.names]
    groups, _new = make_groups(ob, names, wanted)
    add = [group.add for group in ob.vertex_groups]
    for i, (group, weight, members) in enumerate(batches(vertices, groups[bones], weights)):
        add[group](members, weight, "REPLACE")
        if i % VERTICES_A_STEP == 0:
            yield


def _take_back(armature, meshes, plans):
    """Removes all new bones and groups created so far."""
    names = [name for plan in plans for name in plan.names]
    for ob in meshes:
        for name in names:
            if name in ob.vertex_groups:
                ob.vertex_groups.remove(ob.vertex_groups[name])
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    for name in names:
        if name in bones:
            bones.remove(bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")


def _is_measured(ob, armature, view_layer):
    seen = any(modifier.show_viewport for modifier in armature_modifiers(ob, armature))
    return seen and ob.name in view_layer.objects and ob.visible_get(view_layer=view_layer)
