"""A live session on one armature and its meshes: reads, solves in a thread, writes what converges
into the vertex groups a step at a time, follows edits, and ends by keeping or restoring all.

Main thread only. Nothing is pushed to Blender's undo stack meanwhile: the owner of the session
ends it as one step. Other operators may push, so a mesh carries a token as long as a session is at
work on it; who undoes to a state without token has left the session.
"""

import os
import secrets
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from .blender.edits import copy_edits, read_edits, restore_edits
from .blender.live_weights import LiveWeights
from .blender.read_mesh import group_entries_in_steps
from .core.errors import Refused
from .core.live import Live
from .core.problem import Problem
from .core.rows import Rows
from .core.solve import Solution
from .core.steps import finish
from .job import Job

READING, RUNNING, KEEPING, RESTORING, ENDED = "READING", "RUNNING", "KEEPING", "RESTORING", "ENDED"
IDLE = object()  # yielded where there is nothing to do before the next tick


class Session:
    """state: one of the above. report: of the weights that were kept, else None. message: why
    it ended otherwise than it was asked to, else None. live: None while reading."""

    def __init__(self, targets, options, view_layer, threads=0):
        self.state, self.report, self.message = READING, None, None
        self.token = secrets.token_hex(8)
        # One processor is left to the window.
        self.job = Job(options, threads or max(1, (os.cpu_count() or 1) - 1))
        self.live = None
        self.written = -1  # number of the frame that the vertex groups show
        self._writers, self._edits_before, self._looked_at = [], [], []
        self._links = 0
        self._disturbed = False
        self._undone, self._redone = [], []  # edits before each stroke, and what was undone
        self._steps = self._run(targets, view_layer)

    @property
    def frame(self):
        return self.live.frame if self.live else None

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
        try:
            while next(self._steps) is not IDLE:
                if time.perf_counter() - start >= seconds:
                    break
        except StopIteration:
            self._end()
        except (Refused, ReferenceError) as reason:
            self._end(str(reason))

    def keep(self):
        """Ask to keep the weights of the latest frame."""
        if self.state == RUNNING and self.frame:
            self.state = KEEPING

    def restore(self):
        """Ask to put back everything as it was."""
        if self.state in {READING, RUNNING}:
            self.state = RESTORING

    def restore_now(self):
        """The like, at once, as far as the objects are still there."""
        if self.state == ENDED:
            return
        self.state = RESTORING
        try:
            finish(self._steps)
        except (Refused, ReferenceError) as reason:
            self.message = str(reason)
        self._end(self.message)

    def disturbed(self):
        """To be called after Blender's own undo or redo."""
        try:
            inside = self.state == READING or all(
                ob.data.araplbs.session == self.token for ob in self.objects()
            )
        except Refused:
            inside = False
        if not inside or self.state == READING:
            self._end("Undo has ended the session")
        self._disturbed = True

    def put_back(self):
        """To be called after Blender's undo when this session has ended: where that has led to a
        state in the middle of it, everything becomes what it was before."""
        if not self._writers:
            return
        try:
            if all(ob.data.araplbs.session == self.token for ob in self.objects()):
                self._disturbed, self._start_changes = True, [None] * len(self._writers)
                finish(self._restore())
                self._clear_tokens()
        except (Refused, ReferenceError):
            pass  # these objects are not what they were then

    def note_edit(self, before):
        """before: [copy_edits()] of all meshes before a stroke, for undo_edit()."""
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

    def _end(self, message=None):
        if self.state == ENDED:
            return
        self.state, self.message = ENDED, message or self.message
        if self.live:
            self.live.cancel()
            self.live.join()
        self._clear_tokens()

    def _clear_tokens(self):
        for reference in getattr(self.job, "objects", []):
            with suppress(Refused):
                reference.get().data.araplbs.session = ""

    def _run(self, targets, view_layer):
        yield from self.job.read_in_steps(targets, view_layer, with_entries=True)
        if self.state == RESTORING:
            return
        job = self.job
        _armature, objects = job.find_objects()
        for ob, entries, selection in zip(objects, job.entries, job.selections, strict=True):
            ob.data.araplbs.session = self.token
            self._edits_before.append(copy_edits(ob.data))
            self._writers.append(LiveWeights(ob, entries, job.problem.skeleton.names, *selection))
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
            error, self.state = self.live.error, RESTORING
            self.message = f"{error}"
            return
        if any(ob.mode == "EDIT" for ob in self.objects()):
            yield IDLE
            return
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
        for reference, writer in zip(self.job.objects, self._writers, strict=True):
            writer.look_again((yield from group_entries_in_steps(reference.get().data)))
        self.written = -1

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
        job.problem = Problem(job.meshes, job.problem.skeleton, job.poses, options.symmetric)
        self.live.restart(job.problem)

    def _write(self, rows, exact):
        done = []
        for writer, part in zip(self._writers, self.job.problem.split(rows), strict=True):
            done.append((yield from writer.write(part, exact)))
        return done

    def _keep(self):
        job, frame = self.job, self.live.frame
        self.live.cancel()
        job.find_objects()
        rows = frame.rows
        if not frame.done and job.options.max_influences:
            # Before the last stage vertices may have more.
            rows = rows.cut_down(job.options.max_influences, job.problem.kept_entries(rows))
        written = yield from self._write(rows, exact=True)
        job.solution = Solution(Rows(*rows), frame.report, frame.seconds)
        self.report = job.conclude(written)

    def _restore(self):
        self.live.cancel()
        objects = self.objects()
        yield from self._look_again()
        for ob, copy, was, now in zip(
            objects, self._edits_before, self._start_changes, self._changes(), strict=True
        ):
            if was != now:
                restore_edits(ob.data, copy)
        for writer in self._writers:
            yield from writer.restore()
