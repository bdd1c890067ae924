"""The user's own changes stay bit-identical, and the solver treats them as given."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    choose_bones,
    deform_names,
    entries,
    package,
    select,
    tube_and_rig,
    two_sided_bones,
    weights,
)


def entries_of(ob, name):
    """{vertex: weight} of one group, for an exact comparison."""
    group = ob.vertex_groups[name].index
    return {
        v.index: element.weight
        for v in ob.data.vertices
        for element in v.groups
        if element.group == group
    }


def set_bone_hidden(rig, name, state):
    bones = rig.pose.bones if "hide" in bpy.types.PoseBone.bl_rna.properties else rig.data.bones
    bones[name].hide = state


def set_selected(mesh, vertices=False, polygons=False):
    for elements, state in ((mesh.vertices, vertices), (mesh.polygons, polygons)):
        elements.foreach_set("select", np.broadcast_to(state, len(elements)).astype(bool))


def painting(tube, rig):
    """Weight Paint mode with the armature in Pose mode, as riggers work."""
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    select(tube, rig, active=tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")


def hand_made(tube, rig):
    """Odd weights everywhere: not normalized, with zeros and holes."""
    rng = np.random.default_rng(7)
    for name in deform_names(rig):
        group = tube.vertex_groups.new(name=name)
        for i in range(0, len(tube.data.vertices), 1 + len(name) % 3):
            group.add((i,), float(rng.choice([0.0, 0.1, 0.3])), "REPLACE")


def test_locked_group_on_one_of_two_meshes():
    """Locks are stored per object, so the same bone is locked on one mesh and solved on the
    other."""
    tube, rig = tube_and_rig()
    other = add_tube("Other", shift=(0, 2, 0))
    bind(other, rig)
    for ob in (tube, other):
        hand_made(ob, rig)
    tube.vertex_groups["lower"].lock_weight = True
    kept, replaced = entries_of(tube, "lower"), entries_of(other, "lower")
    auto_weight(tube, other, rig)
    assert entries_of(tube, "lower") == kept
    assert entries_of(other, "lower") != replaced
    assert_good(other, rig)


def test_lock_is_respected_by_the_solve():
    """A locked weight of 1 leaves nothing for the others."""
    tube, rig = tube_and_rig()
    group = tube.vertex_groups.new(name="upper")
    group.add(range(20), 1.0, "REPLACE")
    group.lock_weight = True
    auto_weight(tube, rig)
    assert (weights(tube, deform_names(rig))[:20] == [0, 0, 1]).all()
    assert all(len(tube.data.vertices[i].groups) == 1 for i in range(20)), "no entries of zero"


def test_other_groups():
    """Groups that belong to no bone or to bones that do not deform stay unchanged."""
    tube, rig = tube_and_rig()
    rig.data.bones["middle"].use_deform = False
    rng = np.random.default_rng(1)
    for name in ("mask", "middle"):
        group = tube.vertex_groups.new(name=name)
        for i in range(0, len(tube.data.vertices), 2):
            group.add((i,), float(rng.random()), "REPLACE")
    kept = {name: entries_of(tube, name) for name in ("mask", "middle")}
    auto_weight(tube, rig)
    assert {name: entries_of(tube, name) for name in kept} == kept
    assert_good(tube, rig)
    assert [g.name for g in tube.vertex_groups] == ["mask", "middle", "lower", "upper"]


def test_unselected_bones_in_weight_paint_mode():
    tube, rig = tube_and_rig()
    hand_made(tube, rig)
    kept = {name: entries_of(tube, name) for name in ("lower", "upper")}
    middle = entries_of(tube, "middle")
    painting(tube, rig)
    choose_bones(rig, "middle")
    auto_weight(only_selected_bones=True)
    assert bpy.context.mode == "PAINT_WEIGHT" and rig.mode == "POSE"
    assert {name: entries_of(tube, name) for name in kept} == kept
    assert entries_of(tube, "middle") != middle
    assert np.abs(weights(tube, deform_names(rig)).sum(axis=1) - 1).max() < 1e-6


def test_unselected_bones_get_no_group():
    tube, rig = tube_and_rig()
    painting(tube, rig)
    choose_bones(rig, "lower", "middle")
    auto_weight(only_selected_bones=True)
    assert [g.name for g in tube.vertex_groups] == ["lower", "middle"]


def test_selection_of_bones_counts_in_pose_mode_only():
    for mode in ("OBJECT", "POSE"):
        tube, rig = tube_and_rig()
        painting(tube, rig)
        choose_bones(rig)
        if mode == "OBJECT":
            choose_bones(rig, "lower")
            bpy.ops.object.mode_set(mode="OBJECT")
            select(rig)
            bpy.ops.object.mode_set(mode="OBJECT")
            select(tube)
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        auto_weight(only_selected_bones=True)
        assert_good(tube, rig)
        bpy.ops.object.mode_set(mode="OBJECT")


def test_selection_freezes_nothing_unless_asked():
    """In Weight Paint mode, one bone is selected for painting. The others get weights as well, and
    so do hidden bones, such as the deform bones of most rigs."""
    for mode in ("PAINT_WEIGHT", "POSE"):
        tube, rig = tube_and_rig()
        hand_made(tube, rig)
        before = {name: entries_of(tube, name) for name in deform_names(rig)}
        painting(tube, rig)
        choose_bones(rig, "middle")
        set_bone_hidden(rig, "upper", True)
        if mode == "POSE":
            bpy.ops.object.mode_set(mode="OBJECT")
            select(rig)
            bpy.ops.object.mode_set(mode="POSE")
        assert auto_weight() == {"FINISHED"} and bpy.context.mode == mode
        assert all(entries_of(tube, name) != old for name, old in before.items())
        assert_good(tube, rig)
        bpy.ops.object.mode_set(mode="OBJECT")


def test_only_selected_bones_in_pose_mode():
    tube, rig = tube_and_rig()
    hand_made(tube, rig)
    before = {name: entries_of(tube, name) for name in deform_names(rig)}
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, "middle", "upper")
    set_bone_hidden(rig, "upper", True)
    auto_weight(only_selected_bones=True)
    kept = [name for name, old in before.items() if entries_of(tube, name) == old]
    assert kept == ["lower", "upper"], "what is hidden is not selected"


def test_no_bone_to_weight():
    tube, rig = tube_and_rig()
    painting(tube, rig)
    rig.data.bones["lower"].use_deform = False
    choose_bones(rig, "lower")
    with pytest.raises(RuntimeError, match="No deform bone of 'Rig' is selected"):
        auto_weight(only_selected_bones=True)


def test_paint_mask_of_faces():
    """test_every_task.py tests that of vertices."""
    tube, rig = tube_and_rig()
    hand_made(tube, rig)
    before = entries(tube)
    set_selected(tube.data, polygons=[face.center.z > 1.5 for face in tube.data.polygons])
    touched = {i for face in tube.data.polygons if face.select for i in face.vertices}
    selected = np.isin(range(len(before)), [*touched])
    tube.data.use_paint_mask = True
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    auto_weight()
    after = entries(tube)
    assert all(after[i] == before[i] for i in np.flatnonzero(~selected))
    dense = weights(tube, deform_names(rig))[selected]
    assert np.abs(dense.sum(axis=1) - 1).max() < 1e-6
    assert (dense[:, 2] > 0.5).any()


def test_empty_paint_mask():
    tube, _rig = tube_and_rig()
    set_selected(tube.data)
    tube.data.use_paint_mask_vertex = True
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    with pytest.raises(RuntimeError, match="no vertex is selected"):
        auto_weight()


def test_paint_mask_counts_in_weight_paint_mode_only():
    tube, rig = tube_and_rig()
    tube.data.use_paint_mask_vertex = True
    set_selected(tube.data)
    auto_weight(tube, rig)
    assert_good(tube, rig)


def test_locked_side_of_a_mirrored_mesh():
    """A lock of a bone also applies to the image of the mesh, with the opposite bone."""
    core = package("character.problem")
    mirror = package("character.mirror_modifier")
    rows = package("model.sparse_weights")
    skeleton = addon("blender.read.read_armature").read_armature(
        add_armature(bones=two_sided_bones()), True
    )
    names = skeleton.names
    assert [names[i] for i in skeleton.opposite] == ["spine", "arm.R", "hand.R", "arm.L", "hand.L"]
    corner = np.array([[1.0, 0, 0.9], [1, 0.1, 0.9], [0, 0, 0.9]])
    flip = np.diag([-1.0, 1, 1, 1])
    mesh = core.Mesh(
        name="Half",
        vertices=corner,
        triangles=np.array([[0, 1, 2]]),
        edges=np.zeros((0, 2), int),
        matrix=np.eye(4),
        reflections=[mirror.Reflection(flip, 0.001, True)],
        weights=rows.make_sparse_weights(
            3, np.array([0, 1]), np.array([1, 1]), np.array([0.4, 0.6])
        ),
        locked_bones=np.array([n == "arm.L" for n in names]),
        locked_vertices=np.array([False, True, False]),
    )
    arguments = core.Problem([mesh], skeleton).arguments
    assert arguments["vertices"].tolist() == [*corner.tolist(), [-1, 0, 0.9], [-1, 0.1, 0.9]]
    assert sorted(map(sorted, arguments["triangles"].tolist())) == [[0, 1, 2], [2, 3, 4]]
    assert arguments["locked_bones"][arguments["vertex_sets"]].argmax(axis=1).tolist() == [
        *(names.index("arm.L"),) * 3,
        *(names.index("arm.R"),) * 2,
    ]
    assert arguments["locked_vertices"].tolist() == [False, True, False, False, True]
    start, bones, values = arguments["weights"]
    assert start.tolist() == [0, 1, 2, 2, 3, 4]
    assert bones.tolist() == [1, 1, 3, 3] and values.tolist() == [0.4, 0.6, 0.4, 0.6]


def test_only_what_changes_is_written(monkeypatch):
    """A second run with the same result changes no entry."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    write = addon("blender.write.write_weights")
    done = []
    task = addon("weighting")
    monkeypatch.setattr(
        task, "write_weights", lambda *a: done.append(write.write_weights(*a)) or done[-1]
    )
    auto_weight(tube, rig)
    assert done == [{"changed": 0, "removed": 0, "new_groups": 0, "bound": False}]


