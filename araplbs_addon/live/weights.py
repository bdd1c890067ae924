"""A live session on the weights of one armature's meshes: writes what converges into the vertex
groups a step at a time, follows edits, and ends by keeping or restoring all.

Nothing is pushed to Blender's undo stack meanwhile: the owner of the session ends it as one step.
Other operators may push, so a mesh carries a token as long as a session is at work on it: who
undoes to a state without token has left the session, and who undoes to a state with the token of a
session that has ended gets what was there before that.
"""

import secrets
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ..blender.edits import copy_edits, read_edits, restore_edits
from ..blender.live_weights import LiveWeights
from ..blender.read_mesh import group_entries_in_steps, has_topology
from ..core.live_solver import LiveSolver
from ..core.problem import Problem
from ..core.refusal import Refused
from ..core.solve import Solution
from ..tasks.weighting import WeightingTask
from .session import (
    ENDED,
    GONE,
    IDLE,
    KEEPING,
    READING,
    RUNNING,
    LiveSession,
    remember,
    threads_beside_window,
)


class WeightSession(LiveSession):
    keys = ("Enter: keep", "Esc, right mouse: restore", "Ctrl Z: undo stroke")

    def __init__(self, targets, options, view_layer, threads=0):
        if options.volume != "NONE":
            raise Refused("Refining live works on the surface: set Volume to Surface Only")
        self.token = secrets.token_hex(8)
        self.written = -1  # number of the frame that the vertex groups show
        self._writers, self._edits_before, self._looked_at = [], [], []
        self._links = self._start_changes = None
        self._disturbed = self._paused = False
        self._undone, self._redone = [], []  # edits before each stroke, and what was undone
        task = WeightingTask(options, threads or threads_beside_window())
        super().__init__(task, targets, view_layer)

    @property
    def frame(self):
        return self.worker.frame if self.worker else None

    @property
    def settled(self):
        try:
            return (
                self.state == RUNNING
                and self.worker.waiting
                and self.written == self.frame.number
                and self._looked_at == self._changes()
            )
        except Refused:
            return False  # the next tick will end it

    def objects(self):
        return [reference.get() for reference in self.task.objects]

    def put_back_data(self):
        self._restore_weights()
        self._restore_edits()

    def disturbed(self):
        super().disturbed()
        self._disturbed = True

    def _survives_undo(self):
        try:
            return self.state != READING and all(
                ob.data.araplbs.session == self.token for ob in self.objects()
            )
        except GONE:
            return False

    def put_back(self):
        """To be called where Blender's undo has led into this session when it has ended:
        everything becomes what it was before."""
        self._restore_weights()
        self._start_changes = [None] * len(self._writers)
        self._restore_edits()
        self._set_tokens("")

    def forget(self):
        """Keeps what put_back() needs only."""
        super().forget()
        self.task.problem = self.task.meshes = self.task.entries = self.task.poses = None
        self._undone, self._redone = [], []

    def before_save(self):
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
        first = self.task.problem.first[index]
        return first, first + self.task.problem.sizes[index]

    def _changes(self):
        return [ob.data.araplbs.changes for ob in self.objects()]

    def _step(self):
        try:
            if self._writers and self._pauses():
                return False
        except Exception as error:
            self._fail(error)
            return True
        return super()._step()

    def _pauses(self):
        """In Edit mode nothing is written; after it, things may be different."""
        in_edit_mode = False
        for reference in self.task.objects:
            with suppress(*GONE):
                in_edit_mode |= reference.get().mode == "EDIT"
        self._disturbed |= self._paused and not in_edit_mode
        if self._paused and not in_edit_mode:
            for ob, mesh in zip(self.objects(), self.task.meshes, strict=True):
                if not has_topology(ob, mesh):
                    self._end(f"'{ob.name}' was changed in Edit mode: it keeps the last weights")
                    return True
        self._paused = in_edit_mode
        return in_edit_mode

    def _end(self, message=None):
        if self.state == ENDED:
            return
        super()._end(message)
        self._set_tokens("")
        if self._writers:
            remember(self)

    def _set_tokens(self, token):
        for reference in self.task.objects:
            with suppress(*GONE):
                reference.get().data.araplbs.session = token

    def _read(self, targets, view_layer):
        yield from self.task.read_in_steps(targets, view_layer, with_entries=True)
        task = self.task
        _armature, objects = task.find_objects()
        for ob, entries, selection in zip(objects, task.entries, task.selections, strict=True):
            self._edits_before.append(copy_edits(ob.data))
            self._writers.append(LiveWeights(ob, entries, task.problem.skeleton.names, *selection))
        self._set_tokens(self.token)
        self._looked_at = self._start_changes = self._changes()
        self._links = [mesh.edits.links for mesh in task.meshes]
        self.worker = LiveSolver(task.problem, task.options, task.threads)

    def _follow(self):
        """Edits to the thread, its latest weights to the vertex groups."""
        if self.worker.error:
            raise self.worker.error
        yield from self._look_again()
        self._take_edits()
        frame = self.worker.frame
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
        for reference, writer in zip(self.task.objects, self._writers, strict=True):
            with suppress(*GONE):
                writer.look_again((yield from group_entries_in_steps(reference.get().data)))

    def _take_edits(self):
        changes = self._changes()
        if changes == self._looked_at:
            return
        self._looked_at = changes
        task = self.task
        names = task.problem.skeleton.names
        edits = [read_edits(ob.data, names) for ob in self.objects()]
        if all(np.array_equal(e.links, old) for e, old in zip(edits, self._links, strict=True)):
            self.worker.edit(task.problem.edit_arguments(edits))
            return
        self._links = [e.links for e in edits]
        task.meshes = [replace(m, edits=e) for m, e in zip(task.meshes, edits, strict=True)]
        options = task.options
        before = task.problem
        task.problem = Problem(
            task.meshes,
            before.skeleton,
            task.poses,
            options.symmetric,
            rigid_parts=options.rigid_parts,
        )
        task.problem.parameters = before.parameters
        self.worker.restart(task.problem)

    def _write(self, rows, exact):
        done = []
        for writer, part in zip(self._writers, self.task.problem.split(rows), strict=True):
            done.append((yield from writer.write(part, exact)))
        return done

    def _keep(self):
        task = self.task
        task.find_objects()
        self.worker.conclude()
        while self.worker.running:
            yield IDLE
        if self.worker.error:
            raise self.worker.error
        frame = self.worker.frame
        self._disturbed = True  # others may have written
        while self._disturbed:
            yield from self._look_again()
            written = yield from self._write(frame.rows, exact=True)
        task.solution = Solution(frame.rows, frame.report, frame.seconds)
        self.report = task.conclude(written)

    def _restore(self):
        if self.worker:
            self.worker.cancel()
        self._disturbed = True  # others may have written
        while self._disturbed:
            yield from self._look_again()
            self._restore_edits()
            for writer in self._writers:
                with suppress(*GONE):
                    yield from writer.restore()
        self.restored = not self.message
        while self.worker and self.worker.running:
            yield IDLE

    def _restore_weights(self):
        """At once, of the objects that are still there."""
        for writer in self._writers:
            with suppress(*GONE):
                writer.restore_at_once()

    def _restore_edits(self):
        for reference, copy, was in zip(
            self.task.objects if self._writers else [],
            self._edits_before,
            self._start_changes or [],
            strict=True,
        ):
            with suppress(*GONE):
                mesh = reference.get().data
                if mesh.araplbs.changes != was:
                    restore_edits(mesh, copy)
