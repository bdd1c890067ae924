"""The operator in every oddity of a scene: the weights are those of the plain one, and nothing else
in the file is changed.

A row is a function that makes a tube, its rig and the oddity around them, and gives an Odd scene.
"""

import math
from dataclasses import dataclass, field

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, without_weights
from mathutils import Matrix
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_object,
    add_tube,
    auto_weight,
    bind,
    deform_names,
    entries,
    new_scene,
    rotation,
    select,
    tube_and_rig,
    weights,
)

ROUNDED = 2e-4  # weights of coordinates that single precision has rounded otherwise
BOUND = (".parent", ".parent_type", ".parent_bone", ".matrix_parent_inverse", ".modifiers")
PLACED = (".matrix_local", ".matrix_world")  # of what is bound elsewhere than where it was


@dataclass
class Odd:
    tube: bpy.types.Object
    rig: bpy.types.Object
    may_change: tuple = ()  # ends of paths of the tube
    atol: float = 0.0
    said: tuple = ()  # in the reports
    refused: str | None = None
    selected: tuple = ()  # beside tube and rig
    alone: bool = False  # without the rig
    renamed: dict = field(default_factory=dict)  # plain bone: its name here


SCENES = {}


def odd(function):
    SCENES[function.__name__] = function
    return function


def turn(rig, bone="middle", angle=1.2):
    posed = rig.pose.bones[bone]
    posed.rotation_mode = "XYZ"
    posed.rotation_euler.x = angle
    bpy.context.view_layer.update()


def on_bone(ob, rig, bone="middle"):
    """Its child, where it is, while the rig rests."""
    place = ob.matrix_world.copy()
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", bone
    end = rig.matrix_world @ rig.data.bones[bone].matrix_local
    end = end @ Matrix.Translation((0, rig.data.bones[bone].length, 0))
    ob.matrix_parent_inverse = end.inverted() @ place @ ob.matrix_basis.inverted()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(ob.matrix_world, place, atol=1e-5)


def child_of(ob, rig, bone="middle"):
    constraint = ob.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = rig, bone
    constraint.inverse_matrix = (rig.matrix_world @ rig.data.bones[bone].matrix_local).inverted()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(ob.matrix_world, np.eye(4), atol=1e-5)
    return constraint


def drive(owner, path, index, rig, bone, channel="LOC_Y", expression="var", space="LOCAL_SPACE"):
    driver = owner.driver_add(path, *index).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type = rig, bone, channel
    target.transform_space = space
    driver.expression = expression
    bpy.context.view_layer.update()
    return driver


def add_empty(name="Empty", matrix=None):
    return add_object(name, None, matrix)


def key(owner, path, values):
    for frame, value in values:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


# What follows bones.


@odd
def bound_on_a_posed_bone():
    tube, rig = tube_and_rig()
    on_bone(tube, rig)
    turn(rig)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def unbound_on_a_posed_bone():
    rig, tube = add_armature(), add_tube()
    on_bone(tube, rig)
    turn(rig)
    return Odd(tube, rig, BOUND + PLACED, atol=ROUNDED)


@odd
def unbound_under_what_is_on_a_posed_bone():
    rig, tube, empty = add_armature(), add_tube(), add_empty()
    on_bone(empty, rig, "upper")
    place = tube.matrix_world.copy()
    tube.parent = empty
    tube.matrix_parent_inverse = empty.matrix_world.inverted() @ place
    turn(rig)
    return Odd(tube, rig, BOUND + PLACED, atol=ROUNDED)


@odd
def bound_child_of_a_posed_bone():
    tube, rig = tube_and_rig()
    child_of(tube, rig)
    turn(rig)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def unbound_child_of_a_posed_bone():
    rig, tube = add_armature(), add_tube()
    child_of(tube, rig)
    turn(rig)
    may = (*BOUND, *PLACED, ".constraints[0].mute", ".constraints[0].enabled")
    said = ("muted its constraints that did so: Child Of",)
    return Odd(tube, rig, may, atol=ROUNDED, said=said)


