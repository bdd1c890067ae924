"""Objects and bones on which constraints and other objects depend."""


def constraint_targets(constraint):
    """[(object, name of its bone)] that a constraint targets."""
    found = []
    if constraint.type == "ARMATURE":
        found = [(each.target, each.subtarget) for each in constraint.targets]
    elif hasattr(constraint, "target"):
        found = [(constraint.target, getattr(constraint, "subtarget", ""))]
    if getattr(constraint, "pole_target", None):
        found.append((constraint.pole_target, constraint.pole_subtarget))
    return [(target, name) for target, name in found if target]


def object_targets(ob):
    """[(object, name of its bone or "")] that another object depends on: parent, constraints, hooks
    and other modifiers."""
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
    """Other objects that the bone constraints target."""
    found = []
    for posed in armature.pose.bones:
        for constraint in posed.constraints:
            found += [target for target, _name in constraint_targets(constraint)]
    return [ob for ob in dict.fromkeys(found) if ob != armature]
