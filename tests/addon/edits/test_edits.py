"""Edits of the mesh, their operators, and the strain of vertices."""

import dataclasses
import re

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_tube,
    addon,
    auto_weight,
    keyed,
    look,
    package,
    select,
    tube_and_rig,
    two_sided_bones,
    weights,
)
from sessions import pick


@pytest.fixture
def tube():
    ob, rig = tube_and_rig()
    auto_weight(ob, rig)
    select(ob)
    return ob


def read(ob, names=("lower", "middle", "upper")):
    return addon("blender.data.edits").read_edits(ob.data, list(names))


def edit(**arguments):
    return bpy.ops.object.araplbs_edit_vertices(**arguments)


def test_values_of_each_kind(tube):
    pick(tube, [3, 4, 5])
    assert edit(kind="WEIGHT", bone="upper", weight=0.25) == {"FINISHED"}
    assert edit(kind="INFLUENCE", bone="lower") == {"FINISHED"}
    assert edit(kind="RELEASE", bone="middle") == {"FINISHED"}
    pick(tube, [5, 6])
    assert edit(kind="WEIGHT", bone="upper", weight=0.0) == {"FINISHED"}
    assert edit(kind="INFLUENCE", bone="lower", remove_influence=True) == {"FINISHED"}
    assert bpy.ops.object.araplbs_add_link() == {"FINISHED"}
    assert bpy.ops.object.araplbs_add_link(first=9, second=2) == {"FINISHED"}
    edits = read(tube)
    assert edits.constraints.vertices.tolist() == [3, 4, 5, 6]
    assert edits.constraints.values.tolist() == [0.25, 0.25, 0, 0]
    assert set(edits.constraints.bones) == {2}
    assert edits.influences.values.tolist() == [True, True, False, False]
    assert edits.released.vertices.tolist() == [3, 4, 5] and set(edits.released.bones) == {1}
    assert edits.links.tolist() == [[5, 6], [2, 9]]
    assert edits.any and len(tube.data.araplbs.edits) == 5

    tube.data.araplbs.edits[0].use = False
    assert not len(read(tube).constraints.vertices)
    assert not len(read(tube, ["other"]).influences.vertices), "bones that are gone"
    pick(tube, range(20))
    assert edit(kind="INFLUENCE", bone="lower", clear=True) == {"FINISHED"}
    assert not len(read(tube).influences.vertices)
    assert len(tube.data.araplbs.edits) == 4, "empty ones go"


@pytest.mark.parametrize(
    ("symmetric", "weight", "told"),
    [(True, 1.0, True), (True, 0.5, False), (False, 1.0, False)],
)
def test_pin_over_the_middle(symmetric, weight, told, capfd):
    """Symmetric halves the pinned weight of a bone of one side in the middle, which is said, and
    said only where it is so."""
    tube = add_tube("Tube", radius=0.9, sides=8, length=1.5)
    rig = add_armature("Rig", two_sided_bones())
    bpy.context.scene.araplbs.symmetric = symmetric
    auto_weight(tube, rig, symmetric=symmetric)
    select(tube)
    left = next(b.name for b in rig.data.bones if b.name.endswith((".L", "_l")))
    middle = [v.index for v in tube.data.vertices if abs(v.co.x) < 1e-4 and 0.7 < v.co.z < 1.1]
    pick(tube, middle)
    capfd.readouterr()
    assert edit(kind="WEIGHT", bone=left, weight=weight) == {"FINISHED"}
    assert ("in the middle" in capfd.readouterr().out) == told
    assert middle
    auto_weight(tube, rig, symmetric=symmetric)
    share = weights(tube, [left])[middle]
    assert share.max() < 0.6 if told or weight < 1 else share.min() > 0.9


