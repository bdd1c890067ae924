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
    """For tests that take long or are for visual inspection. Such tests run only in the newest
    Blender."""
    if bpy.app.version < (5, 0):
        raise SkipTest("slow: in the newest Blender only")


def once():
    """For a kind of task of which the older Blender tests another one: the test runs in the newest
    Blender, and if the run is named."""
    if not is_named():
        newest_only()


def is_named():
    """`tests/run.sh sid-gui` names the run, so all of its tests run. A run of all tests runs only
    some of them."""
    return bool(os.environ.get("ARAPLBS_TEST_ALL"))


def when_named():
    """For tests that measure, or that are for visual inspection."""
    if not is_named():
        raise SkipTest("measures or pictures: where the run is named only")


def looks(test):
    """Marks a test that reads pixels, which are only computed for such tests."""
    test.looks = True
    return test


def region(ui, kind):
    return next(r for r in ui.area().regions if r.type == kind)


def inside(ui, kind, place):
    r = region(ui, kind)
    return r.x + place[0], r.y + r.height - place[1]


def press(ui, kind, at=None, **modifiers):
    """Presses a key or button at the position where the mouse has been for a while."""
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
    """Waits until everything that slides or appears is in its place, so that the window is not
    drawn again for a while. Not for use during a session, which always draws."""
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
    """In a `with` block, the thread of an operator's task does not finish. It waits at its first
    report of progress until it is cancelled or the block ends. Other threads, such as that of the
    pictures in the Result box, continue, because nobody cancels them."""
    work, begun = scenes.addon("operators.work"), []
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
    """In a `with` block, operators read two steps per turn, by a clock that counts its queries."""
    work, ticks = scenes.addon("operators.work"), itertools.count()
    before = work.time
    work.time = SimpleNamespace(monotonic=lambda: next(ticks) * work.STEP / 2)
    try:
        yield
    finally:
        work.time = before


def solving():
    """Waits for a worker thread, which must be the only one apart from Blender's own."""
    return threading.active_count() > 1 + sum(each.is_alive() for each in given_up)


def at_work():
    """Waits for a modal operator whose work is a task. Reading does not use a thread."""
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
    """The panels and menus of the add-on that are drawn in a `with` block; their exceptions, which
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
        """Those drawn since the last call."""
        found, self.drawn = self.drawn, set()
        return found


def session():
    return scenes.addon("operators.session").current_session()


def clear():
    """Removes all objects, and restores the settings of a new file."""
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
    """Presses Esc, and confirms if a dialog asks."""
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
    """Draws with the left button between two positions, given as shares of the 3D view."""
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
