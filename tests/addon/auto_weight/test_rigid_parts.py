"""Rigid parts that operators mark, that are stored with the mesh, and that the search finds; also
in sessions, files and panels."""

import bmesh
import bpy
import numpy as np
import pytest
from command import opened, run, save
from rows_of import Rows, drawn
from scenes import (
    add_cube,
    add_mesh,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    package,
    select,
    tube_and_rig,
    weighting,
    weights,
)
from sessions import accept, cancel, pick, settle, settled, start, tick_until


@pytest.fixture
def tube():
    ob, _rig = tube_and_rig()
    select(ob)
    return ob


def mark(source="SELECTED", **arguments):
    return bpy.ops.object.araplbs_mark_rigid(source=source, **arguments)


def parts(ob):
    return [p.tolist() for p in addon("blender.data.edits").read_edits(ob.data, []).rigid]


def mark_band(ob, low=1.2, high=2.2):
    """Marks the vertices between two heights and returns them."""
    vertices = [v.index for v in ob.data.vertices if low < v.co.z < high]
    pick(ob, vertices)
    bpy.context.view_layer.objects.active = ob
    assert mark() == {"FINISHED"}
    return vertices


def is_rigid(ob, rig, vertices):
    rows = weights(ob, deform_names(rig))[vertices]
    return bool((rows == rows[0]).all()) and int((rows[0] > 0).sum())


def test_selected_vertices(tube):
    pick(tube, [3, 4, 5])
    assert mark() == {"FINISHED"}
    pick(tube, [5, 6])
    assert mark() == {"FINISHED"}
    assert parts(tube) == [[3, 4], [5, 6]], "a vertex is of one part"
    pick(tube, [4, 5, 6])
    assert bpy.ops.object.araplbs_clear_rigid() == {"FINISHED"}
    assert parts(tube) == [[3]]
    assert len(tube.data.araplbs.edits) == 1, "empty ones go"
    assert bpy.ops.object.araplbs_clear_rigid(everything=True) == {"FINISHED"}
    assert not tube.data.araplbs.edits
    assert not [a for a in tube.data.attributes if "araplbs" in a.name]


def test_in_edit_mode(tube):
    """The operators use the selection in Edit mode, and the mode stays."""
    pick(tube, [])
    bpy.ops.object.mode_set(mode="EDIT")
    mesh = bmesh.from_edit_mesh(tube.data)
    mesh.verts.ensure_lookup_table()
    for index in (7, 8):
        mesh.verts[index].select_set(True)
    bmesh.update_edit_mesh(tube.data)
    assert mark() == {"FINISHED"}
    assert tube.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert parts(tube) == [[7, 8]]


def test_other_sources(tube):
    mesh = tube.data
    group = tube.vertex_groups.new(name="Plate")
    group.add([1, 2, 9], 0.5, "REPLACE")
    group.add([10], 0.0, "REPLACE")
    tube.vertex_groups.active_index = group.index
    assert mark("GROUP") == {"FINISHED"}
    for name in ("Skin", "Steel"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons[20].material_index = mesh.polygons[21].material_index = 1
    tube.active_material_index = 1
    assert mark("MATERIAL") == {"FINISHED"}
    steel = sorted({v for p in (20, 21) for v in mesh.polygons[p].vertices})
    sets = mesh.attributes.new(".sculpt_face_set", "INT", "FACE")
    numbers = np.ones(len(mesh.polygons), np.int32)
    numbers[[50, 51]], numbers[90] = 3, 5
    sets.data.foreach_set("value", numbers)
    pick(tube, [*mesh.polygons[50].vertices, *mesh.polygons[90].vertices])
    assert mark("FACE_SETS") == {"FINISHED"}
    third = sorted({v for p in (50, 51) for v in mesh.polygons[p].vertices})
    assert parts(tube) == [[1, 2, 9], steel, third, sorted(mesh.polygons[90].vertices)]
    assert [e.name for e in mesh.araplbs.edits] == [
        "Rigid Part Plate",
        "Rigid Part Steel",
        "Rigid Part Face Set 3",
        "Rigid Part Face Set 5",
    ]


def test_loose_parts_apart():
    tube, _rig = tube_and_rig()
    cubes = [add_cube(f"Cube{k}", (0.4, 0, k)) for k in (1, 2)]
    select(tube, *cubes, active=tube)
    bpy.ops.object.join()
    count = len(tube.data.vertices)
    pick(tube, range(count - 16, count))
    assert mark(separate=True) == {"FINISHED"}
    assert parts(tube) == [list(range(count - 16, count - 8)), list(range(count - 8, count))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "SELECTED"}, "No vertex of 'Tube' is selected"),
        ({"source": "GROUP"}, "'Tube' has no active vertex group"),
        ({"source": "MATERIAL"}, "'Tube' has no material"),
        ({"source": "FACE_SETS"}, "'Tube' has no face sets"),
    ],
)
@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_refusals(tube, arguments, message, mode):
    pick(tube, [])
    bpy.ops.object.mode_set(mode=mode)
    with pytest.raises(RuntimeError, match=message):
        mark(**arguments)
    assert tube.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not tube.data.araplbs.edits


