"""Preview Deformer shows the mesh as posed by linear blending, dual quaternions and centers of
rotation. This file also tests weights optimized for Preserve Volume."""

import bpy
import numpy as np
import pytest
from deep import refused
from scenes import addon, auto_weight, look, package, snapshot, tube_and_rig
from test_deformer import evaluated


@pytest.fixture
def tube():
    """A weighted tube with two bones rotated and twisted, and its rig."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    for name, turn in (("middle", (0.4, 1.0, 0.2)), ("upper", (0.9, 0.8, 0.0))):
        rig.pose.bones[name].rotation_mode = "XYZ"
        rig.pose.bones[name].rotation_euler = turn
    bpy.context.view_layer.objects.active = tube
    bpy.context.view_layer.update()
    return tube, rig


@pytest.fixture
def preview():
    """Selects the deformer to preview; look() returns the resulting points."""
    manager, view = bpy.context.window_manager, addon("operators.deformer_view").view

    class Preview:
        def show(self, deformer):
            manager.araplbs_deformer = deformer
            return self.look()

        def look(self):
            return look(view)

    yield Preview()
    manager.araplbs_deformer = "NONE"
    view.cancel()


@pytest.mark.parametrize("deformer", ["LINEAR", "DUAL_QUATERNIONS"])
def test_as_blender_deforms(tube, preview, deformer):
    ob, rig = tube
    modifier = next(m for m in ob.modifiers if m.type == "ARMATURE")
    modifier.use_deform_preserve_volume = deformer == "DUAL_QUATERNIONS"
    expected = evaluated(ob, rig)
    np.testing.assert_allclose(preview.show(deformer), expected, atol=1e-5)
    modifier.use_deform_preserve_volume = deformer == "LINEAR"
    assert np.abs(evaluated(ob, rig) - expected).max() > 1e-3
    np.testing.assert_allclose(preview.look(), expected, atol=1e-5)


def test_centers_of_rotation(tube, preview):
    ob, rig = tube
    import araplbs

    got = preview.show("CENTERS")
    layer, errors = bpy.context.view_layer, addon("blender.read.deformation_errors")
    armature, problem, rows = errors.read_weighted(ob, layer, package("model.options").Options())
    assert armature == rig
    layer.update()
    pose = addon("blender.poses.read_poses").present_pose(rig, problem.skeleton, layer.depsgraph)
    vertices, triangles = problem.arguments["vertices"], problem.arguments["triangles"]
    centers = araplbs.rotation_centers(vertices, triangles, tuple(rows))
    skin = araplbs.center_of_rotation_skinning
    expected = skin(vertices, tuple(rows), pose.transforms, centers)[0]
    np.testing.assert_allclose(got, expected, atol=1e-6)
    assert np.abs(got - preview.show("LINEAR")).max() > 1e-3


def test_it_follows_the_pose_and_the_weights(tube, preview):
    ob, rig = tube
    before = preview.show("CENTERS").copy()
    source = addon("operators.deformer_view").view._source
    rig.pose.bones["upper"].rotation_euler.x += 0.3
    bpy.context.view_layer.update()
    posed = preview.look().copy()
    assert np.abs(posed - before).max() > 0.01
    assert addon("operators.deformer_view").view._source is source, "only the pose is read again"
    ob.vertex_groups["upper"].add([0, 1, 2], 0.7, "REPLACE")
    bpy.context.view_layer.update()
    weighted = preview.look().copy()
    assert np.abs(weighted - posed)[:3].max() > 1e-3
    rig.data.bones["upper"].use_deform = False
    bpy.context.view_layer.update()
    assert np.abs(preview.look() - weighted).max() > 1e-3


def test_while_the_armature_is_posed(tube, preview):
    ob, rig = tube
    shown = preview.show("LINEAR").copy()
    bpy.context.view_layer.objects.active = rig
    rig.pose.bones["upper"].rotation_euler.x -= 0.4
    bpy.context.view_layer.update()
    assert np.abs(preview.look() - shown).max() > 0.01
    assert addon("operators.deformer_view").view.name == ob.name


def test_nothing_changes(tube, preview):
    before = snapshot()
    for deformer in ("LINEAR", "DUAL_QUATERNIONS", "CENTERS"):
        preview.show(deformer)
    preview.show("NONE")
    assert snapshot() == before


def test_without_armature_it_says_why(tube, preview):
    ob, _rig = tube
    ob.modifiers.clear()
    ob.parent = None
    assert preview.show("CENTERS") is None
    assert addon("operators.deformer_view").view.message == f"'{ob.name}' has no armature"


def test_it_is_gone_with_the_addon(tube, preview):
    preview.show("CENTERS")
    module, parts = addon("operators.deformer_view"), addon("parts")
    parts.end(module)
    try:
        assert not hasattr(bpy.types.WindowManager, "araplbs_deformer")
        assert module.view.result is None and module.view._source is None
        assert not bpy.app.timers.is_registered(module.view.tick)
        assert module.view.after_update not in bpy.app.handlers.depsgraph_update_post
    finally:
        parts.begin(module)


def test_shades():
    core = package("measures.deformer_preview")
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]], float)
    up = core.shaded(points, np.array([[0, 1, 2]]), (1.0, 0.5, 0.0))
    down = core.shaded(points, np.array([[0, 2, 1]]), (1.0, 0.5, 0.0))
    assert up.shape == (4, 4) and up.dtype == np.float32
    assert (up[:3, 0] > down[:3, 0]).all()
    assert (up >= 0).all() and (up <= 1).all() and (up[:, 3] == 1).all()


def test_weights_for_preserve_volume(tube, capsys):
    ob, rig = tube
    capsys.readouterr()
    assert auto_weight(ob, rig, deformer="DUAL_QUATERNIONS") == {"FINISHED"}
    said = capsys.readouterr().out
    assert "optimized for Preserve Volume, which is off in the Armature modifier of Tube" in said
    next(m for m in ob.modifiers if m.type == "ARMATURE").use_deform_preserve_volume = True
    assert auto_weight(ob, rig, deformer="DUAL_QUATERNIONS") == {"FINISHED"}
    said = capsys.readouterr().out
    assert "The weights are optimized for Preserve Volume with vertex groups" in said
    assert "which is off" not in said


def test_bendy_bones_are_refused(tube):
    ob, rig = tube
    rig.data.bones["middle"].bbone_segments = 4
    said = refused("auto_weight", ob, rig, deformer="DUAL_QUATERNIONS")
    assert "'middle' is a bendy bone" in said
