"""A live session on one armature and its meshes: reads, solves in a thread, writes what converges
into the vertex groups a step at a time, follows edits, and ends by keeping or restoring all.

Main thread only. Nothing is pushed to Blender's undo stack meanwhile: the owner of the session
ends it as one step. Other operators may push, so a mesh carries a token as long as a session is at
work on it: who undoes to a state without token has left the session, and who undoes to a state
with the token of a session that has ended gets what was there before that.
"""

import os
import secrets
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..blender.edits import copy_edits, read_edits, restore_edits
from ..blender.live_weights import LiveWeights
from ..blender.read_mesh import group_entries_in_steps, has_topology
from ..core.live import Live
from ..core.problem import Problem
from ..core.refusal import Refused
from ..core.solve import Solution
from ..tasks.weighting import Job

READING, RUNNING, KEEPING, RESTORING, ENDED = "READING", "RUNNING", "KEEPING", "RESTORING", "ENDED"
IDLE = object()  # yielded where there is nothing to do before the next tick
GONE = (Refused, ReferenceError)  # an object is not there any more, or not what it was
MOST_PAST = 8  # ended sessions that undo can lead back into

_current = []
_past = {}  # token: session


def current_session():
    """The Session that is running, or None."""
    return _current[0] if _current else None


def set_current(session):
    """Makes it the one that is running."""
    _current[:] = [session]


def unset_current(session):
    if session in _current:
        _current.remove(session)


def threads_beside_window():
    """One processor is left to the window."""
    return max(1, (os.cpu_count() or 1) - 1)


