"""Opens every door as a user does. All buttons of the tab and all menu entries are found by the
mouse or the arrow keys and pressed, and dialogs are answered with Enter. A door is good if its
operator finishes and something in the file, the window or on disk has changed.

A room is a state of the file in which some doors are open. Doors that state why they are closed in
one room must be open in another. Hundreds of presses take minutes: `tests/run.sh sid-gui
trixie-gui` makes all of them, and a run of all tests only those of the first room."""

import secrets
import shutil
from contextlib import contextmanager

import bpy
import doors
import flaws
import numpy as np
import scenes
from doors import OURS, Watched, as_idname, world
from driver import (
    cancel,
    clear,
    is_named,
    looks,
    open_sidebar,
    region,
    reset_settings,
    session,
    solving,
    wait_until,
    when_named,
)
from test_panels import panels

REASONS = scenes.package("character.control_bones").REASONS
FIRST = "VIEW3D_PT_araplbs"
PAGE = "doors-page"  # the folder of what Compare Methods writes
SHAPE, POSES = {"rings": 13, "sides": 8}, 4  # small: it is made for each door once more
# Our operators without a door of their own, and how they are reached.
INSIDE = {
    "object.araplbs_brush": "the tools of Weight Paint mode",
    "object.araplbs_deform_with": "a menu of Check and Repair: tests/addon/deform_with",
    "object.araplbs_compare": "the dialog of Compare Methods",
    "object.araplbs_load_preset": "the menu of presets",
    "object.araplbs_mend_mesh": "findings about the mesh: test_cures.py",
    "object.araplbs_parent_at_joint": "notes about bones that hang elsewhere: as above",
    "object.araplbs_move_limbs": "notes about limbs beside their bones: tests/addon/auto_weight",
    "object.araplbs_give_part": "parts between two bones: test_give_part.py",
    "object.araplbs_give_found_part": "findings about such parts: as above",
    "object.araplbs_stop_counting": "while problems are counted: test_counting.py",
    "object.araplbs_reduce_bones": "the dialog of Reduce Bones",
    "object.araplbs_reduce_bones_ask": "what that button finds out first",
    "object.araplbs_transfer_ask": "the question of Transfer Weights: test_tasks.py",
    "object.araplbs_peek_weights": "a key that is held: test_game_tools.py",
    "object.araplbs_hover": "starts with a choice in Weight Paint mode: test_game_tools.py",
}
# Operators that wait for the mouse or show a picture: test_clicks.py.
WITH_MOUSE = {
    f"object.araplbs_{name}"
    for name in ("reach", "pick_limb", "weight_limb", "wipe", "play_motion")
}
INSIDE["object.araplbs_solve_below"] = "a stroke of Smooth Weights: test_clicks.py"
INSIDE |= dict.fromkeys(WITH_MOUSE, "the mouse goes on") | {
    "object.araplbs_mirror_painted": "weights that were painted: tests/addon/touch_up",
    "object.araplbs_one_spine": "a chain of selected bones: tests/addon/bendy",
    "object.araplbs_show_pictures": "a picture: test_clicks.py",
    "object.araplbs_save_pictures": "as above",
}
ALREADY = {  # the tool of a new session; the weights that are shown; no bone is locked
    'bpy.ops.wm.tool_set_by_id(name="araplbs.weight")',
    "bpy.ops.object.araplbs_show_weights(which='AFTER')",
    "bpy.ops.object.araplbs_lock_bones(which='NONE')",
}
PRESSED = "doors-pressed.txt"  # of both starts of Blender, without and with pixels
pressed = {}  # idname: rooms in which a door of it was pressed with success
opened = set()  # (panel or menu, call) of these doors: once each
failed = []  # what is wrong with doors
closed = {}  # call: (room, reason) where it was not to be pressed


