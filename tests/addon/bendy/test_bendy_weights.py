"""The solver treats bendy bones as Blender's Armature modifier does."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    package,
    select,
    snapshot,
    tube_and_rig,
    two_sided_bones,
    weights,
)


def bendy_tube(segments=(1, 6, 4)):
    tube, rig = tube_and_rig()
    for bone, count in zip(rig.data.bones, segments, strict=True):
        bone.bbone_segments = count
    return tube, rig


def turn(rig):
    for i, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.5 - 0.4 * i, 0.3 * i, 0.2 + 0.3 * i)


def curve(rig):
    turn(rig)
    middle, upper = rig.pose.bones["middle"], rig.pose.bones["upper"]
    middle.bbone_curveinx, middle.bbone_curveoutz = 0.3, -0.2
    middle.bbone_rollin, upper.bbone_rollout = 0.4, 1.1
    upper.bbone_easeout, upper.bbone_scaleout = 0.4, (0.7, 1.2, 0.9)


def stretch(rig):
    turn(rig)
    rig.pose.bones["middle"].scale = (0.8, 1.6, 0.9)
    rig.pose.bones["upper"].location = (0.1, 0.2, -0.1)


def handles(rig):
    """Handles of every type, with bones as handles."""
    rig.data.bones["middle"].bbone_handle_type_start = "ABSOLUTE"
    rig.data.bones["middle"].bbone_custom_handle_start = rig.data.bones["upper"]
    rig.data.bones["middle"].bbone_handle_type_end = "TANGENT"
    rig.data.bones["middle"].bbone_custom_handle_end = rig.data.bones["lower"]
    rig.data.bones["upper"].bbone_handle_type_start = "RELATIVE"
    rig.data.bones["upper"].bbone_custom_handle_start = rig.data.bones["lower"]
    turn(rig)


def curved_rest(rig):
    for bone in rig.data.bones:
        bone.bbone_curveinx, bone.bbone_curveoutz, bone.bbone_easein = 0.2, 0.1, 1.4
    turn(rig)


def curved_mapping(rig):
    for bone in rig.data.bones:
        bone.bbone_mapping_mode = "CURVED"
    curved_rest(rig)


def predicted(tube, rig):
    """The positions (n, 3) computed from the data that the add-on reads, with the blending that the
    engine's header describes."""
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    read, layer = addon("blender.poses.read_poses"), bpy.context.view_layer
    pose = read.present_pose(rig, skeleton, layer.depsgraph)
    v = np.array([x.co for x in tube.data.vertices], dtype=np.float64)
    n, w = len(v), weights(tube, deform_names(rig))
    steps = addon("blender.poses.flexible_bones").curved_parameters_in_steps(rig, skeleton, v)
    given = package("base.steps").finish(steps)
    points, first = np.zeros((n, 3)), 0
    for b, kind in enumerate(skeleton.kinds):
        matrices = np.tile(pose.transforms[0, b], (n, 1, 1))
        if kind == "bendy":
            along = skeleton.tails[b] - skeleton.heads[b]
            u = np.clip((v - skeleton.heads[b]) @ along / (along @ along), 0, 1)
            if given is not None:
                u = np.where(np.isnan(given[:, b]), u, given[:, b])
            at = u * skeleton.segments[b]
            j = np.minimum(at.astype(int), skeleton.segments[b] - 1)
            joints = pose.joints[0, first : first + skeleton.segments[b] + 1]
            share = (at - j)[:, None, None]
            matrices = (1 - share) * joints[j] + share * joints[j + 1]
            first += len(joints)
        points += w[:, b, None] * (
            np.einsum("nij,nj->ni", matrices[:, :, :3], v) + matrices[:, :, 3]
        )
    assert first == len(pose.joints[0]) == skeleton.joint_count
    return points


@pytest.mark.parametrize("pose", [turn, curve, stretch, handles, curved_rest, curved_mapping])
def test_predicted_positions_are_those_of_the_evaluated_mesh(pose):
    tube, rig = bendy_tube()
    auto_weight(tube, rig)
    pose(rig)
    bpy.context.view_layer.update()
    evaluated = tube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.array([v.co for v in evaluated.vertices])
    size = np.linalg.norm(np.ptp(points, axis=0))
    rest = np.array([v.co for v in tube.data.vertices])
    assert np.abs(points - rest).max() > 0.1 * size
    np.testing.assert_allclose(predicted(tube, rig), points, atol=1e-5 * size)