def test_more_refusals(tube):
    pick(tube, [])
    tube.vertex_groups.new(name="Empty")
    with pytest.raises(RuntimeError, match="No vertex of 'Tube' is in the vertex group 'Empty'"):
        mark("GROUP")
    tube.data.materials.append(bpy.data.materials.new("Skin"))
    tube.data.materials.append(bpy.data.materials.new("Steel"))
    tube.active_material_index = 1
    with pytest.raises(RuntimeError, match="No face of 'Tube' has the material 'Steel'"):
        mark("MATERIAL")
    tube.data.attributes.new(".sculpt_face_set", "INT", "FACE")
    with pytest.raises(RuntimeError, match="No face of 'Tube' is selected"):
        mark("FACE_SETS")
    select(bpy.data.objects["Rig"])
    assert not bpy.ops.object.araplbs_mark_rigid.poll()


def test_weights_of_a_marked_part(tube):
    rig = bpy.data.objects["Rig"]
    vertices = mark_band(tube)
    auto_weight(tube, rig)
    assert_good(tube, rig)
    assert is_rigid(tube, rig, vertices) == 1
    auto_weight(tube, rig, rigid_influences=0, min_gain=0)
    assert is_rigid(tube, rig, vertices) > 1
    auto_weight(tube, rig, rigid_parts="OFF")
    assert not is_rigid(tube, rig, vertices)
    tube.data.araplbs.edits[0].use = False
    auto_weight(tube, rig)
    assert not is_rigid(tube, rig, vertices)


def test_marks_stay_with_their_vertices(tube):
    """The marks survive copying, subdivision and undo."""
    vertices = mark_band(tube)
    places = {tuple(tube.data.vertices[v].co) for v in vertices}
    copy = tube.copy()
    copy.data = tube.data.copy()
    assert parts(copy) == [vertices]
    bpy.ops.ed.undo_push(message="marked")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    (part,) = parts(tube)
    assert places <= {tuple(tube.data.vertices[v].co) for v in part}
    bpy.ops.ed.undo_push(message="subdivided")
    bpy.ops.object.araplbs_clear_rigid(everything=True)
    bpy.ops.ed.undo_push(message="cleared")
    assert not parts(bpy.data.objects["Tube"])
    bpy.ops.ed.undo()
    assert parts(bpy.data.objects["Tube"]) == [part]
    bpy.ops.ed.undo()
    assert parts(bpy.data.objects["Tube"]) == [vertices]


