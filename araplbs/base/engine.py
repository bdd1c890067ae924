"""The C extension araplbs._engine, loaded on first use.

An update of the Blender extension replaces the engine's file. Windows refuses to replace a loaded
file. On other systems, the replacement would change the memory of the running program. Each file
therefore imports the object `engine`, which loads nothing, and accesses its names only in
functions.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .refusal import Refused

NAME = "araplbs._engine"
TITLE = "Auto-weight (ARAP)"
THREADS = "OPENBLAS_NUM_THREADS"

_loading = threading.Lock()


class NotLoaded(Refused, ImportError):
    """The engine is missing, or built for another system."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sets the environment so that the engine's OpenBLAS starts no further threads when it is
    loaded. By default, OpenBLAS starts one thread for each additional processor, and each thread
    spins for 30 ms before it sleeps. Limiting OpenBLAS to one thread after loading would be too
    late. NumPy's OpenBLAS is loaded earlier and keeps its threads."""
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
    """Loads and returns the engine. Raises NotLoaded if it cannot be loaded."""
    try:
        with nullcontext() if NAME in sys.modules else _one_thread():
            from .. import _engine
    except ImportError as error:
        raise NotLoaded(
            f"The native module of {TITLE} cannot be loaded: restart Blender and reinstall the "
            f"extension from a zip made for this system ({error})"
        ) from error
    return _engine


if TYPE_CHECKING:
    from .. import _engine as engine
else:

    class _OnFirstUse:
        """The engine, loaded when one of its names is first used."""

        def __getattr__(self, name: str) -> Any:
            return getattr(load(), name)

    engine = _OnFirstUse()


def engine_errors(*names: str) -> tuple[type[Exception], ...]:
    """The engine's exceptions with these names, for `except` and isinstance(). The result is empty
    before the engine is loaded, because no code can have raised them yet. It omits exceptions that
    an older engine lacks."""
    loaded = sys.modules.get(NAME)
    return tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))