def character(painted=False):
    """A tube with several kinds of problems: bad weights, a control bone, corrections, shape keys,
    an animation, a page. painted: it had weights of the artist before."""
    clear()
    rig = scenes.add_armature()
    tube = scenes.add_tube(**SHAPE)
    scenes.bind(tube, rig)
    if painted:
        for number, bone in enumerate(rig.data.bones):
            own = [v.index for v in tube.data.vertices if number <= min(v.co.z, 2.99) < number + 1]
            tube.vertex_groups.new(name=bone.name).add(own, 1.0, "REPLACE")
    settings = bpy.context.scene.araplbs
    settings.pose_count, settings.iterations = POSES, 1
    scenes.auto_weight(tube, rig, pose_count=POSES, iterations=1)
    flaws.stretch(tube, rig)
    flaws.unweighted(tube, rig)
    return tube, rig


def scene_of_result(ui):
    """The state after two presses: three sets of weights, and remaining problems."""
    tube, rig = character(painted=True)
    outcomes = scenes.addon("features.auto_weight.outcome")
    scenes.select(tube, rig)
    for _ in range(2):
        scenes.auto_weight(pose_count=POSES, iterations=1)
        flaws.stretch(tube, rig)
    outcome = outcomes.outcome_at_hand(bpy.context)
    assert all(outcome.slots.values()), "three sets"
    with ui.override():
        bpy.ops.object.araplbs_check()
    kind = scenes.package("skeleton.poses").Poses
    outcome.findings, outcome.judged = flaws.found().findings, kind(flaws.found().list.poses, None)
    outcome.facts |= {"problems": (9, len(outcome.findings)), "stretch": (0.1, 0.2)}
    outcome.notes[:] = notes_of({})
    scenes.select(tube, rig, active=tube)
    bpy.ops.ed.undo_push(message="set-up")
    flaws.found().__init__()
    yield 2
    return outcome


def scene_of_notes(ui):
    """Only notes, of each kind that has a button."""
    outcome = yield from scene_of_result(ui)
    outcome.facts = {"stretch": (None, None), "lost": [outcome.bones.index("middle")]}
    bpy.data.objects["Tube"].vertex_groups["lower"].lock_weight = True
    remedies = scenes.package("reports.doubts")
    found = notes_of({"above_limit": 5}, unresponsive=("upper",), lost=("middle",))
    for facts in (
        {"tails_aside": ["lower"]},
        {"bone_directions": remedies.JOINTS},
        {"control_bones": {"lower": "SERVED"}},
    ):
        found += notes_of({"deformation": {"after": {"surface_strain": 0.9}}} | facts)[:1]
    outcome.notes[:] = list({note.text: note for note in found}.values())


def notes_of(facts, **more):
    """The Notes of a report with these facts."""
    tube = {"object": "Tube", "vertex": 0}
    report = {
        "options": {"max_influences": 4},
        "deformation": {"after": {"surface_strain": None}},
        "idle_in_skin": ["middle"],
        "unseen_parts": [tube | {"rigid": False}],
        "rigid": [tube],
        "control_bones": {"lower": "ROOT"},
        "far_from_bones": [],
        "above_limit": 0,
        "held_cost": 0,
    }
    return scenes.package("reports.notes").result_notes(report | facts, **more)


def go_to(ui, mode):
    if mode != "OBJECT":
        with ui.override():
            bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message="set-up")


def scene_to_weight(ui, active="Tube", mode="OBJECT"):
    """The state without a result."""
    tube, rig = character()
    scenes.select(tube, rig, active=bpy.data.objects[active])
    if mode == "EDIT":
        flaws.remove(tube, range(20, 40))
        select_vertices(tube, range(20, 40))
        sets = tube.data.attributes.new(".sculpt_face_set", "INT", "FACE").data
        sets.foreach_set("value", [1] * len(sets))
        tube.data.materials.append(bpy.data.materials.new("Cloth"))
    if mode == "POSE":
        rig.data.bones.active = rig.data.bones["middle"]
        rig.data.bones["upper"].bbone_segments = 3
        rig.data.bones["lower"].araplbs_joint.lock_head = True
    go_to(ui, mode)
    if mode == "POSE":
        with ui.override():
            bpy.ops.pose.select_all(action="SELECT")
        bpy.ops.ed.undo_push(message="selected")
    yield 2


