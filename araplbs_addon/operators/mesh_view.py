"""Draws over a mesh in the 3D view. A thread computes the drawing and keeps it up to date."""

import time
from abc import ABC, abstractmethod
from contextlib import contextmanager
from functools import partial

import bpy
import gpu
import numpy as np
from araplbs.base.engine import engine_errors
from araplbs.base.refusal import Refused
from araplbs.base.worker import Worker
from gpu_extras.batch import batch_for_shader

from ..blender.data.references import Reference
from ..blender.data.views import redraw_views
from ..parts import monitor

PERIOD = 0.1  # seconds between two checks for changes
CALM = 0.4  # seconds without change before weights are read, which takes tenths of a second


class MeshView(ABC):
    """result: the drawing computed for the object `name`, or None; message: the reason if None. A
    kind of view defines whether the mesh may be read now (ready), the computation (work), and how
    to draw its result on the object (draw_result). It stores the data that was read from the mesh
    as its source. While it is on, scene_changed() is called after each change of the scene.
    """

    def __init__(self, setting):
        """setting: property of the window manager, "NONE" while nothing is displayed."""

        def after_update(scene, depsgraph):
            if self.on and scene == bpy.context.scene:  # others exist only while poses are read
                self.scene_changed(depsgraph)

        self._setting, self.after_update = setting, after_update
        self.tick = partial(self._tick)  # one object, by which Blender recognizes its timer
        self.clear()

    def clear(self):
        self.name = self.result = self.message = None
        self._worker = self._key = self._source = self.turned_to = self._batch = None
        self._changed = 0.0  # when a change of the weights was last seen
        self._reading = False  # whether Blender is temporarily changed for reading

    def turn_to(self, context, ob):
        """Displays this mesh until another object becomes active."""
        active = context.view_layer.objects.active
        self.turned_to = Reference.to(ob), active.session_uid if active else 0

    def subject(self, context):
        """The mesh to display: the mesh of turn_to(), or else the active mesh. While an armature is
        active, it is the first selected mesh that the armature moves, or else the mesh that was
        displayed before. None if no mesh qualifies."""
        active = getattr(context, "active_object", None)  # a timer may run without a window
        if self.turned_to and active and self.turned_to[1] == active.session_uid:
            found = self.turned_to[0].find()
            if found:
                return found
        if active and active.type == "MESH":
            return active
        if not active or active.type != "ARMATURE":
            return None
        objects = context.view_layer.objects
        seen = bpy.data.objects.get(self.name) if self.name else None
        for ob in (*(o for o in objects if o.select_get()), seen):
            if ob and ob.type == "MESH" and ob.find_armature() == active:
                return ob
        moved = [o for o in objects if o.type == "MESH" and o.visible_get()]
        return next((o for o in moved if o.find_armature() == active), None)

    @abstractmethod
    def ready(self, ob):
        """Whether the object can already be read."""

    @abstractmethod
    def work(self, context, ob):
        """Returns (key, function of a progress function). The function computes the result in a
        thread, and is called if the key differs from the key of the current result. Raises
        Refused."""

    @abstractmethod
    def scene_changed(self, depsgraph):
        """Calls forget() if the data that was read has changed."""

    @property
    def calm(self):
        """Whether the data that was read has not changed for a while."""
        return time.monotonic() - self._changed >= CALM

    @property
    def on(self):
        return getattr(bpy.context.window_manager, self._setting) != "NONE"

    def look(self, context):
        """Takes over a finished result, and starts the next computation if something has
        changed."""
        if self._worker:
            if self._worker.running:
                return
            self._take_in()
        ob = self.subject(context)
        if not ob or ob.mode == "EDIT" or not self.ready(ob):
            return
        try:
            key, work = self.work(context, ob)
        except (Refused, KeyError) as reason:
            self.name, self.result, self._key = ob.name, None, None
            self._tell(str(reason))
            return
        if key != self._key:
            self._key, self.name = key, ob.name
            self._worker = Worker(work)

    def _take_in(self):
        told = (
            ArithmeticError,
            ValueError,
            MemoryError,
            *engine_errors("SolverError", "Cancelled"),
        )
        worker, self._worker = self._worker, None
        self.result, error = worker.result, worker.error
        self._batch = None
        self._tell(str(error) if error else None)
        redraw_views()
        if error and not isinstance(error, (Refused, *told)):
            raise error

    def draw(self):
        """Draws the result in scene space, if it is on and matches the object."""
        context = bpy.context
        if not self.on or not context.space_data.overlay.show_overlays:
            return
        ob = bpy.data.objects.get(self.name) if self.name else None
        if self.result is None or not ob or ob.mode == "EDIT":
            return
        if len(self.result) == len(ob.data.vertices) and ob.visible_get():
            self.draw_result(context, ob)

    @abstractmethod
    def draw_result(self, context, ob):
        """Draws the result on this object."""

    def _tell(self, message):
        if message != self.message:
            self.message = message
            redraw_views()

    def forget(self):
        """Marks the known weights as out of date."""
        if not self._reading:
            self._key = self._source = None
            self._changed = time.monotonic()

    @contextmanager
    def no_news(self, view_layer):
        """Ignores updates caused by our own reading."""
        self._reading = True
        try:
            yield
            view_layer.update()
        finally:
            self._reading = False

    def _tick(self):
        if not self.on:
            self.cancel()
            redraw_views()
            return None
        self.look(bpy.context)
        return PERIOD

    def start(self):
        monitor((("depsgraph_update_post", self.after_update),), True)
        if not bpy.app.timers.is_registered(self.tick):
            bpy.app.timers.register(self.tick, persistent=True)

    def cancel(self):
        monitor((("depsgraph_update_post", self.after_update),), False)
        if self._worker:
            self._worker.cancel()
        self.clear()

    def end(self):
        """Called when the add-on ends."""
        if bpy.app.timers.is_registered(self.tick):
            bpy.app.timers.unregister(self.tick)
        self.cancel()


def colored_batch(points, colors, triangles):
    """A batch for SMOOTH_COLOR: points (n, 3), colors (n, 4), triangles (t, 3)."""
    return batch_for_shader(
        gpu.shader.from_builtin("SMOOTH_COLOR"),
        "TRIS",
        {"pos": points.astype(np.float32), "color": colors},
        indices=triangles.astype(np.int32),
    )
