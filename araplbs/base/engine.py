"""The C extension araplbs._engine, loaded when it is first used.

An update of Blender's extension replaces the file of the engine. Windows refuses this while the
file is loaded, and on other systems the memory of the running program would change. So each file
writes `import araplbs`, which loads nothing, and uses its names in functions only.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType

from .refusal import Refused

NAME = "araplbs._engine"
TITLE = "Auto-weight (ARAP)"
THREADS = "OPENBLAS_NUM_THREADS"

_loading = threading.Lock()


class NotLoaded(Refused, ImportError):
    """The engine is missing, or made for another system."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """OpenBLAS starts a thread for each further processor when it is loaded, and each turns for
    30 ms before it sleeps. The engine's own is set to one thread once it is there: not to start
    any, it has to read so in the environment. NumPy's is loaded before and keeps its threads."""
    import numpy as np  # noqa: F401

    with _loading:
        before = os.environ.get(THREADS)
        os.environ[THREADS] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[THREADS]
            else:
                os.environ[THREADS] = before


def load() -> ModuleType:
    """The engine. Raises NotLoaded when it cannot be loaded."""
    try:
        with nullcontext() if NAME in sys.modules else _one_thread():
            from .. import _engine
    except ImportError as error:
        raise NotLoaded(
            f"The native module of {TITLE} cannot be loaded: restart Blender and install the "
            f"extension again, from a zip made for this system ({error})"
        ) from error
    return _engine


def engine_errors(*names: str) -> tuple[type[Exception], ...]:
    """These exceptions of the engine, for `except` and isinstance(): none while it is not loaded,
    since nothing can have raised them, and without those that an older one lacks."""
    engine = sys.modules.get(NAME)
    return tuple(getattr(engine, name) for name in names if hasattr(engine, name))
