"""The operator "Refine Weights (ARAP)": a live session in the viewport, and the small operators
that its keys and buttons call."""

import time

import bpy
from bpy.app.handlers import persistent
from bpy.types import Operator

from ..blender.targets import find_targets
from ..blender.views import redraw_views
from ..core.errors import Refused
from ..core.report import percent
from ..job import Job
from ..preferences import preferred_threads
from ..session import (
    ENDED,
    KEEPING,
    READING,
    RESTORING,
    Session,
    after_undo,
    current_session,
    end_session,
)
from .auto_weight import REFUSALS, moves_view, tell
from .properties import OptionProperties, option_properties

IDNAME = "object.araplbs_refine_weights"
LABEL = "Refine Weights (ARAP)"
TICK = 1 / 30  # seconds between two looks at what the thread has done
LEAST_WORK, MOST_WORK = 0.01, 0.02  # seconds of work in one of them
WORK_SHARE = 0.15  # of the time between them, where drawing takes long


@persistent
def _after_undo(*_arguments):
    after_undo(bpy.data.meshes)


@persistent
def _before_save(*_arguments):
    if current_session():
        current_session().before_save()


@persistent
def _after_save(*_arguments):
    if current_session():
        current_session().after_save()


HANDLERS = {
    "undo_post": _after_undo,
    "redo_post": _after_undo,
    "save_pre": _before_save,
    "save_post": _after_save,
}


class OBJECT_OT_araplbs_refine_weights(OptionProperties, Operator):
    """Watch the weights of the selected meshes converge, and steer them with the brushes of the \
Auto-weight tab, until you keep them or restore what was there"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"UNDO"}  # noqa: RUF012  no REGISTER: nothing of it could be adjusted afterwards

    __annotations__ = option_properties(start_from="PRESENT")

    _timer = None
    _last_tick = 0.0
    _session = None

    @classmethod
    def poll(cls, context):
        if current_session():
            cls.poll_message_set("A session is running: accept or cancel it first")
            return False
        try:
            find_targets(context, posing=True)
        except Refused as reason:
            cls.poll_message_set(str(reason))
            return False
        return True

    def execute(self, context):
        """At once, to the end, with the edits that the meshes have: scripts and background mode."""
        job = Job(self.read_options(), preferred_threads(context))
        try:
            job.read(find_targets(context, posing=True), context.view_layer)
            job.solve()
            report = job.apply()
        except REFUSALS as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        return tell(self, report, job)

    def invoke(self, context, _event):
        try:
            session = Session(
                find_targets(context, posing=True),
                self.read_options(),
                context.view_layer,
                preferred_threads(context),
            )
        except REFUSALS as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        self._session = session
        manager = context.window_manager
        self._timer = manager.event_timer_add(TICK, window=context.window)
        manager.modal_handler_add(self)
        self._show(context, session)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        session = self._session
        if event.type == "TIMER":
            session.tick(self._budget())
            self._show(context, session)
        if session.state == ENDED:  # also when the add-on was disabled
            return self._finish(context, session)
        if event.value != "PRESS" or (moves_view(event) and event.type != "NUMPAD_ENTER"):
            return {"PASS_THROUGH"}
        if session.state in {KEEPING, RESTORING}:
            return {"RUNNING_MODAL"}  # nothing may change what is being written
        if context.mode.startswith("EDIT"):
            return {"PASS_THROUGH"}
        return self._key(context, event, session)

    def _budget(self):
        now, last = time.perf_counter(), self._last_tick
        self._last_tick = now
        return min(max(LEAST_WORK, WORK_SHARE * (now - last)), MOST_WORK)

    def _key(self, context, event, session):
        space = _space_under(context, event)
        if event.type == "ESC" or (event.type == "RIGHTMOUSE" and space == "VIEW"):
            session.restore()
        elif event.type in {"RET", "NUMPAD_ENTER"}:
            session.keep()
        elif session.state == READING:
            pass  # nothing may change what is being read
        elif event.type == "Z" and (event.ctrl or event.oskey) and context.mode != "POSE":
            redo = event.shift
            if not session.undo_edit(redo):
                self.report({"INFO"}, f"Nothing to {'redo' if redo else 'undo'} in this session")
        elif event.type == "LEFTMOUSE" and space == "VIEW" and self._would_paint(context):
            self.report({"INFO"}, "Paint with the Auto-weight tools while the session is running")
        else:
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    @staticmethod
    def _would_paint(context):
        """A brush of Blender's own would paint weights that are overwritten at once."""
        if context.mode != "PAINT_WEIGHT":
            return False
        tool = context.workspace.tools.from_space_view3d_mode(context.mode)
        return not (tool and tool.idname.startswith("araplbs."))

    def _show(self, context, session):
        if session.state == ENDED:
            return
        if context.workspace:
            context.workspace.status_text_set("   |   ".join([LABEL, *session_facts(session)]))
        if session.frame:
            redraw_views()

    def _finish(self, context, session):
        self._stop(context)
        if session.report:
            result = tell(self, session.report, session.job)
            session.forget()
            return result
        session.forget()
        if session.error and not isinstance(session.error, REFUSALS):
            raise session.error
        if session.message:
            self.report({"ERROR" if session.error else "WARNING"}, session.message)
        elif session.restored:
            self.report({"INFO"}, "Refining was cancelled: everything is as it was")
        return {"CANCELLED"}

    def _stop(self, context):
        if self._timer:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
        if context.workspace:
            context.workspace.status_text_set(None)
        redraw_views()

    def cancel(self, context):
        """Blender ends the operator: another file, a closed window, or quit."""
        try:
            end_session()
        finally:
            self._stop(context)