@pytest.mark.parametrize("merge", [True, False])
def test_images_of_a_mirror_modifier(merge):
    """On half a tube, a part at the mirror plane forms one part with its image; any other image is
    a part of its own."""
    tube, rig = tube_and_rig()
    whole = tube.data
    half = [p for p in whole.polygons if all(whole.vertices[v].co.y > -1e-6 for v in p.vertices)]
    ob = add_mesh("Half", [v.co[:] for v in whole.vertices], [p.vertices[:] for p in half])
    bpy.data.objects.remove(tube)
    modifier = ob.modifiers.new("Mirror", "MIRROR")
    modifier.use_axis = (False, True, False)
    modifier.use_mirror_merge = merge
    bind(ob, rig)
    select(ob)
    vertices = mark_band(ob)
    auto_weight(ob, rig)
    assert is_rigid(ob, rig, vertices) == 1


def test_session_follows_marks(tube):
    rig = bpy.data.objects["Rig"]
    auto_weight(tube, rig)
    session = settled(tube, rig)
    before = session.copy_edits()
    vertices = mark_band(tube)
    settle(session)
    assert is_rigid(tube, rig, vertices) == 1
    assert session.undo_edit(), f"{before} is noted as a stroke"
    settle(session)
    assert not is_rigid(tube, rig, vertices) and not parts(tube)
    assert session.undo_edit(redo=True)
    settle(session)
    accept(session)
    assert is_rigid(tube, rig, vertices) == 1
    assert session.report["rigid_parts"] == 1


@pytest.mark.parametrize("early", [True, False])
def test_escape_takes_marks_back(tube, early):
    rig = bpy.data.objects["Rig"]
    auto_weight(tube, rig)
    was = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    mark_band(tube)
    if not early:
        settle(session)
    cancel(session)
    assert entries(tube) == was and not tube.data.araplbs.edits


def with_plates():
    """A tube with three plates, as a Mesh, and the vertices of the plates."""
    tube, rig = tube_and_rig()
    cubes = [add_cube(f"Plate{k}", (0.32, 0, 0.5 + k), 0.12) for k in range(3)]
    count = len(tube.data.vertices)
    select(tube, *cubes, active=tube)
    bpy.ops.object.join()
    return tube, rig, [list(range(count + 8 * k, count + 8 * k + 8)) for k in range(3)]


def solver_report(ob, rig, **options):
    """The report of the weighting, which the operator gives only in words."""
    task = weighting(rig, ob, **options)
    task.solve()
    return task.apply()


def test_found_since_it_loses_nothing():
    tube, rig, plates = with_plates()
    report = solver_report(tube, rig)
    assert report["found_rigid_parts"] == report["rigid_parts"] >= 1
    found = report["rigid"]
    assert {"object": tube.name, "vertex": plates[0][0], "size": 8, "bone": "lower"} in found
    assert len(found) == report["rigid_parts"]
    (line,) = package("reports.report").notes(report)
    assert line.startswith(f"{len(found)} rigid part") and "all found automatically: on" in line
    assert "lower" in line
    assert is_rigid(tube, rig, plates[0])
    assert not is_rigid(tube, rig, range(190))
    report = solver_report(tube, rig, rigid_parts="MARKED")
    assert report["rigid_parts"] == 0 and not report["rigid"], "nothing is searched"


def test_found_since_the_artist_did_so():
    """A plate with a single row of weights counts if the rest of its mesh is painted differently. A
    mesh with only one row does not count."""
    tube, rig, plates = with_plates()
    bind(tube, rig)
    for bone in deform_names(rig):
        tube.vertex_groups.new(name=bone)
    everywhere = range(len(tube.data.vertices))
    tube.vertex_groups["lower"].add(everywhere, 1.0, "REPLACE")
    report = solver_report(tube, rig, start_from="PRESENT")
    assert report["rigid_parts"] == report["found_rigid_parts"], "by their motion alone"
    for group in tube.vertex_groups:
        group.remove(everywhere)
    for vertex in tube.data.vertices:
        tube.vertex_groups["lower"].add([vertex.index], min(1, vertex.co.z / 3), "REPLACE")
    tube.vertex_groups["lower"].add(plates[1], 0.75, "REPLACE")
    tube.vertex_groups["middle"].add(plates[1], 0.25, "REPLACE")
    report = solver_report(tube, rig, start_from="PRESENT", rigid_influences=0)
    assert report["rigid_parts"] > report["found_rigid_parts"]
    assert is_rigid(tube, rig, plates[1])
    report = solver_report(tube, rig, rigid_influences=0)
    assert report["rigid_parts"] == report["found_rigid_parts"], "fresh weights owe the old nothing"


