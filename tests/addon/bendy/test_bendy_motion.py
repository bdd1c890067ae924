"""Tests bendy bones converted to plain bones. The posed mesh stays in place."""

import bpy
import numpy as np
import pytest
from bendy_scenes import (
    CHAIN,
    EXACT,
    assert_same_in_poses,
    convert,
    curved_rest,
    one_bone,
    pose,
    posed,
    share,
    tail,
    weight,
)
from mathutils import Matrix
from scenes import (
    add_armature,
    add_object,
    add_tube,
    bind,
    choose_bones,
    entries,
    new_scene,
    package,
    rotation,
    select,
    snapshot,
    tube_and_rig,
)


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
    """The parent of a chain is the last bone of the chain above it or else the deform bone above
    it, if there is one."""
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
    """Mirror tools find the other side; a name that is not available on one side is not used on the
    other side either."""
    names = package("features.bendy.handles").segment_names
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
    """Half an arm, which a Mirror modifier completes, with a bendy bone on each side."""
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
    """Groups without weights exist for the other side."""
    half, rig = half_with_mirror()
    pose(rig, 1)
    before = posed(half)
    convert(rig)
    assert share(before, posed(half)) < EXACT


def test_one_side_of_a_mirror_modifier():
    """The other half would refer to groups that do not exist."""
    half, rig = half_with_mirror()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, "arm.L")
    before = snapshot()
    swaps = "The Mirror modifier of 'Half' swaps 'arm.L' and 'arm.R'"
    with pytest.raises(RuntimeError, match=f"{swaps}: convert both"):
        bpy.ops.object.araplbs_bendy()
    assert snapshot() == before and len(rig.data.bones) == 2
    bpy.ops.object.mode_set(mode="OBJECT")
    half.vertex_groups["arm.R"].lock_weight = True
    with pytest.raises(RuntimeError, match=rf"{swaps} \(its group in 'Half' is locked\)"):
        bpy.ops.object.araplbs_bendy()


def test_sides_of_a_mirror_modifier_that_differ():
    half, rig = half_with_mirror(segments=(4, 5))
    select(rig)
    with pytest.raises(RuntimeError, match="into the same number of bones"):
        bpy.ops.object.araplbs_bendy()
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
    """The bones divide the range of u equally; twice the segments are exact, and more bones are
    better."""
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


def test_shape_keys():
    """The result is exact if a key does not move a vertex along its bone, because Blender computes
    u after the keys."""
    tube, rig = tail()
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Wide")
    for point in key.data:
        point.co.x *= 1.5
    key.value = 0.7
    assert_same_in_poses(lambda: (tube, rig))


@pytest.mark.parametrize("shared", [True, False])
def test_two_meshes_one_rig(shared):
    tube, rig = tail()
    if shared:
        other = add_object("Other", tube.data)
    else:
        other = add_tube("Other", rings=25, radius=0.4)
        weight(other)
    bind(other, rig)
    pose(rig, 6)
    before = [posed(tube), posed(other)]
    convert(rig)
    assert share(before[0], posed(tube)) < EXACT and share(before[1], posed(other)) < EXACT


def test_without_meshes():
    rig = tube_and_rig()[1]
    rig.data.bones["upper"].bbone_segments = 3
    convert(rig)
    assert "upper_4" in rig.data.bones