def scene_of_locks(ui):
    """Two selected bones, one of them locked."""
    yield from scene_to_weight(ui, "Rig", "POSE")
    for flag in scenes.addon("blender.data.bones").bone_flags(bpy.data.objects["Rig"]):
        flag.select = flag.name != "upper"
    bpy.data.objects["Tube"].vertex_groups["middle"].lock_weight = True
    bpy.ops.ed.undo_push(message="locked")
    yield 2


def select_vertices(tube, which):
    scenes.addon("blender.write.select_region").select_vertices(tube.data, np.array(list(which)))


def scene_of_originals(ui):
    """The Result box is closed, and the artist's weights are still available."""
    yield from scene_of_result(ui)
    with ui.override():
        bpy.ops.object.araplbs_keep_shown_weights(which="SHOWN")
    bpy.ops.ed.undo_push(message="kept")


def scene_of_page(ui):
    """The state after methods were compared."""
    yield from scene_to_weight(ui)
    with ui.override():
        folder = str(ui.pictures / PAGE)
        bpy.ops.object.araplbs_compare(directory=folder, judged_poses=2, judged_frames=0)


def scene_of_bones(ui, mode="OBJECT"):
    """A control bone was omitted; there are corrections, selected vertices, and vertices without
    weights."""
    tube, rig = character()
    rig.data.bones["lower"].araplbs_control = REASONS[1][0]
    bpy.context.window_manager.araplbs_control_bone = 0
    paint = scenes.addon("features.edits.operator").paint_edit
    paint(tube.data, "WEIGHT", "upper", [5, 6, 7], 1.5)
    select_vertices(tube, (3, 4))
    scenes.select(tube, rig, active=tube)
    tube.vertex_groups.active_index = 0
    tube.data.use_paint_mask_vertex = mode == "WEIGHT_PAINT"
    go_to(ui, mode)
    yield 2


def scene_of_findings(ui):
    """The weights were checked, one finding is selected, and its pose is shown."""
    tube, rig = character()
    scenes.select(tube, rig, active=tube)
    bpy.context.window_manager.araplbs_errors = "POSES"
    with ui.override():
        bpy.ops.object.araplbs_check()
        worst = next(k for k, each in enumerate(flaws.found().findings) if each.pose >= 0)
        bpy.ops.object.araplbs_show_pose(index=worst)
    go_to(ui, "OBJECT")
    yield 2


def scene_of_pose(ui):
    """The same in the user's own pose."""
    yield from scene_of_findings(ui)
    with ui.override():
        bpy.ops.object.araplbs_own_pose()


def scene_of_clothes(ui, kept=True):
    """A body with weights and a shape key, and a sleeve with neither."""
    tube, rig = character()
    scenes.auto_weight(tube, rig, pose_count=POSES, iterations=1)
    tube.shape_key_add(name="Basis")
    tube.shape_key_add(name="Fat").data[20].co.x += 0.1
    vertices, faces = scenes.tube_arrays(radius=0.33, caps=False, **SHAPE)
    sleeve = scenes.add_mesh("Sleeve", vertices, faces)
    with ui.override():
        if kept:
            scenes.select(tube, rig, active=tube)
            bpy.ops.object.araplbs_keep_weights()
            flaws.remove(tube, range(0, 30))
    scenes.select(tube, *(() if kept else (sleeve,)), active=tube)
    go_to(ui, "OBJECT")
    yield 2


def scene_of_copies(ui):
    yield from scene_of_clothes(ui, kept=False)


