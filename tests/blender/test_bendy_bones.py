"""Bendy bones as plain bones: the posed mesh stays where it is, in Blender and through glTF."""

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, kdtree
from scenes import (
    add_armature,
    add_mesh,
    add_tube,
    addon,
    bind,
    entries,
    new_scene,
    rotation,
    select,
    snapshot,
    tube_and_rig,
    tube_arrays,
    weights,
)

CHAIN = ("lower", "middle", "upper")
EXACT = 1e-6  # of the bounding box; the promise is 1e-5


def tail(segments=(6, 5, 4), mapping="STRAIGHT", matrix=None, rig_matrix=None, rings=40):
    """A tube on three connected bendy bones with overlapping smooth weights."""
    rig = add_armature(matrix=rig_matrix)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in CHAIN[1:]:
        rig.data.edit_bones[name].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, count in zip(CHAIN, segments, strict=True):
        rig.data.bones[name].bbone_segments = count
        rig.data.bones[name].bbone_mapping_mode = mapping
    tube = add_tube("Tail", matrix=matrix, rings=rings, sides=8)
    bind(tube, rig)
    weight(tube)
    return tube, rig


def weight(tube, names=CHAIN):
    z = np.array([vertex.co.z for vertex in tube.data.vertices])
    for i, name in enumerate(names):
        group = tube.vertex_groups.new(name=name)
        weights = np.clip(1 - np.abs(z - (i + 0.5)) / 1.1, 0, 1)
        for vertex in np.flatnonzero(weights).tolist():
            group.add([vertex], float(weights[vertex]), "REPLACE")


def bend(bone, numbers, scale):
    """All settings that a bendy bone or its pose has for its curve."""
    for name in ("curveinx", "curveinz", "curveoutx", "curveoutz"):
        setattr(bone, f"bbone_{name}", numbers.uniform(-0.3, 0.3))
    bone.bbone_rollin, bone.bbone_rollout = numbers.uniform(-1, 1), numbers.uniform(-1, 1)
    bone.bbone_easein, bone.bbone_easeout = numbers.uniform(0.3, 1.6), numbers.uniform(0.3, 1.6)
    if scale:
        bone.bbone_scalein = [numbers.uniform(0.7, 1.3) for _ in range(3)]
        bone.bbone_scaleout = [numbers.uniform(0.7, 1.3) for _ in range(3)]


def pose(rig, seed, scale=True, curves=True):
    """Poses what is there to be posed: not the bones that follow others."""
    numbers = random.Random(seed)
    for bone in rig.pose.bones:
        if bone.constraints:
            continue
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [numbers.uniform(-0.8, 0.8) for _ in range(3)]
        bone.location = [numbers.uniform(-0.2, 0.2) for _ in range(3)]
        if scale:
            bone.scale = [numbers.uniform(0.7, 1.3) for _ in range(3)]
        if curves:
            bend(bone, numbers, scale)
    bpy.context.view_layer.update()


def posed(ob):
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = ob.evaluated_get(depsgraph)
    points = [evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices]
    return np.array(points, np.float64)


def share(before, after):
    """Largest distance, as a share of the diagonal of the bounding box."""
    return np.linalg.norm(after - before, axis=1).max() / np.linalg.norm(np.ptp(before, axis=0))


def convert(rig, **options):
    select(rig)
    assert bpy.ops.object.araplbs_bendy_to_bones(**options) == {"FINISHED"}


def assert_same_in_poses(make, poses=(1, 2, 3), most=EXACT, **options):
    """make() gives (mesh, rig); pose 0 is rest. Converted once, at rest, it moves as before."""
    tube, rig = make()
    before = []
    for seed in poses:
        pose(rig, seed)
        before.append(posed(tube))
    rest_rig(rig)
    rest = posed(tube)
    convert(rig, **options)
    assert share(rest, posed(tube)) < most
    moved = 0
    for seed, points in zip(poses, before, strict=True):
        pose(rig, seed)
        moved = max(moved, share(points, rest))
        assert share(points, posed(tube)) < most
    assert moved > 0.1
    return tube, rig


def select_bones(rig, names):
    """In Pose mode."""
    of_pose = hasattr(rig.pose.bones[0], "select")
    for bone in rig.pose.bones if of_pose else rig.data.bones:
        bone.select = bone.name in names


def rest_rig(rig):
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
        for name in ("curveinx", "curveinz", "curveoutx", "curveoutz", "rollin", "rollout"):
            setattr(bone, f"bbone_{name}", 0)
        for name in ("easein", "easeout"):
            setattr(bone, f"bbone_{name}", 1 if hasattr(bone.bone, "bbone_easein") else 0)
        bone.bbone_scalein = bone.bbone_scaleout = (1, 1, 1)


