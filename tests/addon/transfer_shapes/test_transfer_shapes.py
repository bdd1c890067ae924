"""Transfer Shape Keys: written and unchanged keys, sliders and drivers, refusals, and the command
line."""

import bpy
import deep
import numpy as np
import pytest
from command import opened, run, save
from mathutils import Matrix
from scenes import add_mesh, add_tube, addon, in_library, package, select

TURN = Matrix.Rotation(0.7, 4, "X") @ Matrix.Scale(2.0, 4)


def transfer(*targets, source, **options):
    select(*targets, source)
    return bpy.ops.object.araplbs_transfer_shapes("EXEC_DEFAULT", **options)


def key(ob, name, change=None, **more):
    """A new shape key: the rest shape, changed by a function of its coordinates (n, 3)."""
    if not ob.data.shape_keys:
        ob.shape_key_add(name="Basis")
    block = ob.shape_key_add(name=name, from_mix=False)
    if change:
        write(block, change(shape(ob, ob.data.shape_keys.reference_key.name)))
    for attribute, value in more.items():
        setattr(block, attribute, value)
    return block


def write(block, points):
    block.data.foreach_set("co", np.asarray(points, np.float32).ravel())


def shape(ob, name):
    block = ob.data.shape_keys.key_blocks[name]
    found = np.empty(3 * len(block.data), np.float32)
    block.data.foreach_get("co", found)
    return found.reshape(-1, 3).astype(float)


def names(ob):
    return [block.name for block in ob.data.shape_keys.key_blocks] if ob.data.shape_keys else []


def state(ob):
    """All shape keys of an object, and the shape that it shows."""
    keys = ob.data.shape_keys
    if not keys:
        return None
    blocks = [
        (
            block.name,
            shape(ob, block.name).tolist(),
            *(block.value, block.slider_min, block.slider_max, block.mute),
            *(block.relative_key.name, block.vertex_group),
        )
        for block in keys.key_blocks
    ]
    drivers = keys.animation_data.drivers if keys.animation_data else ()
    return blocks, [(d.data_path, d.driver.type) for d in drivers], ob.active_shape_key_index


def fat(points):
    return points * [1.5, 1.5, 1]


def lean(points):
    """The points, sheared along X in proportion to the height."""
    return points + 0.1 * points[:, 2:] * [1, 0, 0]


def body_and_sleeve(matrix=None):
    """A tube with two keys, and a second tube around it with its own transform."""
    tube = add_tube()
    key(tube, "Fat", fat)
    key(tube, "Lean", lean)
    key(tube, "Nothing")
    sleeve = add_tube("Sleeve", radius=0.33, rings=25, sides=14, caps=False)
    if matrix:
        sleeve.data.transform(matrix.inverted())
        sleeve.matrix_world = matrix
    return tube, sleeve


@pytest.mark.parametrize("matrix", [None, TURN])
def test_result(matrix):
    """A sleeve over the tube, in a space of its own, keeps its distance and shears."""
    tube, sleeve = body_and_sleeve(matrix)
    before = state(tube)
    assert transfer(sleeve, source=tube) == {"FINISHED"}
    assert state(tube) == before
    assert names(sleeve) == ["Basis", "Fat", "Lean"]
    place = np.array(sleeve.matrix_world)

    def world(name):
        return shape(sleeve, name) @ place[:3, :3].T + place[:3, 3]

    rest = world("Basis")
    middle = (rest[:, 2] > 0.4) & (rest[:, 2] < 2.6)
    radii = np.linalg.norm(world("Fat")[middle][:, :2], axis=1)
    assert radii.min() > 0.45 and radii.max() < 0.51
    assert np.abs(world("Fat")[middle][:, 2] - rest[middle][:, 2]).max() < 0.02
    np.testing.assert_allclose(world("Lean")[middle], lean(rest)[middle], atol=0.02)
    assert all(b.value == 0 for b in sleeve.data.shape_keys.key_blocks[1:])
    assert {b.relative_key.name for b in sleeve.data.shape_keys.key_blocks} == {"Basis"}