def test_stale_entries_of_deleted_groups():
    """Removing a group in the middle renumbers the following groups; no weight may end up in a
    wrong group."""
    tube, rig = tube_and_rig()
    hand_made(tube, rig)
    extra = tube.vertex_groups.new(name="extra")
    extra.add(range(50), 0.9, "REPLACE")
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    kept = entries_of(tube, "extra")
    auto_weight(tube, rig)
    assert entries_of(tube, "extra") == kept
    assert_good(tube, rig)


def test_thirteen_stray_cubes(capfd):
    """Stray cubes do no harm here, although they empty every group in Blender's own tool."""
    tube, rig = tube_and_rig()
    cubes = [add_cube(f"Cube {i}", (3 + i, 5, 1 + 0.2 * i)) for i in range(13)]
    select(*cubes, tube)
    bpy.ops.object.join()
    auto_weight(tube, rig)
    assert_good(tube, rig)
    dense = weights(tube, deform_names(rig))
    for i in range(13):
        cube = dense[-8 * (13 - i) :][:8] if i else dense[-104:-96]
        assert np.ptp(cube, axis=0).max() < 1e-6, "rigid"
    out = capfd.readouterr().out
    line = "13 parts without a visible bone follow their nearest bones as a whole (first: vertex"
    assert line in out


def test_stray_part_hardly_changes_the_rest():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    expected = assert_good(tube, rig)
    far = add_mesh("Far", [(9, 9, 9), (9, 9, 9.1), (9, 9.1, 9)], [(0, 1, 2)])
    auto_weight(tube, far, rig)
    assert np.abs(assert_good(tube, rig) - expected).max() < 0.05