@odd
def armature_constraint_of_the_object():
    tube, rig = tube_and_rig()
    constraint = tube.constraints.new("ARMATURE")
    target = constraint.targets.new()
    target.target, target.subtarget = rig, "middle"
    turn(rig)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def driven_by_a_posed_bone():
    tube, rig = tube_and_rig()
    tube.parent = None
    drive(tube, "location", (1,), rig, "upper", space="WORLD_SPACE")
    turn(rig)
    assert abs(tube.matrix_world.translation.y) > 0.3
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def on_a_vertex_of_what_is_posed():
    tube, rig = tube_and_rig()
    skin = add_tube("Skin")
    bind(skin, rig)
    skin.vertex_groups.new(name="upper").add(range(len(skin.data.vertices)), 1.0, "REPLACE")
    tube.parent, tube.parent_type = skin, "VERTEX"
    tube.parent_vertices = (191, 0, 0)  # the upper end
    tube.matrix_parent_inverse = Matrix.Translation((0, 0, -3))
    bpy.context.view_layer.update()
    assert np.allclose(tube.matrix_world, np.eye(4), atol=1e-6)
    turn(rig)
    assert not np.allclose(tube.matrix_world, np.eye(4), atol=0.1)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def on_a_bone_of_another_rig():
    tube, rig = tube_and_rig()
    tube.parent = None
    other = add_armature("Other")
    on_bone(tube, other)
    turn(other)
    return Odd(tube, rig, atol=ROUNDED)


@odd
def rig_and_mesh_on_a_bone_of_another_rig():
    tube, rig = tube_and_rig()
    other = add_armature("Other")
    on_bone(rig, other)
    turn(other)
    return Odd(tube, rig, atol=ROUNDED)


# Poses and animation.


@odd
def posed():
    tube, rig = tube_and_rig()
    turn(rig)
    rig.pose.bones["upper"].scale = 1.5, 0.7, 1.5
    return Odd(tube, rig)


@odd
def rest_position():
    tube, rig = tube_and_rig()
    turn(rig)
    rig.data.pose_position = "REST"
    return Odd(tube, rig)


@odd
def on_a_bone_in_rest_position():
    tube, rig = bound_on_a_posed_bone().tube, bpy.data.objects["Rig"]
    rig.data.pose_position = "REST"
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def constrained_rig():
    tube, rig = tube_and_rig()
    goal = add_empty("Goal", Matrix.Translation((0, 1, 1.5)))
    constraint = rig.pose.bones["upper"].constraints.new("IK")
    constraint.target = goal
    bpy.context.view_layer.update()
    return Odd(tube, rig)


@odd
def posed_by_hand_over_an_action():
    """The pose that is seen has no key: it must be there afterwards."""
    tube, rig = tube_and_rig()
    on_bone(tube, rig)
    posed = rig.pose.bones["middle"]
    posed.rotation_mode = "XYZ"
    key(posed, "rotation_euler", ((1, (0, 0, 0)), (20, (1, 0, 0))))
    key(rig, "location", ((1, (0, 0, 0)), (20, (0, 0, 0))))
    bpy.context.scene.frame_set(7)
    turn(rig, angle=-0.9)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def animated_objects():
    """The rig walks, and the tube hangs on its bone."""
    tube, rig = tube_and_rig()
    on_bone(tube, rig)
    key(rig, "location", ((1, (0, 0, 0)), (20, (0, 9, 0))))
    key(tube, "location", ((1, (0, 0, 5)), (12, (0, 0, 0))))
    turn(rig)
    bpy.context.scene.frame_set(12)
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' follows bones as an object too",))


@odd
def nla():
    tube, rig = tube_and_rig()
    posed = rig.pose.bones["middle"]
    posed.rotation_mode = "XYZ"
    for _ in range(2):
        key(posed, "rotation_euler", ((1, (0, 0, 0)), (20, (1, 0, 0))))
        data = rig.animation_data
        track = data.nla_tracks.new()
        track.strips.new(data.action.name, 5, data.action)
        data.action = None
    track.strips[0].influence = 0.25
    bpy.context.scene.frame_set(12)
    return Odd(tube, rig)


@odd
def drivers():
    tube, rig = tube_and_rig()
    turn(rig, "lower", 0.5)
    drive(rig.pose.bones["upper"], "location", (0,), rig, "lower", "ROT_X", "2 * var")
    tube.shape_key_add(name="Basis")
    tube.shape_key_add(name="Bulge").data[5].co.x += 0.5
    drive(tube.data.shape_keys.key_blocks["Bulge"], "value", (), rig, "lower", "ROT_X")
    return Odd(tube, rig)


# Places and parents.


