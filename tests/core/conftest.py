"""What all core tests share: see also shapes.py, reference.py, joint_rigs.py, spine_rigs.py
and shared_data.py."""

import importlib
import os

# NumPy's own threads wait for each other by spinning: with two, exponentials of small matrices
# take a hundred times as long.  Read when NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pytest


def pytest_runtest_setup(item):
    everything = os.name != "nt" or os.environ.get("ARAPLBS_TEST_ALL")
    if not everything and item.get_closest_marker("slow"):
        pytest.skip("slow: on Linux only")


@pytest.fixture
def rng():
    return np.random.default_rng(20180813)


@pytest.fixture(scope="session")
def core():
    """Modules of the add-on's package `core`, which needs no Blender: core("problem")."""
    return lambda module: importlib.import_module(f"araplbs_addon.core.{module}")