def test_smooth_vertices(tube):
    """Smoothness needs no bone. An index from a script that is out of range counts as the end of
    the range."""
    pick(tube, [3, 4, 5])
    tube.vertex_groups.active_index = -1
    assert edit(kind="SMOOTH", strength=0.5) == {"FINISHED"}
    pick(tube, [5])
    assert edit(kind="SMOOTH") == {"FINISHED"}
    (item,) = tube.data.araplbs.edits
    assert (item.kind, item.bone, item.name) == ("SMOOTH", "", "All Bones")
    for names in (("lower", "middle", "upper"), ()):
        edits = read(tube, names)
        assert edits.any and edits.smoothed.vertices.tolist() == [3, 4, 5]
        assert edits.smoothed.values.tolist() == [0.5, 0.5, 1]
    module = addon("blender.data.edits")
    values = module.read_values(tube.data, item)
    values[3] = 7
    module.write_values(tube.data, item, values)
    assert read(tube).smoothed.values.tolist() == [1, 0.5, 1]
    pick(tube, [3, 4, 5])
    assert edit(kind="SMOOTH", clear=True) == {"FINISHED"}
    assert not tube.data.araplbs.edits


def test_a_row_selects_its_vertices(tube):
    """A click on a row of the list, which sets its index, selects the vertices of the correction.
    A stroke, which makes its own correction active, changes no selection."""
    manager = bpy.context.window_manager
    for vertices, bone in (([3, 4], "upper"), ([7], "lower")):
        pick(tube, vertices)
        edit(kind="WEIGHT", bone=bone)
        assert [v.index for v in tube.data.vertices if v.select] == vertices
    for row, vertices in ((0, [3, 4]), (1, [7]), (99, [7])):
        manager.araplbs_correction = row
        assert [v.index for v in tube.data.vertices if v.select] == vertices
        assert manager.araplbs_correction == tube.data.araplbs.active == min(row, 1)


def roughness(ob, names, vertices):
    """The difference between the weights of these vertices and the mean of their neighbors'
    weights."""
    dense, around = weights(ob, names), {v: [] for v in vertices}
    for a, b in (tuple(edge.vertices) for edge in ob.data.edges):
        for one, other in ((a, b), (b, a)):
            if one in around:
                around[one].append(other)
    return np.mean([np.abs(dense[v] - dense[n].mean(0)).sum() for v, n in around.items()])


def test_weights_are_smooth_where_they_shall_be(tube):
    names = ["lower", "middle", "upper"]
    rough = [v.index for v in tube.data.vertices if abs(v.co.z - 1) < 0.25]
    before = roughness(tube, names, rough)
    pick(tube, rough)
    assert edit(kind="SMOOTH") == {"FINISHED"}
    select(tube, tube.parent)
    auto_weight(tube, tube.parent)
    assert roughness(tube, names, rough) < 0.7 * before
    tube.data.araplbs.edits[0].use = False
    auto_weight(tube, tube.parent)
    assert roughness(tube, names, rough) == pytest.approx(before, rel=1e-6)


def test_opposite_bones(tube):
    """Opposite bones are found by name or else by position; bones on the plane or without an image
    have none."""
    opposite = addon("blender.read.read_armature").opposite_bone
    rig = tube.parent
    assert opposite(rig, "arm.L") == "arm.R" and opposite(None, "arm_r") == "arm_l"
    assert opposite(rig, "middle") == "middle" and opposite(rig, "none") == "none"
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, x in (("one", 1), ("other", -1), ("alone", 2)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0.1 * x, 0, 1), (x, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [opposite(rig, n) for n in ("one", "other", "alone")] == ["other", "one", "alone"]


def test_the_list(tube):
    pick(tube, [3, 4])
    edit(kind="WEIGHT", bone="upper")
    pick(tube, [7])
    edit(kind="RELEASE", bone="lower")
    assert bpy.ops.object.araplbs_select_edit(index=0) == {"FINISHED"}
    assert [v.index for v in tube.data.vertices if v.select] == [3, 4]
    assert bpy.ops.object.araplbs_remove_edit() == {"FINISHED"}  # the active one, the last
    assert [item.bone for item in tube.data.araplbs.edits] == ["upper"]
    assert bpy.ops.object.araplbs_remove_edit(index=0) == {"FINISHED"}
    assert not [a for a in tube.data.attributes if "araplbs" in a.name]
    assert not bpy.ops.object.araplbs_remove_edit.poll()


def test_the_bone_is_that_of_the_active_group(tube):
    tube.vertex_groups.active_index = tube.vertex_groups["middle"].index
    pick(tube, [1])
    edit(kind="WEIGHT")
    assert tube.data.araplbs.edits[0].bone == "middle"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: edit(kind="WEIGHT", bone="upper"), "No vertex of 'Tube' is selected"),
        (lambda: bpy.ops.object.araplbs_add_link(), "0 vertices of 'Tube' are selected instead"),
        *(
            (lambda to=to: bpy.ops.object.araplbs_add_link(first=1, second=to), f"s 1 and {to}")
            for to in (1, 9999)
        ),
    ],
)
def test_wrong_input(tube, call, message):
    pick(tube, [])
    with pytest.raises(RuntimeError, match=message):
        call()
    assert not tube.data.araplbs.edits


