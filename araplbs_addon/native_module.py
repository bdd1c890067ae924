"""Checks whether the package `araplbs`, which comes in the extension's wheel, can be used.

An update of the extension disables the add-on, replaces the package's files, and enables the new
add-on, in a Blender that may already have loaded the package. The Python modules of the package are
imported again (`put_away`), but a loaded engine stays in memory until Blender is restarted. The
module that versions up to 0.2.0 had instead of the package stays in memory as well. In both cases,
`problem` asks for a restart.
"""

import importlib
import importlib.util
import sys
import tomllib
from pathlib import Path

NAME = "araplbs"
ENGINE = "araplbs._engine"
TITLE = "Auto-weight (ARAP)"


def version():
    """The version of the extension, None if its manifest is missing."""
    manifest = Path(__file__).with_name("blender_manifest.toml")
    if not manifest.exists():
        return None
    return tomllib.loads(manifest.read_text(encoding="utf-8"))["version"]


def problem():
    """The reason why the package cannot be used, in one sentence, or None. Nothing is loaded, so a
    fault inside the engine's file is found only at first use."""
    before, now = sys.modules.get(NAME), version()
    used = sys.modules.get(ENGINE)
    if before and _is_empty_folder(before.__spec__):
        _taken_out()
    elif before and not _is_package(before.__spec__):
        used = before
    if used and (used is before or now not in (None, used.__version__)):
        return (
            f"{TITLE} was updated to {now} while {used.__version__} was in use: "
            "restart Blender to continue"
        )
    if not _is_installed():
        return (
            f"The native module of {TITLE} is missing: restart Blender and reinstall the "
            "extension from a zip made for this system"
        )
    return None


def _is_package(spec):
    return bool(spec and spec.origin and Path(spec.origin).name.startswith("__init__."))


def _is_empty_folder(spec):
    """Whether only an empty folder of the package exists. A thread can find such a folder if it
    imports the package while Blender replaces the files."""
    return bool(spec and not spec.origin and spec.submodule_search_locations is not None)


def _is_installed():
    try:
        return _is_package(importlib.util.find_spec(NAME)) and importlib.util.find_spec(ENGINE)
    except ImportError:
        return False


_put_away = None  # until this add-on, just installed or updated, has imported something


def put_away():
    """Called when the add-on is disabled, so the next import of `araplbs` reads the files installed
    at that time. The engine stays, because a loaded library cannot be replaced."""
    global _put_away
    _put_away = _taken_out()


def bring_back():
    """Called when the add-on is enabled. Restores the modules of `araplbs` that the add-on had
    imported before it was disabled. Initially, there are no such modules, so the currently
    installed files are imported."""
    global _put_away
    if _put_away != {}:
        _taken_out()
        sys.modules.update(_put_away or {})
    _put_away = {}


def _taken_out():
    names = [each for each in sys.modules if each.partition(".")[0] == NAME and each != ENGINE]
    importlib.invalidate_caches()
    return {name: sys.modules.pop(name) for name in names}


def mismatch(error):
    """The message for an ImportError that occurs because Python finds another package of the same
    name first, which lacks a name. None for other errors."""
    if (error.name or "").partition(".")[0] != NAME:
        return None
    return (
        f"{TITLE} found a package 'araplbs' that is not its own ({error}): remove that package, "
        "restart Blender and reinstall the extension"
    )
