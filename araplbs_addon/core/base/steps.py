"""Work in short steps: a generator yields where the window may be given a turn."""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]  # that return a T


def finish(steps: Steps[T]) -> T:
    """Runs all steps at once; what the generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
