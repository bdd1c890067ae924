"""Defines make(), which creates any odd scene by name. This file also contains the scenes with
other users of the data, hidden objects, other data of a mesh, other files, and modes."""

import bpy
import odd_modifiers  # noqa: F401 (its rows)
import odd_places  # noqa: F401 (its rows)
from mathutils import Matrix
from odd_table import (
    ROUNDED,
    SCENES,
    Odd,
    add_empty,
    odd,
    on_bone,
    row,
    turn,
    with_unknown_constraints,
)
from scenes import (
    add_armature,
    add_cube,
    add_object,
    add_tube,
    auto_weight,
    bind,
    new_scene,
    rotation,
    select,
    tube_and_rig,
)

# Other users of the data.


@odd(said=("shares its mesh, and therefore these weights, with: Twin",))
def shared_mesh(tube, rig):
    twin = add_object("Twin", tube.data, Matrix.Translation((5, 0, 0)))
    bind(twin, rig)


@row
def shared_mesh_both_selected():
    tube, rig = tube_and_rig()
    twin = add_object("Twin", tube.data, Matrix.Translation((5, 0, 0)))
    bind(twin, rig)
    said = ("Skipped: 'Twin' shares its mesh with 'Tube' and gets the same weights",)
    return Odd(tube, rig, said=said, selected=(twin,))


@odd(said=("shares its mesh, and therefore these weights, with: Twin",))
def shared_mesh_under_another_rig(tube, rig):
    auto_weight(tube, rig)
    bind(add_object("Twin", tube.data), add_armature("Other"))


@odd(said=("shares its mesh, and therefore these weights, with: Twin",))
def shared_mesh_under_a_rig_of_other_bones(tube, rig):
    other = add_armature("Other", [("only", (0, 0, 0), (0, 0, 3), None)])
    bind(add_object("Twin", tube.data), other)


@odd(said=("shares its mesh, and therefore these weights, with: Twin",))
def shared_mesh_and_shared_bones(tube, rig):
    """A character and its linked duplicate."""
    rig_2 = add_object("Rig 2", rig.data, Matrix.Translation((5, 0, 0)))
    bind(add_object("Twin", tube.data, Matrix.Translation((5, 0, 0))), rig_2)


@odd()
def instanced(tube, rig):
    character = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(character)
    for ob in (tube, rig):
        character.objects.link(ob)
    empty = add_empty("Instance", Matrix.Translation((3, 0, 0)))
    empty.instance_type, empty.instance_collection = "COLLECTION", character
    stone = add_cube("Stone", (0, 0, 9))
    stone.parent = tube
    tube.instance_type = "VERTS"


@odd()
def in_two_scenes(tube, rig):
    other = bpy.data.scenes.new("Other")
    for ob in (tube, rig):
        other.collection.objects.link(ob)


# Hidden objects.


@odd()
def hidden_bystanders(tube, rig):
    hidden, disabled, excluded = (add_tube(n) for n in ("Hidden", "Disabled", "Excluded"))
    for ob in (hidden, disabled, excluded):
        bind(ob, rig)
    hidden.hide_set(True)
    disabled.hide_viewport = True
    exclude(excluded)


@odd(by_rig=True)
def rig_alone(tube, rig):
    add_tube("Unbound").parent = rig


@row
def rig_alone_with_hidden_bystanders():
    scene = hidden_bystanders()
    said = ("Hidden meshes bound to 'Rig' were skipped: Hidden, Disabled, Excluded",)
    return Odd(scene.tube, scene.rig, said=said, by_rig=True)


@odd(refused="All meshes bound to 'Rig' are hidden: Tube", by_rig=True)
def rig_alone_and_all_is_hidden(tube, rig):
    exclude(tube)


@row
def rig_alone_and_nothing_is_bound():
    rig, tube = add_armature(), add_tube()
    return Odd(tube, rig, refused="No mesh is bound to 'Rig' by an Armature", by_rig=True)


def exclude(*objects):
    collection = bpy.data.collections.new("Excluded")
    scene = bpy.context.scene
    scene.collection.children.link(collection)
    for ob in objects:
        collection.objects.link(ob)
        scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True


def moved_rig():
    """A rig away from the origin, and its tube."""
    return tube_and_rig(*[Matrix.Translation((0, 0, 4)) @ rotation(30, "X")] * 2)


@row
def hidden_rig():
    tube, rig = moved_rig()
    rig.hide_set(True)
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@row
def disabled_rig():
    tube, rig = moved_rig()
    rig.hide_viewport = True
    rig.location.z += 1
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@row
def excluded_rig():
    tube, rig = moved_rig()
    exclude(rig)
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@odd(atol=ROUNDED, alone=True)
def hidden_rig_with_constraint(tube, rig):
    """A hidden rig, whose matrix is outdated because the rig has been moved since."""
    goal = add_empty("Goal")
    rig.constraints.new("COPY_LOCATION").target = goal
    bpy.context.view_layer.update()
    rig.hide_viewport = True
    goal.location = 0, 7, 0
    bpy.context.view_layer.update()


