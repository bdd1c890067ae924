"""Drawings over a mesh in the 3D view, computed in a thread and kept up to date."""

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

from ..blender.data.views import redraw_views

PERIOD = 0.1  # seconds between two looks at what has changed
CALM = 0.4  # seconds without change before weights are read, which takes some tenths of one


class MeshView(ABC):
    """result: the drawing computed for the object `name`, or None; message: why not.

    A kind of view says which mesh it is about (subject), whether it may be read now (ready) and
    what is to be computed (work), and keeps what it has read of the mesh as its source. While it is
    on, Blender calls its after_update, a persistent handler, when the scene has changed.
    """

    after_update = None

    def __init__(self, setting):
        """setting: property of the window manager, "NONE" while nothing is shown."""
        self._setting = setting
        self.tick = partial(self._tick)  # one object, by which Blender knows its timer again
        self.clear()

    def clear(self):
        self.name = self.result = self.message = None
        self._worker = self._key = self._source = None
        self._changed = 0.0  # when weights were last seen to change
        self._reading = False  # Blender is changed and put back in between

    @abstractmethod
    def subject(self, context):
        """The object that is looked at, or None."""

    @abstractmethod
    def ready(self, ob):
        """False where it is too early to read it."""

    @abstractmethod
    def work(self, context, ob):
        """(key, function of a progress function): the function gives the result, in a thread, and
        is called where the key is not that of the result there is. Raises Refused."""

    @property
    def calm(self):
        """Nothing that was read has changed for a while."""
        return time.monotonic() - self._changed >= CALM

    @property
    def on(self):
        return getattr(bpy.context.window_manager, self._setting) != "NONE"

    def look(self, context):
        """Takes in a result, and starts the next computation where something has changed."""
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
        self.new_result()
        self._tell(str(error) if error else None)
        redraw_views()
        if error and not isinstance(error, (Refused, *told)):
            raise error

    @abstractmethod
    def new_result(self):
        """The drawing is out of date."""

    def _tell(self, message):
        if message != self.message:
            self.message = message
            redraw_views()

    def forget(self):
        """The knowledge of the weights is out of date."""
        if not self._reading:
            self._key = self._source = None
            self._changed = time.monotonic()

    @contextmanager
    def no_news(self, view_layer):
        """Ignore updates caused by our own reading."""
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
        handlers = bpy.app.handlers.depsgraph_update_post
        if self.after_update not in handlers:
            handlers.append(self.after_update)
        if not bpy.app.timers.is_registered(self.tick):
            bpy.app.timers.register(self.tick, persistent=True)

    def cancel(self):
        handlers = bpy.app.handlers.depsgraph_update_post
        if self.after_update in handlers:
            handlers.remove(self.after_update)
        if self._worker:
            self._worker.cancel()
        self.clear()

    def end(self):
        """With the add-on."""
        if bpy.app.timers.is_registered(self.tick):
            bpy.app.timers.unregister(self.tick)
        self.cancel()


def colored_batch(points, colors, triangles):
    """For SMOOTH_COLOR: points (n, 3), colors (n, 4), triangles (t, 3)."""
    return batch_for_shader(
        gpu.shader.from_builtin("SMOOTH_COLOR"),
        "TRIS",
        {"pos": points.astype(np.float32), "color": colors},
        indices=triangles.astype(np.int32),
    )


def mesh_at_hand(context, active, before):
    """The mesh that is looked at: the active one, or while an armature is active the first selected
    one that it moves, or that of the name that was looked at before, or None."""
    if active and active.type == "MESH":
        return active
    if not active or active.type != "ARMATURE":
        return None
    seen = bpy.data.objects.get(before) if before else None
    for ob in (*(o for o in context.view_layer.objects if o.select_get()), seen):
        if ob and ob.type == "MESH" and ob.find_armature() == active:
            return ob
    moved = [o for o in context.view_layer.objects if o.type == "MESH" and o.visible_get()]
    return next((o for o in moved if o.find_armature() == active), None)
