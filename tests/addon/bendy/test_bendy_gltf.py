"""Tests bendy bones converted to plain bones. The posed mesh stays in place after export to
glTF."""

import bpy
import numpy as np
import pytest
from bendy_scenes import EXACT, convert, curved_rest, pose, posed, share, tail, weight
from mathutils import kdtree
from scenes import (
    add_armature,
    add_tube,
    bind,
    new_scene,
)


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
    """Exports the contents of the file, imports them into an empty one, and returns the imported
    mesh object."""
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
        bone.inherit_scale = "ALIGNED"  # otherwise, a scaled rig shears by itself
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
    """Without scale, the map between two bones of a chain is a rotation and a translation."""
    tube, rig = tail()
    assert_same_through_gltf(rig, tube, tmp_path / "tail.glb", 1e-5, False, hierarchy="CHAIN")


def test_shear_is_told(capfd):
    """A message reports a rig that shears by itself and a chain whose scale only bendy bones can
    have."""
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
    """The rig has a deform bone above the bendy bone, a control between the two, and a deform bone
    below the bendy bone."""
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
