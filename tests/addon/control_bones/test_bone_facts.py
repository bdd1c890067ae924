"""Facts about bones in a file: the bones to which each fact applies, and the effect of each
fact."""

import dataclasses

import bpy
import numpy as np
import pytest
import scenes
from mathutils import Vector
from paths import RIGS, shared_file
from scenes import (
    add_armature,
    add_mesh,
    add_object,
    add_tube,
    addon,
    auto_weight,
    bind,
    package,
    weights,
)
from test_rigs_table import opened

BONES = [
    *scenes.BONES,
    ("helper", (0.1, 0, 2), (0.1, 0, 2.9), "middle"),
    ("other", (0.1, 0.1, 2), (0.1, 0.1, 2.9), "middle"),
]


@pytest.fixture
def rig():
    return add_armature(bones=BONES)


def read(rig):
    skeleton = addon("blender.read.read_armature").read_armature(rig, use_joint_limits=False)
    return addon("blender.rig.bone_facts").read_facts(rig, skeleton), skeleton


def bones_with(fact, rig):
    facts, skeleton = read(rig)
    return [skeleton.names[bone] for bone in np.flatnonzero(facts.known(fact))]


def constrain(rig, bone, kind, target="helper", **values):
    constraint = rig.pose.bones[bone].constraints.new(kind)
    if kind == "ARMATURE":
        constraint.targets.new().target = rig
    else:
        constraint.target, constraint.subtarget = rig, target
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


@pytest.mark.parametrize(
    ("kind", "fact"),
    [
        ("IK", "ik_target"),
        ("COPY_LOCATION", "followed"),
        *(
            (kind, "aimed_at")
            for kind in ("STRETCH_TO", "TRACK_TO", "DAMPED_TRACK", "LOCKED_TRACK")
        ),
    ],
)
def test_targets(rig, kind, fact):
    constrain(rig, "upper", kind)
    assert bones_with(fact, rig) == ["helper"]
    rig.pose.bones["upper"].constraints[0].mute = True  # it is a target all the same
    assert bones_with(fact, rig) == ["helper"]


@pytest.mark.parametrize("kind", ["COPY_ROTATION", "CHILD_OF", "LIMIT_DISTANCE", "ARMATURE"])
def test_what_is_pointed_at_by_skin_as_well(rig, kind):
    constrain(rig, "upper", kind)
    assert not any(bones_with(f, rig) for f in ("ik_target", "followed", "aimed_at", "choice"))


def test_pole_target(rig):
    pole = constrain(rig, "upper", "IK", pole_target=rig)
    pole.pole_subtarget = "other"
    assert bones_with("pole_target", rig) == ["other"]
    assert bones_with("ik_target", rig) == ["helper"]


def test_target_in_another_rig(rig):
    other = add_armature("Other", BONES)
    constrain(rig, "upper", "IK").target = other
    assert not bones_with("ik_target", rig)


@pytest.mark.parametrize(
    ("chain", "pulled"),
    [(0, ["upper"]), (1, ["upper"]), (2, ["middle", "upper"])],
)
def test_pulled(rig, chain, pulled):
    ik = constrain(rig, "upper", "IK", chain_count=chain)
    assert bones_with("pulled", rig) == pulled
    ik.influence = 0
    assert not bones_with("pulled", rig)


def test_copies_and_choices(rig):
    copy = constrain(rig, "upper", "COPY_TRANSFORMS", influence=0)
    assert bones_with("copies", rig) == ["upper"] and not bones_with("choice", rig)
    constrain(rig, "upper", "COPY_TRANSFORMS", "other")
    assert bones_with("choice", rig) == ["helper", "other"]
    copy.subtarget = "other"
    assert not bones_with("choice", rig)


def test_handles_of_bendy_bones(rig):
    bone = rig.data.bones["upper"]
    bone.bbone_custom_handle_start = rig.data.bones["helper"]
    bone.bbone_custom_handle_end = rig.data.bones["other"]
    assert not bones_with("handle", rig)
    bone.bbone_segments = 4
    assert bones_with("handle", rig) == ["helper", "other"]


