"""What works with the vertex groups of a mesh beside the armature that deforms it."""

import bpy


def used_groups(ob, armature):
    """Names of groups that shape keys, modifiers, particles, constraints or other armatures use.

    Some of the names may be those of bones or of nothing.
    """
    keys = ob.data.shape_keys
    used = {key.vertex_group for key in keys.key_blocks} if keys else set()
    users = [other for other in bpy.data.objects if other.data == ob.data]
    for user in users:
        for item in (*user.modifiers, *user.particle_systems):
            used.update(_named_groups(item))
        for modifier in user.modifiers:
            rig = modifier.object if modifier.type == "ARMATURE" else None
            if rig and rig != armature:
                used.update(rig.data.bones.keys())
    for other in bpy.data.objects:
        for owner in (other, *(other.pose.bones if other.pose else ())):
            for constraint in owner.constraints:
                if getattr(constraint, "target", None) in users:
                    used.add(getattr(constraint, "subtarget", ""))
    return used


def _named_groups(item):
    """What the properties for vertex groups of a modifier or particle system hold."""
    texts = [p.identifier for p in item.bl_rna.properties if p.type == "STRING"]
    return {getattr(item, name) for name in texts if "vertex_group" in name}
