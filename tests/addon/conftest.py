import os
import sys
from pathlib import Path

import bpy
import pytest
from scenes import MODULE, new_scene

# Tests share helpers of each other's files.
sys.path += sorted(str(each) for each in Path(__file__).parent.iterdir() if each.is_dir())
OLDEST, NEWEST = (4, 2), (5, 2)
VERSION = bpy.app.version[:2]
ALL = os.environ.get("ARAPLBS_TEST_ALL")
# Places of a marked test, in addition to those where tests/run.sh asks for all: slow ones in the
# newest Blender; those about files, processes, pages and faults, in which versions of Blender
# hardly differ, in the oldest, the newest, and in that of each other system.
MARKS = {
    "slow": (VERSION >= NEWEST and os.name != "nt", "slow: in Blender 5.2 on Linux only"),
    "outside": (
        VERSION <= OLDEST or VERSION >= NEWEST or not sys.platform.startswith("linux"),
        "files, processes, pages, faults: in Blender 4.2 and 5.2, and in that of other systems",
    ),
}


def pytest_runtest_setup(item):
    for mark, (runs, reason) in MARKS.items():
        if not ALL and not runs and item.get_closest_marker(mark):
            pytest.skip(reason)


@pytest.fixture(autouse=True)
def empty_scene():
    """Every test starts with an empty scene in Object mode."""
    new_scene()


@pytest.fixture(autouse=True)
def no_session_is_left():
    yield
    session = sys.modules.get(f"{MODULE}.window.session")
    if session:
        session.end_session()