def test_wrong_index_and_no_groups(tube):
    pick(tube, [1])
    edit(kind="WEIGHT", bone="upper")
    with pytest.raises(RuntimeError, match="There is no edit 7: the list has 1"):
        bpy.ops.object.araplbs_remove_edit(index=7)
    tube.vertex_groups.clear()
    with pytest.raises(RuntimeError, match="'Tube' has no active vertex group: specify a bone"):
        edit(kind="WEIGHT")


def test_not_for_other_objects(tube):
    select(tube.parent)
    for name in ("edit_vertices", "add_link", "remove_edit", "select_edit", "select_worst"):
        assert not getattr(bpy.ops.object, f"araplbs_{name}").poll()


def test_edits_stay_with_their_vertices(tube):
    """Edits stay with their vertices through all changes to the mesh. New vertices have no
    edits."""
    z = {v.index: tuple(v.co) for v in tube.data.vertices}
    pick(tube, [100, 101])
    edit(kind="WEIGHT", bone="upper", weight=0.5)
    pick(tube, [0, 1, 2])
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
    edits = read(tube)
    places = [tuple(tube.data.vertices[v].co) for v in edits.constraints.vertices.tolist()]
    assert places == [z[100], z[101]]
    tube.data.vertices.add(5)
    assert len(read(tube).constraints.vertices) == 2


def test_copies_have_edits_of_their_own(tube):
    pick(tube, [100])
    edit(kind="WEIGHT", bone="upper", weight=0.5)
    other = tube.data.copy()
    addon("features.edits.operator").paint_edit(tube.data, "WEIGHT", "upper", [100], 0)
    assert not tube.data.araplbs.edits
    edits = addon("blender.data.edits").read_edits(other, ["upper"])
    assert edits.constraints.vertices.tolist() == [100]


def test_mirror_modifier_has_images_of_edits():
    """Edits, including links, have images. The bone of an image is the bone on the other side."""
    core, mirror = package("character.problem"), package("character.mirror_modifier")
    pairs, edits = package("model.edits").Pairs, package("model.edits").Edits
    names = ["a.L", "a.R"]
    skeleton = core.Skeleton(
        names,
        heads=np.array([(1.0, 0, 0), (-1, 0, 0)]),
        tails=np.array([(2.0, 0, 0), (-2, 0, 0)]),
        parents=np.array([-1, -1]),
        roll_axes=np.array([(0.0, 0, 1)] * 2),
        deform=np.ones(2, bool),
        limits=np.full((2, 3, 2), np.nan),
        opposite=np.array([1, 0]),
    )
    mesh = core.Mesh(
        "Half",
        np.array([(1.0, 0, 0), (2, 0, 0), (2, 1, 0)]),
        np.array([(0, 1, 2)]),
        np.zeros((0, 2), int),
        np.eye(4),
        [mirror.Reflection(np.diag([-1.0, 1, 1, 1]), None, True)],
        edits=edits(
            constraints=pairs(np.array([1]), np.array([0]), np.array([0.75])),
            links=np.array([[0, 2]]),
        ),
    )
    arguments = core.Problem([mesh], skeleton).arguments
    vertices, bones, values = arguments["constraints"]
    assert sorted(zip(vertices, bones, values, strict=True)) == [(1, 0, 0.75), (4, 1, 0.75)]
    assert sorted(map(tuple, arguments["edges"].tolist())) == [(0, 2), (3, 5)]
    vertices, bones, allowed = arguments["influences"]
    assert sorted(zip(vertices, bones, strict=True)) == [(1, 0), (4, 1)] and allowed.all()


