"""A session that searches for better joints live. It displays the converging joints, and writes
them once when the user accepts. Until then, Blender's data stays unchanged."""

from contextlib import suppress

from araplbs.base.worker import Worker

from ...window.session import (
    GONE,
    IDLE,
    KEEPING,
    READING,
    RUNNING,
    LiveSession,
    threads_beside_window,
)
from .task import JointTask


class JointSession(LiveSession):
    keys = ("Enter: move the joints", "Esc: cancel")
    moves_joints = True
    cancelled_in = (RUNNING, KEEPING)  # KEEPING: while the last weights are computed

    def __init__(self, targets, options, view_layer, threads=0):
        task = JointTask(options, threads or threads_beside_window())
        super().__init__(task, targets, view_layer)

    @property
    def frame(self):
        return self.task.run.frame if self.task.run else None

    @property
    def settled(self):
        return self.state == RUNNING and self.task.run.waiting

    def keep(self):
        super().keep()
        if self.state == KEEPING:
            self.task.run.keep()

    def forget(self):
        super().forget()
        self.task = None

    def _survives_undo(self):
        if self.state == READING:
            return False
        with suppress(*GONE):
            self.task.find_objects()
            return True
        return False

    def _read(self, targets, view_layer):
        task = self.task
        yield from task.read_in_steps(targets, view_layer)
        self.worker = Worker(lambda progress: task.solve(progress, wait=True))

    def _follow(self):
        if self.worker.error:
            raise self.worker.error
        yield IDLE

    def _keep(self):
        while self.worker.running:
            yield IDLE
        if self.worker.error:
            raise self.worker.error
        self.report = self.task.apply()
