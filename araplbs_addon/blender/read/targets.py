"""Finds the meshes and the armature that an operator works on, by selection, mode or file
content."""

from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line

from ..data.binding import armature_of, is_deformed_by
from ..data.bones import bones_to_lock
from .read_mesh import matrix_between, refuse_edited

# Other objects can be attached to an armature, but have no weights to solve for.
DEFORMABLE = {"CURVE", "SURFACE", "FONT", "LATTICE"}
SAME_PLACE = 1e-5  # share of the largest entry; matrices that differ less give the same position


@dataclass
class Targets:
    armature: bpy.types.Object
    meshes: list[bpy.types.Object]
    painting: bool = False  # Weight Paint mode: masks apply
    only_bones: bool = False  # bones that are not selected in Pose mode keep their weights
    bones: frozenset[str] = frozenset()  # with only_bones: these bones instead of the selected ones
    editing: bool = False  # Edit mode: only the selected vertices
    bound: bool = False  # not selected, but bound to the armature
    hidden: list[bpy.types.Object] = field(default_factory=list)  # bound, but left alone
    skipped: list[str] = field(default_factory=list)  # messages for the user


def find_targets(context, posing=False, editing=False):
    """The Targets of the operator in this context. Raises Refused with the required user action.

    If an armature but no mesh is selected, the targets are the visible meshes bound to it. posing:
    whether Pose mode is allowed, with the same meshes. editing: whether Edit mode is allowed, with
    the meshes being edited.
    """
    if editing and context.mode == "EDIT_MESH":
        return _edited(context)
    targets = _found_targets(context, posing, editing)
    refuse_edited(*targets.meshes, targets.armature)
    return targets


def find_posing(context):
    """The Targets of an operator that also works in Pose mode."""
    return find_targets(context, posing=True)


def _found_targets(context, posing, editing):
    if posing and context.mode == "POSE":
        return _bound_to(context, context.active_object)
    if context.mode == "PAINT_WEIGHT":
        ob = context.active_object
        armature = armature_of(ob) or context.pose_object
        if not armature:
            raise Refused(f"'{ob.name}' has no armature: add an Armature modifier first")
        return Targets(armature, [ob], painting=True)
    if context.mode != "OBJECT":
        if posing:
            raise Refused("Available only in Object, Pose and Weight Paint modes")
        if editing:
            raise Refused("Available only in Object, Edit and Weight Paint modes")
        raise Refused("Available only in Object and Weight Paint modes")
    selected = context.selected_objects
    meshes = [ob for ob in selected if ob.type == "MESH"]
    if meshes:
        targets = Targets(_chosen_armature(context, selected, meshes), meshes)
    elif any(ob.type == "ARMATURE" for ob in selected):
        targets = _bound_to(context, _chosen_armature(context, selected, meshes))
    else:
        raise Refused("Select at least one mesh object, or an armature with meshes bound to it")
    others = [ob.name for ob in selected if ob.type in DEFORMABLE]
    if others:
        targets.skipped.append(f"Skipped, not a mesh: {names_in_line(others)}")
    return targets


def find_checked(context):
    """The Targets for checking or repairing whole meshes, regardless of the vertex selection. In
    Edit mode, the meshes are the edited ones. In Pose mode, they are the ones attached to the
    armature. Raises Refused."""
    if context.mode == "EDIT_MESH":
        return _edited(context, all_of_them=True)
    if context.mode not in {"OBJECT", "POSE", "PAINT_WEIGHT"}:
        raise Refused("Available only in Object, Pose, Edit and Weight Paint modes")
    return replace(find_targets(context, posing=True), painting=False)


def _bound_to(context, armature):
    """The Targets of an armature without a selection. A mesh that is hidden, by itself or with its
    collection, is left alone, as by Blender's own operators."""
    bound = [
        ob for ob in context.scene.objects if ob.type == "MESH" and is_deformed_by(ob, armature)
    ]
    meshes = [ob for ob in bound if ob.visible_get()]
    hidden = [ob for ob in bound if ob not in meshes]
    if not bound:
        raise Refused(f"No mesh is bound to '{armature.name}' by an Armature modifier")
    names = names_in_line([ob.name for ob in hidden])
    if not meshes:
        raise Refused(f"All meshes bound to '{armature.name}' are hidden: {names}")
    targets = Targets(armature, meshes, bound=True, hidden=hidden)
    if hidden:
        targets.skipped.append(f"Hidden meshes bound to '{armature.name}' were skipped: {names}")
    return targets


def _edited(context, all_of_them=False):
    meshes = [ob for ob in context.objects_in_mode if ob.type == "MESH"]
    armature = armature_of(context.active_object)
    if not armature:
        raise Refused(
            f"'{context.active_object.name}' has no armature: add an Armature modifier first"
        )
    if not all_of_them and not any(ob.data.total_vert_sel for ob in meshes):
        raise Refused("Select the vertices to weight")
    return Targets(armature, [ob for ob in meshes if armature_of(ob) == armature], editing=True)