def test_apart_from_the_collection_of_deform_bones(rig):
    """The collection contains most deform bones and no other bones."""
    bones = rig.data.bones
    together = rig.data.collections.new("Body")
    for name in ("lower", "middle"):
        together.assign(bones[name])
    assert not bones_with("apart", rig)
    together.assign(bones["upper"])
    assert bones_with("apart", rig) == ["helper", "other"]
    bones["helper"].use_deform = False
    assert bones_with("apart", rig) == ["other"]
    together.assign(bones["helper"])
    assert not bones_with("apart", rig)


def hang(rig, bone, ob):
    ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", bone
    return ob


@pytest.mark.parametrize("name", ["SOCKET_Hand", "sword slot", "AttachPoint", "mount.001"])
def test_sockets(rig, name):
    hang(rig, "helper", add_object(name, None))
    assert bones_with("carries", rig) == ["helper"]


def test_lattices_and_curves(rig):
    hang(rig, "helper", add_object("Lattice", bpy.data.lattices.new("Lattice")))
    hang(rig, "other", add_object("Curve", bpy.data.curves.new("Curve", "CURVE")))
    assert bones_with("carries", rig) == ["helper", "other"]


def test_a_socket_that_follows_by_a_constraint(rig):
    follow = add_object("Socket", None).constraints.new("COPY_LOCATION")
    follow.target, follow.subtarget = rig, "other"
    assert bones_with("carries", rig) == ["other"]


def test_hooks(rig):
    empty = hang(rig, "helper", add_object("Empty", None))
    assert not bones_with("carries", rig)
    add_tube().modifiers.new("Hook", "HOOK").object = empty
    assert bones_with("carries", rig) == ["helper"]


def things():
    """Objects that users and importers parent to bones that move skin."""
    camera = add_object("Slot camera", bpy.data.cameras.new("Camera"))
    light = add_object("Socket light", bpy.data.lights.new("Light", "POINT"))
    mesh = add_mesh("Slot", [(0, 0, 0)], [], [])
    sword = add_object("Slot rig", bpy.data.armatures.new("Sword"))
    return [add_object("upper_end", None), add_object("Empty", None), camera, light, mesh, sword]


def test_other_objects_on_a_bone_say_nothing(rig):
    for thing in things():
        hang(rig, "helper", thing)
    assert not bones_with("carries", rig)


def left_out(rig):
    return {bone.name: bone.araplbs_control for bone in rig.data.bones
            if addon("blender.read.control_bones").is_left_out(bone)}  # fmt: skip


def test_objects_on_a_short_bone_do_not_make_a_control_of_it():
    """An importer leaves only a stub of a head between ears, and objects are parented to the
    stub."""
    bones = [
        ("spine", (0, 0, 0.05), (0, 0, 1.5), None),
        ("neck", (0, 0, 1.5), (0, 0, 2.2), "spine"),
        ("head", (0, -0.03, 2.6), (0, -0.03, 2.61), "neck"),
        *(
            (f"ear{k}.{side}", (x, 0, 2.55 + 0.2 * k), (x, 0, 2.56 + 0.2 * k), up)
            for side, x in (("L", 0.2), ("R", -0.2))
            for k, up in ((1, "neck"), (2, f"ear1.{side}"))
        ),
    ]
    rig = add_armature(bones=bones)
    for thing in things():
        hang(rig, "head", thing)
    auto_weight(add_tube(), rig)
    assert "head" not in left_out(rig)


def with_leaf(name="upper_end"):
    """A limb whose skin extends past the last moving joint."""
    bones = [
        ("lower", (0, 0, 0.05), (0, 0, 0.75), None),
        ("middle", (0, 0, 0.75), (0, 0, 1.5), "lower"),
        ("upper", (0, 0, 1.5), (0, 0, 2.2), "middle"),
        (name, (0, 0, 2.2), (0, 0, 2.9), "upper"),
    ]
    return add_armature(bones=bones)


def test_a_leaf_bone_takes_no_skin():
    rig, tube = with_leaf(), add_tube()
    auto_weight(tube, rig)
    assert left_out(rig) == {"upper_end": "LEAF"} and "upper_end" not in weighted(tube)
    named = with_leaf("tip")
    auto_weight(tube := add_tube(), named)
    assert not left_out(named) and "tip" in weighted(tube)