def under_parent(*matrices):
    """Rig and tube below a chain of empties, where they would be without."""
    tube, rig = tube_and_rig()
    parent = None
    for i, matrix in enumerate(matrices):
        empty = add_empty(f"Parent {i}")
        empty.matrix_basis = matrix
        empty.parent, parent = parent, empty
    rig.parent = parent
    bpy.context.view_layer.update()
    return tube, rig


@odd
def mirrored_parent():
    return Odd(*under_parent(Matrix.Diagonal((-1, 1, 1, 1))), atol=ROUNDED)


@odd
def sheared_parents():
    shear = (Matrix.Diagonal((1, 3, 0.5, 1)), rotation(40, "X") @ rotation(20, "Z"))
    return Odd(*under_parent(*shear), atol=ROUNDED)


@odd
def mirrored_mesh():
    """Only the mesh, whose vertices are mirrored for it."""
    tube, rig = tube_and_rig()
    tube.data.transform(Matrix.Diagonal((1, -1, 1, 1)))
    tube.matrix_basis = Matrix.Diagonal((1, -1, 1, 1))
    tube.data.update()
    return Odd(tube, rig, atol=ROUNDED)


@odd
def sheared_mesh():
    tube, rig = tube_and_rig()
    shear = Matrix(((1, 0.5, 0, 0), (0, 1, 0.25, 0), (0, 0, 1, 0), (0, 0, 0, 1)))
    tube.data.transform(shear.inverted())
    tube.matrix_parent_inverse = shear
    return Odd(tube, rig, atol=ROUNDED)


@odd
def delta_transforms():
    tube, rig = tube_and_rig()
    tube.delta_location = 1, 2, 3
    tube.location = -1, -2, -3
    return Odd(tube, rig)


def scaled(mesh=(1, 1, 1), rig=(1, 1, 1)):
    """Objects with these scales, with vertices and bones as if they had none."""
    tube, skeleton = add_tube(), add_armature(matrix=Matrix.Diagonal((*rig, 1)))
    tube.data.transform(Matrix.Diagonal([r / m for r, m in zip(rig, mesh, strict=True)] + [1]))
    tube.scale = mesh
    bpy.context.view_layer.update()
    tube.modifiers.new("Armature", "ARMATURE").object = skeleton
    return Odd(tube, skeleton, atol=ROUNDED)


for of in ("mesh", "rig"):
    for scale in (1e-8, 1e8, -1.0, -1e-8, (1e-4, 1.0, 1e4)):
        each = scale if isinstance(scale, tuple) else (scale,) * 3
        SCENES[f"{of}_scaled_by_{scale}"] = lambda o=of, s=each: scaled(**{o: s})
SCENES["both_scaled"] = lambda: scaled((1e8,) * 3, (1e-8,) * 3)


def useless(of, matrix, refused):
    tube, rig = tube_and_rig()
    tube.parent = None
    {"mesh": tube, "rig": rig}[of].matrix_basis = matrix
    bpy.context.view_layer.update()
    return Odd(tube, rig, refused=refused)


for of, name in (("mesh", "Tube"), ("rig", "Rig")):
    for kind, matrix in (
        ("nothing", Matrix.Diagonal((0, 0, 0, 1))),
        ("a_plane", Matrix.Diagonal((1, 0, 1, 1))),
    ):
        SCENES[f"{of}_scaled_to_{kind}"] = lambda o=of, m=matrix, n=name: useless(
            o, m, f"'{n}' has a scale of zero"
        )
    SCENES[f"{of}_nowhere"] = lambda o=of, n=name: useless(
        o, Matrix.Translation((math.inf, 0, 0)), f"'{n}' has a transform that is not finite"
    )


# Who else uses what is there.


@odd
def shared_mesh():
    tube, rig = tube_and_rig()
    twin = add_object("Twin", tube.data, Matrix.Translation((5, 0, 0)))
    bind(twin, rig)
    return Odd(tube, rig, said=("shares its mesh, and with it these weights: Twin",))


@odd
def shared_mesh_both_selected():
    tube, rig = tube_and_rig()
    twin = add_object("Twin", tube.data, Matrix.Translation((5, 0, 0)))
    bind(twin, rig)
    said = ("Skipped: 'Twin' shares its mesh with 'Tube' and gets its weights",)
    return Odd(tube, rig, said=said, selected=(twin,))


@odd
def shared_mesh_under_another_rig():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    bind(add_object("Twin", tube.data), add_armature("Other"))
    return Odd(tube, rig, said=("shares its mesh, and with it these weights: Twin",))