def one_bone():
    rig = add_armature(bones=[("bone", (0, 0, 0), (0, 0, 3), None)])
    rig.data.bones["bone"].bbone_segments = 9
    tube = add_tube("Tail", rings=40, sides=8)
    bind(tube, rig)
    tube.vertex_groups.new(name="bone").add(range(len(tube.data.vertices)), 1.0, "REPLACE")
    return tube, rig


def curved_rest(mapping):
    tube, rig = tail(mapping=mapping)
    for i, bone in enumerate(rig.data.bones):
        bend(bone, random.Random(10 + i), scale=True)
    return tube, rig


def with_handles(kind, custom=True):
    tube, rig = tail()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(2 if custom else 0):
        handle = rig.data.edit_bones.new(f"handle{i}")
        handle.head, handle.tail = (0.2, i, 3 * i), (0.2, i + 1, 3 * i + 0.3)
        handle.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = rig.data.bones["middle"]
    bone.bbone_handle_type_start = bone.bbone_handle_type_end = kind
    if custom:
        bone.bbone_custom_handle_start = rig.data.bones["handle0"]
        bone.bbone_custom_handle_end = rig.data.bones["handle1"]
        bone.bbone_handle_use_ease_start = True
        bone.bbone_handle_use_scale_end = (True, False, True)
    return tube, rig


@pytest.mark.parametrize(
    "make",
    [
        tail,
        one_bone,
        lambda: tail(mapping="CURVED"),
        lambda: curved_rest("STRAIGHT"),
        lambda: curved_rest("CURVED"),
        lambda: with_handles("ABSOLUTE"),
        lambda: with_handles("RELATIVE"),
        lambda: with_handles("TANGENT"),
        lambda: with_handles("TANGENT", custom=False),
        lambda: tail(segments=(32, 2, 1)),
        lambda: tail(
            rig_matrix=Matrix.Translation((3, 1, 2)) @ rotation(40, "X") @ Matrix.Scale(2, 4),
            matrix=rotation(20, "Y") @ Matrix.Diagonal((1, 1.2, 0.9, 1)),
        ),
    ],
    ids=[
        *("auto", "one", "curved", "rest-straight", "rest-curved", "absolute", "relative"),
        *("tangent", "tangent-none", "segments", "placed"),
    ],
)
@pytest.mark.parametrize("hierarchy", ["PARENT", "CHAIN"])
def test_nothing_moves(make, hierarchy):
    assert_same_in_poses(make, hierarchy=hierarchy)


def test_preserve_volume():
    def make():
        tube, rig = tail()
        tube.modifiers["Armature"].use_deform_preserve_volume = True
        return tube, rig

    assert_same_in_poses(make)


def test_envelope_factors_become_weights():
    def make():
        tube, rig = tail()
        for bone in rig.data.bones:
            bone.use_envelope_multiply = True
            bone.head_radius, bone.tail_radius, bone.envelope_distance = 0.2, 0.25, 0.4
        return tube, rig

    assert_same_in_poses(make)


def test_bones_and_groups():
    tube, rig = tail()
    locks = [group.name for group in tube.vertex_groups]
    assert locks == list(CHAIN)
    convert(rig)
    names = [f"{name}_{k + 1}" for name, n in zip(CHAIN, (7, 6, 5), strict=True) for k in range(n)]
    assert [group.name for group in tube.vertex_groups] == names
    assert [bone.name for bone in rig.data.bones if bone.use_deform] == names
    assert all(rig.data.bones[name].bbone_segments > 1 for name in CHAIN)
    assert all(rig.data.bones[name].parent is None for name in names)
    assert max(len(v.groups) for v in tube.data.vertices) <= 4
    sums = [sum(w for _g, w in vertex) for vertex in entries(tube)]
    fresh = tail()[0]
    assert np.allclose(sums, [sum(w for _g, w in vertex) for vertex in entries(fresh)], atol=1e-6)


def test_parents():
    """A chain goes on from the last bone of the one above; else the deform bone above, if any."""
    bones = [
        ("hips", (0, 0, -1), (0, 0, 0), None),
        ("control", (0, 0, 0), (0, 0.3, 0), "hips"),
        ("a", (0, 0, 0), (0, 0, 1), "control"),
        ("b", (0, 0, 1), (0, 0, 2), "a"),
    ]
    for hierarchy, wanted in (
        ("CHAIN", {"a_1": "hips", "a_2": "a_1", "a_3": "a_2", "b_1": "a_3", "b_2": "b_1"}),
        ("PARENT", {"a_1": "hips", "a_2": "hips", "a_3": "hips", "b_1": "hips", "b_2": "hips"}),
    ):
        new_scene()
        rig = add_armature(bones=bones)
        rig.data.bones["control"].use_deform = False
        for name in "ab":
            rig.data.bones[name].bbone_segments = 2
        convert(rig, hierarchy=hierarchy)
        assert {n: rig.data.bones[n].parent.name for n in wanted} == wanted


