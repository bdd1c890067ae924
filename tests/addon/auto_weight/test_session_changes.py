"""Changes by other operators to the meshes of a live session: copies, undo, other topology, files
that cannot be saved. Nothing is lost, and the messages are true."""

import bpy
import numpy as np
import pytest
from scenes import add_cube, deform_names, entries, new_scene, select, tube_and_rig, weights
from sessions import accept, cancel, finish, painted_tube, settle, settled, start, tick_until


def tokens():
    return [mesh.name for mesh in bpy.data.meshes if mesh.araplbs.session]


def at_work(*more, **options):
    """A session that has written to a tube after an undo step was pushed, and its objects by
    name."""
    tube, rig = painted_tube(rings=60, sides=12)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="start")
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    before = entries(tube)
    session = start(tube, *more, rig, start_from="FRESH", **options)
    tick_until(session, lambda: session.written >= 1)
    assert entries(tube) != before
    return session, before


def duplicate():
    select(bpy.data.objects["Tube"])
    bpy.ops.object.duplicate()


def paste():
    select(bpy.data.objects["Tube"])
    bpy.ops.view3d.copybuffer()
    bpy.ops.view3d.pastebuffer()


def link():
    tube = bpy.data.objects["Tube"]
    copy = bpy.data.objects.new("Linked", tube.data.copy())
    bpy.context.scene.collection.objects.link(copy)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("copy", [duplicate, paste, link])
def test_copied_meanwhile(copy, kept):
    """A copied mesh contains weights of the session but does not belong to the session: undo and
    redo later restore accepted and painted weights."""
    session, before = at_work()
    copy()
    bpy.ops.ed.undo_push(message="copy")
    if kept:
        settle(session)
        session.keep()
    else:
        session.restore()
    finish(session)
    assert bool(session.report) == kept and not tokens()
    tube = bpy.data.objects["Tube"]
    assert kept or entries(tube) == before
    bpy.ops.ed.undo_push(message="ended")
    tube.vertex_groups["upper"].add(range(100), 0.123, "REPLACE")
    bpy.ops.ed.undo_push(message="painted")
    painted = entries(tube)
    bpy.data.objects["Rig"].location.x = 1
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    assert entries(bpy.data.objects["Tube"]) == painted
    bpy.ops.ed.redo()
    assert entries(bpy.data.objects["Tube"]) == painted


def test_undo_into_the_session_puts_back():
    """Weights are restored if the mesh belongs to the session. The copy is not written to."""
    session, before = at_work()
    duplicate()
    bpy.ops.ed.undo_push(message="copy")
    copied = entries(bpy.data.objects["Tube.001"])
    settle(session)
    accept(session)
    bpy.ops.ed.undo_push(message="kept")
    kept = entries(bpy.data.objects["Tube"])
    assert kept != before
    bpy.ops.ed.undo()
    assert entries(bpy.data.objects["Tube"]) == before
    assert entries(bpy.data.objects["Tube.001"]) == copied and not tokens()
    bpy.ops.ed.redo()
    assert entries(bpy.data.objects["Tube"]) == kept


def test_files_hold_no_token(tmp_path):
    session, _before = at_work()
    duplicate()
    path = tmp_path / "copy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    tick_until(session, lambda: session.settled)
    cancel(session)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert len(bpy.data.meshes) == 2 and not tokens()


def other_mesh():
    tube = bpy.data.objects["Tube"]
    tube.data = tube.data.copy()


def make_single_user():
    select(bpy.data.objects["Tube"])
    bpy.ops.object.make_single_user(object=False, obdata=True)


def add_vertex():
    bpy.data.objects["Tube"].data.vertices.add(1)


def join():
    select(add_cube("Cube", (0, 0, 5)), bpy.data.objects["Tube"])
    bpy.ops.object.join()


def remesh():
    tube = bpy.data.objects["Tube"]
    select(tube)
    tube.data.remesh_voxel_size = 0.1
    bpy.ops.object.voxel_remesh()


def subdivide():
    tube = bpy.data.objects["Tube"]
    tube.modifiers.new("Subdivision", "SUBSURF")
    select(tube)
    bpy.ops.object.modifier_apply(modifier="Subdivision")


def reorder():
    tube = bpy.data.objects["Tube"]
    points, faces = (
        [v.co[:] for v in tube.data.vertices],
        [p.vertices[:] for p in tube.data.polygons],
    )
    last = len(points) - 1
    tube.data.clear_geometry()
    tube.data.from_pydata(points[::-1], [], [[last - v for v in face] for face in faces])


CHANGES = {other_mesh: True, make_single_user: True, add_vertex: True, join: True}
CHANGES |= {remesh: False, subdivide: False, reorder: False}


def by_name(ob):
    """{group: weights} of the vertices."""
    return {g.name: weights(ob, [g.name])[:, 0] for g in ob.vertex_groups}


