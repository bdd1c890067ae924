"""The common base of all live sessions. A session reads a task in short steps on the main thread
and solves it in a second thread, while a window shows its progress. At its end, the session keeps
the result or restores everything. Only one session runs at a time.

Sessions run on the main thread only. A session is READING, then RUNNING, then KEEPING or RESTORING,
and ENDED.
"""

import os
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import wraps

import bpy
from araplbs.base.faults import sentence
from araplbs.base.refusal import Refused

from ..blender.data.references import Reference

READING, RUNNING, KEEPING, RESTORING, ENDED = "READING", "RUNNING", "KEEPING", "RESTORING", "ENDED"
IDLE = object()  # steps yield this if there is nothing to do before the next tick
GONE = (Refused, ReferenceError)  # an object no longer exists or has changed
MOST_PAST = 8  # ended sessions that undo can return to

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
    """Restores at once everything that a running session has changed."""
    session = current_session()
    if session:
        try:
            session.restore_now()
        finally:
            _current.clear()


def _of_handler(call):
    """The function that one of Blender's handlers calls. An error ends the session, and its
    operator reports the error."""

    @wraps(call)
    def safely(*_arguments):
        session = current_session()
        try:
            call()
        except Exception as error:
            if not session:
                raise
            session.fail(error)

    return safely


@_of_handler
def after_undo():
    """Called after Blender's undo or redo."""
    session = current_session()
    if session:
        session.disturbed()
    for token in {mesh.araplbs.session for mesh in bpy.data.meshes} & set(_past):
        if _past[token] is not current_session():
            _past[token].put_back()


@_of_handler
def before_save():
    """Files store the state before the session."""
    if current_session():
        current_session().before_save()


@_of_handler
def after_save():
    """Continues the session, whether or not the file was saved."""
    if current_session():
        current_session().after_save()


def remember(session):
    """Remembers this ended session, because undo may lead back into it. In that case, put_back() is
    called."""
    _past[session.token] = session
    while len(_past) > MOST_PAST:
        del _past[next(iter(_past))]


def threads_beside_window():
    """The number of threads, with one processor left to the window."""
    return max(1, (os.cpu_count() or 1) - 1)


class LiveSession(ABC):
    """state: one of the above. report: the report of the kept result, or None. restored: whether
    everything is restored. message: the reason why the session ended otherwise than requested, or
    None. error: an error that is a bug, or None. worker: the thread that solves, None while
    reading. busy: whether the last tick ran out of time and left work."""

    keys = ()  # key hints for the user
    token = ""  # the token by which meshes identify the session, if they carry one
    written = -1  # number of the frame in Blender's data, for sessions that write while they run
    strokes = 0  # an artist's strokes, which would be lost with the session
    moves_joints = False  # whether its frames contain skeletons to draw
    cancelled_in = (RUNNING,)  # states in which restore() takes effect

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
        """The latest intermediate result, None before the first one."""

    @property
    @abstractmethod
    def settled(self):
        """Whether the session has converged, displays the result and has no pending requests."""

    def objects(self):
        """The meshes whose weights change during the session. Raises Refused if they no longer
        match the meshes that were read."""
        return []

    def tick(self, seconds):
        """Works for at most this time, assuming that each step takes as long as the previous step.
        Always runs at least one step."""
        start = last = time.perf_counter()
        self.busy = False
        while self.state != ENDED and self._step():
            now = time.perf_counter()
            if now - start + now - last > seconds:
                self.busy = True
                break
            last = now

    def keep(self):
        """Requests that the latest frame be kept."""
        if self.state == RUNNING and self.frame:
            self.state = KEEPING

    def restore(self):
        """Requests that everything be restored."""
        if self.state == READING:  # nothing was changed
            self.restored = True
            self._end()
        elif self.state in self.cancelled_in:
            self._begin_to_restore()

    def restore_now(self):
        """Restores everything at once, as far as the objects still exist."""
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
        """Must be called after Blender's own undo or redo."""
        if not self._survives_undo():
            self._end("Undo has ended the session")

    def forget(self):
        """Must be called after the session has ended and its end was reported."""
        self.worker = self._steps = None

    def before_save(self):  # noqa: B027  as put_back_data()
        """Files store the state before the session."""

    def after_save(self):  # noqa: B027  as put_back_data()
        """Undoes before_save()."""

    def _run(self, targets, view_layer):
        yield from self._read(targets, view_layer)
        self.state = RUNNING
        while self.state == RUNNING:
            self._raise_error()
            yield from self._follow()
        if self.state == KEEPING:
            yield from self._keep()

    def _wait(self):
        """Waits for the end of the thread, in steps."""
        while self.worker.running:
            yield IDLE
        self._raise_error()

    def _raise_error(self):
        if self.worker.error:
            raise self.worker.error

    @abstractmethod
    def _read(self, targets, view_layer):
        """Reads the task, in steps, and sets the worker."""

    def _follow(self):
        """Follows the thread once, in steps, while RUNNING."""
        yield IDLE

    @abstractmethod
    def _keep(self):
        """Writes the result, in steps, and sets the report."""

    def _restore(self):
        """Restores everything, in steps."""
        if self.worker:
            self.worker.cancel()
        self.restored = not self.message
        yield

    @abstractmethod
    def _survives_undo(self):
        """Whether the session's data still exists after Blender's own undo or redo."""

    def _step(self):
        """Runs one step. Returns False if there is nothing to do before the next tick."""
        try:
            return next(self._steps) is not IDLE
        except StopIteration:
            self._end()
        except Exception as error:
            self.fail(error)
        return True

    def fail(self, error):
        """Restores the earlier state, unless the restoring itself has failed."""
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
        """Replaces the running steps by steps that restore everything. From then on, only restoring
        can fail."""
        self.state = RESTORING
        self._steps = self._restore()

    def _gone(self):
        """The Refused of an object that has changed, or None. Any later failure is a consequence of
        such a change."""
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
            self.worker.cancel()  # the thread ends by itself and uses none of Blender's data
        if self in _current:
            _current.remove(self)
