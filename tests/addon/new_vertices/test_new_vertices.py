"""Weight Only What Is New: only new vertices get weights, which continue their neighbors'
weights."""

import bmesh
import bpy
import numpy as np
import pytest
from command import opened, run, save
from deep import refused
from flaws import near, remove, weighted
from paths import DATA, shared_file
from scenes import (
    add_armature,
    add_cube,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    select,
    tube_and_rig,
    weights,
)


def weight_new_vertices(*objects, **options):
    if objects:
        select(*objects)
    return bpy.ops.object.araplbs_new_vertices("EXEC_DEFAULT", **options)


def around(tube, height):
    return near(tube, height, 0.35)


def others_stay(before, after, new):
    """Checks that the other weights stay bit-identical."""
    kept = set(range(len(before))) - set(new)
    return all(before[i] == after[i] for i in kept)


def test_weights_that_were_removed_come_back():
    tube, rig = weighted()
    before, dense = entries(tube), weights(tube, deform_names(rig))
    new = around(tube, 1.0)
    remove(tube, new)
    assert weight_new_vertices(tube, rig) == {"FINISHED"}
    assert others_stay(before, entries(tube), new)
    again = assert_good(tube, rig)
    assert np.abs(again - dense)[new].sum(1).mean() < 0.1


def edit(ob):
    """The vertices of the mesh in Edit mode, none of them selected."""
    select(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    return bmesh.from_edit_mesh(ob.data)


def test_subdivided_in_edit_mode():
    """The new vertices already have interpolated weights, so the selection determines which
    vertices are solved."""
    tube, rig = weighted()
    edited = edit(tube)
    for edge in edited.edges:
        edge.select = all(abs(v.co.z - 1.0) < 0.2 for v in edge.verts)
    bpy.ops.mesh.subdivide()
    bpy.ops.mesh.select_mode(type="VERT")
    edited = bmesh.from_edit_mesh(tube.data)
    new = [v.index for v in edited.verts if v.select]
    tube.update_from_editmode()
    before = entries(tube)
    assert weight_new_vertices() == {"FINISHED"} and tube.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    after = entries(tube)
    assert others_stay(before, after, new) and before != after
    assert_good(tube, rig)


def test_extruded_in_edit_mode():
    tube, rig = weighted()
    edited = edit(tube)
    top = max(v.co.z for v in edited.verts)
    for face in edited.faces:
        face.select = all(v.co.z > top - 1e-4 for v in face.verts)
    bpy.ops.mesh.extrude_region_move(TRANSFORM_OT_translate={"value": (0, 0, 0.3)})
    tube.update_from_editmode()
    before = entries(tube)
    new = [v.index for v in tube.data.vertices if v.select]
    assert len(new) == 11 and weight_new_vertices() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert others_stay(before, entries(tube), new)
    dense = assert_good(tube, rig)
    assert (dense[new, deform_names(rig).index("upper")] > 0.9).all()


def test_edit_mode_writes_what_object_mode_does():
    found = []
    for mode in ("OBJECT", "EDIT"):
        tube, rig = weighted()
        new = around(tube, 1.0)
        remove(tube, new)
        if mode == "EDIT":
            for vertex in edit(tube).verts:
                vertex.select = vertex.index in new
            bmesh.from_edit_mesh(tube.data).select_flush_mode()
            assert weight_new_vertices() == {"FINISHED"}
            bpy.ops.object.mode_set(mode="OBJECT")
        else:
            assert weight_new_vertices(tube, rig) == {"FINISHED"}
        found.append(entries(tube))
        bpy.data.objects.remove(tube)
        bpy.data.objects.remove(rig)
    assert found[0] == found[1]


def test_new_object_follows_what_it_sits_on():
    """An unbound button moves with the skin below it."""
    tube, rig = weighted()
    before = entries(tube)
    button = add_cube("Button", (0.33, 0, 1.5), 0.06)
    assert weight_new_vertices(button, tube, rig) == {"FINISHED"}
    assert entries(tube) == before
    dense = assert_good(button, rig)
    assert button.find_armature() == rig
    beside = [v.index for v in tube.data.vertices if abs(v.co.z - 1.5) < 0.2 and v.co.x > 0.2]
    skin = weights(tube, deform_names(rig))[beside].mean(0)
    assert np.abs(dense - skin).sum(1).max() < 0.2


def test_nothing_has_weights_yet():
    """All vertices are new, and the result is as good as that of Auto-weight."""
    tube, rig = tube_and_rig()
    assert weight_new_vertices(tube, rig) == {"FINISHED"}
    assert_good(tube, rig)


def test_split_vertices_stay_together():
    """If two vertices coincide, the new one gets the other one's weights."""
    tube, rig = weighted()
    edited = edit(tube)
    for edge in edited.edges:
        edge.select = all(abs(v.co.z - 1.5) < 1e-3 for v in edge.verts)
    bpy.ops.mesh.edge_split()
    bpy.ops.object.mode_set(mode="OBJECT")
    places = {}
    for vertex in tube.data.vertices:
        places.setdefault(tuple(round(c, 5) for c in vertex.co), []).append(vertex.index)
    twins = [which for which in places.values() if len(which) == 2]
    assert len(twins) == 10
    remove(tube, [second for _first, second in twins])
    assert weight_new_vertices(tube, rig) == {"FINISHED"}
    dense = weights(tube, deform_names(rig))
    for first, second in twins:
        assert np.abs(dense[first] - dense[second]).max() < 1e-6


def test_mirrored():
    """On half a character, new vertices at the mirror plane are tied to their images."""
    rig = add_armature()
    tube, _other = tube_and_rig()
    bpy.data.objects.remove(_other)
    edited = edit(tube)
    bmesh.ops.delete(edited, geom=[v for v in edited.verts if v.co.x < -1e-4], context="VERTS")
    bpy.ops.object.mode_set(mode="OBJECT")
    tube.modifiers.clear()
    tube.modifiers.new("Mirror", "MIRROR")
    bind(tube, rig)
    auto_weight(tube, rig)
    before, dense = entries(tube), weights(tube, deform_names(rig))
    new = around(tube, 1.0)
    remove(tube, new)
    assert weight_new_vertices(tube, rig) == {"FINISHED"}
    assert others_stay(before, entries(tube), new)
    assert np.abs(assert_good(tube, rig) - dense)[new].sum(1).mean() < 0.1


def test_refusals():
    tube, rig = weighted()
    said = refused("new_vertices", tube, rig)
    assert "Every vertex of 'Tube' already has weights: there is nothing new to weight" in said
    edit(tube)
    assert "Select the vertices to weight" in refused("new_vertices")
    bpy.ops.object.mode_set(mode="SCULPT")
    assert "Available only in Object, Edit and Weight Paint modes" in refused("new_vertices")
    bpy.ops.object.mode_set(mode="OBJECT")
    edit(add_cube("Cube", (0, 0, 0)))
    bpy.ops.mesh.select_all(action="SELECT")
    assert "'Cube' has no armature" in refused("new_vertices")


def seam(ob, dense, new):
    """The mean L1 difference of weights over edges of the seam."""
    ends = np.array([tuple(edge.vertices) for edge in ob.data.edges])
    is_new = np.zeros(len(dense), bool)
    is_new[new] = True
    crosses = is_new[ends[:, 0]] != is_new[ends[:, 1]]
    return np.abs(dense[ends[crosses, 0]] - dense[ends[crosses, 1]]).sum(1).mean()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["knight", "mage", "m2m_horse", "mh_game"])
