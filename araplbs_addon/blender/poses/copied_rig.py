"""Creates hidden copies of a rig, with constraints and drivers, that can be posed or can play
actions. The rig itself never changes.

References of the rig to itself become references of the copy to itself. Objects that depend on the
rig, such as curves with hooks, are copied as well.
"""

from araplbs.base.refusal import Refused

from ..data.object_targets import constraint_objects, constraints_of, object_targets


def copied_rig(armature, made):
    """Returns (the copy of the rig without actions, copies of the attached objects). All new data
    is appended to `made`. Raises Refused if Blender cannot copy an object."""
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
        raise Refused(str(error).strip()) from None
    for data in (copy, copy.data):
        if data.animation_data:
            _keep_drivers(data.animation_data, new)
    helpers = [new[ob] for ob in new if ob not in (armature, armature.data)]
    for posed in copy.pose.bones:
        for constraint in constraints_of(posed):
            _retarget(constraint, new)
    for helper in helpers:
        if helper.parent in new:
            helper.parent = new[helper.parent]
        for each in (*constraints_of(helper), *helper.modifiers):
            _retarget(each, new)
    return copy, helpers


def _keep_drivers(animation, new):
    animation.use_tweak_mode = False  # in which the action cannot be changed
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
    if kept:  # a hook with a new object starts from the object's position
        struct.matrix_inverse = kept


def _hanging(armature):
    """The targets of bone constraints that are themselves attached to the armature."""

    targets, work = {armature: []}, constraint_objects(armature)
    while work:
        ob = work.pop()
        if ob not in targets:
            targets[ob] = [target for target, _name in object_targets(ob)]
            work += targets[ob]
    users = {ob: [] for ob in targets}
    for ob, above in targets.items():
        for target in above:
            users[target].append(ob)
    attached, work = {armature}, [armature]
    while work:
        new = [ob for ob in users[work.pop()] if ob not in attached]
        attached.update(new)
        work += new
    return [ob for ob in targets if ob in attached and ob != armature]
