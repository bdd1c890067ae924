"""How a mesh is bound to an armature: by an Armature modifier, as its child, or not yet."""

from mathutils import Matrix

from .rest_transforms import follows, moved_by, world_matrices


def armature_of(ob):
    """The armature that deforms a mesh, by its first Armature modifier or as its parent."""
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
    """All of them."""
    return [m for m in ob.modifiers if m.type == "ARMATURE" and m.object == armature]


def is_deformed_by(ob, armature):
    """By a modifier, or by the older kind of parent that works like one."""
    return bool(armature_modifier(ob, armature)) or is_armature_child(ob, armature)


def is_armature_child(ob, armature):
    """Whether the armature deforms a mesh as its parent: by groups, and by envelopes where a vertex
    is in none of them."""
    return ob.parent == armature and ob.parent_type == "ARMATURE"


def bind(ob, armature):
    """Parent and Armature modifier as "With Empty Groups" gives them; the mesh stays in place, or
    where it was when its bones rest: they move it by the modifier now, and constraints that
    follow them are muted.

    Modifiers that deform the mesh already are left alone. Returns whether anything was changed.
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
        # that taking it apart into location, rotation and scale would mean.
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
    """Name of the bone of an armature that carries a mesh as a whole, by its parent or a
    constraint; None without one, or if bones deform the mesh."""
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
    """Constraints of an object that its place follows the bones of an armature by."""
    return [c for c in ob.constraints if not c.mute and armature in follows(c)]


def _make_child(ob, armature, inverse):
    ob.parent = armature
    ob.parent_type = "OBJECT"
    ob.parent_bone = ""
    ob.matrix_parent_inverse = inverse


def moves_twice(ob, armature):
    """Whether bones that deform a mesh move it as an object, too."""
    return armature in moved_by(ob) and is_deformed_by(ob, armature)
