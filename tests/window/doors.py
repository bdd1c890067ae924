"""Doors: the buttons and entries of panels and menus, found and pressed by mouse and keys, as a
user does. Blender's own "Copy Python Command" states which operator they would call."""

import re
import webbrowser
from contextlib import contextmanager, suppress
from pathlib import Path

import bpy
import flaws
import scenes
from driver import at_work, region, session, solving, wait_until

STEP = 11  # pixels between two looks: less than the height of any button
COLUMNS = (0.2, 0.35, 0.6, 0.85, 0.95)  # of the width of the sidebar
EMPTY = 20  # rows of looks without a button: the panel ends above them
OURS = re.compile(r"bpy\.ops\.\w+\.araplbs_\w+")


def under_mouse(ui, kind):
    """The call of the button under the mouse in this region, "" without a button."""
    manager = bpy.context.window_manager
    manager.clipboard, call = "", bpy.ops.ui.copy_python_command_button
    with bpy.context.temp_override(window=ui.window, area=ui.area(), region=region(ui, kind)):
        if call.poll():
            with suppress(RuntimeError):
                call()
    return manager.clipboard


def chosen_by_keys(ui):
    """The call of the entry of the open menu that the arrow keys have reached."""
    manager = bpy.context.window_manager
    manager.clipboard = ""
    ui.event("C", "PRESS", ctrl=True)
    ui.event("C", "RELEASE", ctrl=True)
    yield 2
    return manager.clipboard


def doors_of_sidebar(ui):
    """{call: (x, y) of its first button} of everything that the sidebar shows, from the top."""
    found, side, empty = {}, region(ui, "UI"), 0
    for y in range(side.y + side.height - 8, side.y, -STEP):
        empty += 1
        if empty > EMPTY:
            break
        for share in COLUMNS:
            at = int(side.x + share * (side.width - 24)), y
            ui.event("MOUSEMOVE", "NOTHING", at=at)
            yield 2
            call = under_mouse(ui, "UI")
            if call:
                found.setdefault(call, at)
                empty = 0
    return found


@contextmanager
def undrawn():
    """A session does not draw the window at each of its steps, because the search for doors takes a
    while."""
    live = scenes.addon("operators.live_operator")
    before, live.redraw_views = live.redraw_views, lambda: None
    try:
        yield
    finally:
        live.redraw_views = before


def doors_of_header(ui):
    """The same for our entry in the header of the 3D view."""
    found, head = {}, region(ui, "HEADER")
    for x in range(head.x + 8, head.x + head.width, 2 * STEP):
        at = x, head.y + head.height // 2
        ui.event("MOUSEMOVE", "NOTHING", at=at)
        yield 2
        call = under_mouse(ui, "HEADER")
        if OURS.match(call):
            found.setdefault(call, at)
    return found


def open_menu(ui, menu):
    """Opens the menu with this name; its last entry is selected."""
    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    with ui.override():
        bpy.ops.wm.call_menu(name=menu)
    yield 3
    yield from tap(ui, "END")


def doors_of_menu(ui, menu):
    """{call: how many steps up from the last entry} of our entries, which are the last ones."""
    yield from open_menu(ui, menu)
    found, ups, first = {}, 0, None
    while True:
        call = yield from chosen_by_keys(ui)
        if "araplbs" not in call or call == first:
            break
        first = first or call
        found.setdefault(call, ups)
        ups += 1
        yield from tap(ui, "UP_ARROW")
    yield from tap(ui, "ESC")
    yield 3
    return found


def press_in_menu(ui, menu, call):
    """Moves up to the entry, and presses Enter."""
    yield from open_menu(ui, menu)
    while (yield from chosen_by_keys(ui)) != call:
        yield from tap(ui, "UP_ARROW")
    yield from tap(ui, "RET")


def tap(ui, key):
    ui.event(key, "PRESS")
    ui.event(key, "RELEASE")
    yield 3


def press_at(ui, at):
    ui.event("MOUSEMOVE", "NOTHING", at=at)
    yield 3
    ui.event("LEFTMOUSE", "PRESS", at=at)
    ui.event("LEFTMOUSE", "RELEASE", at=at)
    yield 3


class Watched:
    """Records in a `with` block: `ended`: [(idname, result)] of our operators; `refused`: why some
    of them refused; `asked`: labels of dialogs that were drawn; `drawn`: our panels and menus;
    `opened`: addresses in a browser."""

    def __enter__(self):
        self.ended, self.asked, self.drawn, self.opened = [], [], set(), []
        self._guard, self._undo = scenes.addon("operators.guard"), []
        self.refused, self._sentence = [], self._guard.sentence
        self._put(self._guard, "_call", self._call)
        self._put(self._guard, "sentence", self._note_refusal)
        self._put(webbrowser, "open", lambda url, *_rest: self.opened.append(url) or True)
        for kind in scenes.addon("registration").CLASSES:
            if issubclass(kind, bpy.types.Operator):
                if hasattr(kind, "draw"):
                    self._put(kind, "draw", self._noting(self.asked, kind))
            elif issubclass(kind, bpy.types.Panel | bpy.types.Menu) and hasattr(kind, "draw"):
                self._put(kind, "draw", self._noting(self.drawn, kind))
        return self

    def _put(self, where, name, value):
        own = vars(where).get(name)
        self._undo.append((where, name, own))
        setattr(where, name, value)

    def _noting(self, notes, kind):
        draw, note = kind.draw, getattr(notes, "append", None) or notes.add

        def noting(drawn, context):
            note(kind.__name__)
            draw(drawn, context)

        return noting

    def _note_refusal(self, label, error):
        if isinstance(error, scenes.package("base.refusal").Refused):
            self.refused.append(str(error))
        return self._sentence(label, error)

    def _call(self, method, operator, context, *event):
        before = next(own for where, name, own in self._undo if name == "_call")
        result = before(method, operator, context, *event)
        if result and result & {"FINISHED", "CANCELLED"}:
            self.ended.append((operator.bl_idname, set(result)))
        return result

    def __exit__(self, *_error):
        for where, name, own in reversed(self._undo):
            if own is None:
                delattr(where, name)
            else:
                setattr(where, name, own)


