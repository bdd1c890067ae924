"""The native module `araplbs`, loaded when it is first used.

An update of the extension replaces the file of the module. Windows refuses that while the file is
loaded, and elsewhere the memory of the running program would change under it: so the add-on is
enabled without loading the module, and other files take it from here:

    from .native_module import araplbs
"""

import importlib
import importlib.util
import os
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .refusal import Refused

NAME = "araplbs"
TITLE = "Auto-weight (ARAP)"
THREADS = "OPENBLAS_NUM_THREADS"

_loading = threading.Lock()


class _NativeModule:
    """Stands in for the module and has its attributes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load(), name)


if TYPE_CHECKING:
    import araplbs as araplbs
else:
    araplbs = _NativeModule()


@contextmanager
def _one_thread() -> Iterator[None]:
    """OpenBLAS starts a thread for each further processor when it is loaded, and each turns for
    30 ms before it sleeps. The module's own is set to one thread once it is there: not to start
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
    """The module. Raises Refused when it cannot be loaded."""
    try:
        with nullcontext() if NAME in sys.modules else _one_thread():
            import araplbs as module
    except ImportError as error:
        raise Refused(
            f"The native module of {TITLE} cannot be loaded: restart Blender and install the "
            f"extension again, from a zip made for this system ({error})"
        ) from error
    return module


def engine_errors(*names: str) -> tuple[type[Exception], ...]:
    """These exceptions of the module, for `except` and isinstance(): none while it is not loaded,
    since nothing can have raised them, and without those that an older module lacks."""
    module = sys.modules.get(NAME)
    return tuple(getattr(module, name) for name in names if hasattr(module, name))


def replay() -> ModuleType:
    """The module araplbs.replay, which keeps problems in files."""
    load()
    return importlib.import_module(f"{NAME}.replay")


def arrays() -> ModuleType:
    """The module araplbs.arrays, which reads arrays of files that others have made."""
    load()
    return importlib.import_module(f"{NAME}.arrays")


def linear_algebra() -> str:
    """What multiplies and factorizes: "OpenBLAS" or "plain loops". Loads the module."""
    return getattr(load(), "linear_algebra", "OpenBLAS")


def version() -> str | None:
    """The version of the extension, None where its manifest is missing."""
    manifest = Path(__file__).parents[2] / "blender_manifest.toml"
    if not manifest.exists():
        return None
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]


def problem() -> str | None:
    """Why the module cannot be used, in one sentence, or None. Loads nothing: load() finds what is
    wrong inside the file."""
    module = sys.modules.get(NAME)
    if not module:
        if importlib.util.find_spec(NAME):
            return None
        return (
            f"The native module of {TITLE} is missing: restart Blender and install the extension "
            "again, from a zip made for this system"
        )
    if version() not in (None, module.__version__):
        return (
            f"{TITLE} was updated to {version()} while {module.__version__} was in use: "
            "restart Blender to continue"
        )
    return None