def energies(tube):
    """The mean energy over random poses with Blender's bending."""
    return (
        addon("blender.read.deformation_errors").object_strain(tube, bpy.context.view_layer, False)
        ** 2
    ).mean()


def test_weights_are_solved_for_the_bending():
    """In bent poses, these weights are better than weights for bones that do not bend, and each
    bone has one group."""
    tube, rig = bendy_tube((8, 8, 8))
    auto_weight(tube, rig)
    bent = energies(tube)
    assert [group.name for group in tube.vertex_groups] == deform_names(rig)
    for bone in rig.data.bones:
        bone.bbone_segments = 1
    auto_weight(tube, rig)
    for bone in rig.data.bones:
        bone.bbone_segments = 8
    assert bent < energies(tube)


def test_random_poses_leave_no_trace():
    """This holds for any pose, constraint and animation of the armature."""
    tube, rig = bendy_tube()
    rig.pose.bones["upper"].constraints.new("COPY_ROTATION").target = rig
    curve(rig)
    rig.data.pose_position = "REST"
    rig.location = (1, 2, 3)
    bpy.context.view_layer.update()
    select(tube, rig)
    before = snapshot()
    read, core = addon("blender.poses.flexible_bones"), package("base.steps")
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    options = package("model.options").Options(pose_count=4)
    poses = core.finish(read.random_poses_in_steps(rig, skeleton, options, None))
    assert snapshot() == before
    expected, _bends = package("skeleton.poses").sample(skeleton, options, None)
    np.testing.assert_allclose(poses.transforms, expected, atol=1e-5)
    assert poses.joints.shape == (4, 12, 3, 4) and poses.whole
    assert np.ptp(poses.joints, axis=0).max() > 0.1
    next(steps := read.random_poses_in_steps(rig, skeleton, options, None))
    del steps  # left half-way, as by Esc
    assert snapshot() == before


def test_the_same_poses_whatever_pose_it_is_in():
    _tube, rig = bendy_tube()
    make, finish = (
        addon("blender.poses.flexible_bones").random_poses_in_steps,
        package("base.steps").finish,
    )
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    options = package("model.options").Options(pose_count=3)
    first = finish(make(rig, skeleton, options, None))
    curve(rig)
    again = finish(make(rig, skeleton, options, None))
    np.testing.assert_array_equal(first.joints, again.joints)
    np.testing.assert_array_equal(first.transforms, again.transforms)


def test_symmetric():
    rig = add_armature(bones=two_sided_bones())
    for bone in rig.data.bones:
        bone.bbone_segments = 4
    tube = add_tube(length=2.4, shift=(0, 0, -1.2), rings=25, sides=8)
    turned = np.array([v.co for v in tube.data.vertices])[:, [2, 1, 0]]
    for vertex, (x, y, z) in zip(tube.data.vertices, turned, strict=True):
        vertex.co = x, y, z + 0.9
    bind(tube, rig)
    auto_weight(tube, rig)
    names = deform_names(rig)
    dense = weights(tube, names)
    partner = [names.index(bpy.utils.flip_name(name)) for name in names]
    points = np.array([v.co for v in tube.data.vertices])
    image = [np.abs(points - p * [-1, 1, 1]).sum(1).argmin() for p in points]
    np.testing.assert_allclose(dense[image][:, partner], dense, atol=1e-6)


def test_frames_of_an_animation_bend():
    tube, rig = bendy_tube()
    turn(rig)
    for frame, value in ((1, 0.0), (5, 0.4)):
        rig.pose.bones["middle"].bbone_curveinx = value
        rig.pose.bones["middle"].keyframe_insert("bbone_curveinx", frame=frame)
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    read = addon("blender.poses.read_poses").read_poses
    poses = read(rig, skeleton, "ACTIVE", 10, bpy.context.view_layer)
    assert poses.joints.shape == (5, 12, 3, 4)
    assert np.ptp(poses.joints[:, 1:6], axis=0).max() > 0.02
    auto_weight(tube, rig, animation="ACTIVE")
    assert_good(tube, rig)


def read(rig):
    return addon("blender.read.read_armature").read_armature(rig, False)


