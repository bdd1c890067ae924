"""Determines how a mesh is bound to an armature, by an Armature modifier or as a child, and binds
meshes."""

from mathutils import Matrix

from .object_targets import constraints_of
from .rest_transforms import follows, moved_by, world_matrices

# Properties of node groups of Deform With: the deformer, and the names of the bones.
DEFORMER, BONES = "araplbs_deformer", "araplbs_bones"
CENTERS_OLD = "araplbs_centers_old"  # property of meshes whose weights are newer than their centers


def armature_of(ob):
    """The armature that deforms a mesh, through its first Armature modifier or as its parent."""
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    if ob.parent and ob.parent.type == "ARMATURE" and ob.parent_type != "BONE":
        return ob.parent
    return None


def armature_modifier(ob, armature):
    """The first Armature modifier of a mesh that uses this armature, or None."""
    return next(iter(armature_modifiers(ob, armature)), None)


def armature_modifiers(ob, armature):
    """All Armature modifiers of a mesh that use this armature."""
    return [m for m in ob.modifiers if m.type == "ARMATURE" and m.object == armature]


def deform_nodes(ob):
    """The Geometry Nodes modifier that Deform With has put in place of the Armature modifier, or
    None."""
    groups = ((m, m.node_group) for m in ob.modifiers if m.type == "NODES")
    return next((modifier for modifier, group in groups if group and DEFORMER in group), None)


def mark_centers_old(ob):
    """Records that weights were written after the centers of rotation, if there are any."""
    nodes = deform_nodes(ob)
    if nodes and nodes.node_group[DEFORMER] == "CENTERS":
        ob.data[CENTERS_OLD] = True


def is_deformed_by(ob, armature):
    """Whether the armature deforms the mesh, through a modifier or as the older kind of parent that
    acts like a modifier."""
    return bool(armature_modifier(ob, armature)) or is_armature_child(ob, armature)


def is_armature_child(ob, armature):
    """Whether the armature deforms a mesh as its parent: by vertex groups, and by envelopes for
    vertices that are in no group."""
    return ob.parent == armature and ob.parent_type == "ARMATURE"


def bind(ob, armature):
    """Parents the mesh and adds an Armature modifier as "With Empty Groups" does. The mesh stays in
    place. If bones move the mesh as an object, the mesh is moved to its position with the bones at
    rest, because the modifier now moves it. Constraints that follow the bones are muted.

    Modifiers that already deform the mesh are left alone. Returns whether anything was changed.
    """
    if is_deformed_by(ob, armature):
        return False
    if moved_by(ob):
        rest, base = world_matrices((ob, armature), None, moved_by(ob, armature))
        above = Matrix(rest) @ ob.matrix_basis.inverted_safe()
        for constraint in following_constraints(ob, armature):
            constraint.mute = True
        _make_child(ob, armature, Matrix(base).inverted_safe() @ above)
    elif ob.parent != armature or ob.parent_type != "OBJECT":
        # The effect of the former parent becomes part of the new parent inverse, without the loss
        # that decomposing it into location, rotation and scale would cause.
        above = Matrix()
        if ob.parent and ob.parent_type == "OBJECT":
            above = ob.parent.matrix_world @ ob.matrix_parent_inverse
        elif ob.parent:
            above = ob.matrix_world @ ob.matrix_basis.inverted_safe()
        _make_child(ob, armature, armature.matrix_world.inverted_safe() @ above)
    empty = [m for m in ob.modifiers if m.type == "ARMATURE" and m.object is None]
    modifier = empty[0] if empty else ob.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return True


CARRIES = {"CHILD_OF", "COPY_TRANSFORMS"}  # constraints that make an object a child of one bone


def bone_it_hangs_on(ob, armature):
    """The name of the armature bone that carries a mesh as a whole, as its parent or through a
    constraint. None if there is no such bone, or if bones deform the mesh."""
    if is_deformed_by(ob, armature):
        return None
    if ob.parent == armature and ob.parent_type == "BONE":
        return ob.parent_bone
    for constraint in following_constraints(ob, armature):
        whole = constraint.type in CARRIES and constraint.influence == 1
        if whole and constraint.target == armature and constraint.subtarget:
            return constraint.subtarget
    return None


def following_constraints(ob, armature):
    """The constraints through which an object's position follows the bones of an armature."""
    return [c for c in constraints_of(ob) if not c.mute and armature in follows(c)]


def _make_child(ob, armature, inverse):
    ob.parent = armature
    ob.parent_type = "OBJECT"
    ob.parent_bone = ""
    ob.matrix_parent_inverse = inverse


def moves_twice(ob, armature):
    """Whether bones that deform a mesh also move it as an object."""
    return armature in moved_by(ob) and is_deformed_by(ob, armature)