def test_worst_vertices(tube):
    """The vertices that a bad weight affects, in all poses and in one."""
    rig = tube.parent
    bad = list(range(60, 64))
    tube.vertex_groups["upper"].add(bad, 1.0, "REPLACE")
    for name in ("lower", "middle"):
        tube.vertex_groups[name].remove(bad)
    percent = 100 * 4 / len(tube.data.vertices)
    assert bpy.ops.object.araplbs_select_worst(percent=percent) == {"FINISHED"}
    chosen = {v.index for v in tube.data.vertices if v.select}
    around = {v for e in tube.data.edges for v in e.vertices if set(e.vertices) & set(bad)}
    assert len(chosen) == 4 and chosen <= around
    strain = addon("blender.read.deformation_errors").object_strain(
        tube, bpy.context.view_layer, True
    )
    assert strain.max() < 1e-3, "the rest pose has none"
    rig.pose.bones["upper"].rotation_mode = "XYZ"
    rig.pose.bones["upper"].rotation_euler.x = 1.5
    bpy.context.view_layer.update()
    strain = addon("blender.read.deformation_errors").object_strain(
        tube, bpy.context.view_layer, True
    )
    assert strain.max() > 0.5 and set(np.argsort(-strain)[:4]) <= around
    colors = package("measures.strain_colors").strain_colors(strain)
    assert colors.shape == (len(strain), 3) and colors.min() >= 0 and colors.max() <= 255


def panel_settings(**values):
    """The edits that the tab shows."""
    settings = addon("operators.settings").settings_of(bpy.context)
    for name, value in values.items():
        setattr(settings, name, value)


@pytest.fixture
def panel():
    names = {f.name: f.default for f in dataclasses.fields(package("model.options").Options)}
    yield panel_settings
    panel_settings(**names)


@pytest.fixture
def view():
    found = addon("operators.error_view").view
    yield found
    bpy.context.window_manager.araplbs_errors = "NONE"
    found.cancel()


def selected_strain(capsys):
    """(least, most) percent that Select Worst Vertices reports."""
    capsys.readouterr()
    assert bpy.ops.object.araplbs_select_worst(percent=5) == {"FINISHED"}
    said = capsys.readouterr().out
    found = re.search(r"stretch from ([\d.]+) to ([\d.]+) %", said)
    return float(found[1]), float(found[2])


def test_worst_vertices_in_the_poses_of_the_panel(tube, panel, capsys):
    strain = addon("blender.read.deformation_errors").object_strain
    _least, usual = selected_strain(capsys)
    layer, options = bpy.context.view_layer, package("model.options").Options
    assert usual == pytest.approx(100 * strain(tube, layer, False).max(), abs=0.06)
    panel(swing=0.0, twist=0.0)
    assert selected_strain(capsys) == (0.0, 0.0)
    keyed(tube.parent, "upper", {1: 0.0, 5: 1.5})
    panel(animation="ACTIVE", animation_frames=5, pose_count=1)
    _least, moved = selected_strain(capsys)
    wanted = options(swing=0.0, twist=0.0, animation="ACTIVE", animation_frames=5, pose_count=1)
    assert moved == pytest.approx(100 * strain(tube, layer, False, wanted).max(), abs=0.06)
    assert moved > 10
    panel(animation="ALL")
    bpy.data.actions.remove(bpy.data.actions[0])
    with pytest.raises(RuntimeError, match="No action"):
        bpy.ops.object.araplbs_select_worst()


def test_only_bones_with_weights_are_posed(tube):
    """Bones that carry bones with weights are posed as well."""
    for vertex in range(len(tube.data.vertices)):
        tube.vertex_groups["middle"].add([vertex], 1.0, "REPLACE")
    for name in ("lower", "upper"):
        tube.vertex_groups[name].remove(range(len(tube.data.vertices)))
    errors = addon("blender.read.deformation_errors")
    options = package("model.options").Options()
    _rig, problem, _rows = errors.read_weighted(tube, bpy.context.view_layer, options)
    names = [n for n, so in zip(problem.skeleton.names, problem.skeleton.deform, strict=True) if so]
    assert names == ["lower", "middle"]


