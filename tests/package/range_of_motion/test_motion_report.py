"""The report of Range of Motion, and the markers of its action."""

from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture
def motion(core):
    module = core("features.range_of_motion")
    poses = [(None, {}), ("arm X", {}), (None, {}), ("Walk", {})]
    return module.Motion(poses, {}, 1, 0, True, np.array([True, True, False]), [])


def test_markers(motion):
    assert motion.markers(np.array([1, 11, 21, 31])) == [("arm X", 11), ("Walk", 31)]


def test_report(core, motion):
    module = core("features.range_of_motion")
    bones = SimpleNamespace(
        names=["root", "arm", "hand"], parents=np.array([-1, 0, 1]), deform=np.ones(3, bool)
    )
    report = module.motion_report(
        "Rig", "Test", motion, np.array([1, 11, 21, 31]), bones, 0.5, module.MotionOptions(), ["x"]
    )
    assert report["frames"] == [1, 31] and report["markers"] == [["arm X", 11], ["Walk", 31]]
    assert report["unmoved"] == ["hand"] and report["warnings"] == ["x"]
    assert "frames 1 to 31: 1 joints alone, walk and reach" in module.motion_summary(report)
