"""Preserve Volume and envelopes: our results agree with Blender's evaluated mesh, and the messages
about these settings are correct."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector
from scenes import (
    add_armature,
    add_mesh,
    addon,
    auto_weight,
    bind,
    new_scene,
    package,
    rotation,
    tube_arrays,
    weighting,
)

BONES = [
    ("lower", (0, 0.1, 0.05), (0, 0, 1), None),
    ("middle", (0, 0, 1), (0.1, 0, 2), "lower"),
    ("upper", (0.1, 0, 2), (0, 0, 2.95), "middle"),
    ("side", (0.3, 0, 1), (1, 0.2, 1.4), "lower"),
    ("control", (0, 1, 0), (0, 2, 0), None),
]


@pytest.fixture
def character():
    """(mesh, armature, modifier): random weights, a few vertices without weights, and an armature
    that is not at rest."""
    new_scene()
    rig = add_armature(bones=BONES, matrix=rotation(30, "X"))
    rig.data.bones["control"].use_deform = False
    vertices, faces = tube_arrays()
    tube = add_mesh("Tube", vertices, faces, matrix=rotation(40, "Y"))
    modifier = bind(tube, rig)
    rng = np.random.default_rng(5)
    groups = [tube.vertex_groups.new(name=name) for name, *_rest in BONES]
    for i in range(len(vertices)):
        for b in np.flatnonzero(rng.random(len(BONES)) < 0.6):
            if i % 17 and b != 4:
                groups[b].add([i], float(rng.random()), "REPLACE")
    for k, posed in enumerate(rig.pose.bones):
        posed.rotation_mode = "XYZ"
        posed.rotation_euler = Euler(rng.uniform(-1.5, 1.5, 3))
        posed.location = rng.uniform(-0.2, 0.2, 3)
        posed.bone.head_radius, posed.bone.tail_radius = 0.1 + 0.02 * k, 0.15
        posed.bone.envelope_distance = 0.25
        posed.bone.envelope_weight = 0.3 + 0.2 * k
    return tube, rig, modifier


def scale_bones(rig):
    rng = np.random.default_rng(6)
    for posed in rig.pose.bones:
        posed.scale = rng.uniform(0.4, 1.7, 3)


def evaluated(ob, rig):
    """(n, 3) in armature space."""
    bpy.context.view_layer.update()
    posed = addon("blender.poses.posed").posed_vertices(ob, bpy.context.evaluated_depsgraph_get())
    inverse = np.linalg.inv(np.array(rig.matrix_world))
    return posed @ inverse[:3, :3].T + inverse[:3, 3]


def computed(ob, rig):
    """The points as computed by the add-on."""
    layer = bpy.context.view_layer
    layer.update()
    deformer = package("measures.armature_modifier")
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    read = addon("blender.read.read_mesh")
    mesh = read.read_mesh(ob, rig, skeleton, layer, False, np.zeros(len(BONES), bool))
    points = mesh.vertices @ mesh.matrix[:3, :3].T + mesh.matrix[:3, 3]
    skeleton.joint_axes = addon("blender.read.read_deformer").read_joint_axes(rig, skeleton)
    poses = addon("blender.poses.read_poses")
    steps = addon("blender.poses.flexible_bones").curved_parameters_in_steps(rig, skeleton, points)
    rows = read.present_weights(ob, skeleton)
    if mesh.deformer:
        rows = deformer.effective_rows(rows, points, skeleton, mesh.deformer)
    columns = deformer.Columns(skeleton)
    rows = columns.expand(rows, points, package("base.steps").finish(steps))
    pose = poses.present_pose(rig, skeleton, layer.depsgraph)
    return deformer.pose_points(points, rows, columns.transforms(pose), columns, mesh.deformer)[0]


def bend(rig):
    """Bends the first two bones of the tube, in their current pose, in all ways that bendy bones
    allow."""
    for name, count in (("lower", 5), ("middle", 3)):
        rig.data.bones[name].bbone_segments = count
    lower, middle = rig.pose.bones["lower"], rig.pose.bones["middle"]
    lower.bbone_curveinx, lower.bbone_curveoutz, lower.bbone_rollin = 0.3, -0.2, 0.7
    middle.bbone_rollout, middle.bbone_easeout = -1.1, 0.4


def bend_at_rest(rig):
    bend(rig)
    for bone in rig.data.bones:
        bone.bbone_curveinx, bone.bbone_curveoutz, bone.bbone_rollin = 0.2, 0.1, 0.4
        bone.bbone_scaleout = (0.8, 1.1, 1.2)


def map_along_curves(rig):
    bend_at_rest(rig)
    for bone in rig.data.bones:
        bone.bbone_mapping_mode = "CURVED"


def taper(rig):
    bend(rig)
    lower, middle = rig.pose.bones["lower"], rig.pose.bones["middle"]
    lower.bbone_scaleout, middle.bbone_scalein = (0.6, 1.3, 0.9), (1.4, 0.8, 0.7)


def assert_same(ob, rig):
    expected, got = evaluated(ob, rig), computed(ob, rig)
    size = np.linalg.norm(np.ptp(expected, axis=0))
    assert np.abs(got - expected).max() <= 1e-5 * size
    return expected


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("preserve", [False, True])
def test_as_blender_blends(character, preserve, scaled):
    tube, rig, modifier = character
    if scaled:
        scale_bones(rig)
    modifier.use_deform_preserve_volume = preserve
    one = assert_same(tube, rig)
    modifier.use_deform_preserve_volume = not preserve
    assert np.abs(evaluated(tube, rig) - one).max() > 0.01


def test_sheared_and_mirrored_bones(character):
    """A parent scaled along one axis shears its rotated children."""
    tube, rig, modifier = character
    modifier.use_deform_preserve_volume = True
    rig.pose.bones["lower"].scale = (0.3, 2.0, 1.0)
    rig.pose.bones["upper"].scale = (1.0, 1.0, -1.2)
    assert_same(tube, rig)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("bend", [bend, bend_at_rest, map_along_curves, taper])
@pytest.mark.parametrize("preserve", [False, True])
def test_bendy_bones(character, preserve, bend, scaled):
    tube, rig, modifier = character
    modifier.use_deform_preserve_volume = preserve
    if scaled:
        scale_bones(rig)
    straight = evaluated(tube, rig)
    bend(rig)
    assert np.abs(assert_same(tube, rig) - straight).max() > 0.01
    modifier.use_bone_envelopes = True
    assert_same(tube, rig)


@pytest.mark.parametrize("preserve", [False, True])
def test_envelopes_multiply(character, preserve):
    tube, rig, modifier = character
    modifier.use_deform_preserve_volume = preserve
    tube.vertex_groups["side"].add([34], 5e-5, "REPLACE")  # too little to move it
    before = evaluated(tube, rig)
    for name in ("middle", "side"):
        rig.data.bones[name].use_envelope_multiply = True
    assert np.abs(assert_same(tube, rig) - before).max() > 0.01


@pytest.mark.parametrize("preserve", [False, True])
def test_envelopes_of_what_is_in_no_group(character, preserve):
    tube, rig, modifier = character
    modifier.use_deform_preserve_volume = preserve
    before = evaluated(tube, rig)
    modifier.use_bone_envelopes = True
    mixed = assert_same(tube, rig)
    assert np.abs(mixed - before).max() > 0.01
    modifier.use_vertex_groups = False
    assert np.abs(assert_same(tube, rig) - mixed).max() > 0.01


def test_a_bone_of_thickness_only(character):
    """Envelopes with zero distance end at the bone's radius."""
    tube, rig, _modifier = character
    for bone in rig.data.bones:
        bone.use_envelope_multiply, bone.envelope_distance = True, 0
    assert_same(tube, rig)