@odd
def shared_mesh_under_a_rig_of_other_bones():
    tube, rig = tube_and_rig()
    other = add_armature("Other", [("only", (0, 0, 0), (0, 0, 3), None)])
    bind(add_object("Twin", tube.data), other)
    return Odd(tube, rig, said=("shares its mesh, and with it these weights: Twin",))


@odd
def shared_mesh_and_shared_bones():
    """A character and its linked duplicate."""
    tube, rig = tube_and_rig()
    rig_2 = add_object("Rig 2", rig.data, Matrix.Translation((5, 0, 0)))
    bind(add_object("Twin", tube.data, Matrix.Translation((5, 0, 0))), rig_2)
    return Odd(tube, rig, said=("shares its mesh, and with it these weights: Twin",))


@odd
def instanced():
    tube, rig = tube_and_rig()
    character = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(character)
    for ob in (tube, rig):
        character.objects.link(ob)
    empty = add_empty("Instance", Matrix.Translation((3, 0, 0)))
    empty.instance_type, empty.instance_collection = "COLLECTION", character
    stone = add_cube("Stone", (0, 0, 9))
    stone.parent = tube
    tube.instance_type = "VERTS"
    return Odd(tube, rig)


@odd
def in_two_scenes():
    tube, rig = tube_and_rig()
    other = bpy.data.scenes.new("Other")
    for ob in (tube, rig):
        other.collection.objects.link(ob)
    return Odd(tube, rig)


# What is hidden.


@odd
def hidden_bystanders():
    tube, rig = tube_and_rig()
    hidden, disabled, excluded = (add_tube(n) for n in ("Hidden", "Disabled", "Excluded"))
    for ob in (hidden, disabled, excluded):
        bind(ob, rig)
    hidden.hide_set(True)
    disabled.hide_viewport = True
    exclude(excluded)
    return Odd(tube, rig)


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


@odd
def hidden_rig():
    tube, rig = moved_rig()
    rig.hide_set(True)
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@odd
def disabled_rig():
    tube, rig = moved_rig()
    rig.hide_viewport = True
    rig.location.z += 1
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@odd
def excluded_rig():
    tube, rig = moved_rig()
    exclude(rig)
    return Odd(tube, rig, atol=ROUNDED, alone=True)


@odd
def hidden_rig_with_constraint():
    """Its matrix is not kept up to date: it has been moved since."""
    tube, rig = tube_and_rig()
    goal = add_empty("Goal")
    rig.constraints.new("COPY_LOCATION").target = goal
    bpy.context.view_layer.update()
    rig.hide_viewport = True
    goal.location = 0, 7, 0
    bpy.context.view_layer.update()
    return Odd(tube, rig, atol=ROUNDED, alone=True)


# What else a mesh has.


@odd
def shape_keys():
    tube, rig = tube_and_rig()
    tube.shape_key_add(name="Basis")
    bulge = tube.shape_key_add(name="Bulge", from_mix=False)
    for point in bulge.data:
        point.co *= 1.5
    bulge.value = 0.75
    bulge.vertex_group = ""
    tube.active_shape_key_index = 1
    tube.show_only_shape_key = True
    return Odd(tube, rig)


@odd
def modifiers_before_and_after():
    tube, rig = tube_and_rig()
    tube.modifiers.clear()
    tube.modifiers.new("Before", "SUBSURF")
    tube.modifiers.new("Waves", "WAVE")
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    tube.modifiers.new("After", "SOLIDIFY").show_viewport = False
    tube.modifiers.new("Array", "ARRAY")
    smooth = tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    smooth.use_only_smooth = True
    turn(rig)
    return Odd(tube, rig)


@odd
def two_armature_modifiers():
    tube, rig = tube_and_rig()
    other = add_armature("Other", [("only", (0, 0, 0), (0, 0, 3), None)])
    tube.modifiers.new("Second", "ARMATURE").object = other
    return Odd(tube, rig)


@odd
def two_armature_modifiers_of_one_rig():
    tube, rig = tube_and_rig()
    second = tube.modifiers.new("Second", "ARMATURE")
    second.object, second.use_multi_modifier = rig, True
    return Odd(tube, rig)


