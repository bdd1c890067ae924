"""Work in short steps. A generator yields whenever the window may be redrawn."""

import threading
from collections.abc import Generator
from typing import TypeAlias, TypeVar

from .progress import Listener, Progress

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]  # that return a T


_at_once = threading.local()


def finish(steps: Steps[T], listener: Listener | None = None) -> T:
    """Runs all steps without a pause. Returns the generator's value. listener: is called between
    the steps and by long ones, with a fraction of 0. Raises araplbs.Cancelled when it stops the
    steps."""
    before = is_at_once(), heard()
    _at_once.runs = True
    _at_once.progress = Progress(listener).part(0, 0) if listener else heard()
    try:
        while True:
            heard().check("reading", 0)
            try:
                next(steps)
            except StopIteration as end:
                return end.value
    finally:
        steps.close()
        _at_once.runs, _at_once.progress = before


def is_at_once() -> bool:
    """Whether the caller runs under finish(). In that case, nobody waits between steps, so they may
    be long."""
    return getattr(_at_once, "runs", False)


def heard() -> Progress:
    """The progress of the steps that finish() runs."""
    return getattr(_at_once, "progress", None) or Progress()
