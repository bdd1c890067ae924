"""Computes object transforms with all bones that move the objects at rest.

Weights are computed for bones at rest. An object that follows bones (as a child, by constraints or
drivers, directly or through others) is therefore read at its rest position. Because Blender does
not keep hidden objects up to date, their transforms and all rest positions are evaluated in a
separate scene. Neither the visible scene nor the user's pose changes.
"""

from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused

from .object_targets import constraints_of
from .references import remove_made

# Prefixes of the data paths whose drivers move an object.
PLACE = ("location", "rotation_", "scale", "delta_", "constraints[")


def world_matrices(objects, view_layer, armatures=()):
    """The object-to-world matrices of all objects, [(4, 4) float64], in one state of the scene with
    these armatures at rest. view_layer: the view layer whose visibility applies; None for the view
    layer of the context. Raises Refused if an armature cannot be put to rest."""
    if not armatures and all(ob.visible_get(view_layer=view_layer) for ob in objects):
        return [np.array(ob.matrix_world, dtype=np.float64) for ob in objects]
    with _at_rest(armatures), _stage() as evaluate:
        return evaluate(objects)


def moved_by(*objects):
    """The armatures whose poses may move these objects, in the order in which they are found."""
    armatures, seen = [], set()
    for ob in objects:
        _follow(ob, armatures, seen)
    return armatures


def follows(constraint):
    """The armatures whose poses may move the owner of this constraint."""
    armatures = []
    _follow_constraint(constraint, armatures, set())
    return armatures


def deforming_armatures(ob):
    """The armatures that deform an object, through modifiers or as the older kind of parent."""
    armatures = [m.object for m in ob.modifiers if m.type == "ARMATURE" and m.object]
    if ob.parent and ob.parent.type == "ARMATURE" and ob.parent_type == "ARMATURE":
        armatures.append(ob.parent)
    return armatures


def _follow(ob, armatures, seen):
    if ob in seen:
        return
    seen.add(ob)
    if ob.parent:
        if ob.parent_type == "BONE":
            _add(armatures, ob.parent)
        elif ob.parent_type in ("VERTEX", "VERTEX_3"):
            _add(armatures, *deforming_armatures(ob.parent))
        _follow(ob.parent, armatures, seen)
    for constraint in constraints_of(ob):
        if not constraint.mute:
            _follow_constraint(constraint, armatures, seen)
    for curve in ob.animation_data.drivers if ob.animation_data else ():
        if curve.mute or not curve.data_path.startswith(PLACE):
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if isinstance(target.id, bpy.types.Object):
                    _add(armatures, target.id)
                    _follow(target.id, armatures, seen)


def _follow_constraint(constraint, armatures, seen):
    several = getattr(constraint, "targets", None)
    for owner in [constraint] if several is None else several:
        for target in (getattr(owner, "target", None), getattr(owner, "pole_target", None)):
            if not target:
                continue
            if getattr(owner, "subtarget", ""):
                _add(armatures, target)
            if target.type == "MESH":  # a group of its vertices, or its surface
                _add(armatures, *deforming_armatures(target))
            _follow(target, armatures, seen)


def _add(armatures, *objects):
    armatures += [ob for ob in objects if ob.type == "ARMATURE" and ob not in armatures]


@contextmanager
def _at_rest(armatures):
    """Puts all these armatures in Rest Position and restores them afterwards."""
    positions = {}
    try:
        for armature in armatures:
            data = armature.data
            if data.pose_position != "REST":
                positions.setdefault(data, data.pose_position)
                data.pose_position = "REST"
                if data.pose_position != "REST":
                    raise Refused(f"'{armature.name}' cannot be put into Rest Position")
        yield
    finally:
        for data, position in positions.items():
            data.pose_position = position


@contextmanager
def _stage():
    """Yields evaluate(objects), which returns their world matrices in a new scene. Empty children
    are evaluated in place of the objects, so no mesh has to be deformed. The frame of the scene is
    never set, because setting it would play animations and overwrite hand-posed values that have no
    key."""
    scene, children = bpy.data.scenes.new("Auto-weight"), []

    def evaluate(objects):
        for ob in objects:
            child = bpy.data.objects.new("Auto-weight", None)
            children.append(child)
            child.parent = ob
            scene.collection.objects.link(child)
        layer = scene.view_layers[0]
        layer.update()
        graph = layer.depsgraph
        matrices = [child.evaluated_get(graph).matrix_world for child in children]
        return [np.array(matrix, dtype=np.float64) for matrix in matrices]

    try:
        yield evaluate
    finally:
        remove_made(*children, scene)
