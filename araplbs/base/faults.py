"""Shows any error to the user as one sentence.

The messages of refusals and of file and memory errors are shown unchanged. Any other error is a
bug. In this case, the sentence names the error and asks for a report, and the traceback is printed
to the console.
"""

import sys
import traceback
from collections import deque
from collections.abc import Callable, Collection
from typing import NamedTuple

from .engine import engine_errors
from .printed import printable
from .refusal import Refused

MOST_LETTERS = 200  # characters of a fault's text
NO_MEMORY = "Not enough memory"
FRAMES = 8  # of a traceback that are kept


class Fault(NamedTuple):
    """names: the names in the file at that time, None if they were unknown."""

    text: str
    places: str
    names: Collection[str] | None


_last: deque[Fault] = deque(maxlen=3)
_known_names: list[Callable[[], Collection[str]]] = []


def refusals() -> tuple[type[BaseException], ...]:
    """The exceptions whose message describes the problem."""
    return (Refused, OSError, MemoryError, *engine_errors("InputError", "SolverError"))


def sentence(what: str, error: BaseException) -> str:
    """The sentence for an error that has ended `what`. Prints the traceback of a bug."""
    if isinstance(error, refusals()):
        text = str(error) or NO_MEMORY
        _last.append(Fault(f"{what}: {text}", "", names_of_file()))
        return text
    print_traceback(error)
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"\n  {frame.filename}, line {frame.lineno}, in {frame.name}" for frame in frames]
    whole = fault_sentence(what, error, most=None)
    _last.append(Fault(whole, "".join(places), names_of_file()))
    return fault_sentence(what, error)


def print_traceback(error: BaseException) -> None:
    """Prints the traceback to the console as printable lines, because it may quote names from a
    file."""
    for line in "".join(traceback.format_exception(error)).splitlines():
        print(printable(line), file=sys.stderr, flush=True)


def last_errors() -> list[Fault]:
    """The last errors shown since Blender started and, for bugs, their locations in the code."""
    return list(_last)


def know_names(names: Callable[[], Collection[str]] | None) -> None:
    """Sets the function that returns all names in the open file; None unsets it."""
    _known_names[:] = [names] if names else []


def names_of_file() -> Collection[str] | None:
    """All names in the open file; None if they are unknown."""
    try:
        return _known_names[0]() if _known_names else ()
    except Exception:  # must not cause a second error while one is being reported
        return None


def fault_sentence(what: str, error: BaseException, most: int | None = MOST_LETTERS) -> str:
    text = " ".join(str(error).split())[:most]
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return (
        f"{what} failed because of a bug in the program ({named}). Please report this, including "
        "the text in the console"
    )
