"""The operator "Auto-weight (ARAP)"."""

import time

from bpy.types import Operator

from ..blender.targets import find_targets
from ..core.native_module import engine_errors
from ..core.refusal import Refused
from ..core.report import notes, summary, warnings
from ..core.steps import finish
from ..core.worker import Worker
from ..live.session import current_session
from ..preferences import preferred_threads
from ..tasks.weighting import WeightingTask
from .properties import (
    OptionProperties,
    draw_advanced_options,
    draw_pose_options,
    draw_result_options,
)
from .retired import RetiredProperties

IDNAME = "object.araplbs_auto_weight"
LABEL = "Auto-weight (ARAP)"

AT_ONCE = 0.3  # seconds of reading before the window gets turns
STEP = 0.05  # seconds of reading between its turns

# What moves the view goes on working during a solve; everything else waits for it.
VIEW_EVENTS = (
    *("WHEEL", "TRACKPAD", "NDOF", "NUMPAD", "MIDDLEMOUSE"),
    *("MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "TIMER", "WINDOW"),
)


def refusals():
    """The exceptions that are told to the user as they are."""
    return (Refused, MemoryError, *engine_errors("SolverError"))


def moves_view(event):
    return event.type.startswith(VIEW_EVENTS)


def tell(operator, report, task, done=None):
    """Says what was done: in one line `done`, by default that of the report of weights, which is
    None where they stay. The status bar shows the last line, so what matters most comes last."""
    for line in notes(report):
        operator.report({"INFO"}, line)
    operator.report({"INFO"}, done or summary(report))
    for line in warnings(report) + task.warnings:
        operator.report({"WARNING"}, line)
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


class WorkOperator:
    """To be mixed into an operator that reads, solves in a thread and writes: at once, or beside a
    window. task_kind: class of the work; find(context): its Targets."""

    task_kind = WeightingTask
    find = staticmethod(find_targets)
    _worker = None
    _timer = None
    _task = None
    _reading = None

    def start(self, context):
        """Sets the task, and the steps that read its input."""
        targets = self.find(context)
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

    def refuse(self, reason):
        self.report({"ERROR"}, str(reason))
        return {"CANCELLED"}

    def finish(self, task):
        """Writes the solution and says what was done."""
        try:
            return self.tell(task.apply(), task)
        except Refused as reason:
            return self.refuse(reason)

    def tell(self, report, task):
        return tell(self, report, task)

    def begin_waiting(self, context):
        manager = context.window_manager
        manager.progress_begin(0, 100)
        self._timer = manager.event_timer_add(0.1, window=context.window)
        manager.modal_handler_add(self)
        self.show_progress(context)

    def show_progress(self, context):
        worker = self._worker
        if not worker:
            context.workspace.status_text_set(f"{self.bl_label}   |   reading   |   Esc: cancel")
            return
        context.window_manager.progress_update(100 * worker.fraction)
        parts = [self.bl_label, f"{100 * worker.fraction:.0f} %", worker.stage]
        if worker.first_energy:
            parts.append(f"energy {100 * (worker.energy / worker.first_energy - 1):+.0f} %")
        parts.append("Esc: cancel")
        context.workspace.status_text_set("   |   ".join(parts))

    def end_waiting(self, context):
        """After this nothing of the wait is left: timer, cursor, status text. The thread ends by
        itself, after a long step of the solver perhaps: it knows nothing of Blender."""
        if self._reading:
            self._reading.close()
        if self._worker:
            self._worker.cancel()
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
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
        except refusals() as reason:
            return self.refuse(reason)
        finally:
            manager.progress_end()
            self._task = self._reading = None
        return self.finish(task)

    def invoke(self, context, _event):
        """In a window: the work is done beside it, and can be cancelled."""
        self.take_settings(context)
        try:
            self.start(context)
            if self.read_for(AT_ONCE):
                self._worker = Worker(self._task.solve)
        except refusals() as reason:
            self._task = self._reading = None
            return self.refuse(reason)
        self.begin_waiting(context)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.end_waiting(context)
            return self.say_cancelled()
        elif event.type != "TIMER":
            return {"PASS_THROUGH"} if moves_view(event) else {"RUNNING_MODAL"}
        if self._reading:
            try:
                if self.read_for(STEP):
                    self._worker = Worker(self._task.solve)
            except refusals() as reason:
                self.end_waiting(context)
                return self.refuse(reason)
            except BaseException:
                self.end_waiting(context)
                raise
            return {"RUNNING_MODAL"}
        if self._worker.running:
            self.show_progress(context)
            return {"RUNNING_MODAL"}

        worker, task = self.end_waiting(context)
        if isinstance(worker.error, refusals()):
            return self.refuse(worker.error)
        if worker.error:
            raise worker.error
        return self.finish(task)

    def say_cancelled(self):
        self.report({"INFO"}, f"{self.bl_label} was cancelled: nothing was changed")
        return {"CANCELLED"}

    def cancel(self, context):
        """Blender ends the operator: another file, or quit."""
        if self._task:
            worker, _task = self.end_waiting(context)
            if worker:
                worker.join()


class OBJECT_OT_araplbs_auto_weight(WorkOperator, OptionProperties, RetiredProperties, Operator):
    """Give the selected meshes skinning weights for the armature, chosen so that they keep \
their shape as well as possible when posed"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO", "PRESET"}  # noqa: RUF012

    tell = tell

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        draw_result_options(layout, self)
        layout.separator()
        draw_pose_options(layout, self)
        layout.separator()
        draw_advanced_options(layout, self)
