"""Runs work in threads while the window stays usable. A timer takes each result on the main
thread."""

import bpy
from araplbs.base.worker import Worker

from ..blender.data.views import redraw_sidebars, redraw_views

PERIOD = 0.1  # seconds between two checks of a thread
running = {}  # {Worker: the function of its timer}


def in_background(work, take):
    """Starts work(progress) in a thread, and returns its Worker. take(Worker) is called at the
    end."""
    worker = Worker(work)

    def look():
        if worker.running:
            redraw_sidebars()  # shows the progress
            return PERIOD
        del running[worker]
        take(worker)
        redraw_views()
        return None

    running[worker] = look
    bpy.app.timers.register(look, first_interval=PERIOD, persistent=True)
    return worker


def unregister():
    for worker, look in running.items():
        worker.cancel()
        if bpy.app.timers.is_registered(look):
            bpy.app.timers.unregister(look)
    running.clear()