def test_sides_and_collisions():
    """Mirror tools find the other side; a name that one side cannot have, the other has not."""
    names = addon("core.bendy").segment_names
    for name in ("arm.L", "L_arm", "arm_left", "Left arm", "arm.L.001", "hair r"):
        other = bpy.utils.flip_name(name)
        flipped = [bpy.utils.flip_name(n) for n in names(name, 3, set())]
        assert other != name and flipped == names(other, 3, set())
    assert names("arm.L", 2, set()) == ["arm_1.L", "arm_2.L"]
    assert names("tail.001", 11, set())[::10] == ["tail.001_01", "tail.001_11"]
    long = names("é" * 31 + ".L", 2, set())
    assert len(set(long)) == 2 and all(len(n.encode()) <= 63 and n.endswith(".L") for n in long)
    rig = add_armature(
        bones=[
            ("arm.L", (1, 0, 0), (2, 0, 0), None),
            ("arm.R", (-1, 0, 0), (-2, 0, 0), None),
            ("arm_2.R", (-1, 0, 1), (-2, 0, 1), None),
        ]
    )
    for name in ("arm.L", "arm.R"):
        rig.data.bones[name].bbone_segments = 2
    convert(rig)
    assert {"arm_b1.L", "arm_b2.L", "arm_b3.L", "arm_b1.R", "arm_b3.R"} <= set(
        rig.data.bones.keys()
    )


def half_with_mirror(segments=(4, 4)):
    """Half an arm that a Mirror modifier completes, on a bendy bone on each side."""
    rig = add_armature(
        bones=[
            ("arm.L", (0.3, 0, 0), (3.3, 0, 0), None),
            ("arm.R", (-0.3, 0, 0), (-3.3, 0, 0), None),
        ]
    )
    for bone, count in zip(rig.data.bones, segments, strict=True):
        bone.bbone_segments = count
    half = add_tube("Half")
    half.data.transform(Matrix.Translation((0.3, 0, 0)) @ rotation(90, "Y"))
    half.modifiers.new("Mirror", "MIRROR")
    bind(half, rig)
    half.vertex_groups.new(name="arm.L").add(range(len(half.data.vertices)), 1.0, "REPLACE")
    half.vertex_groups.new(name="arm.R")
    return half, rig


def test_mirror_modifier():
    """Groups without weights are there for the other side."""
    half, rig = half_with_mirror()
    pose(rig, 1)
    before = posed(half)
    convert(rig)
    assert share(before, posed(half)) < EXACT


def test_one_side_of_a_mirror_modifier():
    """The other half would look for groups that are not there."""
    half, rig = half_with_mirror()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(rig, ["arm.L"])
    before = snapshot()
    swaps = "The Mirror modifier of 'Half' swaps 'arm.L' and 'arm.R'"
    with pytest.raises(RuntimeError, match=f"{swaps}: convert both"):
        bpy.ops.object.araplbs_bendy_to_bones()
    assert snapshot() == before and len(rig.data.bones) == 2
    bpy.ops.object.mode_set(mode="OBJECT")
    half.vertex_groups["arm.R"].lock_weight = True
    with pytest.raises(RuntimeError, match=rf"{swaps} \(its group in 'Half' is locked\)"):
        bpy.ops.object.araplbs_bendy_to_bones()


def test_sides_of_a_mirror_modifier_that_differ():
    half, rig = half_with_mirror(segments=(4, 5))
    select(rig)
    with pytest.raises(RuntimeError, match="into equally many bones"):
        bpy.ops.object.araplbs_bendy_to_bones()
    half.modifiers.move(1, 0)  # mirrored after it is posed, by the left bone alone
    pose(rig, 3)
    before = posed(half)
    convert(rig)
    assert share(before, posed(half)) < EXACT


def test_what_a_mirror_modifier_makes_is_measured(capfd):
    half, rig = half_with_mirror()
    arm = rig.pose.bones["arm.R"]
    arm.bbone_curveinx, arm.bbone_rollout = 0.3, 1
    before = posed(half)
    convert(rig, count=3)
    after, own = posed(half), len(half.data.vertices)
    assert share(before[:own], after[:own]) < EXACT < 0.01 < share(before, after)
    said = float(capfd.readouterr().out.split("no vertex moved by more than ")[1].split()[0])
    assert said == pytest.approx(share(before, after), rel=0.1)


