"""Runs work while a window stays usable: divides the work into short timer steps, shows a line in
the status bar, lets Esc cancel, and handles the end."""

from ..languages.translate import inform, translated
from .menu_entries import Placed

# Tools that move the view continue to work. All others are blocked until the end.
VIEW_EVENTS = (
    *("WHEEL", "TRACKPAD", "NDOF", "NUMPAD", "MIDDLEMOUSE"),
    *("MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "TIMER", "WINDOW"),
)


def moves_view(event):
    return event.type.startswith(VIEW_EVENTS)


def close_popovers(context):
    """Closes panels that are open over the window, as Blender does if the layout changes."""
    if context.window:
        context.window.screen = context.window.screen


def show_status(context, *parts):
    """Shows texts side by side in the status bar. Without texts, Blender's own text returns."""
    if context.workspace:  # a script may have none
        context.workspace.status_text_set("   |   ".join(map(translated, parts)) or None)


class ModalOperator(Placed):
    """Mix-in for an operator that continues while the window is in use.

    invoke() starts the work and ends with begin_waiting(). From then on, turn(context) is called at
    regular intervals. It continues the work, and returns the operator's final result, or None.
    hear() receives all other events, status() provides the text of the status bar, and let_go()
    ends the work in its current state.
    """

    every = 0.1  # seconds
    _timer = None

    def turn(self, context):
        raise NotImplementedError

    def status(self, _context):
        return self.bl_label

    def let_go(self, context):
        """Ends the work. The method is also called after an error, and if no work is running."""

    def begin_waiting(self, context):
        manager = context.window_manager
        self._timer = manager.event_timer_add(self.every, window=context.window)
        self.show_status(context)
        manager.modal_handler_add(self)  # the last call that can fail
        return {"RUNNING_MODAL"}

    def show_status(self, context):
        show_status(context, self.status(context), "Esc: cancel")

    def modal(self, context, event):
        result = self.turn(context) if event.type == "TIMER" else None
        return result or self.hear(context, event)

    def hear(self, context, event):
        """Handles an event. Returns the result of modal()."""
        if event.type == "ESC" and event.value == "PRESS":
            self.end_waiting(context)
            return self.say_cancelled()
        passes = event.type != "TIMER" and moves_view(event)
        return {"PASS_THROUGH"} if passes else {"RUNNING_MODAL"}

    def say_cancelled(self):
        inform(self, f"{self.bl_label} was cancelled: nothing was changed")
        return {"CANCELLED"}

    def end_waiting(self, context):
        """Removes everything that belongs to the wait: work, timer, status text."""
        try:
            self.let_go(context)
        finally:
            if self._timer:
                context.window_manager.event_timer_remove(self._timer)
                self._timer = None
                show_status(context)

    def cancel(self, context):
        """Called when Blender ends the operator for another file, a closed window, or quitting."""
        self.end_waiting(context)

    def abandon(self, context):
        """See guard.py."""
        self.end_waiting(context)
