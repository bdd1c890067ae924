"""Finds uses of a mesh's vertex groups other than deformation by the mesh's armature."""

import bpy

from .object_targets import constraints_of


def used_groups(ob, armature):
    """Names of vertex groups that shape keys, modifiers, particles, constraints or other armatures
    use. Some of the names may belong to bones or may not exist.
    """
    keys = ob.data.shape_keys
    used = {key.vertex_group for key in keys.key_blocks} if keys else set()
    users = [other for other in bpy.data.objects if other.data == ob.data]
    for user in users:
        for item in (*user.modifiers, *user.particle_systems):
            used.update(_named_groups(item))
        for modifier in user.modifiers:
            if modifier.type == "NODES":
                used.update(_texts_of_nodes(modifier))
            rig = modifier.object if modifier.type == "ARMATURE" else None
            if rig and rig != armature:
                used.update(rig.data.bones.keys())
    for other in bpy.data.objects:
        for owner in (other, *(other.pose.bones if other.pose else ())):
            for constraint in constraints_of(owner):
                if getattr(constraint, "target", None) in users:
                    used.add(getattr(constraint, "subtarget", ""))
    return used


def _named_groups(item):
    """The vertex group names stored in the properties and settings of a modifier or particle
    system."""
    names = set()
    for prop in item.bl_rna.properties:
        name = prop.identifier
        if prop.type == "STRING" and "vertex_group" in name:
            names.add(getattr(item, name))
        elif prop.type == "POINTER" and name != "rna_type":
            part = getattr(item, name)
            if part is not None and not isinstance(part, bpy.types.ID):
                names.update(_named_groups(part))
    return names


def _texts_of_nodes(modifier):
    """All texts that a Geometry Nodes modifier passes to its nodes or that its nodes contain.
    Blender does not indicate which of these texts are attribute names."""
    if not modifier.node_group:
        return set()
    values = []
    if hasattr(modifier, "properties"):  # since 5.2
        for sockets in (modifier.properties.inputs, modifier.properties.outputs):
            for each in sockets.bl_rna.properties:
                socket = getattr(sockets, each.identifier) if each.type == "POINTER" else None
                values += [getattr(socket, name, None) for name in ("attribute_name", "value")]
    else:
        values += [modifier[key] for key in modifier.keys()]  # noqa: SIM118
    trees, seen = [modifier.node_group], {None}
    while trees:
        tree = trees.pop()
        if tree not in seen:
            seen.add(tree)
            for node in tree.nodes:
                values += [s.default_value for s in node.inputs if s.type == "STRING"]
                trees.append(getattr(node, "node_tree", None))
    return {value for value in values if isinstance(value, str)}