def test_other_numbers_of_bones(capfd):
    """They divide the same u; twice the segments are exact, more bones are better."""
    differences = {}
    for count in (2, 3, 5, 9, 17, 13):
        new_scene()
        tube, rig = one_bone()
        rig.data.bones["bone"].bbone_segments = 8
        pose(rig, 2, scale=False)
        before = posed(tube)
        convert(rig, count=count)
        assert f"bone_{count:0{len(str(count))}}" in rig.data.bones
        differences[count] = share(before, posed(tube))
        said = float(capfd.readouterr().out.split("no vertex moved by more than ")[1].split()[0])
        assert said == pytest.approx(differences[count], rel=0.1, abs=1e-7)
    assert differences[9] < EXACT and differences[17] < EXACT
    assert differences[2] > differences[3] > differences[5] > differences[9]
    assert 1e-5 < differences[13] < 0.01


def test_u_of_a_group():
    """With Blender's own u painted nothing changes; with another it is a hat function of that."""
    tube, rig = one_bone()
    z = np.array([vertex.co.z for vertex in tube.data.vertices])
    group = tube.vertex_groups.new(name="along")
    for vertex, value in enumerate((z / 3).tolist()):
        if value:  # what is not in the group is at 0
            group.add([vertex], value, "REPLACE")
    pose(rig, 3)
    before = posed(tube)
    convert(rig, parameter="GROUP", group="along")
    assert share(before, posed(tube)) < EXACT

    new_scene()
    tube, rig = one_bone()
    tube.vertex_groups.new(name="along").add([5], 0.5, "REPLACE")
    convert(rig, parameter="GROUP", group="along", count=4)
    found = {tube.vertex_groups[g].name: w for g, w in entries(tube)[5]}
    assert found == {"along": 0.5, "bone_2": 0.5, "bone_3": 0.5}
    with_others = {tube.vertex_groups[g].name: w for g, w in entries(tube)[6]}
    assert with_others == {"bone_1": 1.0}


def along(tube, bone, count):
    """u of each vertex, by its weights of the `count` bones that one became; NaN without."""
    names = [f"{bone}_{k + 1:0{len(str(count))}}" for k in range(count)]
    of_bones = weights(tube, names)
    with np.errstate(invalid="ignore"):
        return of_bones @ np.linspace(0, 1, count) / of_bones.sum(axis=1)


def test_u_along_a_straight_mesh():
    """Nearly what Blender goes by, in any space, mirrored, and along wires."""
    for matrix in (None, Matrix.Translation((0, 0, 4)) @ Matrix.Scale(-1, 4, (0, 1, 0))):
        new_scene()
        tube, rig = tail(matrix=matrix, rig_matrix=matrix)
        convert(rig, parameter="DIFFUSED")
        z = np.array([vertex.co.z for vertex in tube.data.vertices])
        for i, (bone, count) in enumerate(zip(CHAIN, (7, 6, 5), strict=True)):
            u = along(tube, bone, count)
            there = np.isfinite(u)
            assert there.sum() > 100
            assert np.abs(u - np.clip(z - i, 0, 1))[there].max() < 0.2  # it is rounder at the ends
    new_scene()
    tube, rig = one_bone()
    mesh = bpy.data.meshes.new("Wire")
    mesh.from_pydata([(0, 0, 0.1 * i) for i in range(31)], [(i, i + 1) for i in range(30)], [])
    tube.data = mesh
    tube.vertex_groups.clear()
    tube.vertex_groups.new(name="bone").add(range(31), 1.0, "REPLACE")
    convert(rig, parameter="DIFFUSED")
    assert np.abs(along(tube, "bone", 10) - np.linspace(0, 1, 31)).max() < 0.1


def bent_tail(gap):
    """A tube that turns back, with so much between its two folds, on a bone in each."""
    radius, rings, sides = 0.3, 61, 8
    reach = radius + gap / 2
    s = np.linspace(0, 2 * 3 + np.pi * reach, rings)  # up, round, down
    angle = np.clip((s - 3) / reach, 0, np.pi)
    x, z = -reach * np.cos(angle), np.minimum(s, 3) + reach * np.sin(angle)
    z -= np.maximum(s - 3 - np.pi * reach, 0)
    vertices, faces = tube_arrays(rings=rings, sides=sides, radius=radius)
    around = vertices[:sides].copy()
    for r in range(rings):
        out = np.array([-np.cos(angle[r]), 0, np.sin(angle[r])])
        place = np.array([x[r], 0, z[r]])
        vertices[r * sides : (r + 1) * sides] = (
            place - around[:, :1] * out + around[:, 1:2] * np.array([0, 1, 0])
        )
    vertices[-2:] = [(x[0], 0, z[0]), (x[-1], 0, z[-1])]
    rig = add_armature(
        bones=[
            ("up", (-reach, 0, 0), (-reach, 0, 3), None),
            ("turn", (-reach, 0, 3), (reach, 0, 3), "up"),
            ("down", (reach, 0, 3), (reach, 0, 0), "turn"),
        ]
    )
    for name in ("up", "down"):
        rig.data.bones[name].bbone_segments = 6
    tube = add_mesh("Bent", vertices, faces)
    bind(tube, rig)
    for name in ("up", "down"):  # all over, so that u of every vertex can be seen
        tube.vertex_groups.new(name=name).add(range(len(vertices)), 0.5, "REPLACE")
    ring = np.arange(rings * sides) // sides
    return tube, rig, s[ring]


