"""A live search for better joints: solves in a thread, shows what converges, and writes once when
it is accepted. Nothing in Blender's data changes before.

For what looks at the session that is running, it is like the Session of weights.py.
"""

import time
from contextlib import suppress

from ..core.refusal import Refused
from ..core.worker import Worker
from ..tasks.joints import JointJob
from .weights import (
    ENDED,
    GONE,
    KEEPING,
    READING,
    RESTORING,
    RUNNING,
    set_current,
    threads_beside_window,
    unset_current,
)


class JointSession:
    """state, report, restored, message, error: as of Session."""

    keys = ("Enter: move the joints", "Esc, right mouse: cancel")
    token = ""  # no mesh knows of it

    def __init__(self, targets, options, view_layer, threads=0):
        self.state, self.report, self.restored = READING, None, False
        self.message = self.error = None
        self.job = JointJob(options, threads or threads_beside_window())
        self._worker = None
        self._steps = self.job.read_in_steps(targets, view_layer)
        set_current(self)

    @property
    def frame(self):
        return self.job.run.frame if self.job.run else None

    @property
    def stage(self):
        return self._worker.stage if self._worker else "reading"

    @property
    def settled(self):
        """Converged."""
        return self.state == RUNNING and self.stage == "converged"

    def objects(self):
        """The meshes whose weights change while it runs: none."""
        return []

    def tick(self, seconds):
        """Works for about so long, one step at least."""
        start = time.perf_counter()
        try:
            while self.state == READING and time.perf_counter() - start < seconds:
                self._read()
            if self.state == RESTORING:
                self._end(restored=True)
            elif self.state in {RUNNING, KEEPING} and not self._worker.running:
                self._conclude()
        except Exception as error:
            self._fail(error)

    def keep(self):
        """Ask to write the joints of the latest frame."""
        if self.state == RUNNING and self.frame:
            self.state = KEEPING
            self.job.run.keep()

    def restore(self):
        """Ask to end with nothing changed, also while the last weights are computed."""
        if self.state in {READING, RUNNING, KEEPING}:
            self.state = RESTORING

    def restore_now(self):
        if self._worker:
            self._worker.cancel()
            self._worker.join()
        if self.state != ENDED:
            self._end(restored=True)

    def disturbed(self):
        """To be called after Blender's own undo or redo."""
        if self.state == READING:
            self._end("Undo has ended the session")
            return
        with suppress(*GONE):
            self.job.find_objects()
            return
        self._end("Undo has ended the session")

    def forget(self):
        """To be called when it has ended and all was told."""
        self.job = self._worker = self._steps = None

    def before_save(self):
        """Files hold what there is: nothing has changed yet."""

    def after_save(self):
        """The like."""

    def _read(self):
        try:
            next(self._steps)
        except StopIteration:
            self.state = RUNNING
            job = self.job
            self._worker = Worker(lambda progress: job.solve(progress, wait=True))

    def _conclude(self):
        if self._worker.error:
            raise self._worker.error
        self.report = self.job.apply()
        self._end()

    def _fail(self, error):
        self.message = str(error)
        if not isinstance(error, (Refused, ReferenceError)):
            self.error = error
        self._end(self.message)

    def _end(self, message=None, restored=False):
        self._steps.close()
        if self._worker:
            self._worker.cancel()  # the thread ends by itself: it knows nothing of Blender
        self.state, self.message, self.restored = ENDED, message, restored
        unset_current(self)