def session_facts(session):
    """Short texts about a session, for status bar and viewport."""
    if session.state == READING or session.frame is None:
        stage = session.live.stage if session.live else "reading"
        return [stage, "Esc: cancel"]
    frame = session.frame
    first, energy = frame.energies[0], frame.energies[-1]
    change = 100 * (energy / first - 1) if first > 0 else 0.0
    state = "converged" if frame.done else session.live.stage
    if session.state in {KEEPING, RESTORING}:
        state = "writing" if session.state == KEEPING else "restoring"
    return [
        f"iteration {frame.iterations}",
        f"deformation error {percent(energy)}",
        f"energy {change:+.0f} % since start",
        f"time {frame.seconds:.1f} s",
        state,
        "Enter: keep",
        "Esc, right mouse: restore",
        "Ctrl Z: undo stroke",
    ]


def _space_under(context, event):
    """ "VIEW" where the mouse is over the scene in a 3D view, else None."""
    for area in context.window.screen.areas if context.window else ():
        if area.type != "VIEW_3D":
            continue
        over = [r for r in area.regions if _is_over(r, event) and r.width > 1 and r.height > 1]
        if over and all(r.type == "WINDOW" for r in over):
            return "VIEW"
    return None


def _is_over(region, event):
    x, y = event.mouse_x - region.x, event.mouse_y - region.y
    return 0 <= x < region.width and 0 <= y < region.height


class _OfSession:
    bl_options = {"INTERNAL"}  # noqa: RUF012

    @classmethod
    def poll(cls, _context):
        if not current_session():
            cls.poll_message_set("No refining session is running")
            return False
        return True


class OBJECT_OT_araplbs_accept(_OfSession, Operator):
    """Keep the weights that are shown and end the session"""

    bl_idname = "object.araplbs_accept"
    bl_label = "Accept"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not current_session().frame:
            cls.poll_message_set("The first weights are still being computed")
            return False
        return True

    def execute(self, _context):
        current_session().keep()
        return {"FINISHED"}


class OBJECT_OT_araplbs_restore(_OfSession, Operator):
    """End the session and restore weights and edits as they were before it"""

    bl_idname = "object.araplbs_restore"
    bl_label = "Cancel"

    def execute(self, _context):
        current_session().restore()
        return {"FINISHED"}


def register():
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(handler)
    end_session()