def test_u_follows_the_mesh_over_folds_that_touch():
    """As Blender deforms, a vertex of the other fold is beside the bone, here at its end."""
    for parameter in ("BLENDER", "DIFFUSED"):
        new_scene()
        tube, rig, s = bent_tail(gap=0.01)
        convert(rig, parameter=parameter)
        up, down = (along(tube, bone, 7)[: len(s)] for bone in ("up", "down"))
        first, last = s < 2.7, s > s.max() - 2.7
        if parameter == "BLENDER":
            assert up[last].min() < 0.1 and down[first].max() > 0.9
            continue
        assert up[last].min() > 0.9 and down[first].max() < 0.1
        assert np.abs(up - s / 3)[first].max() < 0.15
        assert np.abs(down - 1 - (s - s.max()) / 3)[last].max() < 0.15
        edges = np.array([edge.vertices for edge in tube.data.edges])
        edges = edges[(edges < len(s)).all(axis=1)]
        assert np.abs(up[edges[:, 0]] - up[edges[:, 1]]).max() < 0.1  # of steps of 0.04


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_modes_and_selection(mode):
    tube, rig = tail()
    select(rig)
    bpy.ops.object.mode_set(mode=mode)
    if mode == "EDIT":
        for bone in rig.data.edit_bones:
            bone.select = bone.name == "middle"
    else:
        select_bones(rig, ["middle"])
    assert bpy.ops.object.araplbs_bendy_to_bones() == {"FINISHED"}
    assert rig.mode == ("OBJECT" if mode == "OBJECT" else "POSE")
    left = addon("blender.bendy").bendy_bones(rig)
    assert left == ([] if mode == "OBJECT" else ["lower", "upper"])
    assert ("middle_1" in tube.vertex_groups) and ("middle" not in tube.vertex_groups)


def test_nothing_selected():
    _tube, rig = tail()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="No bendy bone that deforms is selected"):
        bpy.ops.object.araplbs_bendy_to_bones()
    assert rig.mode == "POSE" and len(rig.data.bones) == 3
    assert bpy.ops.object.araplbs_bendy_to_bones(only_selected=False) == {"FINISHED"}
    assert len(rig.data.bones) == 3 + 7 + 6 + 5


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_one_step_of_undo(mode):
    _tube, rig = tail()
    pose(rig, 4)
    select(rig)
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message="before")
    before = snapshot()
    run = bpy.ops.object.araplbs_bendy_to_bones
    assert run("EXEC_DEFAULT", True, only_selected=False) == {"FINISHED"}  # True: a step of undo
    assert len(rig.data.bones) == 3 + 7 + 6 + 5
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert sorted(rig.data.bones.keys()) == sorted(CHAIN)
    assert all(bone.use_deform for bone in rig.data.bones)
    assert snapshot() == before


def test_locked_groups(capfd):
    tube, rig = tail()
    tube.vertex_groups["middle"].lock_weight = True
    pose(rig, 5)
    points, before = posed(tube), entries(tube)
    index = tube.vertex_groups["middle"].index
    kept = [[w for g, w in vertex if g == index] for vertex in before]
    convert(rig)
    out = capfd.readouterr().out
    assert "'middle' is left as it was: its vertex group in 'Tail' is locked" in out
    assert share(points, posed(tube)) < EXACT
    assert rig.data.bones["middle"].use_deform and "middle_1" not in rig.data.bones
    index = tube.vertex_groups["middle"].index
    assert [[w for g, w in vertex if g == index] for vertex in entries(tube)] == kept
    with pytest.raises(RuntimeError, match="'Tail': the vertex group 'middle' is locked"):
        bpy.ops.object.araplbs_bendy_to_bones()


def test_groups_with_other_uses_stay(capfd):
    tube, rig = tail()
    tube.modifiers.new("Smooth", "SMOOTH").vertex_group = "upper"
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    copy = hook.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = tube, "lower"
    pose(rig, 5)
    before = posed(tube)
    convert(rig)
    assert {"upper", "lower"} <= set(tube.vertex_groups.keys())
    assert "middle" not in tube.vertex_groups
    assert "the vertex group 'upper' stays, it has other uses" in capfd.readouterr().out
    assert share(before, posed(tube)) < EXACT