def test_of_the_artist():
    """The artist's rigid parts are found by loose part. No part is found if all rows are equal."""
    core = package("character.problem")
    sparse = package("model.sparse_weights").make_sparse_weights
    parts_of_artist = package("character.rigid_parts").parts_of_artist
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [2, 0, 0], [1, 1, 0]], float)
    more = np.vstack([vertices, vertices + np.array([0, 0, 5])])
    triangles = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    mesh = core.Mesh("M", more, triangles, np.zeros((0, 2), int), np.eye(4))
    assert package("character.rigid_parts").loose_parts(mesh).tolist() == [0] * 6 + [1] * 6, "seams"
    low = np.full(6, 1.0)
    for painted, expected in (
        (np.linspace(0.1, 0.9, 6), [[6, 7, 8, 9, 10, 11]]),
        (np.full(6, 0.5), [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]),
        (low, []),
    ):
        values = np.concatenate([painted, low])
        mesh.weights = sparse(12, np.arange(12), np.zeros(12, int), values)
        (found,) = parts_of_artist([mesh])
        assert [part.tolist() for part in found] == expected
    mesh.weights = sparse(12, np.arange(6), np.zeros(6, int), low)
    (found,) = parts_of_artist([mesh])
    assert [part.tolist() for part in found] == [[0, 1, 2, 3, 4, 5]], "no weights are no sign"


def test_volumes_refuse(tube):
    rig = bpy.data.objects["Rig"]
    mark_band(tube)
    mesh = package("character.mesh").Mesh
    read_volume = addon("blender.read.read_volume").read_volume
    options = package("model.options").Options
    edits = addon("blender.data.edits").read_edits(tube.data, deform_names(rig))
    marked = mesh("Tube", np.zeros((0, 3)), *[np.zeros((0, 2))] * 2, np.eye(4), edits=edits)
    refused = package("base.refusal").Refused
    with pytest.raises(refused, match="'Tube' has rigid parts, which a volume does not support"):
        read_volume(options(volume="INSIDE"), [marked])
    assert read_volume(options(volume="INSIDE", rigid_parts="OFF"), [marked])


def test_command_line(tmp_path, capfd):
    tube, _rig = tube_and_rig()
    select(tube)
    vertices = mark_band(tube)
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("weight", path, "--output", out) == 0
    assert "1 rigid part" in capfd.readouterr().out
    objects = opened(out)
    assert is_rigid(objects["Tube"], objects["Rig"], vertices) == 1
    assert parts(objects["Tube"]) == [vertices], "saved with the file"
    assert run("weight", path, "--output", out, "--rigid-parts", "off") == 0
    objects = opened(out)
    assert not is_rigid(objects["Tube"], objects["Rig"], vertices)


@pytest.mark.parametrize(("marked", "text"), [(False, "Mark Rigid Part"), (True, "Rigid Parts: 1")])
def test_the_panel_counts_them(tube, marked, text):
    if marked:
        mark_band(tube)
    layout = Rows()
    addon("panels.bones_panel").draw_rigid(layout, tube)
    assert ("menu", "VIEW3D_MT_araplbs_rigid", text) in layout.seen
    drawn(addon("features.edits.rigid").VIEW3D_MT_araplbs_rigid)
    seen = drawn(addon("panels.bones_panel").VIEW3D_PT_araplbs_bones).seen
    assert "rigid_parts" in [name for what, name, _text in seen if what == "prop"]
    assert "rigid_parts" in addon("operators.properties").MAIN