def test_a_leaf_bone_that_an_action_turns_is_skin():
    rig, tube = with_leaf(), add_tube()
    posed = rig.pose.bones["upper_end"]
    posed.rotation_mode = "XYZ"
    for frame in (1, 20):
        for channel in ("location", "rotation_euler", "scale"):
            posed.keyframe_insert(channel, frame=frame)  # what exporters bake: it moves nothing
    auto_weight(tube, rig)
    assert left_out(rig) == {"upper_end": "LEAF"}
    posed.rotation_euler.x = 0.3
    posed.keyframe_insert("rotation_euler", frame=30)
    auto_weight(tube, rig)
    assert not left_out(rig) and "upper_end" in weighted(tube)


def test_quaternions_of_either_sign_turn_nothing():
    rig, tube = with_leaf(), add_tube()
    posed = rig.pose.bones["upper_end"]
    for frame, sign in ((1, 1), (20, -1)):
        posed.rotation_quaternion = [sign * q for q in (0.8, 0.6, 0, 0)]
        posed.keyframe_insert("rotation_quaternion", frame=frame)
    auto_weight(tube, rig)
    assert left_out(rig) == {"upper_end": "LEAF"}


def test_leaf_bones_of_both_sides():
    """If an action rotates a leaf bone, the leaf bone on the other side also stays."""
    bones = [
        ("spine", (0, 0, 0.05), (0, 0, 1), None),
        *((f"arm.{s}", (x, 0, 1), (x, 0, 2), "spine") for s, x in (("L", 0.1), ("R", -0.1))),
        *((f"arm.{s}_end", (x, 0, 2), (x, 0, 3), f"arm.{s}") for s, x in (("L", 0.1), ("R", -0.1))),
    ]  # fmt: skip
    rig = add_armature(bones=bones)
    auto_weight(add_tube(), rig)
    assert left_out(rig) == {"arm.L_end": "LEAF", "arm.R_end": "LEAF"}
    posed = rig.pose.bones["arm.L_end"]
    for frame, x in ((1, 0.0), (20, 1.0)):
        posed.rotation_quaternion.x = x
        posed.keyframe_insert("rotation_quaternion", frame=frame)
    auto_weight(add_tube(), rig)
    assert not left_out(rig)


def test_what_blender_exports_as_fbx_and_imports(tmp_path):
    """The exporter adds leaf bones, but the weights equal the weights before the export."""
    rig, tube = add_armature(bones=BONES[:3]), add_tube()
    bind(tube, rig)
    auto_weight(tube, rig)
    before = weights(tube, [name for name, *_ in BONES[:3]])
    bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    path = str(tmp_path / "limb.fbx")
    bpy.ops.export_scene.fbx(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=False)
    bpy.ops.import_scene.fbx(filepath=path)
    rig, tube = (
        next(o for o in bpy.data.objects if o.type == kind) for kind in ("ARMATURE", "MESH")
    )
    assert "upper_end" in rig.data.bones
    auto_weight(tube, rig)
    assert left_out(rig) == {"upper_end": "LEAF"}
    np.testing.assert_allclose(weights(tube, [name for name, *_ in BONES[:3]]), before, atol=0.02)


def test_drivers(rig):
    """A bone with a property that drives others is a control. A corrective driven by the rotation
    of the limb is not evidence."""
    for bone, path in (
        ("helper", 'pose.bones["helper"]["switch"]'),
        ("other", 'pose.bones["other"].rotation_euler[0]'),
    ):
        rig.pose.bones[bone]["switch"] = 1.0  # which only one driver looks at
        variable = rig.pose.bones["upper"].driver_add("location", 0).driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = rig, path
    assert bones_with("drives", rig) == ["helper"]