def told(capsys, *objects, **options):
    assert auto_weight(*objects, **options) == {"FINISHED"}
    return capsys.readouterr().out


def test_the_report_tells_what_becomes_of_linear_weights(character, capsys):
    tube, rig, modifier = character
    assert "Preserve Volume" not in told(capsys, tube, rig)
    modifier.use_deform_preserve_volume = True
    said = told(capsys, tube, rig)
    assert "Result as deformed by Blender with Preserve Volume (Tube): stretch " in said
    assert "optimized for linear blending" in said
    for bone in rig.data.bones:
        bone.use_envelope_multiply = True
    said = told(capsys, tube, rig)
    assert "with Preserve Volume (Tube) and envelopes (Tube)" in said


def solved_task(rig, *meshes):
    """A task solved for the rig's current pose, as a frame of its animation, and for a random
    pose."""
    for posed in rig.pose.bones:
        posed.keyframe_insert("rotation_euler", frame=1)
        posed.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(1)
    task = weighting(rig, *meshes, pose_count=1, animation="ACTIVE", animation_frames=1)
    task.solve()
    return task


@pytest.mark.parametrize("bendy", [False, True])
def test_energies_are_those_of_the_evaluated_mesh(character, bendy):
    """The measures of the last weights, in the pose of the animation and in a random pose."""
    import araplbs

    tube, rig, modifier = character
    if bendy:
        map_along_curves(rig)
    modifier.use_deform_preserve_volume = True
    rig.data.bones["side"].use_envelope_multiply = True
    vertices, faces = tube_arrays(radius=0.35, caps=False)
    sleeve = add_mesh("Sleeve", vertices, faces, matrix=rotation(40, "Y"))
    bind(sleeve, rig)
    task = solved_task(rig, tube, sleeve)
    report = task.apply()
    found = report["deformers"]
    json.dumps(report)
    assert found["preserve_volume"] == ["Tube"] and found["envelopes"] == ["Tube", "Sleeve"]
    arguments = task.problem.arguments
    energy = araplbs.posed_energy(
        arguments["vertices"],
        arguments["triangles"],
        np.concatenate([evaluated(tube, rig), evaluated(sleeve, rig)])[None],
    )
    poses = package("character.pose_sets").pose_set(task.problem, task.options)
    # Random poses with bendy bones are read from Blender and come first.
    frame, random = (slice(1, 2), slice(0, 1)) if bendy else (slice(0, 1), slice(1, 2))
    judged = package("measures.armature_modifier").judged
    other = judged(task.problem, task.solution.rows, poses[random])[1]
    assert len(poses) == 2 and other > 0
    own = judged(task.problem, task.solution.rows, poses[frame])[1]
    assert own == pytest.approx(energy, rel=1e-3)
    assert found["energy_after"] == pytest.approx((energy + other) / 2, rel=1e-3)
    assert 0 < found["energy_after"] != report["energy_after"]
    posed = np.concatenate([evaluated(tube, rig), evaluated(sleeve, rig)])
    shown = araplbs.Deformation(arguments["vertices"], arguments["triangles"])
    shown.add(posed[None])
    one, all_poses = (
        judged(task.problem, task.solution.rows, some)[0]["area"] for some in (poses[frame], poses)
    )
    assert one == pytest.approx(shown.measures()["area"], rel=1e-3)
    after = found["deformation"]["after"]
    assert after["surface_strain"] == pytest.approx(all_poses)
    assert after["surface_strain"] != report["deformation"]["after"]["surface_strain"]


