"""The tests use the module that was built, and it states its version."""

import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import araplbs
import pytest
from paths import ROOT


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="built on Linux, by tools/cross.py"
)
def test_module_comes_from_this_tree():
    from araplbs import _engine

    assert Path(araplbs.__file__).is_relative_to(ROOT)
    assert Path(_engine.__file__).parent == Path(araplbs.__file__).parent
    assert hasattr(_engine, "_fail_allocations_after") == ("ASAN_OPTIONS" in os.environ)


def loaded_by(imports):
    """The modules of the package and of NumPy in a process that runs this code."""
    code = (
        f"import sys; sys.path[:0] = {[*filter(None, sys.path)]!r}; {imports}; "
        "print(*(n for n in sys.modules if n.startswith(('araplbs', 'numpy'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_importing_the_package_loads_nothing():
    """Importing the package loads neither the engine, whose file an update of Blender's extension
    replaces, nor NumPy, nor a folder of the package, all of which may take 0.15 s."""
    assert loaded_by("import araplbs; dir(araplbs)") == ["araplbs"]


def test_no_module_that_the_add_on_imports_loads_the_engine():
    rooms = ROOT / "araplbs"
    names = [
        "araplbs." + ".".join(path.relative_to(rooms).with_suffix("").parts)
        for room in ("body", "character", "features", "measures", "reports", "skeleton", "solvers")
        for path in (rooms / room).rglob("*.py")
        if path.name not in {"__init__.py", "fill_tets.py"}  # the latter is a program
    ]
    assert "araplbs._engine" not in loaded_by(f"import {', '.join(names)}")


def test_the_package_has_all_names_of_its_engine():
    from araplbs import _engine

    public = {name for name in vars(_engine) if not name.startswith("_")}
    assert public | {"__version__"} == set(araplbs.__all__) - set(araplbs._PLACES)
    assert set(araplbs.__all__) <= set(dir(araplbs))
    for name in set(araplbs.__all__) - set(araplbs._PLACES):
        assert getattr(araplbs, name) is getattr(_engine, name)
        assert getattr(getattr(araplbs, name), "__module__", "araplbs") == "araplbs", name
    with pytest.raises(AttributeError, match="module 'araplbs' has no attribute 'Solvers'"):
        araplbs.Solvers  # noqa: B018
    assert pickle.loads(pickle.dumps([araplbs.Solver, araplbs.energy, araplbs.InputError])) == [
        araplbs.Solver, araplbs.energy, araplbs.InputError
    ]  # fmt: skip


def test_version_is_the_manifests():
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    assert araplbs.__version__ == manifest["version"]


def test_names_of_the_package():
    """Each name is in the module that the table states."""
    for name, place in araplbs._PLACES.items():
        assert getattr(araplbs, name).__module__ == "araplbs" + place, name