def test_setup(rig):
    posed, bone = rig.pose.bones["helper"], rig.data.bones["helper"]
    for fact in ("shaped", "colored", "locked", "bendy", "deform_collection", "control_collection"):
        assert not bones_with(fact, rig)
    posed.custom_shape = add_object("Shape", None)
    posed.color.palette = "THEME01"
    posed.lock_location = posed.lock_rotation = posed.lock_scale = (True, True, True)
    bone.bbone_segments = 4
    for fact in ("shaped", "colored", "locked", "bendy"):
        assert bones_with(fact, rig) == ["helper"]
    posed.lock_scale = (True, True, False)
    assert not bones_with("locked", rig)


def test_color_of_the_bone(rig):
    rig.data.bones["other"].color.palette = "CUSTOM"
    assert bones_with("colored", rig) == ["other"]


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        *((name, "control_collection") for name in ("Arm.L (IK)", "MCH", "Controls", "Tweak")),
        *((name, "deform_collection") for name in ("DEF", "Deform", "Skin")),
    ],
)
def test_collections(rig, name, fact):
    collections = rig.data.collections
    collections.new(name).assign(rig.data.bones["helper"])
    assert bones_with(fact, rig) == ["helper"]
    collections.new("Deform").assign(rig.data.bones["helper"])  # which counts for more
    assert bones_with("deform_collection", rig) == ["helper"]
    assert not bones_with("control_collection", rig)


def test_visible(rig):
    hidden = rig.data.collections.new("Layer 2")
    hidden.assign(rig.data.bones["upper"])
    hidden.is_visible = False
    assert bones_with("visible", rig) == ["lower", "middle", "helper", "other"]


def animate(rig, bone, way):
    """An action in which the bone moves by this distance along X."""
    posed = rig.pose.bones[bone]
    for frame, x in ((1, 0), (20, way)):
        posed.location.x = x
        posed.keyframe_insert("location", frame=frame)
    posed.location.x = 0


def strays(rig):
    module = addon("blender.rig.bone_facts")
    facts, skeleton = read(rig)
    motion = module.motion_of(rig, skeleton, bpy.context.view_layer)
    points = np.array([[0.3, 0, 2.5]])
    found = package("skeleton.bone_evidence").with_motion(facts, skeleton, points, motion)
    return [skeleton.names[bone] for bone in np.flatnonzero(found.strays)]


def test_strays(rig):
    assert strays(rig) == []
    animate(rig, "helper", 0.5)  # less than its length
    assert strays(rig) == []
    animate(rig, "helper", 3.0)
    assert strays(rig) == ["helper"]


def test_the_body_walks_away_from_it(rig):
    """A camera bone on the root stays in place while the bone that carries all others moves."""
    bones = [("camera", (0, 1.5, 2), (0, 1.5, 2.4), None), *BONES]
    rig = add_armature("Walker", bones)
    animate(rig, "lower", 0.5)
    assert strays(rig) == []
    animate(rig, "lower", 4.0)
    assert strays(rig) == ["camera"]


def test_a_limb_that_goes_along_does_not_stray(rig):
    """A limb with its own keys, such as the foot of an IK rig, moves as far as the body although it
    is not a descendant."""
    bones = [("foot", (0, 0, -0.5), (0, -0.3, -0.5), None), *BONES]
    rig = add_armature("Walker", bones)
    for bone in ("lower", "foot"):
        posed = rig.pose.bones[bone]
        for frame, way in ((1, 0), (20, 4)):
            local = rig.data.bones[bone].matrix_local.to_3x3().inverted() @ Vector((way, 0, 0))
            posed.location = local
            posed.keyframe_insert("location", frame=frame)
        posed.location = (0, 0, 0)
    assert strays(rig) == []


def test_a_bone_that_takes_others_along_does_not_stray(rig):
    animate(rig, "middle", 3.0)
    assert strays(rig) == []


def test_an_action_that_names_a_group_of_properties(rig):
    """The action moves nothing, and the pose of an animation is restored without it."""
    animate(rig, "helper", 3.0)
    rig.pose.bones["upper"]["group"] = {"a": 1}
    rig.pose.bones["upper"]["name"] = "text"
    curves = addon("blender.poses.pose_sources").action_curves(rig.animation_data.action)
    own = [curve for _slot, curve in curves]
    for key in ("group", "name"):
        own[-1].data_path = f'pose.bones["upper"]["{key}"]'
        assert strays(rig) == ["helper"]
    assert rig.pose.bones["upper"]["name"] == "text"


