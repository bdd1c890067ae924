"""Signals that ask a process to end, raised as an exception between two steps of its work."""

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
    """Converts the first termination signal into Stopped, so the work ends in order and leaves no
    temporary files. Signals that a caller ignores stay ignored."""

    number = None
    held = False  # whether a signal waits for release()

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
        """Delays signals until release(), so work that begins now can finish."""
        self.check()
        self.held = True

    def release(self) -> None:
        self.held = False
        self.check()

    def check(self) -> None:
        """Raises Stopped again if intermediate code has swallowed the first one."""
        if self.number is not None:
            raise Stopped(self.number)
