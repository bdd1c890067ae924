"""How an error is shown to the user: in one sentence, whatever it is.

A refusal says by itself what is wrong, as do errors of files and memory. Everything else is a bug:
the sentence names it and asks for a report, and the traceback goes to the console.
"""

import traceback
from collections import deque

from .native_module import engine_errors
from .refusal import Refused

MOST_LETTERS = 200  # of the text of a fault
NO_MEMORY = "Not enough memory"
FRAMES = 8  # of a traceback that are kept

_last: deque[str] = deque(maxlen=3)


def refusals() -> tuple[type[BaseException], ...]:
    """The exceptions whose message says what is wrong."""
    return (Refused, OSError, MemoryError, *engine_errors("InputError", "SolverError"))


def sentence(what: str, error: BaseException) -> str:
    """The sentence for an error that has ended `what`. Prints the traceback of a bug."""
    if isinstance(error, refusals()):
        text = str(error) or NO_MEMORY
        _last.append(f"{what}: {text}")
        return text
    traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    places = [f"\n  {frame.filename}, line {frame.lineno}, in {frame.name}" for frame in frames]
    text = fault_sentence(what, error)
    _last.append(text + "".join(places))
    return text


def last_errors() -> list[str]:
    """The last errors shown since Blender was started, and for bugs, where they occurred."""
    return list(_last)


def fault_sentence(what: str, error: BaseException) -> str:
    text = " ".join(str(error).split())[:MOST_LETTERS]
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return (
        f"{what} failed because of a bug in the program ({named}). "
        "Please report this, with the text in the console"
    )
