"""The live session without a window: what its timer would do, done here."""

import time

import bpy
import numpy as np
import pytest
from scenes import (
    add_cube,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    select,
    snapshot,
    tube_and_rig,
    weights,
)

LIMIT = 60  # seconds for a session to get somewhere


def start(*objects, **options):
    select(*objects)
    options = {"start_from": "PRESENT", **options}
    return addon("live.weights").WeightSession(
        addon("blender.read.targets").find_targets(bpy.context),
        addon("core.character.options").Options(**options),
        bpy.context.view_layer,
    )


def tick_until(session, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"still {session.state}"
        assert session.state != "ENDED", session.message
        session.tick(0.01)
        time.sleep(0.001)


def settle(session):
    tick_until(session, lambda: session.settled)


def finish(session):
    end = time.monotonic() + LIMIT
    while session.state != "ENDED":
        assert time.monotonic() < end, f"still {session.state}"
        session.tick(0.01)


@pytest.fixture(autouse=True)
def no_session_is_left():
    yield
    addon("live.session").end_session()


def ordered(ob):
    """As entries(), with their order in each vertex."""
    return [[(g.group, g.weight) for g in v.groups] for v in ob.data.vertices]


def painted_tube(rings=60, sides=24):
    """Weighted, then painted over in places, with a group that no bone has."""
    tube, rig = tube_and_rig()
    bpy.data.objects.remove(tube)
    tube = add_tube(rings=rings, sides=sides)
    bind(tube, rig)
    other = tube.vertex_groups.new(name="Other")
    other.add(range(0, 200, 3), 0.25, "REPLACE")
    auto_weight(tube, rig)
    tube.vertex_groups["middle"].add(range(40, 90), 0.9, "REPLACE")
    tube.vertex_groups["upper"].remove(range(10, 50))
    return tube, rig


def test_reports_preserve_volume():
    """From the first frame to what is kept."""
    tube, rig = painted_tube(rings=19, sides=10)
    tube.modifiers["Armature"].use_deform_preserve_volume = True
    session = start(tube, rig)
    settle(session)
    session.keep()
    finish(session)
    found = session.report["deformers"]
    assert found["preserve_volume"] == ["Tube"] and found["envelopes"] == []
    assert found["energy_before"] > found["energy_after"] > 0


def test_keeps_what_converged():
    """Three frames and more reach the groups; what is kept is the last one, tidy."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    seen = set()
    tick_until(session, lambda: seen.add(session.written) or session.settled)
    assert len(seen - {-1}) >= 3
    assert session.frame.energies[-1] < session.frame.energies[0]
    session.keep()
    finish(session)
    assert session.report["energy_after"] == session.frame.energies[-1] and not session.message
    found = session.report["deformation"]
    told = found["before"]["surface_strain"], found["after"]["surface_strain"]
    assert told == session.frame.strains and told[0] > told[1] > 0
    dense = assert_good(tube, rig)
    rows = session.frame.rows
    expected = np.zeros((rows.count, 3))
    expected[rows.vertices, rows.bones] = rows.weights.astype(np.float32)
    np.testing.assert_array_equal(dense, expected)
    assert tube.vertex_groups["Other"].weight(0) == 0.25
    assert not tube.data.araplbs.session


@pytest.mark.parametrize("frames", [0, 1, 4])
def test_restores_all(frames):
    """Also the order of the entries of a vertex, and groups that were not there."""
    tube, rig = painted_tube()
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    tube.vertex_groups.active_index = 1
    before, order = snapshot(), ordered(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= frames or session.settled)
    assert snapshot() != before
    session.restore()
    finish(session)
    assert session.report is None and session.message is None
    assert snapshot() == before and ordered(tube) == order
    assert not session.worker.running


def test_restores_at_once():
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 1)
    session.restore_now()
    assert session.state == "ENDED" and snapshot() == before


def test_cancelled_while_reading():
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    session.tick(0)
    session.restore()
    finish(session)
    assert snapshot() == before and session.report is None


def test_no_weights_yet():
    """Present weights are wanted, but missing: fresh ones, and a word about it."""
    tube, rig = tube_and_rig()
    session = start(tube, rig)
    settle(session)
    assert any("no weights yet" in line for line in session.task.warnings)
    session.keep()
    finish(session)
    assert_good(tube, rig)


def test_kept_half_way_has_no_more_influences_than_allowed():
    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", max_influences=1, symmetric=False)
    tick_until(session, lambda: session.written >= 0)
    session.keep()
    finish(session)
    assert_good(tube, rig, most=1)


def edit(**arguments):
    assert bpy.ops.object.araplbs_edit_vertices(**arguments) == {"FINISHED"}


def pick(ob, vertices):
    addon("blender.write.select_region").select_vertices(ob.data, vertices)


def test_steering():
    """A wanted weight, a removed influence, a link: each changes the weights at once; undo too."""
    tube, rig = painted_tube()
    cube = add_cube("Cube", (0.9, 0, 1.5), 0.2)
    bind(cube, rig)
    auto_weight(tube, cube, rig)
    before = snapshot()
    session = start(tube, cube, rig, symmetric=False)
    try:
        settle(session)
        names = deform_names(rig)
        ring = np.arange(24 * 10, 24 * 11)
        assert weights(tube, names)[ring, 2].max() < 0.2
        select(tube)
        pick(tube, ring)
        edit(kind="WEIGHT", bone="upper", weight=0.8)
        settle(session)
        pinned = weights(tube, names)
        assert pinned[ring, 2].min() > 0.6
        edit(kind="INFLUENCE", bone="lower", remove_influence=True)
        settle(session)
        assert not weights(tube, names)[ring, 0].any()
        assert len(tube.data.araplbs.edits) == 2
        assert session.undo_edit() and session.undo_edit() and not session.undo_edit()
        settle(session)
        assert len(tube.data.araplbs.edits) == 0
        assert weights(tube, names)[ring, 2].max() < 0.3
        assert session.undo_edit(redo=True)
        settle(session)
        assert weights(tube, names)[ring, 2].min() > 0.6

        select(cube)
        assert bpy.ops.object.araplbs_add_link(first=0, second=7) == {"FINISHED"}
        settle(session)
        assert [item.kind for item in cube.data.araplbs.edits] == ["LINK"]
        session.restore()
        finish(session)
    finally:
        addon("live.session").end_session()
    select(tube, cube, rig)
    assert snapshot() == before
    assert not tube.data.araplbs.edits and not cube.data.araplbs.edits
    assert not [a.name for ob in (tube, cube) for a in ob.data.attributes if "araplbs" in a.name]


def test_release():
    """A vertex that is tied to a bone is let go, and says so."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    settle(session)
    tied_vertices = addon("operators.edits.brush").tied_vertices
    tube.vertex_groups.active = tube.vertex_groups["upper"]
    vertices, held, released = tied_vertices(session, tube)
    assert len(vertices) and not released.any() and (held > 0).all()
    assert not len(tied_vertices(session, rig)[0]) and not len(tied_vertices(None, tube)[0])
    addon("operators.edits.edit").paint_edit(tube.data, "RELEASE", "upper", vertices[:1], 1)
    settle(session)
    vertices_now, _held, released = tied_vertices(session, tube)
    assert vertices[0] in vertices_now[released]
    session.restore()
    finish(session)


def test_smooth_weights():
    """Painted while it runs and taken back again; ending puts everything back."""
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    settle(session)
    rough = [v.index for v in tube.data.vertices if abs(v.co.z - 1) < 0.25]
    paint_edit = addon("operators.edits.edit").paint_edit
    found = []
    for strength in (0, 1, 0):
        kept = session.copy_edits()
        paint_edit(tube.data, "SMOOTH", "", rough, strength)
        session.note_edit(kept)
        settle(session)
        found.append(session.frame.energies[-1])
    assert found[1] > found[0] and found[2] < found[1]
    session.undo_edit()
    settle(session)
    assert [item.kind for item in tube.data.araplbs.edits] == ["SMOOTH"]
    session.restore()
    finish(session)
    assert snapshot() == before


def test_release_of_attached_vertices():
    """With the paper's rows in place of spokes."""
    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", truss=0, paper_constraints=True)
    settle(session)
    tube.vertex_groups.active = tube.vertex_groups["upper"]
    vertices, held, released = addon("operators.edits.brush").tied_vertices(session, tube)
    assert len(vertices) and (held == 1).all() and not released.any()
    addon("operators.edits.edit").paint_edit(tube.data, "RELEASE", "upper", vertices[:1], 1)
    settle(session)
    assert vertices[0] in vertices[addon("operators.edits.brush").tied_vertices(session, tube)[2]]
    session.restore()
    finish(session)


@pytest.mark.parametrize("change", ["delete mesh", "delete rig", "add vertex", "rename bone"])
def test_changed_meanwhile(change):
    """The session ends and says why; what is still there gets its weights back."""
    tube, rig = painted_tube()
    other = add_tube("Other", rings=30, sides=12)
    bind(other, rig)
    auto_weight(other, rig)
    before = {ob.name: entries(ob) for ob in (tube, other)}
    session = start(tube, other, rig)
    tick_until(session, lambda: session.written >= 1)
    assert entries(other) != before["Other"]
    if change == "delete mesh":
        bpy.data.objects.remove(tube)
    elif change == "delete rig":
        bpy.data.objects.remove(rig)
    elif change == "add vertex":
        tube.data.vertices.add(1)
    else:
        rig.data.bones["lower"].name = "other"
    session.keep()
    finish(session)
    assert session.report is None and not session.restored
    assert "meanwhile" in session.message
    assert entries(other) == before["Other"]
    if change in {"delete rig", "rename bone"}:
        assert entries(tube) == before["Tube"]
    assert not other.data.araplbs.session


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("change", ["move", "remove", "add", "paint"])
def test_groups_changed_meanwhile(change, kept):
    """By others: groups are known by name, and what they have written is noticed."""
    tube, rig = painted_tube()
    names = [g.name for g in tube.vertex_groups]
    before = {name: weights(tube, [name]) for name in names}
    select(tube)
    session = start(tube, rig)
    settle(session)
    if change == "move":
        tube.vertex_groups.active_index = tube.vertex_groups["Other"].index
        bpy.context.view_layer.objects.active = tube
        bpy.ops.object.vertex_group_move(direction="DOWN")
        assert [g.name for g in tube.vertex_groups] != names
    elif change == "remove":
        tube.vertex_groups.remove(tube.vertex_groups["middle"])
    elif change == "add":
        tube.vertex_groups.new(name="Mine").add([3, 4], 0.5, "REPLACE")
    else:
        tube.vertex_groups["upper"].add(range(100), 0.9, "REPLACE")
    if kept:
        session.keep()
        finish(session)
        assert session.report
        assert_good(tube, rig)
    else:
        session.restore()
        finish(session)
        assert session.restored
        for name in names:
            np.testing.assert_array_equal(weights(tube, [name]), before[name])
    np.testing.assert_array_equal(weights(tube, ["Other"]), before["Other"])
    if change == "add":
        assert tube.vertex_groups["Mine"].weight(3) == 0.5


def test_sorted_in_edit_mode_meanwhile():
    """Nothing can be put back by number then: the last weights stay, and it says so."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    settle(session)
    after = weights(tube, deform_names(rig))
    places = [tuple(v.co) for v in tube.data.vertices]
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    session.tick(0.01)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.sort_elements(type="REVERSE", elements={"VERT"})
    bpy.ops.object.mode_set(mode="OBJECT")
    session.restore()
    finish(session)
    assert (
        "was changed meanwhile and keeps the last weights" in session.message
        and not session.restored
    )
    now = dict(
        zip(
            (tuple(v.co) for v in tube.data.vertices), weights(tube, deform_names(rig)), strict=True
        )
    )
    for place, row in zip(places, after, strict=True):
        np.testing.assert_array_equal(now[place], row)


def test_restored_at_once_in_edit_mode():
    """As when the window is closed or the add-on disabled just then."""
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 1)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    session.restore_now()
    assert session.state == "ENDED" and session.restored
    bpy.ops.object.mode_set(mode="OBJECT")
    assert entries(tube) == before


def test_edit_mode_in_the_middle_of_a_write():
    tube, rig = painted_tube(rings=300, sides=40)
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.frame is not None)
    for _ in range(3):
        session.tick(0)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    for _ in range(5):
        session.tick(0.01)
    session.keep()
    session.tick(0.01)
    assert session.state == "KEEPING", "waits"
    bpy.ops.object.mode_set(mode="OBJECT")
    finish(session)
    assert session.report and entries(tube) != before
    assert_good(tube, rig)


def test_saved_in_the_middle(tmp_path):
    """The file holds what was there before; the session goes on."""
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    settle(session)
    live = weights(tube, deform_names(rig))
    path = tmp_path / "middle.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    settle(session)
    np.testing.assert_allclose(weights(tube, deform_names(rig)), live, atol=0.002)
    session.keep()
    finish(session)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    tube = bpy.data.objects["Tube"]
    assert entries(tube) == before and not tube.data.araplbs.session


def test_an_unexpected_error_puts_back_all(monkeypatch):
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    monkeypatch.setattr(session, "_take_edits", lambda: 1 / 0)
    finish(session)
    assert isinstance(session.error, ZeroDivisionError) and not session.restored
    assert snapshot() == before


def test_undo_that_leaves_the_session_ends_it_at_once():
    """Not even the rest of a frame is written into what undo has led to."""
    tube, rig = painted_tube(rings=300, sides=40)
    session = start(tube, rig)
    tick_until(session, lambda: session.frame is not None)
    session.tick(0)
    tube.data.araplbs.session = ""  # as in a state before the session
    now = entries(tube)
    addon("live.session").after_undo(bpy.data.meshes)
    assert session.state == "ENDED" and "Undo" in session.message
    session.tick(0.1)
    assert entries(tube) == now


def test_undo_back_into_a_session_that_has_ended():
    """A state in the middle of it shows what was there before it, groups and edits included."""
    tube, rig = painted_tube()
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    before = snapshot()
    session = start(tube, rig)
    settle(session)
    addon("operators.edits.edit").paint_edit(tube.data, "WEIGHT", "upper", range(240, 264), 1.8)
    settle(session)
    session.keep()
    finish(session)
    session.forget()
    assert snapshot() != before
    tube.data.araplbs.session = session.token  # as undo brings it back
    addon("live.session").after_undo(bpy.data.meshes)
    assert snapshot() == before
    assert not tube.data.araplbs.edits and not tube.data.araplbs.session


def test_link_and_stroke_at_the_same_time():
    tube, rig = painted_tube()
    session = start(tube, rig, symmetric=False)
    settle(session)
    addon("blender.data.edits").add_link(tube.data, 0, 700)
    session.tick(0)
    addon("operators.edits.edit").paint_edit(tube.data, "WEIGHT", "upper", range(240, 264), 1.8)
    session.tick(0)
    settle(session)
    assert weights(tube, deform_names(rig))[240:264, 2].min() > 0.6
    assert session.task.problem.arguments["edges"].tolist().count([0, 700]) == 1
    session.restore()
    finish(session)


@pytest.mark.parametrize("energy", [{"truss": 0, "edge_power": 0}, {}])
def test_report_of_weights_kept_half_way(energy):
    """Of those that were kept, not of those before the limit; the energy that is minimized."""
    import araplbs

    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", max_influences=1, symmetric=False, **energy)
    tick_until(session, lambda: session.frame is not None)
    session.keep()
    finish(session)
    assert session.report["most_influences"] == 1 == session.report["mean_influences"]
    arguments = session.task.problem.arguments
    poses = (
        addon("core.skeleton.poses").pose_set(session.task.problem, session.task.options).transforms
    )
    dense = weights(tube, deform_names(rig))
    expected = araplbs.energy(arguments["vertices"], arguments["triangles"], dense, poses)
    if energy:  # the paper's
        assert session.report["energy_after"] == pytest.approx(expected, rel=1e-4)
    else:
        assert abs(session.report["energy_after"] / expected - 1) > 0.05
    first = araplbs.Solver(**{**arguments, **session.task.options.solver_arguments()})
    assert session.report["energy_before"] == pytest.approx(first.energies[0], rel=1e-4)
    seen = araplbs.deformation(arguments["vertices"], arguments["triangles"], dense, poses)
    after = session.report["deformation"]["after"]["surface_strain"]
    assert after == pytest.approx(seen["area"], rel=1e-4) == session.frame.strains[1]


def test_what_a_session_says():
    """The stretch of the frame that is shown, never that of a start that nobody has seen."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    settle(session)
    facts = addon("operators.base.live").session_facts(session)
    _before, after = session.frame.strains
    assert facts[0] == f"Stretch {100 * after:.1f} %"
    assert session.frame.curve[0] == session.frame.strains[0] and session.frame.curve[-1] == after
    session.restore()
    finish(session)


def test_cut_down():
    """The largest stay, equal ones together, kept ones anyway; sums do not change."""
    rows = addon("core.character.sparse_weights").make_sparse_weights(
        4,
        np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3]),
        np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]),
        np.array([0.5, 0.2, 0.3, 0.4, 0.3, 0.3, 1 / 3, 1 / 3, 1 / 3, 1.0]),
    )
    cut = rows.cut_down(2, np.zeros(10, bool))
    np.testing.assert_allclose(cut.sums(), 1)
    assert cut.bones[cut.vertices == 0].tolist() == [0, 2]
    assert cut.bones[cut.vertices == 1].tolist() == [0], "both or none of two equal ones"
    assert (cut.vertices == 2).sum() == 2, "but not none at all"
    kept = np.zeros(10, bool)
    kept[1] = True
    cut = rows.cut_down(1, kept)
    assert cut.bones[cut.vertices == 0].tolist() == [0, 1]
    np.testing.assert_allclose(cut.weights[cut.vertices == 0], [0.8, 0.2])