def test_of_several_meshes():
    """A key is transferred only to the meshes that it moves."""
    tube, sleeve = body_and_sleeve()
    key(tube, "Top", lambda p: p + [0.2, 0, 0] * (p[:, 2:] > 2.2))
    cuff = add_tube("Cuff", radius=0.33, length=1.0, rings=8, caps=False)
    transfer(sleeve, cuff, source=tube)
    assert names(sleeve) == ["Basis", "Fat", "Lean", "Top"]
    assert names(cuff) == ["Basis", "Fat", "Lean"]


def test_keys_relative_to_others_and_with_groups():
    """The effect of a key at its full value is transferred."""
    tube, sleeve = body_and_sleeve()
    blocks = tube.data.shape_keys.key_blocks
    more = key(tube, "More", lambda p: fat(lean(p)), relative_key=blocks["Lean"])
    group = tube.vertex_groups.new(name="Upper")
    group.add([v.index for v in tube.data.vertices if v.co.z > 1.5], 1.0, "REPLACE")
    key(tube, "Upper Fat", fat, vertex_group="Upper")
    transfer(sleeve, source=tube)
    assert more.relative_key.name == "Lean"
    rest, low = shape(sleeve, "Basis"), shape(sleeve, "Basis")[:, 2] < 1.2
    expected = rest + fat(lean(rest)) - lean(rest)
    inner = (rest[:, 2] > 0.4) & (rest[:, 2] < 2.6)
    np.testing.assert_allclose(shape(sleeve, "More")[inner], expected[inner], atol=0.06)
    np.testing.assert_array_equal(shape(sleeve, "Upper Fat")[low], rest[low])
    assert np.abs(shape(sleeve, "Upper Fat") - rest).max() > 0.1


def test_what_is_there_already():
    """Keys of the same name are replaced with all their properties. Locked and other keys stay."""
    tube, sleeve = body_and_sleeve()
    key(sleeve, "Own", lambda p: p + 1)
    key(sleeve, "Lean", lambda p: p - 1, lock_shape=True)
    key(sleeve, "Fat", lambda p: p + 5, slider_max=2.0, value=1.5)
    before = {name: shape(sleeve, name) for name in names(sleeve)}
    transfer(sleeve, source=tube)
    assert names(sleeve) == ["Basis", "Own", "Lean", "Fat"]
    for name in ("Basis", "Own", "Lean"):
        np.testing.assert_array_equal(shape(sleeve, name), before[name])
    block = sleeve.data.shape_keys.key_blocks["Fat"]
    assert (block.slider_max, block.value) == (2.0, 1.5)
    assert np.abs(shape(sleeve, "Fat") - before["Basis"]).max() < 0.3


def test_locked_keys_are_said():
    tube, sleeve = body_and_sleeve()
    key(sleeve, "Lean", lock_shape=True)
    report = task_of(tube, sleeve)[1]
    assert report["warnings"] == ["'Sleeve' has locked shape keys, which stay unchanged: Lean"]
    assert report["objects"][0]["without_effect"] == ["Nothing"]


def task_of(tube, *sleeves, **options):
    """(the task, its report) after everything is written."""
    targets = addon("blender.read.transfer_targets").make_shape_targets(tube, list(sleeves))
    task = addon("features.transfer_shapes.task").ShapesTask(
        package("features.transfer_shapes").ShapeOptions(**options)
    )
    task.read(targets, bpy.context.view_layer)
    task.solve()
    return task, task.apply()


def driven(tube):
    """The key Fat with a range of its own, driven by the position of an empty."""
    blocks = tube.data.shape_keys.key_blocks
    blocks["Fat"].slider_min, blocks["Fat"].slider_max = -1.0, 3.0
    blocks["Lean"].slider_max, blocks["Lean"].value = 5.0, 2.5
    empty = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(empty)
    driver = blocks["Fat"].driver_add("value").driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = empty
    variable.targets[0].transform_type = "LOC_X"
    return empty


def drivers(ob):
    animation = ob.data.shape_keys.animation_data
    return {d.data_path: d.driver for d in animation.drivers} if animation else {}


def values(ob):
    graph = bpy.context.evaluated_depsgraph_get()
    keys = ob.evaluated_get(graph).data.shape_keys or ob.data.shape_keys
    return {b.name: b.value for b in keys.key_blocks}


