"""Finds the objects and bones on which constraints and other objects depend."""


def constraint_targets(constraint):
    """The targets of a constraint as [(object, name of its bone)]."""
    found = []
    if constraint.type == "ARMATURE":
        found = [(each.target, each.subtarget) for each in constraint.targets]
    elif hasattr(constraint, "target"):
        found = [(constraint.target, getattr(constraint, "subtarget", ""))]
    if getattr(constraint, "pole_target", None):
        found.append((constraint.pole_target, constraint.pole_subtarget))
    return [(target, name) for target, name in found if target]


def followed_bones(constraint, armature):
    """Names of the bones of an armature that a constraint follows, without pole targets."""
    owners = getattr(constraint, "targets", None) or [constraint]
    found = {
        getattr(each, "subtarget", "")
        for each in owners
        if getattr(each, "target", None) == armature
    }
    return found - {""}


def object_targets(ob):
    """The objects that another object depends on through its parent, constraints, hooks and other
    modifiers, as [(object, name of its bone or "")]."""
    found = []
    if ob.parent:
        found.append((ob.parent, ob.parent_bone if ob.parent_type == "BONE" else ""))
    for constraint in ob.constraints:
        found += constraint_targets(constraint)
    for modifier in ob.modifiers:
        if getattr(modifier, "object", None):
            found.append((modifier.object, getattr(modifier, "subtarget", "")))
    return found


def constraint_objects(armature):
    """The other objects that an armature's bone constraints target."""
    found = []
    for posed in armature.pose.bones:
        for constraint in posed.constraints:
            found += [target for target, _name in constraint_targets(constraint)]
    return [ob for ob in dict.fromkeys(found) if ob != armature]
