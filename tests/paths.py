"""Defines the folders that tests read. `pythonpath` in pyproject.toml and
tests/window/run_in_gui.py put this folder and those of the modules that tests share on sys.path.

The root comes last on sys.path and is there for araplbs_addon. The root also contains the package
araplbs, which has an engine only after `make build`. The tests use the installed package instead.
In Blender, this is the package from the wheel, and otherwise the package that PYTHONPATH names."""

import os
import sys
from pathlib import Path
from unittest import SkipTest  # to pytest, and to the runner of tests/window, a skipped test

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
CSRC = ROOT / "csrc"
PACKAGE = ROOT / "araplbs"
ADDON = ROOT / "araplbs_addon"
FIXTURES = TESTS / "package/fixtures"  # numbers of the reference implementation
# Characters, and the judge of all weights: docs/development.md.
SHARED = Path(os.environ.get("ARAPLBS_DATA") or ROOT.parent / "shared")
DATA = SHARED / "data"
RIGS = SHARED / "rigs"


def shared_file(folder, name):
    """The path of a file in DATA, RIGS or another folder of SHARED. Skips the test without it."""
    path = folder / name
    if not path.exists():
        raise SkipTest(f"needs a file of $ARAPLBS_DATA/{folder.name} (docs/development.md)")
    return path


def shared_names(folder, pattern):
    """The names, without extension, of the files that a table of tests is made of. If there are no
    files, one name remains, whose test shared_file() skips. A table is never empty."""
    return sorted(path.stem for path in folder.glob(pattern)) or ["none"]


def put_root_last():
    sys.path[:] = [*(each for each in sys.path if Path(each or ".").resolve() != ROOT), str(ROOT)]


put_root_last()


def environment(**more):
    """The environment of a Python process that a test starts: it imports the same modules as this
    process."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | more


def python_files():
    """(path, name) of all Python files that users get, with names as in the package or in the
    add-on."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, path.relative_to(ROOT).as_posix()
    for path in sorted(ADDON.rglob("*.py")):
        yield path, path.relative_to(ADDON).as_posix()
