"""Finds data, other than the skin, that depends on bones."""

import bpy
from araplbs.base.refusal import Refused

from ...blender.data.object_targets import constraints_of, followed_bones
from ...blender.poses.pose_sources import action_curves


def refuse_linked_bones(armature):
    """Raises Refused if the bones belong to another file."""
    if armature.data.library or armature.data.override_library:
        raise Refused(f"'{armature.name}' is linked from another file: make it local first")


def animated_bones(names):
    """The names, out of a set, of bones for which some action has keys."""
    found = set()
    for action in bpy.data.actions:
        for _slot, curve in action_curves(action):
            path = curve.data_path
            if path.startswith('pose.bones["'):
                found.add(path[len('pose.bones["') :].partition('"]')[0])
    return names & found


def bone_uses(armature, names):
    """Returns [line] about constraints, children and drivers that depend on these bones and must be
    handled before the bones are deleted."""
    wanted, lines = set(names), []
    for ob in bpy.data.objects:
        if ob.parent == armature and ob.parent_type == "BONE" and ob.parent_bone in wanted:
            lines.append(
                f"'{ob.parent_bone}' is the parent of '{ob.name}': it stays in the armature"
            )
        for owner in (ob, *(ob.pose.bones if ob.pose else ())):
            for constraint in constraints_of(owner):
                lines += [
                    f"'{name}' is the target of '{constraint.name}' of '{owner.name}': it stays in "
                    "the armature"
                    for name in sorted(followed_bones(constraint, armature) & wanted)
                ]
    for name in names:
        held = [constraint.name for constraint in constraints_of(armature.pose.bones[name])]
        if held:
            lines.append(f"'{name}' has its own constraints: {', '.join(held)}")
    animated = sorted(animated_bones(wanted))
    if animated:
        shown = ", ".join(f"'{name}'" for name in animated[:8])
        more = f" and {len(animated) - 8} more" if len(animated) > 8 else ""
        lines.append(f"Keys of {shown}{more} no longer move skin")
    return lines
