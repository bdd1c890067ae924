"""A live session on the weights of one armature's meshes. The session writes the converging weights
into the vertex groups step by step and adopts edits. At its end, the session keeps or restores all
weights.

During the session, nothing is pushed to Blender's undo stack. The session's owner records the whole
session as one undo step. Because other operators may push undo steps, a mesh carries a token during
a session. An undo to a state without a token leaves the session. An undo to a state with the token
of an ended session restores the weights from before that session.
"""

import secrets
from contextlib import suppress
from dataclasses import replace

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.base.worker import work_in_steps
from araplbs.character.problem import Problem
from araplbs.reports.report import names_in_line
from araplbs.solvers.converged_cache import is_end
from araplbs.solvers.live_solver import LiveSolver
from araplbs.solvers.solve import Solution

from ...blender.data.edits import copy_edits, read_edits, restore_edits
from ...blender.data.mesh_shape import MeshShape
from ...blender.data.ours import is_ours, mark_ours
from ...blender.read.read_mesh import named_entries_in_steps
from ...operators.session import (
    ENDED,
    GONE,
    IDLE,
    READING,
    RUNNING,
    LiveSession,
    remember,
    threads_beside_window,
)
from ...weighting import WeightingTask
from .live_weights import LiveWeights


class WeightSession(LiveSession):
    keys = ("Enter: keep", "Esc: cancel")

    def __init__(self, targets, options, view_layer, threads=0):
        if options.volume != "NONE":
            raise Refused("Refining live works on the surface: set Volume to Surface Only")
        self.token = secrets.token_hex(8)
        self._writers, self._edits_before, self._looked_at = [], [], []
        self._links = self._start_changes = None
        self._disturbed = self._paused = False
        self._undone, self._redone = [], []  # edits before each stroke, and undone edits
        task = WeightingTask(options, threads or threads_beside_window())
        task.reads_weights = True
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
            return False  # the next tick ends it

    @property
    def strokes(self):
        return len(self._undone)

    def objects(self):
        return [reference.get() for reference in self.task.objects]

    def put_back_data(self):
        self._put_back_weights()
        self._put_back_edits()

    def disturbed(self):
        if self._survives_undo():
            self._disturbed = True
        else:
            self.put_back()
            self._end("Undo has ended the session")

    def _survives_undo(self):
        try:
            return self.state != READING and all(
                ob.data.araplbs.session == self.token for ob in self.objects()
            )
        except GONE:
            return False

    def put_back(self):
        """Restores meshes with the session's token to their earlier state. The function must be
        called if Blender's undo leads back into the session after its end."""
        self._put_back_weights(self._is_shown)
        self._start_changes = [None] * len(self._writers)
        self._put_back_edits(self._is_shown)
        self._clear_tokens()

    def _is_shown(self, ob):
        return ob.data.araplbs.session == self.token

    def forget(self):
        """Discards all data that put_back() does not need."""
        super().forget()
        task = self.task
        task.reading = replace(task.reading, problem=None, meshes=[], entries=[], poses=None)
        self._undone, self._redone = [], []

    def before_save(self):
        if self.state != READING:
            self._put_back_weights()
            self._clear_tokens()

    def after_save(self):
        if self.state != READING:
            self._set_tokens()
            self._disturbed, self.written = True, -1  # the weights must be written again

    def note_edit(self, before):
        """Records a stroke, so undo_edit() can undo it. before: the result of copy_edits() before
        the stroke."""
        self._undone.append(before)
        self._redone.clear()

    def set_options(self, **changes):
        """Continues with these options from the current weights."""
        task = self.task
        task.options = replace(task.options, **changes)
        self.worker.restart(task.problem, task.options)
        if self._looked_at != self._start_changes:
            self.worker.edit(task.problem.edit_arguments(self._read_edits()))

    def undo_edit(self, redo=False):
        """Undoes or redoes the last stroke. Returns False if there was no stroke."""
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
        """The range (begin, end) of a mesh in the arrays of a Frame."""
        first = self.task.problem.first[index]
        return first, first + self.task.problem.sizes[index]

    def _changes(self):
        return [ob.data.araplbs.changes for ob in self.objects()]

    def _step(self):
        try:
            if self._pauses():
                return False
        except Exception as error:
            self.fail(error)
            return True
        return super()._step()

    def _pauses(self):
        """Whether the session pauses. In Edit mode, nothing is written, and the data may have
        changed afterwards."""
        found = [reference.find() for reference in self._objects[1:] if self._writers]
        in_edit_mode = any(ob and ob.type == "MESH" and ob.data.is_editmode for ob in found)
        self._disturbed |= self._paused and not in_edit_mode
        self._paused = in_edit_mode
        return in_edit_mode

    def _end(self, message=None):
        if self.state == ENDED:
            return
        super()._end(message)
        self._clear_tokens()
        if self._writers:
            remember(self)

    def _set_tokens(self):
        for reference in self.task.objects:
            with suppress(*GONE):
                reference.get().data.araplbs.session = self.token

    def _clear_tokens(self):
        """Removes the tokens, including the tokens of copied meshes."""
        for mesh in bpy.data.meshes:
            if mesh.araplbs.session == self.token:
                mesh.araplbs.property_unset("session")

    def _read(self, targets, view_layer):
        shapes = {ob.session_uid: MeshShape(ob.data) for ob in targets.meshes}
        yield from self.task.read_in_steps(targets, view_layer)
        task = self.task
        at_rest = yield from work_in_steps(lambda _progress: self._is_end())
        all_entries = yield from self._entries_of_now()
        _armature, objects = task.find_objects()
        for ob in objects:
            if not shapes[ob.session_uid].is_of(ob.data):
                raise Refused(f"'{ob.name}' has changed since it was read")
        read = task.reading
        for ob, known, selection in zip(objects, all_entries, read.selections, strict=True):
            self._writers.append(LiveWeights(ob, known, task.problem.skeleton.names, *selection))
            self._edits_before.append(copy_edits(ob.data))
        self._set_tokens()
        self._looked_at = self._start_changes = self._changes()
        self._links = [mesh.edits.links for mesh in read.meshes]
        self.worker = LiveSolver(task.problem, task.options, task.threads, at_rest)

    def _entries_of_now(self):
        """The [NamedEntries] of the meshes, which are read again in steps if other code has moved,
        renamed or removed groups since then."""
        found = list(self.task.reading.entries)
        while True:
            objects = self.objects()
            old = [k for k, ob in enumerate(objects) if not found[k].are_of(ob)]
            if not old:
                return found
            for k in old:
                found[k] = yield from named_entries_in_steps(objects[k])

    def _is_end(self):
        task, read = self.task, self.task.reading
        return is_end(read.meshes, task.problem.skeleton, read.poses, task.options)

    def _follow(self):
        """Passes edits to the thread, and writes its latest weights to the vertex groups."""
        yield from self._look_again()
        self._take_edits()
        frame = self.worker.frame
        if frame is None or frame.number == self.written:
            yield IDLE
            return
        for writer in self._writers:
            writer.refuse_others()
        for step in self._write(frame.rows, exact=False):
            yield step
            if self.worker.waiting and self.worker.frame is not frame:
                return  # the last frame follows, and the entries in both are already written
        self.written = frame.number

    def _look_again(self):
        if not self._disturbed:
            return
        self._disturbed = False
        self.written = -1
        for reference, writer in zip(self.task.objects, self._writers, strict=True):
            looked = False
            while not looked:
                known = yield from named_entries_in_steps(reference.get())
                yield IDLE  # checking takes a turn of its own
                looked = writer.look_again(known)
                yield

    def _take_edits(self):
        changes = self._changes()
        if changes == self._looked_at:
            return
        self._looked_at = changes
        task, edits = self.task, self._read_edits()
        if all(np.array_equal(e.links, old) for e, old in zip(edits, self._links, strict=True)):
            self.worker.edit(task.problem.edit_arguments(edits))
            return
        self._links = [e.links for e in edits]
        read, options = task.reading, task.options
        meshes = [replace(m, edits=e) for m, e in zip(read.meshes, edits, strict=True)]
        problem = Problem(
            meshes,
            read.problem.skeleton,
            read.poses,
            options.symmetric,
            rigid_parts=options.rigid_parts,
        )
        problem.parameters = read.problem.parameters
        task.reading = replace(read, meshes=meshes, problem=problem)
        self.worker.restart(problem)

    def _read_edits(self):
        names = self.task.problem.skeleton.names
        return [read_edits(ob.data, names) for ob in self.objects()]

    def _write(self, rows, exact):
        done = []
        for writer, part in zip(self._writers, self.task.problem.split(rows), strict=True):
            done.append((yield from writer.write(part, exact)))
        return done

    def _keep(self):
        task = self.task
        task.find_objects()
        is_whole = self.worker.waiting and self._changes() == self._start_changes
        self.worker.conclude()
        yield from self._wait()
        frame = self.worker.frame
        self._disturbed = True  # other code may have written
        while self._disturbed:
            yield from self._look_again()
            written = yield from self._write(frame.rows, exact=True)
            yield IDLE  # the report also takes a turn
        task.solution = Solution(frame.rows, frame.report, frame.seconds)
        self.report = task.conclude(written)
        task.replaces_ours = [is_ours(ob) for ob in self.objects()]
        for ob in self.objects():
            mark_ours(ob, True)
        if is_whole:
            task.remember_end(frame.rows)

    def _restore(self):
        if self.worker:
            self.worker.cancel()
        lost, self._disturbed = [], True
        while self._disturbed:
            lost, self._disturbed = [], False
            self._put_back_edits()
            for writer in self._writers:
                lost += yield from writer.put_back()
        self._tell_lost(lost)
        self.restored = not self.message
        while self.worker and self.worker.running:
            yield IDLE

    def _tell_lost(self, names):
        """The part of the message about weights that could not be restored."""
        told = [self.message] if self.message else []
        if names:
            who = names_in_line([f"'{name}'" for name in names])
            told = [text for text in told if text != f"{who} has changed since it was read"]
            many = len(names) > 1
            told.append(
                f"{who} {'have changed since they were' if many else 'has changed since it was'} "
                f"read and {'keep' if many else 'keeps'} the last weights of the session"
            )
        elif told and self._writers:
            told.append("The earlier weights are restored")
        self.message = ". ".join(told) or None

    def _put_back_weights(self, wanted=lambda _ob: True):
        """Restores the weights at once."""
        for writer in self._writers:
            writer.put_back_at_once(wanted)

    def _put_back_edits(self, wanted=lambda _ob: True):
        changes = self._start_changes or [None] * len(self._writers)
        for writer, copy, was in zip(self._writers, self._edits_before, changes, strict=False):
            for ob in writer.holders():
                mesh = ob.data
                if wanted(ob) and mesh.araplbs.changes != was and writer.is_of(ob):
                    restore_edits(mesh, copy)