@pytest.mark.parametrize("asked", ["restore", "keep", "nothing"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_mesh_changed_meanwhile(change, asked):
    """Everything that can be restored is restored. The rest is reported with the name of the
    object."""
    tube, rig = painted_tube(rings=60, sides=12)
    if change is make_single_user:
        other = bpy.data.objects.new("Other", tube.data)
        bpy.context.scene.collection.objects.link(other)
    count, before = len(tube.data.vertices), by_name(tube)
    session = start(tube, rig, start_from="FRESH")
    tick_until(session, lambda: session.written >= 0)
    change()
    if asked == "keep":
        session.keep()
    elif asked == "restore":
        session.restore()
    finish(session)
    assert session.report is None and not tokens()
    for ob in [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.name != "Cube"]:
        now = by_name(ob)
        same = now.keys() == before.keys() and all(
            np.array_equal(now[name][:count], before[name]) for name in before
        )
        assert same == CHANGES[change]
    if CHANGES[change] and asked == "restore":
        assert session.restored and not session.message
    elif CHANGES[change]:
        assert (
            session.message
            == "'Tube' has changed since it was read. The earlier weights are restored"
        )
    else:
        assert not session.restored and session.message == (
            "'Tube' has changed since it was read and keeps the last weights of the session"
        )


def shared_tube():
    """(an object, another object with its mesh, the earlier entries, a session on the former)"""
    tube, rig = painted_tube()
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    before = entries(tube)
    session = start(tube, rig, start_from="FRESH")
    tick_until(session, lambda: session.written >= 1)
    return tube, other, before, session


def test_object_of_a_shared_mesh_deleted_meanwhile():
    """The mesh remains, with its earlier weights."""
    tube, other, before, session = shared_tube()
    bpy.data.objects.remove(tube)
    cancel(session)
    assert entries(other) == before


def test_shared_mesh_edited_meanwhile():
    """Another object with the same mesh is in Edit mode, so nothing can be written."""
    tube, other, before, session = shared_tube()
    select(other)
    bpy.ops.object.mode_set(mode="EDIT")
    session.restore()
    for _ in range(5):
        session.tick(0.01)
    assert session.state == "RESTORING", "waits"
    bpy.ops.object.mode_set(mode="OBJECT")
    finish(session)
    assert session.restored and entries(tube) == before


@pytest.mark.parametrize("what", ["mesh", "rig", "data", "all"])
def test_deleted_while_reading(what):
    """At any step of reading, the message names the deleted object."""
    for steps in range(1, 12):
        new_scene()
        tube, rig = tube_and_rig()
        session = start(tube, rig, start_from="FRESH")
        for _ in range(steps):
            session._step()
        if session.state != "READING":
            break
        name = "Rig" if what == "rig" else "Tube"
        if what == "mesh":
            bpy.data.objects.remove(tube)
        elif what == "data":
            bpy.data.meshes.remove(tube.data)
        else:
            bpy.data.objects.remove(rig)
            if what == "all":
                bpy.data.objects.remove(tube)
                name = "Rig"
        finish(session)
        assert session.message == f"'{name}' was deleted after it was read" and not session.error
    assert steps > 3


@pytest.mark.parametrize("change", [add_vertex, subdivide, reorder])
def test_changed_while_reading(change):
    """Nothing is written, and no group remains."""
    tube, rig = painted_tube(rings=100, sides=20)
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    names = [group.name for group in tube.vertex_groups]
    session = start(tube, rig, start_from="FRESH")
    for _ in range(4):
        session._step()
    assert session.state == "READING"
    change()
    finish(session)
    assert session.message == "'Tube' has changed since it was read"
    assert [group.name for group in tube.vertex_groups] == ([] if change is reorder else names)


@pytest.mark.parametrize("state", ["RUNNING", "KEEPING", "RESTORING"])
def test_save_that_fails(state, tmp_path):
    """The session continues with its token, and its final result is complete."""
    tube, rig = painted_tube(rings=300, sides=40)
    before = entries(tube)
    session = settled(tube, rig, start_from="FRESH")
    getattr(session, {"KEEPING": "keep", "RESTORING": "restore"}.get(state, "copy_edits"))()
    for _ in range(3):
        session._step()
    assert session.state == state
    with pytest.raises(RuntimeError):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "no" / "folder.blend"), copy=True)
    assert tokens() == [tube.data.name] and session.state == state
    bpy.ops.ed.undo_push(message="meanwhile")
    if state == "RUNNING":
        settle(session)
        session.keep()
    finish(session)
    tube = bpy.data.objects["Tube"]
    assert not tokens() and (entries(tube) == before) == (state == "RESTORING")
    if state != "RESTORING":
        rows, dense = session.frame.rows, weights(tube, deform_names(bpy.data.objects["Rig"]))
        expected = np.zeros_like(dense)
        expected[rows.vertices, rows.bones] = rows.weights.astype(np.float32)
        np.testing.assert_array_equal(dense, expected)


def test_an_error_in_a_handler_ends_the_session(monkeypatch):
    """The session reports the error and restores the former state."""
    session, before = at_work()
    monkeypatch.setattr(session, "_survives_undo", lambda: 1 / 0)
    bpy.ops.ed.undo_push(message="a")
    bpy.ops.ed.undo_push(message="b")
    bpy.ops.ed.undo()
    finish(session)
    assert "bug in the program (ZeroDivisionError" in session.message
    assert entries(bpy.data.objects["Tube"]) == before
