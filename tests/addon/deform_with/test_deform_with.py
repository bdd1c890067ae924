"""Deform With: Geometry Nodes deform a mesh exactly as the engine does, in place of the Armature
modifier, and give the place back. Before Blender 5.2, the choice is unavailable and says why."""

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, refused, without_memory
from mathutils import Matrix
from rows_of import Rows
from scenes import (
    add_armature,
    addon,
    auto_weight,
    package,
    rotation,
    select,
    tube_and_rig,
    two_sided_bones,
)
from test_deformer import evaluated

HAS_BONES = hasattr(bpy.types, "GeometryNodeBoneInfo")
nodes = pytest.mark.skipif(not HAS_BONES, reason="no node Bone Info before Blender 5.2")
DEFORMERS = ("DUAL_QUATERNIONS", "CENTERS")


@pytest.fixture
def tube():
    """A weighted tube that is rotated and scaled, as its rig is, and posed with scale and shear."""
    tube, rig = tube_and_rig(rig_matrix=rotation(40, "X"))
    auto_weight(tube, rig)
    pose(rig)
    select(tube)
    return tube, rig


def pose(rig):
    for name, turn, size in (
        ("middle", (0.4, 1.0, 0.2), (1.1, 0.9, 1.2)),
        ("upper", (0.9, 0.8, 0.0), (1.0, 1.0, 1.0)),
    ):
        bone = rig.pose.bones[name]
        bone.rotation_mode, bone.rotation_euler, bone.scale = "XYZ", turn, size
    bpy.context.view_layer.update()


def choose(*objects, deformer):
    select(*objects)
    return bpy.ops.object.araplbs_deform_with(deformer=deformer)


def expected(ob, rig, deformer):
    """The points by the engine, in armature space."""
    layer = bpy.context.view_layer
    read = addon("blender.read.deformation_errors").read_weighted
    _rig, problem, rows = read(ob, layer, package("model.options").Options())
    layer.update()
    pose = addon("blender.poses.read_poses").present_pose(rig, problem.skeleton, layer.depsgraph)
    return (
        package("measures.deformer_preview").DeformerPreview(problem, rows).posed(pose, deformer)[0]
    )


def assert_as_engine(ob, rig, deformer):
    bpy.context.view_layer.update()
    got, wanted = evaluated(ob, rig), expected(ob, rig, deformer)
    size = np.linalg.norm(np.ptp(wanted, axis=0))
    assert np.abs(got - wanted).max() < 1e-6 * size
    return got


@nodes
@pytest.mark.parametrize("deformer", DEFORMERS)
def test_as_the_engine(tube, deformer):
    ob, rig = tube
    linear = evaluated(ob, rig)
    assert choose(ob, deformer=deformer) == {"FINISHED"}
    got = assert_as_engine(ob, rig, deformer)
    assert np.abs(got - linear).max() > 1e-2
    rig.pose.bones["upper"].rotation_euler.x -= 0.7
    assert np.abs(assert_as_engine(ob, rig, deformer) - got).max() > 1e-2


# Rigid bones, and for each bone those relative to which it twists at its head and its tail.
SHARED = {
    "along a chain": ((), ((0, 1), (1, 2), (2, 2))),
    "about the first joint": (("lower",), ((0, 0), (0, 2), (2, 2))),
    "about the last joint": (("middle",), ((0, 1), (1, 1), (1, 2))),
}


def stretched_and_twisted(ob, rig, partners, powers):
    """The points by the engine, in armature space. powers: of length relative to width."""
    read = addon("blender.read.deformation_errors").read_weighted
    _rig, problem, rows = read(ob, bpy.context.view_layer, package("model.options").Options())
    bones, skeleton = list(rig.pose.bones), problem.skeleton
    rests = [np.array(posed.bone.matrix_local) for posed in bones]
    poses = [np.array(posed.matrix) for posed in bones]
    turns = [upright(p) @ upright(r).T for p, r in zip(poses, rests, strict=True)]
    base, bends = np.empty((1, 3, 4, 4)), np.ones((1, 3, 4))
    for b, (above, below) in enumerate(partners):
        axis = skeleton.tails[b] - skeleton.heads[b]
        axis /= np.linalg.norm(axis)
        at_head, at_tail = (
            twist(turns[first].T @ turns[then], axis) for first, then in ((above, b), (b, below))
        )
        x, y, z = np.linalg.norm(poses[b][:3, :3], axis=0)
        bends[0, b, :3] = (at_head + at_tail) * axis
        bends[0, b, 3] = stretch = (y / np.sqrt(x * z)) ** powers[b]
        local = np.array(Matrix.Rotation(-at_head, 4, "Y")) @ np.diag((1, 1 / stretch, 1, 1))
        base[0, b] = poses[b] @ local @ np.linalg.inv(rests[b])
    return package("base.engine").engine.linear_skinning(
        problem.arguments["vertices"],
        tuple(rows),
        base[:, :, :3],
        bone_heads=skeleton.heads,
        bone_tails=skeleton.tails,
        bone_kinds=["stb"] * 3,
        bends=bends,
    )[0]