def scene_of_session(ui):
    """Refine Live is running in Weight Paint mode, with a correction."""
    tube, rig = character()
    scenes.auto_weight(tube, rig, pose_count=POSES, iterations=1)
    select_vertices(tube, (3, 4))
    paint = scenes.addon("features.edits.operator").paint_edit
    paint(tube.data, "WEIGHT", "upper", [5, 6, 7], 1.5)
    scenes.select(tube, active=tube)
    go_to(ui, "WEIGHT_PAINT")
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="builtin.gradient")
        bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT")
    yield from wait_until(lambda: not session() or session().settled)
    assert session(), "no session is running"
    yield 5


def scene_to_export(ui, segments=3):
    """Weights with many digits, bendy bones, a modifier that can be baked. The armature is
    active."""
    tube, rig = character()
    scenes.auto_weight(tube, rig, pose_count=POSES, iterations=1)
    tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = 5
    rig.data.bones["upper"].bbone_segments = segments
    scenes.select(tube, rig, active=rig)
    go_to(ui, "OBJECT")
    yield 2


def scene_of_limbs(ui, added=False):
    """Two arms in Pose mode. added: with twist bones."""
    clear()
    rig = scenes.add_armature(bones=scenes.two_sided_bones())
    place = scenes.Matrix.Translation((-1.2, 0, 0.9)) @ scenes.rotation(90, "Y")
    arms = scenes.add_tube(matrix=place, length=2.4, rings=31, radius=0.1)
    scenes.auto_weight(arms, rig, pose_count=POSES, iterations=1)
    scenes.select(rig)
    go_to(ui, "POSE")
    if added:
        with ui.override():
            bpy.ops.object.araplbs_add_twist_bones()
        bpy.ops.ed.undo_push(message="added")
    yield 2


def scene_of_preset(ui):
    """Settings that form a preset of the artist."""
    yield from scene_to_weight(ui)
    bpy.context.scene.araplbs.bone_spring_stiffness = 0.123
    with ui.override():
        bpy.ops.object.araplbs_add_preset(name="Own")
    yield 2


def of(scene, *arguments):
    return lambda ui: scene(ui, *arguments)


# (name, set-up, where: the name of the only panel besides the first, "" for the first alone, or of
# a menu).
TAB = (
    ("object", scene_to_weight, ""),
    ("preset", scene_of_preset, ""),
    ("result", scene_of_result, ""),
    ("notes", scene_of_notes, ""),
    ("originals", scene_of_originals, ""),
    ("paint", of(scene_to_weight, "Tube", "WEIGHT_PAINT"), ""),
    ("edit", of(scene_to_weight, "Tube", "EDIT"), ""),
    ("locks", scene_of_locks, ""),
    ("session", scene_of_session, ""),
)
BELOW = (
    ("bones", scene_of_bones, "bones"),
    ("bones-paint", of(scene_of_bones, "WEIGHT_PAINT"), "bones"),
    ("poses", scene_to_weight, "poses"),
    ("check", scene_to_weight, "check"),
    ("findings", scene_of_pose, "check"),
    ("findings-posed", scene_of_findings, "check"),
    ("clothes", scene_of_copies, "clothes"),
    ("clothes-kept", scene_of_clothes, "clothes"),
    ("joints", of(scene_to_weight, "Rig", "POSE"), "joints"),
    ("export", scene_to_export, "export"),
    ("export-plain", of(scene_to_export, 1), "export"),
    ("page", scene_of_page, "check"),
)
MENUS = (
    ("parent", scene_to_weight, "VIEW3D_MT_object_parent"),
    ("context", scene_to_weight, "VIEW3D_MT_object_context_menu"),
    ("weights", of(scene_to_weight, "Tube", "WEIGHT_PAINT"), "VIEW3D_MT_paint_weight"),
    ("edit-weights", of(scene_to_weight, "Tube", "EDIT"), "VIEW3D_MT_edit_mesh_weights"),
    ("rigid", of(scene_to_weight, "Tube", "EDIT"), "VIEW3D_MT_araplbs_rigid"),
    ("pose-menu", of(scene_to_weight, "Rig", "POSE"), "VIEW3D_MT_pose"),
    ("limbs", scene_of_limbs, "VIEW3D_MT_pose"),
    ("twisted", of(scene_of_limbs, True), "VIEW3D_MT_pose"),
    ("armature", of(scene_to_weight, "Rig", "POSE"), "VIEW3D_MT_edit_armature"),
    ("links", scene_of_copies, "VIEW3D_MT_make_links"),
    ("links-kept", scene_of_clothes, "VIEW3D_MT_make_links"),
    ("presets", scene_to_weight, "VIEW3D_MT_araplbs_presets"),
)
HELP = (("help", scene_to_weight, "TOPBAR_MT_help"),)


