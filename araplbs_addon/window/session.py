"""The common part of all live sessions: a task that is read in short steps on the main thread and
solved in a second thread, while a window shows its progress. It ends by keeping the result or by
restoring everything. One session runs at a time.

Main thread only. A session is READING, then RUNNING, then KEEPING or RESTORING, and ENDED.
"""

import os
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import wraps

from araplbs.base.faults import sentence
from araplbs.base.refusal import Refused

from ..blender.data.references import Reference

READING, RUNNING, KEEPING, RESTORING, ENDED = "READING", "RUNNING", "KEEPING", "RESTORING", "ENDED"
IDLE = object()  # yielded where there is nothing to do before the next tick
GONE = (Refused, ReferenceError)  # an object is not there any more, or not what it was
MOST_PAST = 8  # ended sessions that undo can lead back into

_current = []
_past = {}  # token: session


def current_session():
    """The LiveSession that is running, or None."""
    return _current[0] if _current else None


def refuse_session():
    """Raises Refused while a session is running."""
    if _current:
        raise Refused("A session is running: accept or cancel it first")


def end_session():
    """Restores at once what a running session has changed."""
    session = current_session()
    if session:
        try:
            session.restore_now()
        finally:
            _current.clear()


def _of_handler(call):
    """The function that a handler of Blender's calls: an error ends the session, whose operator
    says so."""

    @wraps(call)
    def safely(*arguments):
        session = current_session()
        try:
            call(*arguments)
        except Exception as error:
            if not session:
                raise
            session.fail(error)

    return safely


@_of_handler
def after_undo(meshes):
    """To be called after Blender's undo or redo, with all meshes of the file."""
    session = current_session()
    if session:
        session.disturbed()
    for token in {mesh.araplbs.session for mesh in meshes} & set(_past):
        if _past[token] is not current_session():
            _past[token].put_back()


@_of_handler
def before_save():
    """Files hold what was there before the session."""
    if current_session():
        current_session().before_save()


@_of_handler
def after_save():
    """Saved or not: the session goes on."""
    if current_session():
        current_session().after_save()


def remember(session):
    """Undo may lead back into this session, which has ended: put_back() is called then."""
    _past[session.token] = session
    while len(_past) > MOST_PAST:
        del _past[next(iter(_past))]


def threads_beside_window():
    """One processor is left to the window."""
    return max(1, (os.cpu_count() or 1) - 1)


class LiveSession(ABC):
    """state: one of the above. report: of what was kept, else None. restored: everything is
    restored. message: why it ended otherwise than it was asked to, else None. error: an error that
    is a bug, else None. worker: the thread that solves, None while reading. busy: the last tick has
    left work, because it had no more time."""

    keys = ()  # what can be pressed while it runs, for people
    token = ""  # by which meshes know of it, if they do
    strokes = 0  # of an artist, that would be lost with it
    moves_joints = False  # its frames have skeletons to be drawn
    cancelled_in = (RUNNING,)  # states in which restore() is followed

    def __init__(self, task, targets, view_layer):
        self.state, self.report, self.restored = READING, None, False
        self.message = self.error = self.worker = None
        self.busy = True
        self.task = task
        self._objects = [Reference.to(ob) for ob in (targets.armature, *targets.meshes)]
        self._steps = self._run(targets, view_layer)
        _current[:] = [self]

    @property
    @abstractmethod
    def frame(self):
        """The latest intermediate result, None before the first."""

    @property
    @abstractmethod
    def settled(self):
        """Converged and shown, with nothing left that was asked for."""

    def objects(self):
        """The meshes whose weights change while it runs. Raises Refused when they are not what
        they were."""
        return []

    def tick(self, seconds):
        """Works for so long at most, where steps take as long as the one before; one at least."""
        start = last = time.perf_counter()
        self.busy = False
        while self.state != ENDED and self._step():
            now = time.perf_counter()
            if now - start + now - last > seconds:
                self.busy = True
                break
            last = now

    def keep(self):
        """Ask to keep what the latest frame holds."""
        if self.state == RUNNING and self.frame:
            self.state = KEEPING

    def restore(self):
        """Ask to restore everything."""
        if self.state == READING:  # nothing was changed
            self.restored = True
            self._end()
        elif self.state in self.cancelled_in:
            self._begin_to_restore()

    def restore_now(self):
        """Puts back everything at once, as far as the objects are still there."""
        if self.state == ENDED:
            return
        if self.worker:
            self.worker.cancel()
            self.worker.join()
        self.put_back_data()
        self.restored = True
        self._end()

    def put_back_data(self):  # noqa: B027  nothing may have been changed
        """Restores the changes in Blender's data in one step."""

    def disturbed(self):
        """To be called after Blender's own undo or redo."""
        if not self._survives_undo():
            self._end("Undo has ended the session")

    def forget(self):
        """To be called when it has ended and its end was reported."""
        self.worker = self._steps = None

    def before_save(self):  # noqa: B027  as put_back_data()
        """Files hold what was there before the session."""

    def after_save(self):  # noqa: B027  as put_back_data()
        """Undoes before_save()."""

    def _run(self, targets, view_layer):
        yield from self._read(targets, view_layer)
        self.state = RUNNING
        while self.state == RUNNING:
            yield from self._follow()
        if self.state == KEEPING:
            yield from self._keep()

    @abstractmethod
    def _read(self, targets, view_layer):
        """Reads the task, in steps, and sets the worker."""

    @abstractmethod
    def _follow(self):
        """One look at the thread, in steps, while RUNNING."""

    @abstractmethod
    def _keep(self):
        """Writes, in steps, and sets the report."""

    def _restore(self):
        """Puts everything back, in steps."""
        if self.worker:
            self.worker.cancel()
        self.restored = not self.message
        yield

    @abstractmethod
    def _survives_undo(self):
        """Whether what it works on is still there after Blender's own undo or redo."""

    def _step(self):
        """One step; False where there is nothing to do before the next tick."""
        try:
            return next(self._steps) is not IDLE
        except StopIteration:
            self._end()
        except Exception as error:
            self.fail(error)
        return True

    def fail(self, error):
        """Goes back to what was there, unless that is what failed."""
        if not isinstance(error, Refused):
            error = self._gone() or error
        self.message = self.message or sentence("The session", error)
        if not isinstance(error, Refused):
            self.error = self.error or error
        if self.state == RESTORING:
            self._end()
        else:
            self._begin_to_restore()

    def _begin_to_restore(self):
        """Replaces the steps under way: from now on only the restoring itself can fail."""
        self.state = RESTORING
        self._steps = self._restore()

    def _gone(self):
        """The Refused of an object that is not what it was, or None: any later failure is due to
        that."""
        for reference in self._objects:
            try:
                reference.get()
            except Refused as reason:
                return reason
        return None

    def _end(self, message=None):
        if self.state == ENDED:
            return
        with suppress(*GONE):
            self._steps.close()
        self.state, self.message = ENDED, message or self.message
        if self.worker:
            self.worker.cancel()  # the thread ends by itself: it knows nothing of Blender
        if self in _current:
            _current.remove(self)
