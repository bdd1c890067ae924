"""Work in short steps. A generator yields whenever the window may be redrawn."""

import threading
from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]  # that return a T


_at_once = threading.local()


def finish(steps: Steps[T]) -> T:
    """Runs all steps without a pause. Returns the generator's value."""
    before, _at_once.runs = is_at_once(), True
    try:
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value
    finally:
        _at_once.runs = before


def is_at_once() -> bool:
    """Whether the caller runs under finish(). In that case, nobody waits between steps, so they may
    be long."""
    return getattr(_at_once, "runs", False)