def test_view_in_the_poses_of_the_panel(tube, panel, view):
    """The poses are read once, even in Rest Position, and again when settings change."""
    strain, layer = addon("blender.read.deformation_errors").object_strain, bpy.context.view_layer
    options, rig = package("model.options").Options, tube.parent
    keyed(rig, "upper", {1: 0.0, 5: 1.5})
    rig.data.pose_position = "REST"
    layer.objects.active = tube
    panel(animation="ACTIVE", animation_frames=5, pose_count=2)
    manager = bpy.context.window_manager
    manager.araplbs_errors = "POSES"
    wanted = options(animation="ACTIVE", animation_frames=5, pose_count=2)
    np.testing.assert_allclose(look(view), strain(tube, layer, False, wanted), atol=1e-9)
    layer.update()  # the call above has read frames, too
    look(view)
    poses, source = view._poses, view._source
    layer.update()
    look(view)
    assert view._poses is poses and view._source is source
    panel(pose_count=3)
    wanted = dataclasses.replace(wanted, pose_count=3)
    np.testing.assert_allclose(look(view), strain(tube, layer, False, wanted), atol=1e-9)
    rig.data.pose_position = "POSE"
    bpy.context.scene.frame_set(5)
    manager.araplbs_errors = "POSE"
    np.testing.assert_allclose(look(view), strain(tube, layer, True), atol=1e-9)
    assert view.result.max() > 0.1


def test_view_of_all_bones(tube, panel, view):
    """The view shows the colors of the current weights and updates them when the weights change."""
    colors = package("measures.bone_colors").palette(len(tube.parent.data.bones))
    bpy.context.view_layer.objects.active = tube
    manager = bpy.context.window_manager
    manager.araplbs_errors = "BONES"
    names = [bone.name for bone in tube.parent.data.bones]
    for moved in ("lower", "upper"):
        everything = list(range(len(tube.data.vertices)))
        for group in tube.vertex_groups:
            group.remove(everything)
        tube.vertex_groups[moved].add(everything, 1.0, "REPLACE")
        view.forget()
        wanted = np.tile(colors[names.index(moved)], (len(everything), 1))
        np.testing.assert_allclose(look(view), wanted, atol=1e-6)


def test_view_of_a_mesh_on_a_bone(tube, panel, view):
    """Reading puts the armature into its rest position. This pose does not count as a change, so
    nothing is read again."""
    rig, layer = tube.parent, bpy.context.view_layer
    tube.parent_type, tube.parent_bone = "BONE", "middle"
    rig.pose.bones["upper"].rotation_quaternion = 0.8, 0.6, 0, 0
    layer.objects.active = tube
    layer.update()
    panel(pose_count=2)
    manager = bpy.context.window_manager
    manager.araplbs_errors = "POSES"
    assert look(view) is not None
    source = view._source
    for _ in range(3):
        layer.update()
        look(view)
    assert source and view._source is source


def test_view_after_a_mesh_that_has_no_colors(tube, panel, view):
    """The colors return with the mesh that had them."""
    layer, manager = bpy.context.view_layer, bpy.context.window_manager
    bare = add_tube("Bare")
    panel(pose_count=2)
    manager.araplbs_errors = "POSES"
    layer.objects.active = tube
    wanted = look(view).copy()
    layer.objects.active = bare
    assert look(view) is None
    assert view.message == "'Bare' has no armature"
    layer.objects.active = tube
    np.testing.assert_array_equal(look(view), wanted)
    assert view.message is None


@pytest.mark.parametrize("preserve_volume", [False, True])
def test_strain_of_a_pose_is_that_of_the_deformed_mesh(tube, preserve_volume):
    """If one bone is bent and twisted, the strain around each vertex equals the strain of the
    evaluated mesh."""
    import araplbs

    rig = tube.parent
    rig.pose.bones["upper"].rotation_mode = "XYZ"
    rig.pose.bones["upper"].rotation_euler = 1.0, 1.2, 0
    armature = next(m for m in tube.modifiers if m.type == "ARMATURE")
    armature.use_deform_preserve_volume = preserve_volume
    bpy.context.view_layer.update()
    strain = addon("blender.read.deformation_errors").object_strain(
        tube, bpy.context.view_layer, True
    )
    rest = np.array([v.co for v in tube.data.vertices])
    points = addon("blender.poses.posed").posed_vertices(
        tube, bpy.context.evaluated_depsgraph_get()
    )
    tube.data.calc_loop_triangles()
    triangles = np.array([tuple(t.vertices) for t in tube.data.loop_triangles])
    each = araplbs.surface_strain(rest, triangles, points)
    a, b, c = rest[triangles].transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    for i, found in enumerate(strain):
        faces = (triangles == i).any(1)
        expected = np.sqrt(each[faces] ** 2 @ area[faces] / area[faces].sum())
        assert found == pytest.approx(expected, abs=1e-4)


