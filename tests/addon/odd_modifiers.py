"""Rows of odd scenes: other deformations of a mesh, and earlier weights."""

import bpy
from odd_table import Odd, odd, row, turn
from scenes import add_armature, add_object, add_tube, auto_weight, bind, select, tube_and_rig

# Modifiers in addition to the Armature modifier.


@odd()
def modifiers_before_and_after(tube, rig):
    tube.modifiers.clear()
    tube.modifiers.new("Before", "SUBSURF")
    tube.modifiers.new("Waves", "WAVE")
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    tube.modifiers.new("After", "SOLIDIFY").show_viewport = False
    tube.modifiers.new("Array", "ARRAY")
    smooth = tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    smooth.use_only_smooth = True
    turn(rig)


@odd()
def more_faces_before(tube, rig):
    for kind in ("EDGE_SPLIT", "SOLIDIFY", "SUBSURF"):
        tube.modifiers.new(kind, kind)
        tube.modifiers.move(len(tube.modifiers) - 1, 0)
    turn(rig)


def armature_alone(name, bone):
    return add_armature(name, [(bone, (0, 0, 0), (0, 0, 3), None)])


@odd(said=("The armature 'Other' also deforms 'Tube'",))
def two_armature_modifiers(tube, rig):
    tube.modifiers.new("Second", "ARMATURE").object = armature_alone("Other", "only")


@odd(said=("also deforms 'Tube', with the same weights for bones of the same name: middle",))
def two_armatures_with_bones_of_one_name(tube, rig):
    tube.modifiers.new("Second", "ARMATURE").object = armature_alone("Other", "middle")


@row
def second_armature_modifier_alone_selected():
    tube, other = tube_and_rig()
    rig = add_armature("Second")
    tube.modifiers.new("Second", "ARMATURE").object = rig
    other.data.bones["lower"].name = "other"
    return Odd(tube, rig, said=("The armature 'Rig' also deforms 'Tube'",), by_rig=True)


@odd()
def two_armature_modifiers_of_one_rig(tube, rig):
    second = tube.modifiers.new("Second", "ARMATURE")
    second.object, second.use_multi_modifier = rig, True


@odd()
def empty_armature_modifier_before(tube, rig):
    tube.modifiers.new("Empty", "ARMATURE")
    tube.modifiers.move(1, 0)


@odd(said=("is limited to its vertex group 'half'",))
def armature_modifier_of_a_vertex_group(tube, rig):
    tube.vertex_groups.new(name="half").add(range(90), 1.0, "REPLACE")
    tube.modifiers["Armature"].vertex_group = "half"


@odd(said=("The Armature modifier 'Armature' of 'Tube' is switched off",))
def armature_modifier_switched_off(tube, rig):
    modifier = tube.modifiers["Armature"]
    modifier.show_viewport = modifier.show_render = False


@odd(said=("'Tube' was weighted without 'Lattice'",))
def lattice_before(tube, rig):
    add_lattice(tube)
    tube.modifiers.move(1, 0)


@odd()
def lattice_after(tube, rig):
    add_lattice(tube)


@odd(said=("'Tube' also follows the lattice 'Lattice', which bones deform",))
def lattice_that_bones_deform(tube, rig):
    bind(add_lattice(tube), rig)


def add_lattice(tube):
    """Adds a lattice that makes the mesh twice as wide."""
    lattice = add_object("Lattice", bpy.data.lattices.new("Lattice"))
    lattice.location.z, lattice.scale = 1.5, (1, 1, 4)
    for point in lattice.data.points:
        point.co_deform.x *= 2
    tube.modifiers.new("Lattice", "LATTICE").object = lattice
    return lattice


@odd(said=("'Tube' also follows the Mesh Deform cage 'Cage'",))
def cage_and_armature(tube, rig):
    bind(add_cage(tube), rig)
    turn(rig)


@row
def cage_alone():
    rig, tube = add_armature(), add_tube()
    bind(add_cage(tube), rig)
    cage = "'Tube' follows the bones through the Mesh Deform cage 'Cage'"
    refused = f"{cage}: weight that object instead"
    return Odd(tube, rig, refused=refused)


@odd()
def cage_that_no_bone_deforms(tube, rig):
    add_cage(tube)


def add_cage(tube):
    cage = add_tube("Cage", radius=0.6, rings=5, length=3.4, shift=(0, 0, -0.2))
    modifier = tube.modifiers.new("Cage", "MESH_DEFORM")
    modifier.object, modifier.precision = cage, 3
    select(tube)
    bpy.ops.object.meshdeform_bind(modifier=modifier.name)
    assert modifier.is_bound
    return cage


# The earlier weights.


@odd()
def weights_that_do_not_sum_to_one(tube, rig):
    for name, weight in (("lower", 0.3), ("middle", 0.2), ("upper", 0.9)):
        tube.vertex_groups.new(name=name).add(range(0, 192, 2), weight, "REPLACE")


@odd()
def weights_of_bones_that_are_gone(tube, rig):
    auto_weight(tube, rig)
    tube.vertex_groups.new(name="gone").add(range(192), 1.0, "REPLACE")
