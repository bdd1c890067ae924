"""Tests Optimize Joints as a user sees it: ghosts of the old bones, accepting, cancelling, undo."""

import bpy
import numpy as np
import scenes
from driver import (
    Draws,
    clear,
    click,
    inside,
    newest_only,
    once,
    open_sidebar,
    over,
    session,
    show,
    still,
    wait_until,
    when_named,
)

HEADS = {"lower": (0, 0, 0.05), "middle": (0.12, 0.03, 1.0), "upper": (-0.08, 0.05, 2.0)}


def make_tube():
    """A tube with joints off its axis."""
    clear()
    names = list(HEADS)
    tails = [HEADS["middle"], HEADS["upper"], (0, 0, 2.95)]
    rig = scenes.add_armature(
        bones=list(zip(names, HEADS.values(), tails, [None, *names[:2]], strict=True))
    )
    tube = scenes.add_tube(rings=60, sides=24)
    scenes.bind(tube, rig)
    scenes.select(tube, rig)
    rig.show_in_front = True
    bpy.ops.ed.undo_push(message="set-up")
    return tube, rig


def bones():
    rig = bpy.data.objects["Rig"]
    return [
        (bone.name, tuple(bone.head_local), tuple(bone.tail_local), bone.use_connect)
        for bone in rig.data.bones
    ]


def begin(ui, **options):
    with ui.override():
        found = bpy.ops.object.araplbs_joints("INVOKE_DEFAULT", anchor=0.0, **options)
    assert found == {"RUNNING_MODAL"}


def settle():
    yield from wait_until(lambda: session() and session().settled)
    yield 8


def test_joints_accept_is_one_undo_step(ui):
    make_tube()
    show(ui)
    bpy.data.objects["Rig"].data.bones["upper"].araplbs_joint.lock_tail = True
    bpy.ops.ed.undo_push(message="locked")
    before, old = scenes.snapshot(), bones()
    begin(ui)
    yield from settle()
    assert scenes.snapshot() == before and bones() == old, "nothing is written before"
    ui.picture("joints-tube")
    ui.key("RET")
    yield from over()
    new = bones()
    assert new != old
    off = [np.linalg.norm(place[1][:2]) for place in new[1:]]
    assert off[0] < 0.06 and off[1] < 0.06
    scenes.assert_good(bpy.data.objects["Tube"], bpy.data.objects["Rig"])
    kept = scenes.snapshot()
    ui.key("Z", ctrl=True)
    yield 8
    assert scenes.snapshot() == before and bones() == old, "one undo step, to the last bit"
    ui.key("Z", ctrl=True, shift=True)
    yield 8
    assert scenes.snapshot() == kept and bones() == new


def test_joints_cancelled(ui):
    """The session can be cancelled by key and button, at any time."""
    make_tube()
    show(ui)
    before, old = scenes.snapshot(), bones()
    for way in ("ESC", "button", "at once"):
        begin(ui)
        if way != "at once":
            yield from settle()
        if way == "button":
            with ui.override():
                assert bpy.ops.object.araplbs_restore() == {"FINISHED"}
        else:
            ui.key("ESC" if way == "at once" else way)
        yield from over()
        assert scenes.snapshot() == before and bones() == old, way


def test_joints_of_a_character(ui):
    """For visual inspection: ghosts of displaced joints, the whole body and the arm, with the panel
    open."""
    newest_only()
    when_named()
    import character

    clear()
    rig, meshes = character.make_character()
    for ob in meshes:
        scenes.bind(ob, rig)
    character.displace_joints(rig)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    scenes.select(*meshes, rig)
    show(ui)
    space = ui.area().spaces.active
    space.shading.show_xray = True
    rig.hide_set(False)
    bpy.ops.ed.undo_push(message="set-up")
    yield from open_sidebar(ui)
    before = {bone.name: np.array(bone.head_local) for bone in rig.data.bones}
    with ui.override():
        assert bpy.ops.object.araplbs_joints("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_until(lambda: session() and session().settled)
    yield 8
    ui.picture("joints-character")
    view = space.region_3d
    view.view_location, view.view_distance = (0.55, 0, 1.26), 0.75
    yield 8
    ui.picture("joints-arm")
    ui.key("RET")
    yield from wait_until(lambda: session() is None)
    yield 8
    ui.picture("joints-accepted")
    after = {bone.name: np.array(bone.head_local) for bone in rig.data.bones}
    for name, head in after.items():
        if name.endswith(".L"):
            np.testing.assert_allclose(head * [-1, 1, 1], after[name[:-1] + "R"], atol=1e-5)
    assert any(np.linalg.norm(after[n] - before[n]) > 0.003 for n in after)
    assert body.vertex_groups


def test_joints_panel(ui):
    """Locks of the active bone, with the armature in Pose mode."""
    once()
    _tube, rig = make_tube()
    scenes.select(rig)
    show(ui)
    with ui.override():
        bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["middle"]
    with Draws() as draws:
        yield from open_sidebar(ui)
        yield 5
        ui.picture("joints-panel-closed")
        assert "VIEW3D_PT_araplbs_joints" not in draws.since()
        yield from click(ui, inside(ui, "UI", (60, 397)))
        yield from still(ui)
        ui.picture("joints-panel")
        assert "VIEW3D_PT_araplbs_joints" in draws.since(), "it does not open"
    for ob in bpy.context.selected_pose_bones:
        ob.bone.araplbs_joint.lock_head = False
    with ui.override():
        bpy.ops.pose.select_all(action="SELECT")
        assert bpy.ops.object.araplbs_lock_joints(lock=True) == {"FINISHED"}
    assert all(bone.araplbs_joint.lock_head for bone in rig.data.bones)
