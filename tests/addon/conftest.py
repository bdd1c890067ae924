import os
import sys
from pathlib import Path

import bpy
import pytest
from scenes import MODULE, new_scene

# Tests share helpers of each other's files.
sys.path += sorted(str(each) for each in Path(__file__).parent.iterdir() if each.is_dir())
VERSION = bpy.app.version[:2]
OLDEST = VERSION <= (4, 2)
NEWEST = VERSION >= (5, 2)
LINUX = sys.platform.startswith("linux")
ALL = os.environ.get("ARAPLBS_TEST_ALL")
# Places of a marked test, in addition to those where tests/run.sh asks for all.
MARKS = {
    "named": (False, "asks on a larger mesh what others ask: if the run is named"),
    "slow": (NEWEST and os.name != "nt", "slow: in Blender 5.2 on Linux only"),
    # Versions of Blender hardly differ in these.
    "outside": (
        NEWEST or not LINUX,
        "files, processes, pages, faults: in Blender 5.2, and in that of other systems",
    ),
    "installs": (
        OLDEST or NEWEST or not LINUX,
        "installation and update: in Blender 4.2 and 5.2, and in that of other systems",
    ),
}
# What 4.2 and 4.5 have in common is in 4.3, too, and what 4.5 and 5.2 have in common is in 5.0: of
# Blenders between those that are tested as a whole, these show that nothing was there for one
# version alone. They use every operator, and a session.
BETWEEN = LINUX and not OLDEST and VERSION != (4, 5) and not NEWEST
EVERYWHERE = ("every_feature/*", "auto_weight/test_operator.py", "auto_weight/test_session.py")


def reason_to_skip(item):
    if ALL:
        return None
    if BETWEEN and not any(item.path.match(each) for each in EVERYWHERE):
        return "Blender 4.3 and 5.0: what uses every operator once, and a session"
    found = (reason for mark, (runs, reason) in MARKS.items() if not runs and has(item, mark))
    return next(found, None)


def has(item, mark):
    return item.get_closest_marker(mark)


def pytest_runtest_setup(item):
    if reason := reason_to_skip(item):
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def empty_scene():
    """Every test starts with an empty scene in Object mode."""
    new_scene()


@pytest.fixture(autouse=True)
def no_session_is_left():
    yield
    session = sys.modules.get(f"{MODULE}.operators.session")
    if session:
        session.end_session()