@contextmanager
def only_below(name):
    """The tab has only this panel, open; "": the first one, with the others closed, because some of
    its buttons open them."""
    if not name:
        yield
        reset_settings()
        return
    first, others = panels()
    for kind in (*reversed(others), first):
        bpy.utils.unregister_class(kind)
    [kind] = [each for each in others if each.__name__ == f"{FIRST}_{name}"]
    own = {"draw": kind.draw, "bl_options": set(), "bl_parent_id": ""}
    alone = type(f"{kind.__name__}_{secrets.token_hex(2)}", (kind,), own)
    bpy.utils.register_class(alone)
    try:
        yield
    finally:
        bpy.utils.unregister_class(alone)
        for kind in (first, *others):
            bpy.utils.register_class(kind)
        reset_settings()


def try_tab(ui, rooms):
    yield from open_sidebar(ui)
    for name, set_up, below in rooms:
        with (
            little_drawn(ui),
            only_below(below),
            doors.undrawn(),
            doors.files_in_the_window(),
        ):
            yield from enter(ui, set_up)
            found = yield from doors.doors_of_sidebar(ui)
            found |= yield from doors.doors_of_header(ui)
            yield from leave(ui)
            assert found, name
            for call, at in found.items():
                if (below, call) not in opened:
                    yield from try_door(
                        ui, name, set_up, call, lambda at=at: doors.press_at(ui, at), below
                    )


def try_menus(ui, rooms):
    for name, set_up, menu in rooms:
        with little_drawn(ui), doors.undrawn(), doors.files_in_the_window():
            yield from enter(ui, set_up)
            found = yield from doors.doors_of_menu(ui, menu)
            yield from leave(ui)
            assert found, f"{menu} has no entry of ours"
            for call in found:
                if (menu, call) not in opened:
                    yield from try_door(
                        ui,
                        name,
                        set_up,
                        call,
                        lambda c=call, m=menu: doors.press_in_menu(ui, m, c),
                        menu,
                    )


@contextmanager
def little_drawn(ui):
    """The processor draws the window a few hundred times for each room, which is most of the
    work."""
    preferences, space = bpy.context.preferences, ui.area().spaces.active
    space.shading.type, space.overlay.show_overlays = "WIREFRAME", False
    space.show_gizmo = space.show_region_toolbar = False
    system, view = preferences.system, preferences.view
    before = system.viewport_aa, view.smooth_view, view.show_tooltips
    system.viewport_aa, view.smooth_view, view.show_tooltips = "OFF", 0, False
    try:
        yield
    finally:
        system.viewport_aa, view.smooth_view, view.show_tooltips = before


def enter(ui, set_up):
    bpy.context.preferences.view.show_developer_ui = False
    reset_settings()
    scenes.addon("features.check.show_pose").put_back()
    bpy.context.window_manager.araplbs_errors = "NONE"
    comparison = bpy.context.scene.araplbs.comparison
    comparison.directory = str(ui.pictures / PAGE)
    comparison.judged_poses, comparison.judged_frames = 2, 0
    yield from set_up(ui)
    region(ui, "UI").tag_redraw()
    yield 4
    making = scenes.addon("features.auto_weight.strip")._making
    yield from wait_until(lambda: session() or not (solving() or making))
    yield 4


