"""Provides a Blender with the extension and characters for the tests of the farm. These tests run
outside of Blender: python -m pytest tests/farm"""

import os
import sys

import pytest
from installed_blender import InstalledBlender, Missing, find_blender, find_zip
from paths import DATA, shared_file

# Small characters, more than there are workers, so some are left when a worker fails.
CHARACTERS = ("q_eagle", "q_cat_wire", "q_trex", "q_snake", "webxr_hand", "fox_soup")


def pytest_runtest_setup(item):
    if item.get_closest_marker("slow") and not os.environ.get("ARAPLBS_TEST_ALL"):
        pytest.skip("slow: tests/run.sh farm, or ARAPLBS_TEST_ALL=1")


@pytest.fixture(scope="session")
def blender(tmp_path_factory):
    try:
        found = find_blender(), find_zip()
    except Missing as reason:
        pytest.skip(str(reason))
    return InstalledBlender(tmp_path_factory.mktemp("blender"), *found)


@pytest.fixture(scope="session")
def characters():
    return [shared_file(DATA, f"{name}.blend") for name in CHARACTERS]


@pytest.fixture(scope="session")
def reference(blender, characters, tmp_path_factory):
    """The weights that one process computes."""
    out = tmp_path_factory.mktemp("reference")
    done = blender.run("weight", *characters, "-o", out, "--threads", 2)
    assert done.returncode == 0, done.stderr
    return blender.weights(sorted(out.glob("*.blend")))


@pytest.fixture
def plan(blender, characters, tmp_path):
    """Called with the folder for the outputs; returns the file of a plan for all characters."""

    def make(out, *more):
        words = ["-o", f"{out}/", "--report", tmp_path / "reports", "--threads", 1, "--plan"]
        done = blender.run("weight", *characters, *words, *more)
        assert done.returncode == 0, done.stderr
        path = tmp_path / "plan.jsonl"
        path.write_text(done.stdout)
        return path

    return make


def farm(*arguments):
    """The command line of the client, in this Python."""
    return [sys.executable, "-m", "araplbs.farm", *map(str, arguments)]