def add_nodes(tube, text="", attribute="", named=""):
    """A Geometry Nodes modifier with a text input, one from an attribute, and a Named Attribute in
    a group within its group."""
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeInputNamedAttribute").inputs["Name"].default_value = named
    tree = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    number, words = (
        tree.interface.new_socket(kind, in_out="INPUT", socket_type=f"NodeSocket{kind}").identifier
        for kind in ("Float", "String")
    )
    ends = [tree.nodes.new(f"NodeGroup{kind}") for kind in ("Input", "Output")]
    tree.links.new(ends[0].outputs[0], ends[1].inputs[0])
    tree.nodes.new("GeometryNodeGroup").node_tree = inner
    modifier = tube.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    if hasattr(modifier, "properties"):  # since 5.2
        inputs = modifier.properties.inputs
        getattr(inputs, number).type = "ATTRIBUTE"
        getattr(inputs, number).attribute_name = attribute
        getattr(inputs, words).value = text
    else:
        modifier[f"{number}_use_attribute"] = True
        modifier[f"{number}_attribute_name"] = attribute
        modifier[words] = text


@pytest.mark.parametrize("uses", ["text", "attribute", "named"])
def test_groups_that_nodes_use_stay(uses):
    tube, rig = tail()
    add_nodes(tube, **{uses: "middle"})
    pose(rig, 5)
    before = posed(tube)
    convert(rig)
    assert "middle" in tube.vertex_groups and "lower" not in tube.vertex_groups
    assert share(before, posed(tube)) < EXACT


def test_groups_in_settings_of_modifiers_stay():
    tube, rig = tail()
    for kind, settings, name, group in (
        ("CLOTH", "settings", "vertex_group_mass", "lower"),
        ("CLOTH", "collision_settings", "vertex_group_self_collisions", "upper"),
        ("SOFT_BODY", "settings", "vertex_group_goal", "middle"),
    ):
        modifier = tube.modifiers.get(kind) or tube.modifiers.new(kind, kind)
        modifier.show_viewport = False
        setattr(getattr(modifier, settings), name, group)
    convert(rig)
    assert set(CHAIN) <= set(tube.vertex_groups.keys())


def test_groups_of_particles_stay():
    tube, rig = tail()
    tube.modifiers.new("Hair", "PARTICLE_SYSTEM")
    tube.particle_systems[0].vertex_group_density = "upper"
    convert(rig)
    assert "upper" in tube.vertex_groups and "lower" not in tube.vertex_groups


def test_all_modifiers_are_looked_at():
    """Whatever is in them trips nothing, and nothing that they merely have keeps a group."""
    tube, rig = tail()
    for kind in bpy.types.Modifier.bl_rna.properties["type"].enum_items.keys():  # noqa: SIM118
        try:
            modifier = tube.modifiers.new("middle", kind)
        except (RuntimeError, TypeError):  # not of meshes
            continue
        if modifier:
            modifier.show_viewport = modifier.show_render = False
    assert len(tube.modifiers) > 40
    used = addon("blender.group_uses").used_groups(tube, rig)
    assert used.isdisjoint(CHAIN)


def test_shape_keys():
    """Exact where a key does not move a vertex along its bone: Blender takes u after the keys."""
    tube, rig = tail()
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Wide")
    for point in key.data:
        point.co.x *= 1.5
    key.value = 0.7
    assert_same_in_poses(lambda: (tube, rig))


def test_users_of_one_mesh():
    tube, rig = tail()
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    bind(other, rig)
    pose(rig, 6)
    before = [posed(tube), posed(other)]
    convert(rig)
    assert share(before[0], posed(tube)) < EXACT and share(before[1], posed(other)) < EXACT


def test_two_meshes_one_rig():
    tube, rig = tail()
    other = add_tube("Other", rings=25, radius=0.4)
    bind(other, rig)
    weight(other)
    pose(rig, 6)
    before = [posed(tube), posed(other)]
    convert(rig)
    assert share(before[0], posed(tube)) < EXACT and share(before[1], posed(other)) < EXACT


def library(tmp_path, kind):
    """The tail's mesh or armature, linked from another file."""
    tail()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    new_scene()
    if kind == "armature":
        with bpy.data.libraries.load(path, link=True) as (_there, here):
            here.armatures = ["Rig"]
        rig = bpy.data.objects.new("Rig", here.armatures[0])
        bpy.context.scene.collection.objects.link(rig)
        return rig
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.meshes = ["Tail"]
    _tube, rig = tail()
    other = bpy.data.objects.new("Linked", here.meshes[0])
    bpy.context.scene.collection.objects.link(other)
    bind(other, rig)
    return rig


