"""Code shared by all core tests: see also shapes.py, reference.py, joint_rigs.py, spine_rigs.py,
shared_data.py, and flawed_creature.py."""

import importlib
import os
import sys
from pathlib import Path

import paths  # decides which araplbs is tested

# NumPy's own threads wait for each other by spinning: with two, exponentials of small matrices
# take a hundred times as long.  Read when NumPy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pytest
from flawed_creature import Subject
from gltf_files import Weigher

# Tests share helpers of each other's files.
sys.path += sorted(str(each) for each in Path(__file__).parent.iterdir() if each.is_dir())


def pytest_runtest_setup(item):
    paths.put_root_last()  # programs that tests start get sys.path
    everything = os.name != "nt" or os.environ.get("ARAPLBS_TEST_ALL")
    if not everything and item.get_closest_marker("slow"):
        pytest.skip("slow: on Linux only")


@pytest.fixture
def rng():
    return np.random.default_rng(20180813)


@pytest.fixture(scope="session")
def core():
    """Modules of the package araplbs: core("character.problem")."""
    return lambda module: importlib.import_module(f"araplbs.{module}")


@pytest.fixture
def main(core, tmp_path, monkeypatch):
    """The command araplbs, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return core("cli.main").main


@pytest.fixture
def weigh(core, tmp_path):
    return Weigher(core, tmp_path)


@pytest.fixture(scope="session")
def sound_weights(core):
    """The Subject of the creature in flawed_creature.py."""
    subject = Subject(core)
    subject.solve()
    return subject.weights


@pytest.fixture
def subject(core, sound_weights):
    """The creature, to which a test adds faults."""
    subject = Subject(core)
    subject.weights = sound_weights.copy()
    return subject