# Other data of a mesh.


@odd()
def shape_keys(tube, rig):
    tube.shape_key_add(name="Basis")
    bulge = tube.shape_key_add(name="Bulge", from_mix=False)
    for point in bulge.data:
        point.co *= 1.5
    bulge.value = 0.75
    bulge.vertex_group = ""
    tube.active_shape_key_index = 1
    tube.show_only_shape_key = True


@odd()
def other_data(tube, rig):
    tube.data.uv_layers.new(name="UV")
    tube.data.attributes.new("mine", "FLOAT", "POINT").data[3].value = 0.5
    tube.data.color_attributes.new("paint", "BYTE_COLOR", "CORNER")
    tube.data.materials.append(bpy.data.materials.new("Skin"))
    tube["mine"] = {"a": [1, 2, 3]}
    rig["mine"] = 0.5


LONG = "\u9aa8" * 20 + "\xe9x"  # 63 bytes


@row
def unicode_names_of_63_bytes():
    assert len(LONG.encode()) == 63
    tube, rig = tube_and_rig()
    names = {"lower": LONG, "middle": LONG[:-1] + "y", "upper": "Arm \U0001f98a \"['.L\\"}
    for plain, name in names.items():
        rig.data.bones[plain].name = name
        assert name in rig.data.bones
    tube.name, tube.data.name, rig.name = LONG, "Tube \u202e \U0001f98a", "\u0440\u0438\u0433"
    return Odd(tube, rig, renamed=names)


# Other files.


def linked(tmp_path, names, override=False):
    """Tube and rig with these names, linked from another file."""
    tube_and_rig()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    new_scene()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = list(names)
    found = {}
    for name in names:
        found[name] = bpy.data.objects[name]
        bpy.context.scene.collection.objects.link(found[name])
        if override:
            found[name] = found[name].override_create(remap_local_usages=True)
            bpy.context.view_layer.update()
    return found


@row
def linked_character(tmp_path):
    found = linked(tmp_path, ["Tube", "Rig"])
    return Odd(found["Tube"], found["Rig"], refused="'Tube' is linked from another file")


@row
def overridden_character(tmp_path):
    found = linked(tmp_path, ["Tube", "Rig"], override=True)
    return Odd(found["Tube"], found["Rig"], refused="'Tube' is")


@row
def linked_rig(tmp_path):
    rig = linked(tmp_path, ["Rig"])["Rig"]
    tube = add_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    return Odd(tube, rig)


@row
def overridden_rig(tmp_path):
    rig = linked(tmp_path, ["Rig"], override=True)["Rig"]
    tube = add_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    turn(rig)
    return Odd(tube, rig)


@row
def on_a_posed_bone_of_an_overridden_rig(tmp_path):
    scene = overridden_rig(tmp_path)
    scene.rig.pose.bones["middle"].rotation_euler.x = 0
    bpy.context.view_layer.update()
    on_bone(scene.tube, scene.rig)
    turn(scene.rig)
    said = ("'Tube' also follows bones as an object",)
    return Odd(scene.tube, scene.rig, atol=ROUNDED, said=said)


@row
def constraints_of_another_version(tmp_path):
    tube, rig = tube_and_rig()
    select(tube)
    with_unknown_constraints(tmp_path / "old.blend", *rig.pose.bones, rig, tube)
    found = bpy.data.objects
    said = ("Constraints that this version of Blender does not know are ignored: lower, middle",)
    return Odd(found["Tube"], found["Rig"], said=said)


# Modes.


@odd()
def weight_paint_mode(tube, rig):
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")


@odd()
def weight_paint_mode_with_the_rig_posed(tube, rig):
    turn(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for ob in bpy.context.view_layer.objects:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")


def in_mode(mode, *objects):
    select(*objects)
    bpy.ops.object.mode_set(mode=mode)


@odd(refused="Available only in Object, Pose and Weight Paint modes")
def several_in_edit_mode(tube, rig):
    in_mode("EDIT", tube, add_tube("Other"))


@odd(refused="No mesh is bound to 'Other'")
def several_in_pose_mode(tube, rig):
    in_mode("POSE", rig, add_armature("Other"))


def make(name, tmp_path):
    function = SCENES[name]
    scene = function(tmp_path) if function.__code__.co_argcount and tmp_needed(function) else None
    scene = scene or function()
    # Existing data that does not belong to the bones and stays.
    if scene.by_rig:
        select(scene.rig)
    elif bpy.context.mode == "OBJECT":
        select(*scene.selected, *([] if scene.alone else [scene.rig]), scene.tube)
    bpy.context.view_layer.update()
    return scene


def tmp_needed(function):
    return function.__code__.co_varnames[:1] == ("tmp_path",)