def test_what_makes_a_bone_stretchable():
    _tube, rig = tube_and_rig()
    assert not read(rig).flexible
    middle = rig.pose.bones["middle"]
    constraint = middle.constraints.new("STRETCH_TO")
    constraint.target, constraint.subtarget = rig, "lower"
    skeleton = read(rig)
    assert skeleton.own_stretch.tolist() == [False, True, False]
    assert skeleton.stretch.tolist() == [False, True, True], "the bone above inherits scale"
    assert skeleton.volume.tolist() == [False, True, False]
    constraint.volume = "NO_VOLUME"
    rig.data.bones["upper"].inherit_scale = "NONE"
    skeleton = read(rig)
    assert skeleton.stretch.tolist() == [False, True, False] and not skeleton.volume.any()
    constraint.mute = True
    assert not read(rig).flexible
    middle.constraints.new("MAINTAIN_VOLUME")
    skeleton = read(rig)
    assert skeleton.stretch.tolist() == [False, True, False] and skeleton.volume[1]


def test_the_setting_of_a_bone_overrides():
    _tube, rig = bendy_tube()
    rig.pose.bones["middle"].constraints.new("STRETCH_TO").target = rig
    rig.data.bones["middle"].araplbs_deformer = "RIGID"
    rig.data.bones["lower"].araplbs_deformer = "STRETCHABLE"
    skeleton = read(rig)
    assert skeleton.kinds == ["rigid", "rigid", "bendy"]
    assert skeleton.stretch.tolist() == [True, False, False]
    rig.data.bones["upper"].araplbs_deformer = "RIGID"
    rig.data.bones["lower"].araplbs_deformer = "RIGID"
    assert not read(rig).flexible


def test_random_poses_stretch():
    """Bones stretch about their heads. The volume is kept if a constraint keeps it, and descendants
    inherit the scale."""
    _tube, rig = tube_and_rig()
    rig.pose.bones["middle"].constraints.new("STRETCH_TO").target = rig
    rig.data.bones["upper"].araplbs_deformer = "STRETCHABLE"
    rig.data.bones["upper"].inherit_scale = "NONE"
    skeleton = read(rig)
    options = package("model.options").Options(pose_count=20)
    steps = addon("blender.poses.flexible_bones").random_poses_in_steps(
        rig, skeleton, options, None
    )
    poses = package("base.steps").finish(steps)
    sizes = np.linalg.svd(poses.transforms[..., :3], compute_uv=False)
    np.testing.assert_allclose(sizes[:, 0], 1, atol=1e-5)
    middle = np.sort(sizes[:, 1], axis=1)
    np.testing.assert_allclose(middle.prod(1), 1, atol=1e-4)
    upper = np.linalg.norm(poses.transforms[:, 2, :, 2], axis=1)  # along the bone, which is Z
    assert upper.min() < 0.8 and upper.max() > 1.4
    np.testing.assert_allclose(np.linalg.det(poses.transforms[:, 2, :, :3]), upper, rtol=1e-4)
    # The joints stay connected.
    for lower, above in ((0, 1), (1, 2)):
        joint = np.append(skeleton.tails[lower], 1)
        np.testing.assert_allclose(
            poses.transforms[:, lower] @ joint, poses.transforms[:, above] @ joint, atol=1e-5
        )


def test_weights_of_a_rig_that_stretches():
    tube, rig = tube_and_rig()
    for bone in rig.pose.bones:
        bone.constraints.new("STRETCH_TO").target = rig
    auto_weight(tube, rig)
    assert_good(tube, rig)
    errors = addon("blender.read.deformation_errors").object_strain(
        tube, bpy.context.view_layer, False
    )
    for bone in rig.data.bones:
        bone.araplbs_deformer = "RIGID"
    assert np.isfinite(errors).all() and errors.mean() < 0.35  # of which most is meant


def test_a_rig_that_is_disabled_in_viewports():
    """The rig still has random poses and frames."""
    tube, rig = bendy_tube()
    for frame, value in ((1, 0.0), (5, 0.4)):
        rig.pose.bones["middle"].bbone_curveinx = value
        rig.pose.bones["middle"].keyframe_insert("bbone_curveinx", frame=frame)
    for bone in rig.data.bones:
        bone.bbone_mapping_mode = "CURVED"
    rig.hide_viewport = True
    bpy.context.view_layer.update()
    auto_weight(tube, animation="ACTIVE")
    assert_good(tube, rig)
    assert rig.hide_viewport
    frames = addon("blender.poses.read_poses").read_poses(
        rig, read(rig), "ACTIVE", 9, bpy.context.view_layer
    )
    assert np.ptp(frames.joints, axis=0).max() > 0.02
    errors = addon("blender.read.deformation_errors")
    assert np.isfinite(errors.object_strain(tube, bpy.context.view_layer, False)).all()
