"""The tab when it is opened for the first time, and its text after the first click. The manual uses
these pictures. The test runs only in the newest Blender, because test_panels.py and
test_auto_weight.py check in all versions that the panels are drawn and the button works."""

import bpy
import scenes
from driver import (
    Draws,
    clear,
    is_named,
    newest_only,
    open_sidebar,
    over,
    reset_settings,
    session,
    show,
    still,
    wait_for_end,
    wait_until,
    when_named,
)

CLOSED = ("bones", "poses", "check", "clothes", "joints", "export")


def make_character():
    """The character of the demo, bound, without weights; (rig, [meshes]). The character has a third
    of its vertices if no picture of it is stored."""
    import character

    clear()
    fine = character.VOXEL
    character.VOXEL = fine if is_named() else 1.7 * fine
    rig, meshes = character.make_character()
    character.VOXEL = fine
    for ob in meshes:
        scenes.bind(ob, rig)
    return rig, meshes


def start(ui):
    newest_only()
    rig, meshes = make_character()
    scenes.select(*meshes, rig)
    show(ui)
    bpy.ops.ed.undo_push(message="set-up")
    yield from open_sidebar(ui)
    return rig, meshes


def weigh(ui):
    with ui.override():
        assert bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_for_end()
    yield from still(ui)


def test_first_screen(ui):
    """Six closed panels below the first, and nothing for experts. For visual inspection;
    test_panel_and_menus and tests/addon/every_feature/test_tab.py also check the drawing."""
    when_named()
    with Draws() as draws:
        yield from start(ui)
        yield 8
        drawn = draws.since()
        ui.picture("first-screen")
    assert "VIEW3D_PT_araplbs" in drawn
    assert not {f"VIEW3D_PT_araplbs_{name}" for name in (*CLOSED, "expert")} & drawn


def test_first_result(ui):
    """The box stays, and the result is compared with earlier weights, here those of Blender."""
    rig, meshes = yield from start(ui)
    with ui.override():
        bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT")
    yield 3
    ui.picture("first-progress")
    yield from wait_for_end()
    yield from still(ui)
    ui.picture("first-result")
    outcome = scenes.addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)
    assert outcome.facts["problems"][0] is None, "there was nothing before"
    with ui.override():
        bpy.ops.object.araplbs_show_problems()
    yield from still(ui)
    ui.picture("first-problems")
    ui.key("ESC")
    yield 5
    yield from see_the_worst(ui, rig)
    for ob in meshes:
        ob.vertex_groups.clear()
    scenes.select(*meshes, rig)
    with ui.override():
        bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    bpy.ops.ed.undo_push(message="Blender's weights")
    yield from weigh(ui)
    yield from still(ui)
    outcome = scenes.addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)
    assert None not in (*outcome.facts["problems"], *outcome.facts["stretch"])
    assert outcome.facts["problems"][1] < outcome.facts["problems"][0]
    yield from wait_until(lambda: outcome.seen is not None)
    yield from still(ui)
    ui.picture("second-result")
    yield from worse_result(ui, outcome)
    rig = bpy.data.objects[outcome.armature.name]
    scenes.select(rig)
    with ui.override():
        bpy.ops.object.mode_set(mode="POSE")
        assert bpy.ops.object.araplbs_auto_weight.poll()
    yield 8
    ui.picture("first-pose-mode")
    with ui.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    reset_settings()


def worse_result(ui, outcome):
    """Three sets of weights, with the worse values in red, while an importer's Empty is active."""
    outcomes = scenes.addon("features.auto_weight.outcome")
    yield from weigh(ui)
    latest = outcomes.outcome_at_hand(bpy.context)
    assert latest is not outcome and latest.slots["ORIGINAL"]
    problems, stretch = latest.facts["problems"], latest.facts["stretch"]
    latest.facts |= {
        "problems": (problems[1], problems[1] + 1),
        "stretch": (0.7 * stretch[1], stretch[1]),
    }
    empty = bpy.data.objects.new("Root", None)
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    assert outcomes.outcome_at_hand(bpy.context) is latest
    yield from still(ui)
    ui.picture("worse-result")
    bpy.data.objects.remove(empty)


def see_the_worst(ui, rig):
    """Shows the worst problem in its pose, and returns."""
    found = scenes.addon("features.check.findings_list").found
    worst = next(k for k, finding in enumerate(found.findings) if finding.pose >= 0)
    own = [bone.matrix.copy() for bone in rig.pose.bones]
    with ui.override():
        bpy.ops.object.araplbs_show_pose(index=worst)
    yield 8
    ui.picture("first-pose-shown")
    assert any(bone.matrix != was for bone, was in zip(rig.pose.bones, own, strict=True))
    with ui.override():
        bpy.ops.object.araplbs_own_pose()
    yield 5


def test_first_in_weight_paint(ui):
    _rig, meshes = yield from start(ui)
    yield from weigh(ui)
    scenes.select(meshes[0])
    with ui.override():
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        bpy.ops.wm.tool_set_by_id(name="builtin.gradient")  # other tests leave theirs
    yield 8
    ui.picture("first-weight-paint")
    with ui.override():
        bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT")
    yield 5
    tools = bpy.context.workspace.tools
    assert tools.from_space_view3d_mode("PAINT_WEIGHT").idname == "araplbs.weight"
    yield from wait_until(lambda: session() and session().settled)
    yield 8
    ui.picture("first-session")
    assert session().frame.iterations == 0, "nothing moves before something is asked for"
    view = scenes.addon("operators.error_view").view
    bpy.context.window_manager.araplbs_errors = "BONES"
    colors = len(meshes[0].data.vertices), 3  # what other tests have seen may be shown before
    yield from wait_until(lambda: view.result is not None and view.result.shape == colors)
    yield 8
    ui.picture("all-bones")
    bpy.context.window_manager.araplbs_errors = "NONE"
    ui.key("ESC")
    yield from over()