def upright(matrix):
    """The rotation with the Y axis of a matrix, and its X axis as far as shear permits."""
    x, y = matrix[:3, 0], matrix[:3, 1] / np.linalg.norm(matrix[:3, 1])
    x = x - (x @ y) * y
    x /= np.linalg.norm(x)
    return np.column_stack([x, y, np.cross(x, y)])


def twist(turn, axis):
    w, *xyz = Matrix(turn).to_quaternion()
    half = np.arctan2(np.array(xyz) @ axis, w)
    return 2 * np.arctan(np.tan(half))


@nodes
@pytest.mark.parametrize("case", SHARED)
def test_stretchable_twistable_bones_as_the_engine(tube, case):
    ob, rig = tube
    rigid, partners = SHARED[case]
    for bone in rig.data.bones:
        bone.araplbs_deformer = "RIGID" if bone.name in rigid else "STRETCHABLE"
    rig.pose.bones["upper"].constraints.new("MAINTAIN_VOLUME")
    bpy.context.view_layer.update()
    linear = evaluated(ob, rig)
    powers = [0 if b.name in rigid else 2 / 3 if b.name == "upper" else 1 for b in rig.data.bones]
    assert choose(ob, deformer="STRETCH_TWIST") == {"FINISHED"}
    for angle in (1.0, -2.5):
        rig.pose.bones["upper"].rotation_euler.y = angle
        bpy.context.view_layer.update()
        wanted = stretched_and_twisted(ob, rig, partners, powers)
        size = np.linalg.norm(np.ptp(wanted, axis=0))
        assert np.abs(evaluated(ob, rig) - wanted).max() < 1e-6 * size
    assert np.abs(evaluated(ob, rig) - linear).max() > 1e-2


def test_every_twist_is_shared_out_once():
    """Along the bone above if it ends there, otherwise along the bone itself."""
    rig = add_armature(bones=[*two_sided_bones(), ("thumb.R", (-0.6, 0, 0.9), (-1, 1, 0), "arm.R")])
    rig.data.bones["arm.L"].use_deform = False
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    rigid = np.array([name == "thumb.R" for name in skeleton.names])
    twists = package("features.deform_with").SharedTwists.of(skeleton, rigid)
    names = np.array(skeleton.names)
    above = {"hand.L": "spine", "arm.R": "spine", "hand.R": "arm.R"}
    assert dict(zip(names, names[twists.above], strict=True)) == {n: n for n in names} | above
    assert (twists.below == np.arange(len(names))).all()
    skeleton.deform[names == "thumb.R"] = False
    twists = package("features.deform_with").SharedTwists.of(skeleton, rigid)
    assert names[twists.below[names == "arm.R"]] == "hand.R"


@nodes
def test_twist_is_distributed():
    """A tube that is twisted by almost a half turn keeps its width."""
    ob, rig = tube_and_rig()
    auto_weight(ob, rig)
    rest = evaluated(ob, rig)
    joint = (abs(rest[:, 2] - 2) < 0.3) & (np.hypot(*rest[:, :2].T) > 0.2)
    posed = rig.pose.bones["upper"]
    posed.rotation_mode, posed.rotation_euler = "XYZ", (0, np.radians(170), 0)
    linear = np.hypot(*evaluated(ob, rig)[joint, :2].T)
    choose(ob, deformer="STRETCH_TWIST")
    spread = np.hypot(*evaluated(ob, rig)[joint, :2].T)
    assert linear.min() < 0.2 < 0.28 < spread.min()