def weighted(tube):
    names = [group.name for group in tube.vertex_groups]
    return {names[element.group] for vertex in tube.data.vertices for element in vertex.groups}


def test_panel_says_what_told(rig):
    """The panel explains why a target inside the skin is excluded, although its position alone
    would keep it."""
    tube = add_tube()
    auto_weight(tube, rig)
    assert {"helper", "other"} <= weighted(tube)
    constrain(rig, "upper", "IK", chain_count=2, mute=True)
    rig.data.bones["helper"].name = "handIK"
    report = auto_weight(tube, rig)
    assert report == {"FINISHED"}
    bone = rig.data.bones["handIK"]
    assert bone.araplbs_control == "SERVED" and bone.araplbs_evidence == "IK target, name"
    assert addon("blender.read.control_bones").reason(bone) == "Not Needed: IK target, name"
    assert "handIK" not in weighted(tube)
    bpy.ops.object.araplbs_take_in(bone="handIK")
    auto_weight(tube, rig)
    assert "handIK" in weighted(tube) and bone.araplbs_evidence == ""


def test_a_copy_with_a_constraint_is_skin():
    """A complete copy of an arm, as for a second layer of skin, counts as skin. Without
    constraints, the copy is a control."""
    arm = BONES[:3]
    copies = [(f"copy {n}", h, t, f"copy {p}" if p else None) for n, h, t, p in arm[1:]]
    copies[0] = (*copies[0][:3], None)
    rig = add_armature(bones=[*arm, *copies])
    control = addon("blender.read.control_bones")
    auto_weight(add_tube(), rig)
    assert control.is_left_out(rig.data.bones["copy middle"])
    for name in ("middle", "upper"):
        constrain(rig, f"copy {name}", "COPY_TRANSFORMS", name)
    auto_weight(add_tube(), rig)
    assert not any(control.is_left_out(bone) for bone in rig.data.bones)


def test_weights_made_by_hand_keep_a_bone(rig):
    """Such weights are evidence if other bones are nearer to the weighted skin, but not if the bone
    itself is the nearest."""
    constrain(rig, "upper", "IK", chain_count=2, mute=True)
    tube = add_tube()
    bind(tube, rig)
    group = tube.vertex_groups.new(name="helper")
    near = [v.index for v in tube.data.vertices if v.co.z > 2.1 and v.co.x > 0.25]
    group.add(near, 1.0, "REPLACE")
    auto_weight(tube, rig)
    assert rig.data.bones["helper"].araplbs_control == "SERVED"
    low = [v.index for v in tube.data.vertices if v.co.z < 1]
    tube.vertex_groups["helper"].add(low, 1.0, "REPLACE")
    auto_weight(tube, rig)
    assert rig.data.bones["helper"].araplbs_control == "NONE"
    assert weights(tube, ["helper"]).any()


# Rigs as riggers leave them: the bones that are left out.
LEFT_OUT = {
    "freehand_hand": {"camera", "viewcenter"},
    "jeremy_rig": set(),
    "kaiopua_hero": {"CalfStretchBone_L", "CalfBend_L", "CalfStretchBone_R", "CalfBend_R"}
    | {"HandObject_L", "HandObject_R", "ArmBend_R"},
    "lc_character": {"attach_point"},  # its camera and master hold weights made by hand
    "lc_hobo": {"root", "knee_l", "knee_r"},
    "lc_seven": {"root"},
    "openhand_hand": set(),
    "tps_red_robot": {"EYEORIENT", "MASTER"}
    | {f"{side}-{name}" for side in "LR" for name in ("ARMORIENT", "LEGORIENT", "ARMIK", "LEGIK")}
    | {f"{side}-EXTENDERIK" for side in "LR"},
    "xrtools_hand_r": {"Palm_R"}
    | {f"{finger}_Tip_R" for finger in ("Thumb", "Index", "Middle", "Ring", "Little")},
}