def test_no_armature(tube):
    tube.modifiers.clear()
    tube.parent = None
    with pytest.raises(RuntimeError, match="'Tube' has no armature"):
        bpy.ops.object.araplbs_select_worst()


def test_restored_edits_are_the_same(tube):
    module = addon("blender.data.edits")
    pick(tube, [3, 4])
    edit(kind="WEIGHT", bone="upper", weight=0.25)
    copy = module.copy_edits(tube.data)
    edit(kind="RELEASE", bone="lower")
    pick(tube, range(50))
    edit(kind="WEIGHT", bone="upper", clear=True)
    module.restore_edits(tube.data, copy)
    edits = read(tube)
    assert edits.constraints.vertices.tolist() == [3, 4]
    assert edits.constraints.values.tolist() == [0.25, 0.25]
    assert len(tube.data.araplbs.edits) == 1
    assert len([a for a in tube.data.attributes if "araplbs" in a.name]) == 1


FOREIGN = ("position", "material_index", ".araplbs.faces", "UV", "nothing", "")


@pytest.mark.parametrize("layer", FOREIGN)
def test_a_layer_that_is_no_edit_of_ours_is_never_touched(layer):
    """A foreign layer with the name of an edit gives the edit no values, and the edit is written to
    a layer next to it."""
    edits = addon("blender.data.edits")
    tube, _rig = tube_and_rig()
    mesh = tube.data
    mesh.uv_layers.new(name="UV")
    mesh.attributes.new("material_index", "INT", "FACE")
    mesh.attributes.new(".araplbs.faces", "FLOAT", "FACE")
    mesh.attributes.new("nothing", "FLOAT", "POINT").data[3].value = 0.5

    def others():
        return {
            a.name: [getattr(e, "vector", getattr(e, "value", None)) for e in a.data]
            for a in mesh.attributes
            if a.name in FOREIGN
        }

    before = {name: list(map(str, values)) for name, values in others().items()}
    item = edits.ensure_edit(mesh, "WEIGHT", "upper")
    item.layer = layer
    assert not edits.read_values(mesh, item).any()
    values = np.zeros(len(mesh.vertices), np.float32)
    values[[4, 5]] = 1.5
    copy = edits.copy_edits(mesh)
    edits.write_values(mesh, item, values)
    assert item.layer.startswith(edits.PREFIX)
    np.testing.assert_array_equal(edits.read_values(mesh, item), values)
    edits.restore_edits(mesh, copy)
    assert mesh.araplbs.edits[0].layer == layer or layer.startswith(edits.PREFIX)
    if not layer.startswith(edits.PREFIX):
        mesh.araplbs.edits[0].layer = layer
    select(tube)
    mesh.vertices.foreach_set("select", [True] * len(mesh.vertices))
    bpy.ops.object.araplbs_edit_vertices(kind="SMOOTH")
    bpy.ops.object.araplbs_mark_rigid(source="SELECTED")
    for _ in range(len(mesh.araplbs.edits)):
        edits.remove_edit(mesh, 0)
    assert {name: list(map(str, values)) for name, values in others().items()} == before
    assert not [
        a.name for a in mesh.attributes if a.name.startswith(edits.PREFIX) and a.name not in FOREIGN
    ]


def test_two_edits_of_one_layer():
    """If one edit is removed, the other keeps its values."""
    edits = addon("blender.data.edits")
    tube, _rig = tube_and_rig()
    for name in ("A", "B"):
        edits.add_rigid_part(tube.data, [1, 2] if name == "A" else [5, 6], name)
    items = tube.data.araplbs.edits
    items[1].layer = items[0].layer
    edits.remove_edit(tube.data, 1)
    assert np.flatnonzero(edits.read_values(tube.data, items[0])).tolist() == [1, 2]