def test_plain_meshes_have_no_deformer(character):
    tube, rig, modifier = character
    read = addon("blender.read.read_deformer").read_deformer
    assert read(tube, rig) is None
    rig.data.bones["control"].use_envelope_multiply = True
    assert read(tube, rig) is None, "it deforms nothing"
    modifier.use_bone_envelopes = True
    assert read(tube, rig) is not None


def test_parent_of_type_armature_has_envelopes(character):
    """Blender moves vertices without groups by envelopes, as with a modifier with Bone
    Envelopes."""
    tube, rig, modifier = character
    tube.modifiers.remove(modifier)
    tube.parent_type = "ARMATURE"
    deformer = addon("blender.read.read_deformer").read_deformer(tube, rig)
    assert deformer.use_envelopes and deformer.use_groups and not deformer.preserve_volume


def test_envelopes_that_do_nothing_are_not_told(character, capsys):
    """Every vertex is in a group afterwards, and inside all envelopes."""
    tube, rig, modifier = character
    modifier.use_bone_envelopes = True
    assert "envelopes" not in told(capsys, tube, rig)
    for bone in rig.data.bones:
        bone.use_envelope_multiply, bone.head_radius, bone.tail_radius = True, 9, 9
    assert "envelopes" not in told(capsys, tube, rig)


def test_several_meshes_of_which_one_preserves_volume(character, capsys):
    tube, rig, modifier = character
    vertices, faces = tube_arrays(radius=0.35, caps=False)
    sleeve = add_mesh("Sleeve", vertices, faces, matrix=rotation(40, "Y"))
    modifier.use_deform_preserve_volume = True
    said = told(capsys, sleeve, tube, rig)
    assert "with Preserve Volume (Tube): stretch" in said
    assert Vector(sleeve.dimensions).length > 0