def test_linked_armature(tmp_path):
    select(library(tmp_path, "armature"))
    assert not bpy.ops.object.araplbs_bendy_to_bones.poll()
    with pytest.raises(RuntimeError, match="'Rig' is linked from another file"):
        bpy.ops.object.araplbs_bendy_to_bones()


def straight(_tube, rig):
    for bone in rig.data.bones:
        bone.bbone_segments = 1


def shared_elsewhere(tube, rig):
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    other.location.z = 1
    bind(other, rig)


def shared_other_rig(tube, _rig):
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    bind(other, add_armature("Second"))


def lattice(_tube, rig):
    ob = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(ob)
    ob.modifiers.new("Armature", "ARMATURE").object = rig


def envelopes(tube, _rig):
    tube.modifiers["Armature"].use_bone_envelopes = True


def second_with_envelopes(tube, rig):
    second = tube.modifiers.new("Second", "ARMATURE")
    second.object, second.use_bone_envelopes = rig, True


def armature_child(tube, _rig):
    """Which Blender deforms by groups and envelopes."""
    tube.modifiers.clear()
    tube.parent_type = "ARMATURE"


def flat_mesh(tube, _rig):
    tube.scale.x = 0


@pytest.mark.parametrize(
    ("spoil", "options", "message"),
    [
        (straight, {}, "'Rig' has no bendy bones: none that deforms has more than 1 segment"),
        (None, {"count": 1}, "One bone cannot bend"),
        (None, {"parameter": "GROUP"}, "Name the vertex group that says where"),
        (None, {"parameter": "GROUP", "group": "no"}, "'Tail' has no vertex group 'no'"),
        (shared_elsewhere, {}, "'Other' and 'Tail' share one mesh, but stand elsewhere"),
        (shared_other_rig, {}, "share one mesh, but not the armature"),
        (lattice, {}, "'Lattice' is deformed by 'Rig' and is not a mesh"),
        (envelopes, {}, "'Tail' is deformed by Bone Envelopes"),
        (second_with_envelopes, {}, "'Tail' is deformed by Bone Envelopes"),
        (armature_child, {}, "'Tail' is deformed by its parent 'Rig', which uses Bone Envelopes"),
        (flat_mesh, {}, "'Tail' has a scale of zero"),
    ],
)
def test_refusals(spoil, options, message):
    tube, rig = tail()
    if spoil:
        spoil(tube, rig)
    select(rig)
    before, bones = snapshot(), rig.data.bones.keys()
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.object.araplbs_bendy_to_bones(**options)
    assert snapshot() == before and rig.data.bones.keys() == bones


def test_linked_mesh(tmp_path):
    rig = library(tmp_path, "mesh")
    select(rig)
    before = snapshot()
    with pytest.raises(RuntimeError, match="'Linked' is linked from another file"):
        bpy.ops.object.araplbs_bendy_to_bones()
    assert snapshot() == before


def test_where_it_cannot_run():
    tube, rig = tail()
    select(tube)
    with pytest.raises(RuntimeError, match="The active object is not an armature"):
        bpy.ops.object.araplbs_bendy_to_bones()
    other = bpy.data.objects.new("Twin", rig.data)
    bpy.context.scene.collection.objects.link(other)
    select(rig)
    with pytest.raises(RuntimeError, match="share one armature: make it single-user first"):
        bpy.ops.object.araplbs_bendy_to_bones()
    bpy.data.objects.remove(other)
    rig.hide_set(True)
    with pytest.raises(RuntimeError, match="'Rig' is hidden"):
        bpy.ops.object.araplbs_bendy_to_bones()


def test_failure_half_way_leaves_nothing(monkeypatch):
    """Not even when it comes after the bones were made and one mesh was written."""
    _tube, rig = tail()
    other = add_tube("Other")
    bind(other, rig)
    weight(other)
    select(rig)
    module = addon("blender.bendy")
    write, calls = module._write, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise MemoryError("no memory")
        return write(*arguments)

    monkeypatch.setattr(module, "_write", fail)
    before = snapshot()
    with pytest.raises(RuntimeError, match="no memory"):
        bpy.ops.object.araplbs_bendy_to_bones()
    assert snapshot() == before and set(rig.data.bones.keys()) == set(CHAIN)
    assert all(bone.use_deform for bone in rig.data.bones)


def test_closing_the_steps_takes_all_back():
    """As Esc does, wherever it comes."""
    _tube, rig = tail()
    select(rig)
    before, count = snapshot(), 0
    module = addon("blender.bendy")
    while True:
        steps = module.convert_in_steps(rig, list(CHAIN), bpy.context.view_layer)
        try:
            for _ in range(count + 1):
                next(steps)
        except StopIteration:
            break
        steps.close()
        assert snapshot() == before and set(rig.data.bones.keys()) == set(CHAIN)
        count += 1
    assert count > 4 and len(rig.data.bones) == 3 + 7 + 6 + 5