@odd
def other_data():
    tube, rig = tube_and_rig()
    tube.data.uv_layers.new(name="UV")
    tube.data.attributes.new("mine", "FLOAT", "POINT").data[3].value = 0.5
    tube.data.color_attributes.new("paint", "BYTE_COLOR", "CORNER")
    tube.data.materials.append(bpy.data.materials.new("Skin"))
    tube["mine"] = {"a": [1, 2, 3]}
    rig["mine"] = 0.5
    return Odd(tube, rig)


LONG = "\u9aa8" * 20 + "\xe9x"  # 63 bytes


@odd
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
    """Tube and rig, those of these names from another file."""
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


@odd
def linked_character(tmp_path):
    found = linked(tmp_path, ["Tube", "Rig"])
    return Odd(found["Tube"], found["Rig"], refused="'Tube' is linked from another file")


@odd
def overridden_character(tmp_path):
    found = linked(tmp_path, ["Tube", "Rig"], override=True)
    return Odd(found["Tube"], found["Rig"], refused="'Tube' is")


@odd
def linked_rig(tmp_path):
    rig = linked(tmp_path, ["Rig"])["Rig"]
    tube = add_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    return Odd(tube, rig)


@odd
def overridden_rig(tmp_path):
    rig = linked(tmp_path, ["Rig"], override=True)["Rig"]
    tube = add_tube()
    tube.modifiers.new("Armature", "ARMATURE").object = rig
    turn(rig)
    return Odd(tube, rig)


@odd
def on_a_posed_bone_of_an_overridden_rig(tmp_path):
    scene = overridden_rig(tmp_path)
    scene.rig.pose.bones["middle"].rotation_euler.x = 0
    bpy.context.view_layer.update()
    on_bone(scene.tube, scene.rig)
    turn(scene.rig)
    said = ("'Tube' follows bones as an object too",)
    return Odd(scene.tube, scene.rig, atol=ROUNDED, said=said)


# Modes.


@odd
def weight_paint_mode():
    tube, rig = tube_and_rig()
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    return Odd(tube, rig)


