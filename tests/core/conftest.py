"""What all core tests share: see also shapes.py, reference.py, joint_rigs.py, spine_rigs.py
and shared_data.py."""

import importlib
import os
import sys
import types

# NumPy's own threads wait for each other by spinning: with two, exponentials of small matrices
# take a hundred times as long.  Read when NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pytest
from paths import ROOT


def pytest_runtest_setup(item):
    everything = os.name != "nt" or os.environ.get("ARAPLBS_TEST_ALL")
    if not everything and item.get_closest_marker("slow"):
        pytest.skip("slow: on Linux only")


@pytest.fixture
def rng():
    return np.random.default_rng(20180813)


@pytest.fixture(scope="module")
def core():
    """The add-on's package `core`, which needs no Blender, without the package above it."""
    name = "araplbs_addon_without_blender"
    package = types.ModuleType(name)
    package.__path__ = [str(ROOT / "araplbs_addon")]
    sys.modules[name] = package
    yield lambda module: importlib.import_module(f"{name}.core.{module}")
    for each in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
        del sys.modules[each]