def leave(ui):
    """Closes everything that is open: menus, popovers, a session, modes."""
    for _ in range(2):
        yield from doors.tap(ui, "ESC") if not session() else iter(())
    if session():
        yield from cancel(ui)
    with ui.override():
        if bpy.context.object and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
    yield 2


def try_door(ui, room, set_up, call, press, place):
    """Presses the door in the room, set up again, and checks the effect. place: the panel or menu
    that contains it."""
    match = OURS.match(call)
    idname = match[0].removeprefix("bpy.ops.") if match else ""
    if call in ALREADY or idname in WITH_MOUSE or (not idname and call in pressed):
        return
    print(f"door: {room}: {call}", flush=True)
    yield from enter(ui, set_up)
    if idname and (reason := doors.why_closed(ui, idname)):
        closed[call] = room, reason
        yield from leave(ui)
        return
    before = world(ui)
    with Watched() as watched:
        yield 4
        drawn = set(watched.drawn)
        try:
            yield from press()
            yield from doors.settled(ui, watched, idname)
        except (RuntimeError, ReferenceError) as error:  # others can be tried
            fail(f"{room}: {call}: {error!r}")
        effect = world(ui) != before or watched.opened or watched.drawn - drawn
        effect = effect or {as_idname(name) for name in watched.asked} - {idname}  # by another one
        effect = effect or (ui.pictures / PAGE).exists()
        results = [result for name, result in watched.ended if as_idname(name) == idname]
    if results and not session() and {"FINISHED"} not in results:
        if watched.refused:  # as a door that is closed and says why
            closed[call] = room, watched.refused[-1]
            print("closed:", call, *closed[call], flush=True)
        else:
            fail(f"{room}: {call} ended with {results[-1]}")
    elif not effect:
        fail(f"{room}: {call} did nothing")
    else:
        pressed.setdefault(idname or call, []).append(room)
        with (ui.pictures / PRESSED).open("a") as file:
            print(idname or call, file=file)
        opened.add((place, call))
    shutil.rmtree(ui.pictures / PAGE, ignore_errors=True)
    for file in doors.exported():
        file.unlink()
    yield from leave(ui)


def fail(words):
    print("door that fails:", words, flush=True)
    failed.append(words)


def assert_good():
    found = failed.copy()
    failed.clear()
    assert not found, "\n".join(found)


@looks  # some doors do no more than have a panel drawn
def test_doors_of_the_first_panel(ui):
    """A run of all tests tries only the doors of the first state."""
    yield from try_tab(ui, TAB if is_named() else TAB[:1])
    assert_good()


@looks  # without pixels, a file browser ignores Enter
def test_doors_of_the_panels_below(ui):
    when_named()
    yield from try_tab(ui, BELOW)
    assert_good()


def test_doors_of_menus(ui):
    when_named()
    (ui.pictures / PRESSED).unlink(missing_ok=True)
    yield from try_menus(ui, MENUS)
    assert_good()


@looks  # it opens a file browser
def test_doors_of_the_help_menu(ui):
    when_named()
    yield from try_menus(ui, HELP)
    assert_good()


@looks  # in the start with pixels, as the doors of panels are
def test_no_operator_is_without_a_door(ui):
    """Runs after the others: each operator with a door was opened in some room."""
    when_named()
    yield 1
    kinds = [
        kind
        for kind in scenes.addon("registration").CLASSES
        if issubclass(kind, bpy.types.Operator)
    ]
    opened = set((ui.pictures / PRESSED).read_text().split("\n"))
    missing = {as_idname(kind.bl_idname) for kind in kinds} - opened - set(INSIDE)
    assert not missing, (missing, closed)
    print("doors of", len(opened), "operators")