@odd
def weight_paint_mode_with_the_rig_posed():
    tube, rig = tube_and_rig()
    turn(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for ob in bpy.context.view_layer.objects:
        ob.select_set(True)
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    return Odd(tube, rig)


def in_mode(mode, *objects):
    select(*objects)
    bpy.ops.object.mode_set(mode=mode)


@odd
def several_in_edit_mode():
    tube, rig = tube_and_rig()
    in_mode("EDIT", tube, add_tube("Other"))
    return Odd(tube, rig, refused="Works in Object mode")


@odd
def several_in_pose_mode():
    tube, rig = tube_and_rig()
    in_mode("POSE", rig, add_armature("Other"))
    return Odd(tube, rig, refused="Works in Object mode")


# The guard itself.


def plain_weights(cache=[]):  # noqa: B006
    """Of the tube and its rig alone."""
    if not cache:
        tube, rig = tube_and_rig()
        auto_weight(tube, rig)
        cache.append(weights(tube, deform_names(rig)))
        new_scene()
    return cache[0]


def make(name, tmp_path):
    function = SCENES[name]
    scene = function(tmp_path) if function.__code__.co_argcount and tmp_needed(function) else None
    scene = scene or function()
    # What is there already and is none of the bones': it stays.
    if bpy.context.mode == "OBJECT":
        select(*scene.selected, *([] if scene.alone else [scene.rig]), scene.tube)
    bpy.context.view_layer.update()
    return scene


def tmp_needed(function):
    return function.__code__.co_varnames[:1] == ("tmp_path",)


@pytest.mark.parametrize("name", SCENES)
def test_scene(name, tmp_path, capfd):
    expected = plain_weights()
    scene = make(name, tmp_path)
    tube = scene.tube
    own = not (tube.library or tube.data.library or scene.refused)
    if own:
        tube.vertex_groups.new(name="mine").add([3, 4], 0.25, "REPLACE")
        bpy.context.view_layer.update()
    before = deep_snapshot()
    assert difference(before, deep_snapshot()) == {}, "looking changes something"
    capfd.readouterr()
    if scene.refused:
        with pytest.raises(RuntimeError, match=scene.refused):
            auto_weight()
        assert difference(before, deep_snapshot()) == {}
        return
    assert auto_weight() == {"FINISHED"}
    out = capfd.readouterr().out
    for line in scene.said:
        assert line in out
    assert "follows bones" not in out or scene.said
    users = [ob for ob in bpy.data.objects if ob.data == tube.data]
    changes = without_weights(difference(before, deep_snapshot()), *users)
    bases = [f"Object {tube.name!r}{end}" for end in scene.may_change]
    changes = {k: v for k, v in changes.items() if not any(k.startswith(b) for b in bases)}
    assert not changes
    found = weights(tube, [scene.renamed.get(n, n) for n in ("lower", "middle", "upper")])
    np.testing.assert_allclose(found, expected, rtol=0, atol=scene.atol)
    mine = tube.vertex_groups["mine"].index
    assert [v.index for v in tube.data.vertices if mine in [g.group for g in v.groups]] == [3, 4]

    again = entries(tube)
    auto_weight()
    assert entries(tube) == again, "another result the second time"


@pytest.mark.parametrize("kind", ["bone", "Child Of", "below"])
@pytest.mark.parametrize("angle", [0.0, 1.2])
def test_bound_from_a_bone_is_posed_once(kind, angle):
    """It lies as a mesh does that was bound at rest."""
    name = {
        "bone": "unbound_on_a_posed_bone",
        "Child Of": "unbound_child_of_a_posed_bone",
        "below": "unbound_under_what_is_on_a_posed_bone",
    }[kind]
    scene = SCENES[name]()
    turn(scene.rig, angle=angle)
    auto_weight(scene.tube, scene.rig)
    rested = add_tube("Rested")
    auto_weight(rested, scene.rig)
    graph = bpy.context.evaluated_depsgraph_get()
    points = []
    for ob in (scene.tube, rested):
        posed = ob.evaluated_get(graph)
        points.append([posed.matrix_world @ v.co for v in posed.data.vertices])
    np.testing.assert_allclose(*points, atol=1e-3)


@pytest.mark.parametrize("name", ["posed", "shape_keys", "unbound_on_a_posed_bone"])
def test_the_scene_is_saved_as_it_was(name, tmp_path):
    """What is written to disk and read again has the same weights, bit for bit."""
    scene = make(name, tmp_path)
    auto_weight()
    before, tube = entries(scene.tube), scene.tube.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert entries(bpy.data.objects[tube]) == before


@pytest.mark.parametrize("distance", [1e3, 1e5])
def test_selected_far_away(distance, capfd):
    """An object, or a vertex, that was hardly meant is told of."""
    tube, rig = tube_and_rig()
    rock = add_cube("Rock", (distance, 0, 0), size=1)
    auto_weight(rock, tube, rig)
    assert "far from all bones, selected by mistake? Rock" in capfd.readouterr().out
    new_scene()
    tube, rig = tube_and_rig()
    tube.data.vertices.add(1)
    tube.data.vertices[-1].co = distance, 0, 0
    auto_weight(tube, rig)
    out = capfd.readouterr().out
    assert "1 vertex lies far from all bones (first: vertex 192 of 'Tube')" in out


def test_nothing_is_far_in_a_large_mesh(capfd):
    """A building with one short bone in it."""
    rig = add_armature(bones=[("door", (0, 0, 0), (0, 0, 0.1), None)])
    building = add_tube(length=30, radius=20)
    auto_weight(building, rig)
    assert "far from" not in capfd.readouterr().out


def test_taken_as_one(capfd):
    """Specks of faces beside one large face."""
    _tube, rig = tube_and_rig()
    rng = np.random.default_rng(3)
    specks = 1e-9 * rng.random((300, 3)) + (0, 0, 1)
    vertices = np.vstack([specks, [(1, 0, 0), (1, 1, 0), (0, 1, 3)]])
    faces = [(i, i + 1, i + 2) for i in range(0, 300, 3)] + [(300, 301, 302)]
    mesh = add_mesh("Specks", vertices, faces)
    auto_weight(mesh, rig)
    said = capfd.readouterr().out
    assert "of the vertices are so close together" in said


def test_seams_are_not_told_of(capfd):
    """Every face by itself, as exporters write flat shading."""
    tube, rig = tube_and_rig()
    points = [v.co for p in tube.data.polygons for v in (tube.data.vertices[i] for i in p.vertices)]
    faces, first = [], 0
    for p in tube.data.polygons:
        faces.append(tuple(range(first, first + len(p.vertices))))
        first += len(p.vertices)
    auto_weight(add_mesh("Split", points, faces), rig)
    assert "close together" not in capfd.readouterr().out
