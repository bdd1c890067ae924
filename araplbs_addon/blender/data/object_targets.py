"""Finds the objects and bones on which constraints and other objects depend."""

import bpy
from araplbs.base.sentence import Sentence, names_in_line


def constraints_of(owner):
    """The [constraints] of an object or pose bone. Constraints of a type that this version of
    Blender does not know have no properties, not even a name, and do nothing. They are left out."""
    return [c for c in owner.constraints if isinstance(c, bpy.types.Constraint)]


def unknown_constraints(armature):
    """A [line] that names the bones whose constraints constraints_of() leaves out."""
    names = [
        posed.name
        for posed in armature.pose.bones
        if len(constraints_of(posed)) < len(posed.constraints)
    ]
    line = "Constraints that this version of Blender does not know are ignored: {names}"
    return [Sentence(line, names=names_in_line(names))] if names else []


def constraint_targets(constraint):
    """The targets of a constraint as [(object, name of its bone)]."""
    targets = []
    if constraint.type == "ARMATURE":
        targets = [(part.target, part.subtarget) for part in constraint.targets]
    elif hasattr(constraint, "target"):
        targets = [(constraint.target, getattr(constraint, "subtarget", ""))]
    if getattr(constraint, "pole_target", None):
        targets.append((constraint.pole_target, constraint.pole_subtarget))
    return [(target, name) for target, name in targets if target]


def followed_bones(constraint, armature):
    """Names of the bones of an armature that a constraint follows, without pole targets."""
    owners = getattr(constraint, "targets", None) or [constraint]
    bones = {
        getattr(owner, "subtarget", "")
        for owner in owners
        if getattr(owner, "target", None) == armature
    }
    return bones - {""}


def object_targets(ob):
    """The objects that another object depends on through its parent, constraints, hooks and other
    modifiers, as [(object, name of its bone or "")]."""
    targets = []
    if ob.parent:
        targets.append((ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""))
    for constraint in constraints_of(ob):
        targets += constraint_targets(constraint)
    for modifier in ob.modifiers:
        if getattr(modifier, "object", None):
            targets.append((modifier.object, getattr(modifier, "subtarget", "")))
    return targets


def constraint_objects(armature):
    """The other objects that an armature's bone constraints target."""
    objects = []
    for posed in armature.pose.bones:
        for constraint in constraints_of(posed):
            objects += [target for target, _name in constraint_targets(constraint)]
    return [ob for ob in dict.fromkeys(objects) if ob != armature]