def _chosen_armature(context, selected, meshes):
    active = context.active_object
    if active and active.type == "ARMATURE" and (meshes or active in selected):
        return active
    armatures = [ob for ob in selected if ob.type == "ARMATURE"]
    if len(armatures) == 1:
        return armatures[0]
    if armatures:
        raise Refused("Several armatures are selected: make the one to use the active object")
    first = active if active in meshes else meshes[0]
    armature = armature_of(first)
    if not armature:
        raise Refused("Also select an armature")
    return armature


def armature_at_hand(context):
    """The active armature, or the armature of the active mesh; None if there is neither."""
    ob = context.active_object
    if ob is None or ob.type == "ARMATURE":
        return ob
    return armature_of(ob) if ob.type == "MESH" else None


def find_in_file(view_layer, armature_name=None, mesh_names=()):
    """Returns the [Targets] of the command line: every armature with its attached meshes.

    If there is one armature and nothing is attached to it, all visible meshes are used. Names
    restrict the result. Raises Refused if there is nothing to do, or a name is unknown.
    """
    objects = list(view_layer.objects)
    meshes = [ob for ob in objects if ob.type == "MESH"]
    armatures = [ob for ob in objects if ob.type == "ARMATURE"]
    for armature in filter(None, map(armature_of, meshes)):
        if armature not in armatures:  # armature in an excluded collection
            armatures.append(armature)
    armatures = _named(armatures, armature_name)
    unknown = set(mesh_names) - {ob.name for ob in meshes}
    if unknown:
        raise Refused(f"no mesh {names_in_line([repr(n) for n in sorted(unknown)])} in the scene")
    if mesh_names:
        meshes = [ob for ob in meshes if ob.name in mesh_names]

    found = [Targets(a, [ob for ob in meshes if armature_of(ob) == a]) for a in armatures]
    if len(armatures) == 1 and (mesh_names or not found[0].meshes):
        # Named meshes are used even if they are not attached to anything yet.
        found[0].meshes = [
            ob for ob in meshes if mesh_names or (ob.visible_get(view_layer=view_layer))
        ]
    found = [targets for targets in found if targets.meshes]
    if not found:
        raise Refused("no mesh is bound to an armature by a modifier or as its child")
    return found


def find_armatures_in_file(view_layer, name):
    """Returns [Targets] without meshes, for every armature or only for the one with this name.
    Raises Refused."""
    armatures = [ob for ob in view_layer.objects if ob.type == "ARMATURE"]
    return [Targets(armature, []) for armature in _named(armatures, name)]


def _named(armatures, armature_name):
    """All these armatures, or only the one with this name. Raises Refused without one."""
    if armature_name:
        armatures = [ob for ob in armatures if ob.name == armature_name]
        if not armatures:
            raise Refused(f"no armature '{armature_name}' in the active scene")
    if not armatures:
        raise Refused("no armature in the active scene")
    return armatures


def chosen_to_lock(targets, skeleton):
    """(m,) bool: the bones whose weights stay because others are selected. Raises Refused if no
    deform bone is selected."""
    locked = np.zeros(len(skeleton.names), bool)
    if targets.only_bones:
        locked = bones_to_lock(targets.armature, targets.bones)
    if locked[skeleton.deform].all():
        raise Refused(f"No deform bone of '{targets.armature.name}' is selected")
    return locked


def share_meshes(found, view_layer):
    """The Targets of find_in_file() with each mesh data-block only once, because a data-block
    stores only one set of weights.

    Objects at the same position relative to the same bones, such as linked duplicates of a
    character, can share their weights, and a line in `skipped` reports the shared ones. Raises
    Refused for other objects, because the weights for one would not fit the other.
    """
    first, chosen = {}, {ob for targets in found for ob in targets.meshes}
    for targets in found:
        for ob in list(targets.meshes):
            owner, other = first.setdefault(ob.data, (targets, ob))
            if other == ob:
                continue
            if not _same_problem(owner.armature, other, targets.armature, ob, view_layer):
                raise Refused(
                    f"{_under(ob, targets.armature)} shares its mesh with "
                    f"{_under(other, owner.armature)}, and the weights of one would not fit the "
                    "other: make the mesh single-user (Object > Relations > Make Single User > "
                    "Object & Data), or specify one of them with --armature or --mesh"
                )
            targets.meshes.remove(ob)
            owner.skipped.append(
                f"{_under(ob, targets.armature)} shares the mesh of '{other.name}' and its weights"
            )
    for ob in bpy.data.objects:
        if ob.data in first and ob not in chosen and armature_of(ob):
            owner, other = first[ob.data]
            owner.skipped.append(
                f"{_under(ob, armature_of(ob))} shares the mesh of '{other.name}' and also gets "
                "its weights"
            )
    return [targets for targets in found if targets.meshes]


def _under(ob, armature):
    return f"'{ob.name}' under '{armature.name}'"


def _same_problem(armature, ob, other_armature, other, view_layer):
    """Whether two objects with one mesh data-block have the same position relative to the same
    bones."""
    if armature.data != other_armature.data:
        return False
    place = matrix_between(ob, armature, view_layer)
    other_place = matrix_between(other, other_armature, view_layer)
    return np.allclose(place, other_place, rtol=0, atol=SAME_PLACE * abs(place).max())