@nodes
def test_says_what_is_outdated(tube):
    """In the panel, below the choice."""
    ob, rig = tube
    operator = addon("features.deform_with.operator").OBJECT_OT_araplbs_deform_with

    def reason():
        select(ob)
        layout = Rows()
        operator.draw_choice(layout, bpy.context)
        return " ".join(layout.words[2:])

    choose(ob, deformer="CENTERS")
    assert reason() == ""
    auto_weight(ob, rig, max_influences=1)
    assert reason() == "The weights are newer than the centers of rotation: choose them again"
    choose(ob, deformer="CENTERS")
    assert reason() == ""
    write = addon("blender.write.all_or_nothing").all_or_nothing
    with pytest.raises(MemoryError), write([ob]):
        auto_weight(ob, rig)
        assert reason()
        raise MemoryError
    assert reason() == ""
    rig.data.bones["upper"].name = "chest"
    assert reason().endswith("choose the deformer again: 'upper'")
    choose(ob, deformer="CENTERS")
    assert reason() == ""
    assert_as_engine(ob, rig, "CENTERS")
    auto_weight(ob, rig)
    rig.data.bones["chest"].name = "upper"
    choose(ob, deformer="ARMATURE")
    assert "araplbs_centers_old" not in ob.data
    choose(ob, deformer="CENTERS")
    auto_weight(ob, rig)
    ob.modifiers.remove(ob.modifiers["Deformer"])  # by hand
    choose(ob, deformer="CENTERS")
    assert reason() == ""


@nodes
def test_dual_quaternions_follow_the_weights(tube):
    """The nodes read the vertex groups, also with weights that do not sum to 1."""
    ob, rig = tube
    choose(ob, deformer="DUAL_QUATERNIONS")
    before = assert_as_engine(ob, rig, "DUAL_QUATERNIONS")
    ob.vertex_groups["upper"].add(range(40), 0.7, "REPLACE")
    for group in ob.vertex_groups:
        group.remove([60])
    ob.data.update()
    after = assert_as_engine(ob, rig, "DUAL_QUATERNIONS")
    assert np.abs(after - before)[:40].max() > 1e-3


@nodes
def test_centers_are_computed_again(tube):
    ob, rig = tube
    choose(ob, deformer="CENTERS")
    ob.vertex_groups["upper"].add(range(40), 0.7, "REPLACE")
    choose(ob, deformer="CENTERS")
    assert_as_engine(ob, rig, "CENTERS")
    assert len(ob.modifiers) == 2 and len(bpy.data.node_groups) == 1


@nodes
def test_centers_of_two_objects_with_one_mesh(tube):
    """Each has its own, and keeps them when the other is deformed by its armature again."""
    ob, rig = tube
    other = ob.copy()
    bpy.context.collection.objects.link(other)
    other.location.z += 1
    choose(ob, other, deformer="CENTERS")
    for each in (ob, other):
        assert_as_engine(each, rig, "CENTERS")
    choose(ob, deformer="ARMATURE")
    assert_as_engine(other, rig, "CENTERS")
    copied = other.copy()
    bpy.context.collection.objects.link(copied)
    choose(copied, deformer="ARMATURE")
    assert_as_engine(other, rig, "CENTERS")
    choose(other, deformer="ARMATURE")
    assert not [each for each in ob.data.attributes if "araplbs" in each.name]
    assert not bpy.data.node_groups


@nodes
def test_an_attribute_of_the_user_stays(tube):
    ob, rig = tube
    own = ob.data.attributes.new("araplbs_center", "FLOAT", "FACE")
    own.data[0].value = 5
    choose(ob, deformer="CENTERS")
    assert_as_engine(ob, rig, "CENTERS")
    choose(ob, deformer="ARMATURE")
    assert ob.data.attributes["araplbs_center"].data[0].value == 5


@nodes
def test_after_the_nodes_were_removed_by_hand(tube):
    """The Armature modifier, which was off for them, deforms again, and old centers do not."""
    ob, rig = tube
    linear = evaluated(ob, rig)
    for again in ("ARMATURE", "CENTERS"):
        choose(ob, deformer="CENTERS")
        ob.modifiers.remove(ob.modifiers[1])
        ob.vertex_groups["upper"].add(range(40), 0.7 if again == "CENTERS" else 0.0, "ADD")
        choose(ob, deformer=again)
        if again == "ARMATURE":
            bpy.context.view_layer.update()
            np.testing.assert_allclose(evaluated(ob, rig), linear, atol=1e-6)
    assert_as_engine(ob, rig, "CENTERS")