class Session:
    """state: one of the above. report: of the weights that were kept, else None. restored: all is
    as it was. message: why it ended otherwise than it was asked to, else None. error: what is no
    fault of the user's, else None. live: None while reading."""

    keys = ("Enter: keep", "Esc, right mouse: restore", "Ctrl Z: undo stroke")

    def __init__(self, targets, options, view_layer, threads=0):
        self.state, self.report, self.restored = READING, None, False
        self.message = self.error = self.live = None
        self.token = secrets.token_hex(8)
        if options.volume != "NONE":
            raise Refused("Refining live works on the surface: set Volume to Surface Only")
        self.job = Job(options, threads or threads_beside_window())
        self.written = -1  # number of the frame that the vertex groups show
        self._writers, self._edits_before, self._looked_at = [], [], []
        self._links = self._start_changes = None
        self._disturbed = self._paused = False
        self._undone, self._redone = [], []  # edits before each stroke, and what was undone
        self._steps = self._run(targets, view_layer)
        set_current(self)

    @property
    def frame(self):
        return self.live.frame if self.live else None

    @property
    def stage(self):
        """What is done just now."""
        return self.live.stage if self.live else "reading"

    @property
    def settled(self):
        """Converged and shown, with nothing left that was asked for."""
        try:
            return (
                self.state == RUNNING
                and self.live.waiting
                and self.written == self.frame.number
                and self._looked_at == self._changes()
            )
        except Refused:
            return False  # the next tick will end it

    def objects(self):
        """The meshes. Raises Refused when they are not what they were."""
        return [reference.get() for reference in self.job.objects]

    def tick(self, seconds):
        """Works for about so long, one step at least."""
        start = time.perf_counter()
        while self.state != ENDED and self._step() and time.perf_counter() - start < seconds:
            pass

    def keep(self):
        """Ask to keep the weights of the latest frame."""
        if self.state == RUNNING and self.frame:
            self.state = KEEPING

    def restore(self):
        """Ask to put back everything as it was."""
        if self.state == READING:  # nothing was changed
            self._steps.close()
            self.restored = True
            self._end()
        elif self.state == RUNNING:
            self.state = RESTORING

    def restore_now(self):
        """The like, at once, as far as the objects are still there."""
        if self.state == ENDED:
            return
        if self.live:
            self.live.cancel()
            self.live.join()
        self._restore_weights()
        self._restore_edits()
        self.restored = True
        self._end()

    def disturbed(self):
        """To be called after Blender's own undo or redo."""
        try:
            inside = self.state != READING and all(
                ob.data.araplbs.session == self.token for ob in self.objects()
            )
        except GONE:
            inside = False
        if not inside:
            self._end("Undo has ended the session")
        self._disturbed = True

    def put_back(self):
        """To be called where Blender's undo has led into this session when it has ended:
        everything becomes what it was before."""
        self._restore_weights()
        self._start_changes = [None] * len(self._writers)
        self._restore_edits()
        self._set_tokens("")

    def forget(self):
        """To be called when it has ended and all was told: keeps what put_back() needs only."""
        self.live = self._steps = None
        self.job.problem = self.job.meshes = self.job.entries = self.job.poses = None
        self._undone, self._redone = [], []

    def before_save(self):
        """Files hold what was there before the session."""
        if self.state in {RUNNING, KEEPING}:
            self._restore_weights()
            self._set_tokens("")

    def after_save(self):
        if self.state in {RUNNING, KEEPING}:
            self._set_tokens(self.token)
            self.written = -1

    def note_edit(self, before):
        """before: copy_edits() before a stroke, for undo_edit()."""
        self._undone.append(before)
        self._redone.clear()

    def undo_edit(self, redo=False):
        """Takes back the last stroke, or makes it again; False when there is none."""
        source, other = self._undone, self._redone
        if redo:
            source, other = other, source
        if not source:
            return False
        other.append(self.copy_edits())
        for ob, copy in zip(self.objects(), source.pop(), strict=True):
            restore_edits(ob.data, copy)
        return True

    def copy_edits(self):
        return [copy_edits(ob.data) for ob in self.objects()]

    def problem_vertices(self, index):
        """(begin, end) of a mesh in the arrays of a Frame."""
        first = self.job.problem.first[index]
        return first, first + self.job.problem.sizes[index]

    def _changes(self):
        return [ob.data.araplbs.changes for ob in self.objects()]

    def _step(self):
        """One step; False where there is nothing to do before the next tick."""
        try:
            if self._writers and self._pauses():
                return False
            return next(self._steps) is not IDLE
        except StopIteration:
            self._end()
        except Exception as error:
            self._fail(error)
        return True

    def _fail(self, error):
        """Back to what was there, unless that was what failed."""
        self.message = self.message or str(error)
        if not isinstance(error, GONE):
            self.error = self.error or error
        if self.state == RESTORING:
            self._end()
            return
        self.state = RESTORING
        self._steps = self._restore()

    def _pauses(self):
        """In Edit mode nothing is written; after it, things may be different."""
        in_edit_mode = False
        for reference in self.job.objects:
            with suppress(*GONE):
                in_edit_mode |= reference.get().mode == "EDIT"
        self._disturbed |= self._paused and not in_edit_mode
        if self._paused and not in_edit_mode:
            for ob, mesh in zip(self.objects(), self.job.meshes, strict=True):
                if not has_topology(ob, mesh):
                    self._end(f"'{ob.name}' was changed in Edit mode: it keeps the last weights")
                    return True
        self._paused = in_edit_mode
        return in_edit_mode

    def _end(self, message=None):
        if self.state == ENDED:
            return
        self.state, self.message = ENDED, message or self.message
        if self.live:
            self.live.cancel()  # the thread ends by itself: it knows nothing of Blender
        self._set_tokens("")
        if self._writers:
            _past[self.token] = self
            while len(_past) > MOST_PAST:
                del _past[next(iter(_past))]
        unset_current(self)

    def _set_tokens(self, token):
        for reference in getattr(self.job, "objects", []):
            with suppress(*GONE):
                reference.get().data.araplbs.session = token

    def _run(self, targets, view_layer):
        yield from self.job.read_in_steps(targets, view_layer, with_entries=True)
        job = self.job
        _armature, objects = job.find_objects()
        for ob, entries, selection in zip(objects, job.entries, job.selections, strict=True):
            self._edits_before.append(copy_edits(ob.data))
            self._writers.append(LiveWeights(ob, entries, job.problem.skeleton.names, *selection))
        self._set_tokens(self.token)
        self._looked_at = self._start_changes = self._changes()
        self._links = [mesh.edits.links for mesh in job.meshes]
        self.live = Live(job.problem, job.options, job.threads)
        self.state = RUNNING
        while self.state == RUNNING:
            yield from self._follow()
        if self.state == KEEPING:
            yield from self._keep()
        else:
            yield from self._restore()

    def _follow(self):
        """Edits to the thread, its latest weights to the vertex groups."""
        if self.live.error:
            raise self.live.error
        yield from self._look_again()
        self._take_edits()
        frame = self.live.frame
        if frame is None or frame.number == self.written:
            yield IDLE
            return
        yield from self._write(frame.rows, exact=False)
        self.written = frame.number

    def _look_again(self):
        if not self._disturbed:
            return
        self._disturbed = False
        self.written = -1
        for reference, writer in zip(self.job.objects, self._writers, strict=True):
            with suppress(*GONE):
                writer.look_again((yield from group_entries_in_steps(reference.get().data)))

    def _take_edits(self):
        changes = self._changes()
        if changes == self._looked_at:
            return
        self._looked_at = changes
        job = self.job
        names = job.problem.skeleton.names
        edits = [read_edits(ob.data, names) for ob in self.objects()]
        if all(np.array_equal(e.links, old) for e, old in zip(edits, self._links, strict=True)):
            self.live.edit(job.problem.edit_arguments(edits))
            return
        self._links = [e.links for e in edits]
        job.meshes = [replace(m, edits=e) for m, e in zip(job.meshes, edits, strict=True)]
        options = job.options
        before = job.problem
        job.problem = Problem(job.meshes, before.skeleton, job.poses, options.symmetric)
        job.problem.parameters = before.parameters
        self.live.restart(job.problem)

    def _write(self, rows, exact):
        done = []
        for writer, part in zip(self._writers, self.job.problem.split(rows), strict=True):
            done.append((yield from writer.write(part, exact)))
        return done

    def _keep(self):
        job = self.job
        job.find_objects()
        self.live.conclude()
        while self.live.running:
            yield IDLE
        if self.live.error:
            raise self.live.error
        frame = self.live.frame
        self._disturbed = True  # others may have written
        while self._disturbed:
            yield from self._look_again()
            written = yield from self._write(frame.rows, exact=True)
        job.solution = Solution(frame.rows, frame.report, frame.seconds)
        self.report = job.conclude(written)

    def _restore(self):
        if self.live:
            self.live.cancel()
        self._disturbed = True  # others may have written
        while self._disturbed:
            yield from self._look_again()
            self._restore_edits()
            for writer in self._writers:
                with suppress(*GONE):
                    yield from writer.restore()
        self.restored = not self.message
        while self.live and self.live.running:
            yield IDLE

    def _restore_weights(self):
        """At once, of the objects that are still there."""
        for writer in self._writers:
            with suppress(*GONE):
                writer.restore_at_once()

    def _restore_edits(self):
        for reference, copy, was in zip(
            self.job.objects if self._writers else [],
            self._edits_before,
            self._start_changes or [],
            strict=True,
        ):
            with suppress(*GONE):
                mesh = reference.get().data
                if mesh.araplbs.changes != was:
                    restore_edits(mesh, copy)


def end_session():
    """Restores at once what a running session has changed."""
    session = current_session()
    if session:
        try:
            session.restore_now()
        finally:
            _current.clear()


def after_undo(meshes):
    """To be called after Blender's undo or redo, with all meshes of the file."""
    session = current_session()
    if session:
        session.disturbed()
    for token in {mesh.araplbs.session for mesh in meshes} & set(_past):
        if token != (session and session.token):
            _past[token].put_back()