def test_edit_mode_pauses():
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    for _ in range(20):
        session.tick(0.01)
    written = session.written
    time.sleep(0.3)
    for _ in range(20):
        session.tick(0.01)
    assert session.written == written
    bpy.ops.object.mode_set(mode="OBJECT")
    settle(session)
    session.restore()
    finish(session)
    assert entries(tube) == before


def test_locked_groups_and_paint_mask():
    tube, rig = painted_tube()
    tube.vertex_groups["middle"].lock_weight = True
    names = deform_names(rig)
    before = weights(tube, names)
    session = start(tube, rig)
    settle(session)
    session.keep()
    finish(session)
    after = weights(tube, names)
    np.testing.assert_array_equal(after[:, 1], before[:, 1])
    assert np.abs(after - before).max() > 0.01


def test_refine_operator_in_the_background():
    tube, rig = painted_tube()
    select(tube, rig)
    pick(tube, range(240, 264))
    select(tube)
    edit(kind="WEIGHT", bone="upper", weight=0.8)
    select(tube, rig)
    assert bpy.ops.object.araplbs_refine_weights("EXEC_DEFAULT") == {"FINISHED"}
    dense = assert_good(tube, rig)
    assert dense[240:264, 2].min() > 0.6
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert assert_good(tube, rig)[240:264, 2].min() > 0.6, "every weighting follows edits"


def test_refine_in_pose_mode():
    tube, rig = painted_tube()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.object.araplbs_refine_weights("EXEC_DEFAULT") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_good(tube, rig)