def test_without_meshes():
    rig = tube_and_rig()[1]
    rig.data.bones["upper"].bbone_segments = 3
    convert(rig)
    assert "upper_4" in rig.data.bones


def animate(rig, frames, scale):
    for i, frame in enumerate(frames):
        pose(rig, 20 + i, scale=scale)
        for bone in rig.pose.bones:
            for path in ("location", "rotation_euler", "scale", "bbone_curveinx", "bbone_curveoutz",
                         "bbone_rollout", "bbone_easein", "bbone_scaleout"):  # fmt: skip
                bone.keyframe_insert(path, frame=frame)


def at_frames(ob, frames):
    points = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        points.append(posed(ob))
    return points


def through_gltf(path):
    """Exports the file's content, and imports it into an empty one; the mesh object there."""
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    bpy.ops.export_scene.gltf(
        filepath=str(path), export_format="GLB", export_def_bones=True, export_animations=True,
        export_force_sampling=True, export_optimize_animation_size=False,
    )  # fmt: skip
    new_scene()
    bpy.ops.import_scene.gltf(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == "MESH" and ob.vertex_groups)


def assert_same_through_gltf(rig, tube, path, most, scale, **options):
    frames = (1, 5, 11, 16, 21)
    for bone in rig.data.bones:
        bone.inherit_scale = "ALIGNED"  # else a rig that is scaled shears by itself
    animate(rig, (1, 11, 21), scale)
    before = at_frames(tube, frames)
    convert(rig, **options)
    assert max(map(share, before, at_frames(tube, frames))) < EXACT
    rest = np.array([tube.matrix_world @ vertex.co for vertex in tube.data.vertices])
    bones = {bone.name for bone in rig.data.bones if bone.use_deform}
    back = through_gltf(path)
    assert set(back.parent.data.bones.keys()) == bones
    tree = kdtree.KDTree(len(rest))
    for i, point in enumerate(rest):
        tree.insert(point, i)
    tree.balance()
    back.parent.data.pose_position = "REST"
    found = [tree.find(point) for point in posed(back)]  # exporters split and reorder vertices
    back.parent.data.pose_position = "POSE"
    match = [index for _co, index, _distance in found]
    assert set(match) == set(range(len(rest)))
    assert max(distance for _co, _index, distance in found) < 1e-5
    worst = max(
        share(points[match], after)
        for points, after in zip(before, at_frames(back, frames), strict=True)
    )
    print(f"through glTF: {worst:.1e}")
    assert worst < most


@pytest.mark.parametrize("scale", [False, True])
def test_through_gltf(tmp_path, scale):
    tube, rig = tail()
    assert_same_through_gltf(rig, tube, tmp_path / "tail.glb", 1e-5, scale)


@pytest.mark.parametrize("mapping", ["STRAIGHT", "CURVED"])
def test_through_gltf_from_curved_rest(tmp_path, mapping):
    tube, rig = curved_rest(mapping)
    assert_same_through_gltf(rig, tube, tmp_path / "tail.glb", 1e-5, True)


def test_chain_through_gltf(tmp_path):
    """Without scale: what is then between two bones of a chain is a rotation and a shift."""
    tube, rig = tail()
    assert_same_through_gltf(rig, tube, tmp_path / "tail.glb", 1e-5, False, hierarchy="CHAIN")


def test_shear_is_told(capfd):
    """Of a rig that shears by itself, and of a chain with scale that a bendy bone alone has."""
    for inherit, hierarchy, shears in (
        ("ALIGNED", "PARENT", False),
        ("ALIGNED", "CHAIN", True),
        ("FULL", "PARENT", True),
    ):
        new_scene()
        _tube, rig = tail()
        for bone in rig.data.bones:
            bone.inherit_scale = inherit
        pose(rig, 7)
        convert(rig, hierarchy=hierarchy)
        assert ("shear in this pose" in capfd.readouterr().out) == shears


def test_bones_around_through_gltf(tmp_path):
    """A deform bone above, a control between, and a deform bone below the bendy one."""
    rig = add_armature(
        bones=[
            ("lower", (0, 0, 0.05), (0, 0, 1), None),
            ("control", (0, 0, 1), (0, 0.5, 1), "lower"),
            ("middle", (0, 0, 1), (0, 0, 2), "control"),
            ("upper", (0, 0, 2), (0, 0, 2.95), "middle"),
        ]
    )
    rig.data.bones["control"].use_deform = False
    rig.data.bones["middle"].bbone_segments = 6
    tube = add_tube("Tail", rings=40, sides=8)
    bind(tube, rig)
    weight(tube)
    assert_same_through_gltf(rig, tube, tmp_path / "tail.glb", 1e-5, False)
