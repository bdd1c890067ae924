"""What operators have in common whose work is a task: it is done at once, or beside a window."""

import time

from ...blender.read.targets import find_targets
from ...core.base.refusal import Refused
from ...core.base.steps import finish
from ...core.base.worker import Worker
from ...core.reports.report import notes, summary, warnings
from ...live.session import current_session
from ...preferences import preferred_threads
from ...tasks.judged import MEASURING
from ...tasks.weighting import WeightingTask
from .last_report import keep_report
from .placed import Placed
from .progress import end_progress, show_progress

AT_ONCE = 0.3  # seconds of reading before the window gets turns
STEP = 0.05  # seconds of reading between its turns
MEASURED = {MEASURING, "surface strain", "surface strain as Blender deforms"}  # stages

# What moves the view goes on working during a solve; everything else waits for it.
VIEW_EVENTS = (
    *("WHEEL", "TRACKPAD", "NDOF", "NUMPAD", "MIDDLEMOUSE"),
    *("MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "TIMER", "WINDOW"),
)


def moves_view(event):
    return event.type.startswith(VIEW_EVENTS)


def tell(operator, report, task, done=None):
    """Says what was done, as short as can be in the last line, which the status bar shows: `done`,
    by default that of the weights; the rest is in the Info log. report: of the weights, None where
    they stay."""
    for line in notes(report):
        operator.report({"INFO"}, line)
    if report and not done:
        operator.report({"INFO"}, summary(report))
    for line in warnings(report) + task.warnings:
        operator.report({"WARNING"}, line)
    if done:
        operator.report({"INFO"}, done)
    return {"FINISHED"}


def poll_targets(operator, context, find):
    """The poll of an operator that works on what find(context) gives."""
    if current_session():
        operator.poll_message_set("A session is running: accept or cancel it first")
        return False
    try:
        find(context)
    except Refused as reason:
        operator.poll_message_set(str(reason))
        return False
    return True


class WorkOperator(Placed):
    """To be mixed into an operator that reads, solves in a thread and writes: at once, or beside a
    window. task_kind: class of the work; find(context): its Targets."""

    task_kind = WeightingTask
    find = staticmethod(find_targets)
    doing = "Weighting"
    _worker = None
    _timer = None
    _task = None
    _reading = None

    def start(self, context):
        """Sets the task, and the steps that read its input."""
        targets = self.find(context)
        targets.only_bones = getattr(self, "only_selected_bones", False)
        self._task = self.task_kind(self.read_options(), preferred_threads(context))
        self._reading = self._task.read_in_steps(targets, context.view_layer)

    def read_for(self, seconds):
        """Goes on reading for about so long; has it come to the end?"""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                next(self._reading)
            except StopIteration:
                self._reading = None
                return True
        return False

    def finish(self, task):
        """Writes the solution and says what was done."""
        report = task.apply()
        keep_report(report)
        return self.tell(report, task)

    def tell(self, report, task):
        return tell(self, report, task)

    def begin_waiting(self, context):
        manager = context.window_manager
        manager.progress_begin(0, 100)
        self._timer = manager.event_timer_add(0.1, window=context.window)
        self.show_progress(context)
        manager.modal_handler_add(self)  # the last that can fail

    def show_progress(self, context):
        worker, words, fraction = self._worker, "Reading rig", 0.0
        if worker:
            words, fraction = self.doing, worker.fraction
            words = "Measuring" if worker.stage in MEASURED else words
            context.window_manager.progress_update(100 * fraction)
        shown = show_progress(words, fraction)
        context.workspace.status_text_set(f"{shown.text}   |   Esc: cancel")

    def end_waiting(self, context):
        """After this nothing of the wait is left: timer, cursor, status text. The thread ends by
        itself, after a long step of the solver perhaps: it knows nothing of Blender."""
        if self._reading:
            self._reading.close()
        if self._worker:
            self._worker.cancel()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        end_progress()
        if context.workspace:
            context.workspace.status_text_set(None)
        worker, task = self._worker, self._task
        self._worker = self._timer = self._task = self._reading = None
        return worker, task

    @classmethod
    def poll(cls, context):
        return poll_targets(cls, context, cls.find)

    def execute(self, context):
        """At once: scripts, background mode, and the panel "Adjust Last Operation"."""
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

    def invoke(self, context, _event):
        """In a window: the work is done beside it, and can be cancelled."""
        self.take_settings(context)
        self.start(context)
        if self.read_for(AT_ONCE):
            self._worker = Worker(self._task.solve)
        self.begin_waiting(context)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.end_waiting(context)
            return self.say_cancelled()
        elif event.type != "TIMER":
            return {"PASS_THROUGH"} if moves_view(event) else {"RUNNING_MODAL"}
        if self._reading:
            if self.read_for(STEP):
                self._worker = Worker(self._task.solve)
            return {"RUNNING_MODAL"}
        if self._worker.running:
            self.show_progress(context)
            return {"RUNNING_MODAL"}

        worker, task = self.end_waiting(context)
        if worker.error:
            raise worker.error
        return self.finish(task)

    def say_cancelled(self):
        self.report({"INFO"}, f"{self.bl_label} was cancelled: nothing was changed")
        return {"CANCELLED"}

    def cancel(self, context):
        """Blender ends the operator: another file, or quit."""
        if self._timer:
            worker, _task = self.end_waiting(context)
            if worker:
                worker.join()

    def abandon(self, context):
        """See guard.py."""
        if self._timer:
            self.end_waiting(context)