@contextmanager
def files_in_the_window():
    """The file browser replaces the areas of the window, so that no second window is opened."""
    view = bpy.context.preferences.view
    before = view.filebrowser_display_type
    view.filebrowser_display_type = "SCREEN"
    try:
        yield
    finally:
        view.filebrowser_display_type = before


def as_idname(name):
    """object.araplbs_check, also from OBJECT_OT_araplbs_check."""
    kind, found, rest = name.partition("_OT_")
    return f"{kind.lower()}.{rest}" if found else name


def settled(ui, watched, idname):
    """Answers a dialog with Enter, and waits until all work has ended. A session keeps running."""
    yield 8
    browser = next((a for a in ui.window.screen.areas if a.type == "FILE_BROWSER"), None)
    if browser:  # it has drawn what the operator asks, too
        at = browser.x + browser.width // 2, browser.y + browser.height // 2
        for value in ("PRESS", "RELEASE"):
            ui.event("RET", value, at=at)
        yield 8
    for _ in range(2):  # a question may come first, or when something was found out
        if is_asking(watched):
            yield from tap(ui, "RET")
            yield 8
        if session():
            yield from wait_until(lambda: session() is None or session().settled)
        else:
            yield from wait_until(lambda: session() or not (solving() or at_work()))
        yield 8


def is_asking(watched):
    """Whether a dialog is open, because its operator has not ended."""
    ended = {as_idname(name) for name, _result in watched.ended}
    return bool(watched.asked) and as_idname(watched.asked[-1]) not in ended


def world(ui):
    """Everything that a door may change, for comparison: data, settings, selections, views,
    lists."""
    manager, found = bpy.context.window_manager, flaws.found()
    outcome = scenes.addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)
    state = {
        "file": scenes.snapshot(),
        "exported": sorted(exported()),
        "scene": values_of(bpy.context.scene.araplbs),
        "findings": (id(found.list), manager.araplbs_check.active, manager.araplbs_check.show),
        "views": (manager.araplbs_errors, manager.araplbs_deformer),
        "result": outcome and (outcome.token, outcome.shown()),
        "session": id(session()) if session() else 0,
        "matches": len(scenes.addon("features.transfer.shown_matches").shown),
        "kept": [kept.content for rig in bpy.data.armatures for kept in rig.araplbs_kept],
        "view": [list(row) for row in ui.area().spaces.active.region_3d.view_matrix],
    }
    tool = bpy.context.workspace.tools.from_space_view3d_mode(bpy.context.mode)
    state["tool"] = tool and tool.idname
    for ob in bpy.data.objects:
        if ob.type == "MESH":
            if ob.mode == "EDIT":
                ob.update_from_editmode()
            selected = [v.select for v in ob.data.vertices]
            state[ob.name] = values_of(ob.data.araplbs), selected, keys_of(ob), scenes.entries(ob)
        if ob.type == "ARMATURE":
            state[ob.name] = [bone_values(ob, bone) for bone in ob.data.bones]
    return state


def exported():
    """Files for game engines and of a problem, in the folder that the file browser proposes."""
    return [*Path.home().glob("*.glb"), *Path.home().glob("auto_weight_problem.*")]


def keys_of(ob):
    return [key.name for key in ob.data.shape_keys.key_blocks] if ob.data.shape_keys else []


def bone_values(ob, bone):
    posed = ob.pose.bones.get(bone.name)  # it has the selection since Blender 5.0
    selected = getattr(posed, "select", getattr(bone, "select", None))
    own = [bone.use_deform, bone.araplbs_deforms, bone.araplbs_control]
    return [bone.name, selected, list(bone.head_local), *own, values_of(bone.araplbs_joint)]


def values_of(group):
    """Plain values of a property group and of its nested groups."""
    found = []
    for prop in group.bl_rna.properties:
        if prop.identifier == "rna_type":
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "POINTER":
            found.append(values_of(value) if isinstance(value, bpy.types.PropertyGroup) else None)
        elif prop.type == "COLLECTION":
            found.append([values_of(each) for each in value])
        else:
            found.append(str(value))
    return found


def why_closed(ui, idname):
    """The reason that the poll of one of our operators gives, "" if the door is open."""
    module, name = idname.split(".")
    with ui.override():
        call = getattr(getattr(bpy.ops, module), name)
        return "" if call.poll() else f"{idname} is closed"
