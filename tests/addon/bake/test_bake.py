"""Bake Modifiers to Weights: weights of plain bones reproduce the effect of all modifiers."""

import itertools
import json
import math
import re
import struct

import bpy
import numpy as np
import pytest
from bake_scenes import bake, points_of, refused
from command import opened, run, save
from scenes import (
    add_armature,
    add_tube,
    auto_weight,
    bind,
    deform_names,
    entries,
    keyed,
    select,
    snapshot,
    tube_and_rig,
    weights,
)


@pytest.fixture
def character():
    """A tube with weights and a Corrective Smooth."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    smooth = tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    smooth.iterations = 15
    return tube, rig


def edit_weights(tube):
    """A modifier before the armature, which squares the weights of a bone; other weights can
    reproduce this."""
    tube.modifiers.remove(tube.modifiers["Smooth"])
    edit = tube.modifiers.new("Edit", "VERTEX_WEIGHT_EDIT")
    edit.vertex_group, edit.falloff_type = "middle", "SHARP"
    tube.modifiers.move(1, 0)


def deformed(tube, rig, angle):
    """The vertices in the current pose of the tube."""
    rig.pose.bones["middle"].rotation_mode = "XYZ"
    rig.pose.bones["middle"].rotation_euler = (angle, 0, 0)
    bpy.context.view_layer.update()
    points = points_of(tube)
    rig.pose.bones["middle"].rotation_euler = (0, 0, 0)
    bpy.context.view_layer.update()
    return points


def check(tube, rig, most=4):
    dense = weights(tube, deform_names(rig))
    assert np.isfinite(dense).all() and (dense >= 0).all()
    assert np.abs(dense.sum(axis=1) - 1).max() < 1e-6
    assert (dense > 0).sum(axis=1).max() <= most
    return dense


def test_bones_alone_do_what_modifiers_did(character):
    tube, rig = character
    edit_weights(tube)
    wanted = deformed(tube, rig, 0.9)
    tube.modifiers["Edit"].show_viewport = False
    before = np.abs(deformed(tube, rig, 0.9) - wanted).max()
    tube.modifiers["Edit"].show_viewport = True
    assert bake(tube, rig, turn_off=True, smoothness=0.0) == {"FINISHED"}
    check(tube, rig)
    edit = tube.modifiers["Edit"]
    assert not edit.show_viewport and not edit.show_render
    after = np.abs(deformed(tube, rig, 0.9) - wanted).max()
    assert after < 1e-3 * before


def test_corrective_smooth(character, capfd):
    """Blending cannot make the mesh bulge like the modifier, but comes closer than the original
    weights."""
    tube, rig = character
    was = entries(tube)
    assert bake(tube, rig) == {"FINISHED"}
    assert entries(tube) != was
    check(tube, rig)
    told = capfd.readouterr().out
    assert (
        "still has modifiers turned on, although the weights now include their effect: Smooth"
        in told
    )
    found = re.search(r"error ([\d.]+) % of the mesh size \(was ([\d.]+) %\)", told)
    after, before = found.groups()
    assert float(after) < float(before)


def test_preserve_volume(character):
    tube, rig = character
    tube.modifiers.remove(tube.modifiers["Smooth"])
    tube.modifiers[0].use_deform_preserve_volume = True
    was = entries(tube)
    assert bake(tube, rig) == {"FINISHED"}
    assert entries(tube) != was
    assert tube.modifiers[0].use_deform_preserve_volume
    assert bake(tube, rig, turn_off=True) == {"FINISHED"}
    assert not tube.modifiers[0].use_deform_preserve_volume


def test_plain_weights_stay(character):
    """The baked shape results from linear blending of at most 4 bones, so the weights stay."""
    tube, rig = character
    tube.modifiers.remove(tube.modifiers["Smooth"])
    was = weights(tube, deform_names(rig))
    assert bake(tube, rig, smoothness=0.0) == {"FINISHED"}
    assert np.abs(check(tube, rig) - was).max() < 1e-3


def test_only_vertex_groups_change(character):
    """Nothing else in the file changes: no pose, frame, name or selection. A second run gives the
    same result."""
    tube, rig = character
    bpy.context.scene.frame_end = 5
    rig.pose.bones["upper"].rotation_quaternion = (0.9, 0.1, 0, 0)
    select(tube, rig)
    bpy.context.view_layer.update()
    for poses in ("RANDOM", "SCENE"):
        before = snapshot()
        assert bake(tube, rig, poses=poses) == {"FINISHED"}
        after = snapshot()
        weights_before = before["Tube"].pop("weights")
        weights_after = after["Tube"].pop("weights")
        assert before == after
        if poses == "RANDOM":
            assert weights_before != weights_after
            bake(tube, rig, poses=poses)


def test_scene_frames(character):
    """The armature is animated, and a shape key with keyframes is baked as well."""
    tube, rig = character
    tube.modifiers.remove(tube.modifiers["Smooth"])
    keyed(rig, "upper", {1: 0.0, 20: 1.0})
    bpy.context.scene.frame_set(7)
    bpy.context.scene.frame_end = 20
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Bulge")
    for vertex in key.data:
        vertex.co = vertex.co * 1.1
    for frame, value in ((1, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    assert bake(tube, rig, poses="SCENE", frames=10, show_error=True) == {"FINISHED"}
    check(tube, rig)
    assert bpy.context.scene.frame_current == 7
    colors = tube.data.color_attributes["Bake Error"].data
    assert len(colors) == len(tube.data.vertices)


def test_driven_shape_key_follows_random_poses(character):
    tube, rig = character
    tube.modifiers.remove(tube.modifiers["Smooth"])
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Elbow")
    for vertex in key.data:
        vertex.co.x *= 1.5
    driver = key.driver_add("value").driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "middle"
    variable.targets[0].transform_type = "ROT_X"
    variable.targets[0].transform_space = "LOCAL_SPACE"
    driver.expression = "4 * abs(var)"
    was = weights(tube, deform_names(rig))
    assert bake(tube, rig) == {"FINISHED"}
    assert np.abs(check(tube, rig) - was).max() > 0.01


def test_modifiers_that_make_vertices_are_left_out(character, capfd):
    tube, rig = character
    tube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    assert bake(tube, rig) == {"FINISHED"}
    assert "they change the number of vertices: Subdivision" in capfd.readouterr().out
    check(tube, rig)
    assert tube.modifiers["Subdivision"].show_viewport


def test_only_present_bones(character):
    tube, rig = character
    was = weights(tube, deform_names(rig))
    assert bake(tube, rig, only_present=True) == {"FINISHED"}
    assert not check(tube, rig)[was == 0].any()


def test_another_topology(character):
    """Geometry Nodes that create vertices do not count as a generator by their type."""
    tube, rig = character
    group = bpy.data.node_groups.new("More", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    nodes = [group.nodes.new(kind) for kind in ("NodeGroupInput", "GeometryNodeSubdivideMesh")]
    nodes.append(group.nodes.new("NodeGroupOutput"))
    for a, b in itertools.pairwise(nodes):
        group.links.new(a.outputs[0], b.inputs[0])
    tube.modifiers.new("More", "NODES").node_group = group
    for poses in ("RANDOM", "SCENE"):
        refused("'Tube' has 192 vertices, but .* after its modifiers at", tube, rig, poses=poses)


def add_cache(tube, path, frames, count=None):
    """Adds a Mesh Cache modifier with a .pc2 file of these frames (p, n, 3)."""
    count = count or frames.shape[1]
    head = struct.pack("<12siiffi", b"POINTCACHE2", 1, count, 1.0, 1.0, len(frames))
    path.write_bytes(head + frames.astype("<f4").tobytes())
    cache = tube.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(path), 1.0
    return cache


def test_mesh_cache(character, tmp_path):
    """The cache contains the effect of the bones with other weights, and the bake finds these
    weights."""
    tube, rig = character
    tube.modifiers.remove(tube.modifiers["Smooth"])
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    wanted, frames = weights(tube, deform_names(rig)), []
    for frame, angle in ((1, (0.0, 0, 0)), (10, (1.0, 0.3, 0.5))):
        bone.rotation_euler = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 10
    for frame in range(1, 11):
        bpy.context.scene.frame_set(frame)
        frames.append(points_of(tube))
    for vertex in tube.data.vertices:  # all weights of the upper bones as if there were none
        tube.vertex_groups["lower"].add([vertex.index], 1.0, "REPLACE")
        for name in ("middle", "upper"):
            tube.vertex_groups[name].remove([vertex.index])
    add_cache(tube, tmp_path / "tube.pc2", np.array(frames))
    assert bake(tube, rig, poses="SCENE", smoothness=0.0, turn_off=True) == {"FINISHED"}
    at = deform_names(rig).index("upper")  # the others do not move
    assert np.abs(weights(tube, deform_names(rig))[:, at] - wanted[:, at]).max() < 0.02
    assert not tube.modifiers["Cache"].show_viewport


def test_cache_of_another_topology(character, tmp_path):
    tube, rig = character
    cache = add_cache(tube, tmp_path / "tube.pc2", np.zeros((3, 7, 3)))
    refused("cache of its modifier 'Cache' has 7 vertices, but the mesh has 192", tube, rig)
    cache.filepath = str(tmp_path / "nowhere.pc2")
    refused("cache of its modifier 'Cache' cannot be read", tube, rig)
    (tmp_path / "bad.pc2").write_bytes(b"no")
    cache.filepath = str(tmp_path / "bad.pc2")
    refused("cache of its modifier 'Cache' is not in the format PC2", tube, rig)


def test_cache_without_the_mesh(character, tmp_path):
    tube, rig = character
    tube.modifiers.new("Alembic", "MESH_SEQUENCE_CACHE")
    refused("its modifier 'Alembic' has no cache file", tube, rig)


def test_one_bone():
    rig = add_armature(bones=[("only", (0, 0, 0), (0, 0, 3), None)])
    tube = add_tube()
    bind(tube, rig)
    refused("'Rig' has only one deform bone, which gets all the weight", tube, rig)


def test_bendy_bones(character):
    tube, rig = character
    rig.data.bones["middle"].bbone_segments = 4
    refused("'Rig' has bendy bones .middle.: convert them to plain bones", tube, rig)


def test_no_armature_modifier(character):
    _tube, rig = character
    other = add_tube("Other")
    refused("'Other' has no Armature modifier for 'Rig'", other, rig)


def test_frames_that_are_not_finite(character):
    tube, rig = character
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Broken")
    key.data[5].co = (math.inf, 0, 0)
    key.value = 1.0
    refused("'Tube' has coordinates that are not finite at", tube, rig)


def test_command(character, tmp_path):
    tube, _rig = character
    edit_weights(tube)
    was = weights(tube, ["lower", "middle", "upper"])
    source = save(tmp_path / "in.blend")
    target, page = tmp_path / "out.blend", tmp_path / "report.json"
    assert run("bake", source, "-o", target, "--json", page, "--frames", 15, "--turn-off") == 0
    tube = opened(target)["Tube"]
    assert not np.array_equal(weights(tube, ["lower", "middle", "upper"]), was)
    assert not tube.modifiers["Edit"].show_viewport
    (armature,) = json.loads(page.read_text())["files"][0]["armatures"]
    (ob,) = armature["objects"]
    assert ob["name"] == "Tube" and ob["frames"] == 15
    assert ob["error_after"]["rms"] < 0.05 * ob["error_before"]["rms"]