@pytest.mark.parametrize("sliders", ["NONE", "COPY", "FOLLOW"])
def test_sliders(sliders):
    tube, sleeve = body_and_sleeve()
    empty = driven(tube)
    empty.location.x = 0.75
    transfer(sleeve, source=tube, sliders=sliders)
    blocks = sleeve.data.shape_keys.key_blocks
    if sliders == "NONE":
        assert (blocks["Fat"].slider_min, blocks["Fat"].slider_max) == (0, 1)
        assert not drivers(sleeve)
        return
    assert (blocks["Fat"].slider_min, blocks["Fat"].slider_max) == (-1, 3)
    assert blocks["Lean"].slider_max == 5
    found = drivers(sleeve)
    if sliders == "COPY":
        assert list(found) == ['key_blocks["Fat"].value']
        assert blocks["Lean"].value == 2.5
        [variable] = found['key_blocks["Fat"].value'].variables
        assert variable.targets[0].id == empty
    else:
        assert sorted(found) == ['key_blocks["Fat"].value', 'key_blocks["Lean"].value']
        tube.data.shape_keys.key_blocks["Lean"].value = 1.25
        bpy.context.view_layer.update()
        assert values(sleeve)["Lean"] == pytest.approx(1.25)
    empty.location.x = 2.5
    bpy.context.view_layer.update()
    assert values(sleeve)["Fat"] == pytest.approx(2.5)


@pytest.mark.parametrize("sliders", ["COPY", "FOLLOW"])
def test_what_drives_a_key_already_stays(sliders):
    tube, sleeve = body_and_sleeve()
    driven(tube)
    key(sleeve, "Fat").driver_add("value").driver.expression = "0.125"
    transfer(sleeve, source=tube, sliders=sliders)
    found = drivers(sleeve)['key_blocks["Fat"].value']
    assert found.expression == "0.125"


def test_names_with_quotes():
    tube, sleeve = body_and_sleeve()
    odd = 'a "b" \\c'
    key(tube, odd, fat, value=0.5)
    transfer(sleeve, source=tube, sliders="FOLLOW")
    bpy.context.view_layer.update()
    assert values(sleeve)[odd] == pytest.approx(0.5)


def test_kept_above():
    """A key swells the body into a collar that stands off."""
    tube = add_tube()
    key(tube, "Swell", lambda p: p * [3.0, 3.0, 1])
    collar = add_tube("Collar", radius=0.8, length=2.0, rings=12, sides=16, caps=False)
    for vertex in collar.data.vertices:
        if vertex.co.z > 1.6:
            vertex.co.x, vertex.co.y = 0.4 * vertex.co.x, 0.4 * vertex.co.y
    for keep in (False, True):
        _task, report = task_of(tube, collar, keep_above=keep)
        radii = np.linalg.norm(shape(collar, "Swell")[:, :2], axis=1)
        inner = np.array([v.co.z for v in collar.data.vertices]) > 0.2
        [facts] = report["objects"]
        if keep:
            assert radii[inner].min() > 0.9 * np.cos(np.pi / 10) - 1e-3
            assert facts["lifted"]["Swell"] >= 0
        assert facts["below"]["Swell"] == 0


def test_mirror_modifier_of_the_source():
    """The source is half a tube with its image, and the other half of the sleeve follows,
    mirrored."""
    tube, sleeve = body_and_sleeve()
    whole = add_tube("Whole")
    key(whole, "Out", lambda p: p + 0.2 * np.sign(p[:, :1]) * [1, 0, 0])
    half = add_tube("Half", caps=False)
    bpy.data.objects.remove(tube)
    keep = [v.index for v in half.data.vertices if v.co.x > -1e-6]
    faces = [f.vertices[:] for f in half.data.polygons if set(f.vertices) <= set(keep)]
    place = {v: i for i, v in enumerate(keep)}
    vertices = np.array([half.data.vertices[v].co for v in keep])
    bpy.data.objects.remove(half)
    half = add_mesh("Half", vertices, [[place[v] for v in face] for face in faces])
    half.modifiers.new("Mirror", "MIRROR")
    key(half, "Out", lambda p: p + 0.2 * np.sign(np.maximum(p[:, :1], 0)) * [1, 0, 0])
    transfer(sleeve, source=half, keep_above=False)
    move = shape(sleeve, "Out") - shape(sleeve, "Basis")
    x = shape(sleeve, "Basis")[:, 0]
    assert move[x > 0.2, 0].min() > 0.15
    assert move[x < -0.2, 0].max() < -0.15


