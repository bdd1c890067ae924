"""Code shared by GUI tests: the sidebar, clicks and strokes, waiting, and the list of drawn panels.

Every wait is for a visible state: `wait_until` and similar functions check once in each turn of the
event loop, for as long as necessary; run_in_gui.py ends a test that hangs."""

import itertools
import os
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import SkipTest

import bpy
import numpy as np
import scenes
from patience import last_resort


def newest_only():
    """For what takes long, or is there to be looked at: it runs in the newest Blender alone."""
    if bpy.app.version < (5, 0):
        raise SkipTest("slow: in the newest Blender only")


def once():
    """For a kind of task of which the older Blender tests another: it runs in the newest one,
    and if the run is named."""
    if not is_named():
        newest_only()


def is_named():
    """`tests/run.sh sid-gui` names the run, and all of its tests run; in a run of everything a part
    does."""
    return bool(os.environ.get("ARAPLBS_TEST_ALL"))


def when_named():
    """For what measures, or is there to be looked at."""
    if not is_named():
        raise SkipTest("measures or pictures: where the run is named only")


def looks(test):
    """Marks a test that looks at pixels, which are computed for it."""
    test.looks = True
    return test


def region(ui, kind):
    return next(r for r in ui.area().regions if r.type == kind)


def inside(ui, kind, place):
    r = region(ui, kind)
    return r.x + place[0], r.y + r.height - place[1]


def press(ui, kind, at=None, **modifiers):
    """A key or button where the mouse has been for a while."""
    ui.event("MOUSEMOVE", "NOTHING", at=at)
    yield 3
    ui.event(kind, "PRESS", at=at, **modifiers)
    ui.event(kind, "RELEASE", at=at, **modifiers)
    yield 3


def click(ui, at):
    yield from press(ui, "LEFTMOUSE", at)


def open_sidebar(ui):
    ui.area().spaces.active.show_region_ui = True
    yield from still(ui)
    region(ui, "UI").active_panel_category = "Auto-weight"
    ui.area().tag_redraw()
    yield from still(ui)


given_up = set()  # threads that a test which hung has left
IDLE = 40  # turns; without events a turn is 5 ms of sleep, and what slides moves every 20 ms


def still(ui):
    """All that slides or appears is at its place: for a while the window is not drawn again. Not
    where a session is running, which draws all the time."""
    drawn, handles = [], []
    space = type(ui.area().spaces.active)
    for kind in ("WINDOW", "UI", "HEADER", "HUD"):
        add = space.draw_handler_add
        handles.append((add(drawn.append, (kind,), kind, "POST_PIXEL"), kind))
    try:
        region(ui, "UI").tag_redraw()
        yield 2
        turns, look = 0, last_resort("the window is drawn again and again")
        while turns < IDLE:
            look()
            drawn.clear()
            yield
            turns = 0 if drawn else turns + 1
    finally:
        for handle, kind in handles:
            space.draw_handler_remove(handle, kind)


@contextmanager
def held():
    """In a `with` block the thread of an operator's task does not come to its end: it waits at its
    first report of progress until it is cancelled, at the latest at the end of the block. Other
    threads, as that of the pictures in the Result box, go on: nobody cancels them."""
    work, begun = scenes.addon("window.work"), []
    before = work.Worker

    class Held(before):
        def progress(self, *report):
            begun.append(self)
            self._cancelled.wait()
            return super().progress(*report)

    work.Worker = Held
    try:
        yield
    finally:
        work.Worker = before
        for worker in begun:
            worker.cancel()


@contextmanager
def slow_reading():
    """In a `with` block operators read two steps a turn, by a clock that counts how often it is
    looked at."""
    work, ticks = scenes.addon("window.work"), itertools.count()
    before = work.time
    work.time = SimpleNamespace(monotonic=lambda: next(ticks) * work.STEP / 2)
    try:
        yield
    finally:
        work.time = before


def solving():
    """A worker thread is there; it must be the only one apart from Blender's own."""
    return threading.active_count() > 1 + sum(each.is_alive() for each in given_up)


def at_work():
    """An operator whose work is a task is modal: reading is not a thread."""
    return any(
        operator and operator.bl_idname.startswith("OBJECT_OT_araplbs")  # None: its class is gone
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )


def wait_until(condition):
    look = last_resort()
    while not condition():
        look()
        yield


def wait_for_end():
    yield from wait_until(lambda: not (solving() or at_work()))
    yield 5


def settings():
    return bpy.context.scene.araplbs


def reset_settings():
    options = scenes.package("model.options").Options()
    for name, value in options.as_dict().items():
        setattr(settings(), name, value)


class Draws:
    """Which panels and menus of the add-on are drawn in a `with` block; their exceptions, which
    Blender prints, are raised at its end."""

    def __enter__(self):
        self.drawn, self.errors, self._before = set(), [], []
        for name in dir(bpy.types):
            kind = getattr(bpy.types, name)
            if "araplbs" in name and hasattr(kind, "draw") and hasattr(kind, "bl_label"):
                self._before.append((kind, vars(kind).get("draw")))
                kind.draw = self._watched(name, kind.draw)
        assert self._before
        return self

    def _watched(self, name, draw):
        def watched(panel, context):
            self.drawn.add(name)
            try:
                draw(panel, context)
            except Exception as error:
                self.errors.append((name, error))
                raise

        return watched

    def __exit__(self, *_error):
        for kind, draw in self._before:
            if draw:
                kind.draw = draw
            else:
                del kind.draw
        assert not self.errors, self.errors

    def since(self):
        """Those drawn since the last time."""
        found, self.drawn = self.drawn, set()
        return found


def session():
    return scenes.addon("window.session").current_session()


def clear():
    """No object is there, and all settings are those of a new file."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    reset_settings()


def show(ui):
    ui.area().spaces.active.overlay.show_overlays = True
    with ui.override():
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_selected()


def over():
    yield from wait_until(lambda: session() is None)
    yield 5


def cancel(ui):
    """Esc, and yes where it asks."""
    asks = session().strokes
    ui.key("ESC")
    if asks:
        yield 8
        ui.event("DOWN_ARROW", "PRESS")
        ui.event("DOWN_ARROW", "RELEASE")
        yield 3
        ui.event("RET", "PRESS")
        ui.event("RET", "RELEASE")
    yield from over()


def stroke(ui, begin_at, end_at, **modifiers):
    """With the left button, between two places given as shares of the 3D view."""
    area = ui.area()
    places = [
        (
            int(area.x + area.width * (a + (b - a) * t)),
            int(area.y + area.height * (c + (d - c) * t)),
        )
        for t in np.linspace(0, 1, 8)
        for (a, c), (b, d) in [(begin_at, end_at)]
    ]
    ui.event("MOUSEMOVE", "NOTHING", at=places[0])
    yield 2
    ui.event("LEFTMOUSE", "PRESS", at=places[0], **modifiers)
    yield 2
    for at in places:
        ui.event("MOUSEMOVE", "NOTHING", at=at, **modifiers)
        yield 2
    ui.event("LEFTMOUSE", "RELEASE", at=places[-1], **modifiers)
    yield 3
