import os

import bpy
import pytest
from scenes import new_scene

# Where slow tests run: Blender 4.5, not the one for Windows.
ALL = os.environ.get("ARAPLBS_TEST_ALL") or (bpy.app.version[:2] == (4, 5) and os.name != "nt")


def pytest_runtest_setup(item):
    if not ALL and item.get_closest_marker("slow"):
        pytest.skip("slow: in Blender 4.5 on Linux only")


@pytest.fixture(autouse=True)
def empty_scene():
    """Every test starts with an empty scene in Object mode."""
    new_scene()
