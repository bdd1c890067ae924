"""Signals that ask a process to end, as an exception between two steps of its work."""

from __future__ import annotations

import signal
import threading
from types import FrameType

SIGNALS = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")]


class Stopped(BaseException):
    """A signal asks the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


class Stop:
    """Turns the first signal that asks for the end into Stopped, so that the work ends in order
    and leaves nothing temporary; signals that a caller ignores stay ignored."""

    number = None
    held = False  # a signal waits for release()

    def __enter__(self) -> Stop:
        self.former = {}
        if threading.current_thread() is threading.main_thread():
            for number in filter(None, SIGNALS):
                former = signal.getsignal(number)
                if former is not signal.SIG_IGN:
                    self.former[number] = former
                    signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for number, former in self.former.items():
            signal.signal(number, signal.SIG_DFL if former is None else former)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        if self.number is None:
            self.number = number
            if not self.held:
                raise Stopped(number)

    def hold(self) -> None:
        """Delays signals until release(), so that work that begins now is finished."""
        self.check()
        self.held = True

    def release(self) -> None:
        self.held = False
        self.check()

    def check(self) -> None:
        """Raises Stopped again if code in between has swallowed it."""
        if self.number is not None:
            raise Stopped(self.number)