def test_patch_of_a_character(name):
    """Removed weights of a patch are restored nearly unchanged, and without a seam."""
    bpy.ops.wm.open_mainfile(filepath=str(shared_file(DATA, f"{name}.blend")))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == rig]
    ob = max(meshes, key=lambda mesh: len(mesh.data.vertices))
    assert auto_weight(ob, rig) == {"FINISHED"}
    names = deform_names(rig)
    before, dense = entries(ob), weights(ob, names)
    points = np.array([v.co for v in ob.data.vertices])
    middle = points[np.argsort(np.linalg.norm(points - points.mean(0), axis=1))[100]]
    new = np.argsort(np.linalg.norm(points - middle, axis=1))[:100].tolist()
    remove(ob, new)
    assert weight_new_vertices(ob, rig) == {"FINISHED"}
    assert others_stay(before, entries(ob), new)
    again = assert_good(ob, rig)
    off = np.abs(again - dense)[new].sum(1).mean()
    print(f"{name}: L1 {off:.3f}, seam {seam(ob, dense, new):.3f} to {seam(ob, again, new):.3f}")
    assert off < 0.2
    assert seam(ob, again, new) < 1.1 * seam(ob, dense, new) + 0.01


def test_command(tmp_path, capfd):
    tube, rig = weighted()
    new = around(tube, 1.0)
    before, names = entries(tube), deform_names(rig)
    remove(tube, new)
    source = save(tmp_path / "in.blend")
    assert run("weight", "--only-new", source, "-o", tmp_path / "out.blend") == 0
    assert f"{len(new)} new vertices, solved with" in capfd.readouterr().out
    tube = opened(tmp_path / "out.blend")["Tube"]
    assert others_stay(before, entries(tube), new)
    assert np.abs(weights(tube, names).sum(1) - 1).max() < 1e-6


def test_undo_in_edit_mode():
    """One undo step, including new groups; test_every_task.py tests this in Object mode."""
    tube, _rig = weighted()
    new = around(tube, 2.5)
    remove(tube, new)
    tube.vertex_groups.remove(tube.vertex_groups["upper"])
    before = [entries(tube), [group.name for group in tube.vertex_groups]]
    for vertex in edit(tube).verts:
        vertex.select = vertex.index in new
    bmesh.from_edit_mesh(tube.data).select_flush_mode()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo_push(message="before")
    assert weight_new_vertices() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="weighted")
    after = bpy.data.objects["Tube"]
    after.update_from_editmode()
    assert entries(after) != before[0] and "upper" in after.vertex_groups
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    assert tube.mode == "EDIT"
    tube.update_from_editmode()
    left = [group.name for group in tube.vertex_groups]
    if bpy.app.version < (4, 5):  # no names of groups in its undo
        left.remove("upper")
    assert [entries(tube), left] == before


def below(ob, vertices):
    chosen = np.zeros(len(ob.data.vertices), bool)
    chosen[list(vertices)] = True
    return np.packbits(chosen).tobytes()


def test_vertices_below_a_stroke():
    """They are computed again as their corrections say. All others and the Result stay."""
    tube, rig = weighted()
    new = around(tube, 1.0)
    tube.vertex_groups["upper"].add(new[::2], 0.9, "REPLACE")
    before, rough = entries(tube), weights(tube, deform_names(rig))[new]
    mark = tube.data.araplbs.weighting = "abc:AFTER"
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    solve = bpy.ops.object.araplbs_solve_below
    assert solve("EXEC_DEFAULT", vertices=below(tube, new)) == {"FINISHED"}
    assert others_stay(before, entries(tube), new)
    smooth = assert_good(tube, rig)[new]
    assert smooth[:, 2].max() < 0.1 < rough[:, 2].max()
    assert tube.data.araplbs.weighting == mark
    with pytest.raises(RuntimeError, match="These are the vertices of another mesh"):
        solve("EXEC_DEFAULT", vertices=b"a")
