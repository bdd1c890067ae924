"""The common base of operators that run a task, either at once or in short steps in a window."""

import time
import weakref
from typing import NamedTuple

from araplbs.base.refusal import Refused
from araplbs.base.steps import finish
from araplbs.base.worker import Worker
from araplbs.reports.report import notes, summary, warnings

from ..blender.data.references import reason_of, references_of
from ..blender.data.views import redraw_sidebars
from ..blender.read.targets import find_posing, find_targets
from ..languages.translate import inform, warn
from ..preferences import preferred_threads
from ..task import MEASURING
from ..weighting import WeightingTask
from .last_report import keep_report
from .modal_operator import ModalOperator
from .session import refuse_session

AT_ONCE = 0.3  # seconds of reading before the work is split into turns
STEP = 0.05  # seconds of reading per turn
MEASURED = {MEASURING, "surface strain", "surface strain as Blender deforms"}  # stages


_workers = weakref.WeakSet()
_undone = [0]  # number of undos and redos, which invalidate references to Blender's data


class Progress(NamedTuple):
    """The progress of the current work, which the sidebar shows in place of the button that started
    the work."""

    words: str  # such as "Weighting"
    fraction: float

    @property
    def text(self):
        return f"{self.words} {100 * self.fraction:.0f} %" if self.fraction else self.words


_at_hand: list[Progress] = []


def progress_at_hand():
    """The Progress of the work that is running, or None."""
    return _at_hand[0] if _at_hand else None


def tell(operator, report, task, done=None):
    """Reports the result. The last line, which the status bar shows, is as short as possible:
    `done`, by default the line for the weights. All other lines are in the Info log. report: the
    report of the weights, None if the weights stay unchanged."""
    for line in notes(report):
        inform(operator, line)
    if report and not done:
        inform(operator, summary(report))
    for line in warnings(report) + task.warnings:
        warn(operator, line)
    if done:
        inform(operator, done)
    return {"FINISHED"}


def poll_targets(context, find):
    """The poll of an operator that works on the Targets of find(context)."""
    refuse_session()
    find(context)
    return True


def poll_bones(context):
    """The poll of an operator that works on bones chosen in a mode that shows them."""
    poll_targets(context, find_posing)
    if context.mode not in {"POSE", "PAINT_WEIGHT"}:
        raise Refused("Available only in Pose and Weight Paint modes")
    return True


class TaskOperator(ModalOperator):
    """Mix-in for an operator whose work is a task, run without a window or in turns in a window.

    task_kind: the class of the task; find(context): returns the operator's Targets."""

    bl_options = {"REGISTER", "UNDO"}
    task_kind = WeightingTask
    find = staticmethod(find_targets)
    summary = None  # static function of the report: the last line; None: the line for weights
    _task = None
    _reading = None
    _references = ()  # references to the data that it works on
    _begun = 0.0  # start time, from time.monotonic()
    _undone_before = None  # number of undos before reading began; None: not started

    def reason_of(self, error):
        """See guard.py."""
        undone = self._undone_before not in (None, _undone[0])
        if undone and not isinstance(error, Refused):
            return Refused("Undo interrupted the operation: run it again")
        return reason_of(error, self._references)

    @classmethod
    def poll(cls, context):
        return poll_targets(context, cls.find)

    def targets(self, context):
        targets = self.find(context)
        targets.only_bones = getattr(self, "only_selected_bones", False)
        return targets

    def start(self, context):
        targets = self.targets(context)
        task = self.task_kind(self.read_options(), preferred_threads(context))
        task.later = True
        self.begin(context, task, targets)

    def begin(self, context, task, targets):
        """Sets the task and the steps that read its input."""
        self._begun, self._undone_before = time.monotonic(), _undone[0]
        self._references, self._task = references_of(targets), task
        self._reading = task.read_in_steps(targets, context.view_layer)

    def execute(self, context):
        """Runs at once: for scripts, background mode, and the panel "Adjust Last Operation"."""
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            self.start(context)
            finish(self._reading)
            task = self._task
            task.solve(lambda _stage, fraction, _energy: manager.progress_update(100 * fraction))
        finally:
            manager.progress_end()
        return self.finish(task)

    def finish(self, task):
        """Writes the solution and reports the result."""
        report = task.apply()
        if report is not None:
            report["waited"] = time.monotonic() - self._begun
        keep_report(report)
        return self.tell(report, task)

    def tell(self, report, task):
        if self.summary:
            return tell(self, None, task, self.summary(report))
        return tell(self, report, task)


class WorkOperator(TaskOperator):
    """Mix-in for an operator that, in a window, reads in slices, solves in a thread, and writes.
    doing: its name in the status bar."""

    doing = "Weighting"
    _worker = None

    def invoke(self, context, _event):
        """Runs in a window. The work is divided into turns and can be cancelled."""
        self.take_settings(context)
        self.start(context)
        self.read_for(AT_ONCE)
        context.window_manager.progress_begin(0, 100)
        return self.begin_waiting(context)

    def read_for(self, seconds):
        """Continues reading for about this time. At the end, starts the thread."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                next(self._reading)
            except StopIteration:
                self._reading = None
                self._worker = Worker(self._task.solve)
                _workers.add(self._worker)
                return

    def turn(self, context):
        if self._reading:
            self.read_for(STEP)
        elif self._worker.running:
            self.show_status(context)
        else:
            worker, task = self._worker, self._task
            self.end_waiting(context)
            if worker.error:
                raise worker.error
            return self.finish(task)
        return None

    def status(self, context):
        worker, words, fraction = self._worker, "Reading rig", 0.0
        if worker:
            words, fraction = self.doing, worker.fraction
            words = "Measuring" if worker.stage in MEASURED else words
            context.window_manager.progress_update(100 * fraction)
        progress = Progress(words, fraction)
        _at_hand[:] = [progress]
        redraw_sidebars()
        return progress.text

    def let_go(self, context):
        """Lets the thread end by itself, perhaps after a long solver step. The thread uses none of
        Blender's data."""
        if self._reading:
            self._reading.close()
        if self._worker:
            self._worker.cancel()
        if self._timer:
            context.window_manager.progress_end()
            _at_hand.clear()
            redraw_sidebars()
        self._worker = self._task = self._reading = None

    def cancel(self, context):
        worker = self._worker
        super().cancel(context)
        if worker:
            worker.join()


def _note_undo(*_arguments):
    _undone[0] += 1


HANDLERS = (("undo_post", _note_undo), ("redo_post", _note_undo))


def unregister():
    for worker in _workers:  # Blender drops an operator without a call if its class is removed
        worker.cancel()
