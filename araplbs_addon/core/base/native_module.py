"""The native module `araplbs`, loaded when it is first used.

An update of the extension replaces the file of the module. Windows refuses that while the file is
loaded, and elsewhere the memory of the running program would change under it: so the add-on is
enabled without loading the module, and other files take it from here:

    from .native_module import araplbs
"""

import importlib
import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .refusal import Refused

NAME = "araplbs"
TITLE = "Auto-weight (ARAP)"


class _NativeModule:
    """Stands in for the module and has its attributes."""

    def __getattr__(self, name: str) -> Any:
        return getattr(load(), name)


if TYPE_CHECKING:
    import araplbs as araplbs
else:
    araplbs = _NativeModule()


def load() -> ModuleType:
    """The module. Raises Refused when it cannot be loaded."""
    try:
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