@pytest.mark.parametrize("name", LEFT_OUT)
@pytest.mark.slow
def test_production_rigs(name):
    rig, meshes = opened(shared_file(RIGS, f"{name}.blend"))
    layer, finish = bpy.context.view_layer, package("base.steps").finish
    skeleton = addon("blender.read.read_armature").read_armature(rig, use_joint_limits=False)
    free = np.zeros(len(skeleton.names), bool)
    read = addon("blender.read.read_mesh").read_mesh_in_steps
    meshes = [ob for ob in meshes if ob.data.polygons]
    parts = [finish(read(ob, rig, skeleton, layer, False, free, None)) for ob in meshes]
    leave_out = addon("blender.read.control_bones").leave_out_of_armature_in_steps
    left = finish(leave_out(rig, meshes, parts, skeleton, layer, 0))[1]
    assert {skeleton.names[bone] for bone in np.flatnonzero(left.left_out)} == LEFT_OUT[name]


def hung(names=("hand control", "hand ik"), head=(0, 0, 2.95)):
    """The chain of BONES on a root that also carries bones with these names at the end of the
    chain."""
    bones = [("root", (0, 0, -1), (0, 0.5, -1), None), *BONES[:3]]
    bones[1] = (*bones[1][:3], "root")
    bones += [(name, head, np.add(head, (0, 0.3, 0)), "root") for name in names]
    return add_armature("Hung", bones)


def facts_of(rig, **more):
    skeleton = addon("blender.read.read_armature").read_armature(rig, use_joint_limits=False)
    return package("skeleton.bone_facts"), dataclasses.replace(skeleton, **more)


def test_controls_where_a_chain_ends():
    """Bones are controls if their names indicate it; feet and hands that a limb reaches for move
    skin."""
    facts, skeleton = facts_of(hung())
    found = facts.steers_end(skeleton)
    assert [skeleton.names[b] for b in np.flatnonzero(found)] == ["hand control"]


@pytest.mark.parametrize("head", [(0, 0.5, 2.95), (0, 0, 2.5), (0, 0, 1)])
def test_controls_elsewhere(head):
    """Bones next to the chain, in its last bone, or at one of its joints are not controls."""
    facts, skeleton = facts_of(hung(head=head))
    assert not facts.steers_end(skeleton).any()


def test_controls_of_the_chain_itself():
    """Such bones are children of the chain's bones and move with them."""
    rig = add_armature("Own", [*BONES[:3], ("end ctrl", (0, 0, 2.95), (0, 0, 3.2), "middle")])
    facts, skeleton = facts_of(rig)
    assert not facts.steers_end(skeleton).any()


def test_skin_at_a_control_goes_to_the_chain():
    rig = hung(names=["hand control"])
    mesh = add_tube(length=3.4)
    auto_weight(rig, mesh)
    assert not weights(mesh, ["hand control"]).any()
    assert weights(mesh, ["upper"]).max() > 0.9
    auto_weight(rig, mesh, control_bones="INCLUDE")
    assert weights(mesh, ["hand control"]).any()


@pytest.mark.parametrize("directions", ["LENGTHS", "TAILS", "JOINTS"])
def test_roots_that_point_at_nothing(directions):
    """Roots that point at nothing are controls only if bone lengths are meaningless. Otherwise, an
    artist has drawn them."""
    sides = [
        ("left", (0.5, 0, 0), (0.5, 0, 1), "root"),
        ("right", (-0.5, 0, 0), (-0.5, 0, 1), "root"),
    ]
    rig = add_armature("Aside", [("root", (0, 0, 0), (0, 0, 0.1), None), *sides])
    facts, skeleton = facts_of(rig, directions=directions)
    found = facts.points_aside(skeleton)
    assert [skeleton.names[b] for b in np.flatnonzero(found)] == ["root"] * (
        directions == "LENGTHS"
    )


def test_roots_that_point_at_a_child():
    bones = [("root", (0, 0, 0), (0, 0, 0.1), None), ("up", (0, 0, 1), (0, 0, 2), "root")]
    rig = add_armature("At", [*bones, ("aside", (0.5, 0, 0), (0.5, 0, 1), "root")])
    facts, skeleton = facts_of(rig, directions="LENGTHS")
    assert not facts.points_aside(skeleton).any()