def refused(*targets, source):
    return deep.refused("transfer_shapes", *targets, source)


def test_refusals(tmp_path):
    tube, sleeve = body_and_sleeve()
    also = "Also select the meshes that should get shape keys, in addition to 'Tube'"
    assert also in refused(source=tube)
    assert "'Sleeve' has no shape keys except the basis" in refused(tube, source=sleeve)
    far = add_tube("Far", shift=(50, 0, 0))
    message = refused(sleeve, far, source=tube)
    assert "'Far' cannot take shape keys from 'Tube': no vertex of the target is" in message
    empty = add_mesh("Empty", np.zeros((0, 3)), [])
    assert "'Empty' has no vertices" in refused(empty, source=tube)
    twin = bpy.data.objects.new("Twin", tube.data)
    bpy.context.scene.collection.objects.link(twin)
    assert "'Twin' shares its mesh with 'Tube', and therefore also its shape keys" in refused(
        twin, source=tube
    )
    wire = add_mesh("Wire", np.eye(3), [], edges=[(0, 1), (1, 2)])
    key(wire, "Moved", lambda p: p + 1)
    assert "'Wire' has no faces to transfer shapes from" in refused(sleeve, source=wire)
    flat = add_tube("Flat")
    flat.scale.z = 0
    bpy.context.view_layer.update()
    assert "'Flat' has a scale of zero" in refused(flat, source=tube)
    timed = add_tube("Timed")
    key(timed, "Later")
    timed.data.shape_keys.use_relative = False
    assert "'Timed' has absolute shape keys" in refused(timed, source=tube)
    write(key(tube, "Broken"), np.full((len(tube.data.vertices), 3), np.nan))
    message = refused(sleeve, source=tube)
    assert "not finite in the shape key 'Broken' (first: vertex 0)" in message
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    message = refused(sleeve, source=camera)
    assert "Make the mesh with the shape keys the active object" in message


def test_linked_meshes(tmp_path):
    """A linked mesh may be a source, but not a target."""
    tube, sleeve = in_library(tmp_path, *body_and_sleeve())
    own = add_tube("Own", radius=0.33, caps=False)
    assert "'Sleeve' is linked from another file: make it local first" in refused(
        sleeve, source=tube
    )
    transfer(own, source=tube, sliders="FOLLOW")
    assert names(own) == ["Basis", "Fat", "Lean"]


def test_keys_that_are_gone_meanwhile():
    """This test changes the source; test_every_task.py changes the targets."""
    tube, sleeve = body_and_sleeve()
    targets = addon("blender.read.transfer_targets").make_shape_targets(tube, [sleeve])
    task = addon("features.transfer_shapes.task").ShapesTask(
        package("features.transfer_shapes").ShapeOptions()
    )
    task.read(targets, bpy.context.view_layer)
    task.solve()
    tube.shape_key_remove(tube.data.shape_keys.key_blocks["Lean"])
    with pytest.raises(
        package("base.refusal").Refused, match="'Tube' has changed since it was read"
    ):
        task.apply()


def test_command_line(tmp_path, capfd):
    body_and_sleeve()
    source, output = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    arguments = ("shapes", source, "--source", "Tube", "--target", "Sleeve")
    assert run(*arguments, "--output", output, "--json", tmp_path / "report.json") == 0
    assert "2 shape keys of 'Tube' for 'Sleeve'" in capfd.readouterr().out
    assert names(opened(output)["Sleeve"]) == ["Basis", "Fat", "Lean"]
    assert not opened(source)["Sleeve"].data.shape_keys
    for given, target, message in (
        ("Tube", "Hat", "no mesh 'Hat' in the active scene"),
        ("Tube", "Tube", "'Tube' is both source and target"),
        ("Sleeve", "Tube", "'Sleeve' has no shape keys"),
    ):
        other = tmp_path / "other.blend"
        assert run("shapes", source, "--source", given, "--target", target, "--output", other) == 1
        assert message in capfd.readouterr().err
        assert not other.exists()
