"""What GUI tests share: the sidebar, clicks and strokes, waiting, and which panels are drawn."""

import os
import threading
import time
from unittest import SkipTest

import bpy
import numpy as np
import scenes


def newest_only():
    """For what takes long, or is there to be looked at: it runs in the newest Blender alone."""
    if bpy.app.version < (5, 0):
        raise SkipTest("slow: in the newest Blender only")


def when_named():
    """For what measures, or is there to be looked at: `tests/run.sh sid-gui` runs it, a run of
    everything does not."""
    if not os.environ.get("ARAPLBS_TEST_ALL"):
        raise SkipTest("measures or pictures: where the run is named only")


def region(ui, kind):
    return next(r for r in ui.area().regions if r.type == kind)


def inside(ui, kind, place):
    r = region(ui, kind)
    return r.x + place[0], r.y + r.height - place[1]


def click(ui, at):
    ui.event("MOUSEMOVE", "NOTHING", at=at)
    yield 0.2
    ui.event("LEFTMOUSE", "PRESS", at=at)
    ui.event("LEFTMOUSE", "RELEASE", at=at)
    yield 0.1


def open_sidebar(ui):
    ui.area().spaces.active.show_region_ui = True
    yield 0.3
    region(ui, "UI").active_panel_category = "Auto-weight"
    ui.area().tag_redraw()
    yield 0.3


def still(ui):
    """Panels slide to their places while the window is drawn."""
    for _ in range(12):
        region(ui, "UI").tag_redraw()
        yield 0.1


def solving():
    """A worker thread is there; it must be the only one beside Blender's own."""
    return threading.active_count() > 1


def at_work():
    """An operator whose work is a task is modal: reading is no thread."""
    return any(
        operator.bl_idname.startswith("OBJECT_OT_araplbs")
        for window in bpy.context.window_manager.windows
        for operator in window.modal_operators
    )


def wait_for_end(limit=60):
    end = time.monotonic() + limit
    while solving() or at_work():
        assert time.monotonic() < end, "the worker does not end"
        yield 0.1
    yield 0.5


def settings():
    return bpy.context.scene.araplbs


def reset_settings():
    options = scenes.addon("core.character.options").Options()
    for name, value in options.as_dict().items():
        setattr(settings(), name, value)


class Draws:
    """Which panels and menus of the add-on are drawn in a `with` block; what they raise, Blender
    prints, is raised at its end."""

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
    return scenes.addon("live.session").current_session()


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


def wait_until(condition, limit=60):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "nothing happens any more"
        yield 0.05


def over():
    yield from wait_until(lambda: session() is None)
    yield 0.3


def cancel(ui):
    """Esc, and yes where it asks."""
    asks = session().strokes
    ui.key("ESC")
    if asks:
        yield 0.7
        ui.event("DOWN_ARROW", "PRESS")
        ui.event("DOWN_ARROW", "RELEASE")
        yield 0.2
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
    yield 0.1
    ui.event("LEFTMOUSE", "PRESS", at=places[0], **modifiers)
    yield 0.1
    for at in places:
        ui.event("MOUSEMOVE", "NOTHING", at=at, **modifiers)
        yield 0.05
    ui.event("LEFTMOUSE", "RELEASE", at=places[-1], **modifiers)
    yield 0.2
