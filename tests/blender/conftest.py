import os
import sys

import bpy
import pytest
from scenes import MODULE, new_scene

# Slow tests run in the newest Blender, and where tests/run.sh asks for all.
LEFT_OUT = bpy.app.version[:2] < (5, 2) or os.name == "nt"
ALL = os.environ.get("ARAPLBS_TEST_ALL") or not LEFT_OUT


def pytest_runtest_setup(item):
    if not ALL and item.get_closest_marker("slow"):
        pytest.skip("slow: in Blender 5.2 on Linux only")


@pytest.fixture(autouse=True)
def empty_scene():
    """Every test starts with an empty scene in Object mode."""
    new_scene()


@pytest.fixture(autouse=True)
def no_session_is_left():
    yield
    session = sys.modules.get(f"{MODULE}.live.session")
    if session:
        session.end_session()
