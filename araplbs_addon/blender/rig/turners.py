"""Reads which bones turn a bone about its own axis, by constraints and drivers."""

import math

from ..data.object_targets import constraints_of
from .rig_relations import bone_in, drivers

SMALL = 1e-6  # radians


def read_turners(armature):
    """{bone: {source: factor, NaN if unknown}} by index. A factor is relative to the twist of the
    source, and added to the bone's own."""
    place = {bone.name: index for index, bone in enumerate(armature.data.bones)}
    found = {}
    for posed in armature.pose.bones:
        for constraint in constraints_of(posed):
            source = place.get(getattr(constraint, "subtarget", ""), -1)
            own = getattr(constraint, "target", None) == armature and source >= 0
            if own and not constraint.mute and constraint.influence > 0:
                factor = _factor(constraint)
                if factor is not None:
                    found.setdefault(place[posed.name], {})[source] = factor
    for curve in drivers(armature):
        bone = place.get(bone_in(curve.data_path), -1)
        if bone < 0 or ".rotation_" not in curve.data_path or "constraints" in curve.data_path:
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id == armature and target.bone_target in place:
                    found.setdefault(bone, {})[place[target.bone_target]] = math.nan
    return found


def _factor(constraint):
    """The factor of a constraint; None if it does not turn only about the bone's axis."""
    if constraint.type == "DAMPED_TRACK":
        return math.nan
    if constraint.type == "TRANSFORM":
        return _factor_of_transformation(constraint)
    only_twist = constraint.type == "COPY_ROTATION" and constraint.use_y
    if not only_twist or constraint.use_x or constraint.use_z:
        return None
    return -constraint.influence if constraint.invert_y else constraint.influence


def _factor_of_transformation(constraint):
    given = constraint.from_max_y_rot - constraint.from_min_y_rot
    only_twist = constraint.map_from == constraint.map_to == "ROTATION"
    if not only_twist or constraint.map_to_y_from != "Y" or abs(given) < SMALL:
        return math.nan
    taken = constraint.to_max_y_rot - constraint.to_min_y_rot
    return constraint.influence * taken / given