@nodes
def test_the_place_of_the_modifier(tube):
    """The nodes take the Armature modifier's place and visibility, and give both back."""
    ob, _rig = tube
    armature = next(m for m in ob.modifiers if m.type == "ARMATURE")
    armature.show_render, armature.show_in_editmode = False, True
    ob.modifiers.new("Subdivision", "SUBSURF")
    before = without_memory(deep_snapshot())
    choose(ob, deformer="CENTERS")
    assert [m.type for m in ob.modifiers] == ["ARMATURE", "NODES", "SUBSURF"]
    own = ob.modifiers[1]
    assert (own.show_viewport, own.show_render, own.show_in_editmode) == (True, False, True)
    assert not armature.show_viewport and not armature.show_render
    assert "araplbs_center" in ob.data.attributes
    choose(ob, deformer="ARMATURE")
    assert difference(before, without_memory(deep_snapshot())) == {}


@nodes
def test_auto_weight_goes_on(tube, capsys):
    """Other tools still find the Armature modifier, which is not reported as switched off."""
    ob, rig = tube
    choose(ob, deformer="DUAL_QUATERNIONS")
    capsys.readouterr()
    assert auto_weight(ob, rig) == {"FINISHED"}
    assert "switched off" not in capsys.readouterr().out
    assert_as_engine(ob, rig, "DUAL_QUATERNIONS")


@nodes
def test_exported(tube, tmp_path):
    """A file without skeletons contains the deformed mesh."""
    ob, _rig = tube
    choose(ob, deformer="CENTERS")
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    world = [ob.matrix_world @ v.co for v in ob.evaluated_get(depsgraph).data.vertices]
    path = tmp_path / "posed.obj"
    bpy.ops.wm.obj_export(filepath=str(path), forward_axis="Y", up_axis="Z")
    lines = [line.split()[1:4] for line in path.read_text().splitlines() if line[:2] == "v "]
    np.testing.assert_allclose(np.array(lines, float), np.array(world), atol=1e-5)


def with_bendy(_ob, _modifier, rig):
    rig.data.bones["middle"].bbone_segments = 4


def with_envelopes(_ob, modifier, _rig):
    modifier.use_bone_envelopes = True


def with_multiply(_ob, _modifier, rig):
    rig.data.bones["middle"].use_envelope_multiply = True


def with_group(ob, modifier, _rig):
    modifier.vertex_group = ob.vertex_groups[0].name


def with_multi(_ob, modifier, _rig):
    modifier.use_multi_modifier = True


def with_two(ob, _modifier, rig):
    ob.modifiers.new("Second", "ARMATURE").object = rig


def with_none(ob, modifier, _rig):
    ob.modifiers.remove(modifier)


def with_mirror(ob, _modifier, _rig):
    ob.modifiers.new("Mirror", "MIRROR")
    ob.modifiers.move(1, 0)


def without_weights(ob, _modifier, _rig):
    ob.vertex_groups.clear()


REFUSED = {
    with_bendy: "Convert bendy bones to bones first: 'middle'",
    with_envelopes: "is deformed with Bone Envelopes",
    with_multiply: "is deformed with Multiply Vertex Group by Envelope",
    with_group: "is deformed with a vertex group of the modifier",
    with_multi: "is deformed with Multi Modifier",
    with_two: "has 2 Armature modifiers of 'Rig'",
    with_none: "has 0 Armature modifiers of 'Rig'",
    with_mirror: "'Mirror' comes before the Armature modifier",
    without_weights: "has weights for deform bones",
}


@nodes
@pytest.mark.parametrize("change", REFUSED)
def test_refused(tube, change):
    ob, rig = tube
    change(ob, next(m for m in ob.modifiers if m.type == "ARMATURE"), rig)
    assert REFUSED[change] in refused("deform_with", ob, rig, deformer="CENTERS")


@pytest.mark.skipif(HAS_BONES, reason="Blender 5.2 has the node Bone Info")
def test_before_5_2_it_says_why(tube):
    ob, _rig = tube
    select(ob)
    assert not bpy.ops.object.araplbs_deform_with.poll()
    with pytest.raises(RuntimeError, match=r"Needs Blender 5\.2 or later"):
        bpy.ops.object.araplbs_deform_with(deformer="CENTERS")
