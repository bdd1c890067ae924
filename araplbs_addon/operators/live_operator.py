"""The common base of operators that own a live session: timer, keys, status text, and session
end."""

import time

from araplbs.base.refusal import Refused
from araplbs.base.sentence import Sentence
from araplbs.measures.deformation import in_percent
from bpy.types import Operator

from ..blender.data.views import redraw_views
from ..languages.translate import inform, translated
from ..preferences import preferred_threads
from .last_report import keep_report
from .modal_operator import moves_view, show_status
from .session import ENDED, KEEPING, READING, RESTORING, current_session, end_session
from .work import TaskOperator

TICK = 1 / 30  # seconds between two checks of the thread
BUSY_TICK = 1 / 60  # after a tick that left work
WORK = 0.013  # seconds of work per tick


class LiveOperator(TaskOperator):
    """Mix-in for an operator with OptionProperties, and with these members:

    task_kind, session_kind: the classes of the immediate work and of the live work. find(context):
    returns the operator's Targets. Raises Refused. tell(report, task): reports the kept result, and
    returns the operator's result. cancelled: the text if nothing was kept.
    """

    every = BUSY_TICK
    _session = None
    _looked = 0.0  # time of the last check
    _shown = None  # what the window shows of the session

    def invoke(self, context, _event):
        self.take_settings(context)
        self._session = self.session_kind(
            self.targets(context),
            self.read_options(),
            context.view_layer,
            preferred_threads(context),
        )
        self.prepare(context)
        return self.begin_waiting(context)

    def turn(self, context):
        now = time.monotonic()
        if not self._session.busy and now - self._looked < TICK - BUSY_TICK / 2:
            return
        self._looked = now
        self.follow(context, self._session)
        self._session.tick(WORK)
        self.show_status(context)

    def hear(self, context, event):
        session = self._session
        if session.state == ENDED:  # also when the add-on was disabled
            return self._finish(context, session)
        if event.value != "PRESS" or (moves_view(event) and event.type != "NUMPAD_ENTER"):
            return {"PASS_THROUGH"}
        if session.state in {KEEPING, RESTORING}:
            if event.type == "ESC":
                session.restore()
            return {"RUNNING_MODAL"}  # nothing may change the data that is being written
        if context.mode.startswith("EDIT"):
            return {"PASS_THROUGH"}
        return self._key(context, event, session)

    def prepare(self, context):
        """Called before the session, for preparations that only a window needs."""

    def follow(self, context, session):
        """Called before each update of the session, to apply settings that the artist has
        changed."""

    def _key(self, context, event, session):
        if event.type == "ESC":
            cancel_session(context, session)
        elif event.type in {"RET", "NUMPAD_ENTER"}:
            session.keep()
        elif session.state == READING:
            pass  # nothing may change the data that is being read
        else:
            return self.other_key(context, event, session)
        return {"RUNNING_MODAL"}

    def other_key(self, _context, _event, _session):
        """Handles a key press that not every session supports."""
        return {"PASS_THROUGH"}

    def show_status(self, context):
        session = self._session
        if session.state == ENDED:
            return
        frame = session.frame
        parts = [self.bl_label, *session_facts(session), *session_keys(session)]
        shown = parts, frame and frame.number, session.written
        if shown == self._shown:
            return  # otherwise, the window would be redrawn in each turn
        self._shown = shown
        show_status(context, *parts)
        if frame:
            redraw_views()

    def _finish(self, context, session):
        self.end_waiting(context)
        if session.report:
            keep_report(session.report)
            result = self.tell(session.report, session.task)
            session.forget()
            return result
        session.forget()
        if session.message:
            self.report({"ERROR" if session.error else "WARNING"}, translated(session.message))
        elif session.restored:
            inform(self, self.cancelled)
        return {"CANCELLED"}

    def let_go(self, context):
        redraw_views()

    def cancel(self, context):
        try:
            end_session()
        finally:
            self.end_waiting(context)

    def abandon(self, context):
        """See guard.py."""
        if self._session:
            self.cancel(context)


def session_facts(session):
    """Short texts about a session, for the status bar and viewport."""
    frame = session.frame
    if session.state == READING or frame is None:
        return [Sentence("Reading rig")]
    state = Sentence("converged") if frame.done else Sentence("computing")
    if session.state in {KEEPING, RESTORING}:
        state = Sentence("writing" if session.state == KEEPING else "restoring")
    stretch = []
    if frame.strains and frame.strains[1] is not None:
        stretch = [f"Stretch {in_percent(frame.strains[1])}"]
    return [*stretch, *frame.remarks, f"{frame.seconds:.1f} s", state]


def session_keys(session):
    """The keys that currently have an effect."""
    if session.state == READING or session.frame is None:
        return ["Esc: cancel"]
    return session.keys


def is_over_view(context, event):
    """Whether the mouse is over the scene in a 3D view."""
    for area in context.window.screen.areas if context.window else ():
        if area.type == "VIEW_3D":
            over = [r for r in area.regions if _is_over(r, event) and r.width > 1 and r.height > 1]
            if over and all(r.type == "WINDOW" for r in over):
                return True
    return False


def _is_over(region, event):
    x, y = event.mouse_x - region.x, event.mouse_y - region.y
    return 0 <= x < region.width and 0 <= y < region.height


def cancel_session(context, session):
    """Cancels the session. Asks for confirmation if the artist's strokes would be lost. Pressing
    Esc again declines."""
    if not session.strokes:
        session.restore()
        return

    def draw(menu, _context):
        menu.layout.operator_context = "EXEC_DEFAULT"
        menu.layout.operator(OBJECT_OT_araplbs_restore.bl_idname, text="Cancel Session", icon="X")

    lost = "1 correction" if session.strokes == 1 else f"{session.strokes} corrections"
    context.window_manager.popup_menu(
        draw, title=translated(f"{lost} will be lost"), icon="QUESTION"
    )


class _OfSession:
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context):
        if not current_session():
            raise Refused("No session is running")
        return True


class OBJECT_OT_araplbs_accept(_OfSession, Operator):
    """Keep the displayed result and end the session"""

    bl_idname = "object.araplbs_accept"
    bl_label = "Accept"

    @classmethod
    def poll(cls, context):
        super().poll(context)
        if not current_session().frame:
            raise Refused("The first result is still being computed")
        return True

    def execute(self, _context):
        current_session().keep()
        return {"FINISHED"}


class OBJECT_OT_araplbs_restore(_OfSession, Operator):
    """End the session and restore everything to its previous state"""

    bl_idname = "object.araplbs_restore"
    bl_label = "Cancel"

    def invoke(self, context, _event):
        cancel_session(context, current_session())
        return {"FINISHED"}

    def execute(self, _context):
        session = current_session()
        if session:  # the session can end while the menu is open
            session.restore()
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_accept, OBJECT_OT_araplbs_restore)
