"""Tests skeletons that do not fit their meshes: the cause is named, and real characters and parts
of them fit."""

import araplbs
import numpy as np
import pytest
from araplbs.reports.doubts import FIT, doubt_about
from araplbs.reports.notes import result_notes
from araplbs.skeleton.misfit import misfit_of
from araplbs.skeleton.skeleton import Skeleton
from creature import BONES, NAMES, creature
from paths import DATA, shared_file, shared_names
from test_doubts import report

BODY = creature()[:2]
PARENTS = [NAMES.index(bone[3]) if bone[3] else -1 for bone in BONES]
HEADS, TAILS = (np.array([bone[k] for bone in BONES], float) for k in (1, 2))
QUARTER = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
OTHER = {
    "bones of meters, mesh of centimeters": (lambda p: 100 * p, "is 100 times smaller"),
    "bones of centimeters": (lambda p: p / 100, "is 100 times larger"),
    "bones of inches": (lambda p: p / 39.3701, "is 39.4 times larger"),
    "Y up": (lambda p: p @ QUARTER.T, "has another axis up: turn it by 90 degrees about X"),
    "Y up, in centimeters": (lambda p: 100 * p @ QUARTER.T, "100 times smaller than the mesh and"),
    "aside": (lambda p: p + np.array([0, 3, 0]), "is away from the mesh: move it by "),
}


def skeleton():
    return Skeleton.from_joints(HEADS, PARENTS, tails=TAILS, names=NAMES)


def test_a_skeleton_that_fits():
    assert misfit_of(BODY[0], skeleton()) is None


@pytest.mark.parametrize("change, words", OTHER.values(), ids=OTHER)
def test_the_cause(change, words):
    """The Misfit makes the skeleton fit, and its sentence names the cause."""
    points, bones = change(BODY[0]), skeleton()
    found = misfit_of(points, bones)
    again = Skeleton.from_joints(
        found.applied(HEADS), PARENTS, tails=found.applied(TAILS), names=NAMES
    )
    assert misfit_of(points, again) is None
    shift = None if found.shift is None else found.shift.tolist()
    told = {"scale": found.scale, "turn": found.turn and list(found.turn), "shift": shift}
    doubt = doubt_about(report(0.9, misfit=told))
    assert doubt.line.startswith("The skeleton ") and words in doubt.line, doubt.line
    (note,) = [n for n in result_notes(report(0.9, misfit=told)) if n.urgent]
    assert note.remedy == FIT and note.text == "The skeleton does not fit"


def test_a_normalized_mesh():
    """The longest side is 2, and the center is the origin, whatever the skeleton is."""
    low, high = BODY[0].min(0), BODY[0].max(0)
    points = (BODY[0] - (low + high) / 2) / (high - low).max() * 2
    bones = Skeleton.from_joints(10 * HEADS, PARENTS, tails=10 * TAILS, names=NAMES)
    found = misfit_of(points, bones)
    assert 0.02 < found.scale < 0.1 and found.shift is not None
    assert misfit_of(1.1 * points, bones) is None
    told = {"scale": found.scale, "turn": None, "shift": found.shift.tolist()}
    assert "probably normalized" in doubt_about(report(0.9, misfit=told)).line


def test_the_other_way():
    """A creature that lies down, with the center of its box near the origin. Its inner joints are
    in the box after half a turn, too, but its skin is elsewhere."""

    def lying(points):
        return points @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]).T - (0, 1, 0)

    points = lying(BODY[0])
    bones = Skeleton.from_joints(lying(HEADS), PARENTS, tails=lying(TAILS), names=NAMES)
    assert misfit_of(points, bones) is None
    assert misfit_of(points @ np.diag([-1.0, -1.0, 1.0]), bones).turn == ("Z", 180)
    told = report(0.1, misfit={"scale": 1.0, "turn": ["Z", 180], "shift": None})
    assert "faces the other way: turn it by 180 degrees about Z" in doubt_about(told).line


def test_what_cannot_be_told():
    """Parts of a character, and skeletons of two joints."""
    points = BODY[0]
    for axis in range(3):
        for low, high in ((0, 0.2), (0, 0.5), (0.4, 0.6), (0.5, 1), (0.8, 1)):
            place = (points[:, axis] - points[:, axis].min()) / np.ptp(points[:, axis])
            assert misfit_of(points[(place >= low) & (place <= high)], skeleton()) is None
    two = Skeleton.from_joints(HEADS[:3], PARENTS[:3], tails=TAILS[:3])
    assert misfit_of(100 * points, two) is None


@pytest.mark.parametrize("name", shared_names(DATA, "*.npz"))
def test_characters_of_artists(name):
    with np.load(shared_file(DATA, f"{name}.npz"), allow_pickle=True) as data:
        deform = data["bone_deform"].astype(bool) if "bone_deform" in data else None
        bones = Skeleton.from_joints(
            data["bone_head"], data["bone_parent"], tails=data["bone_tail"], deform=deform
        )
        points = data["V"].astype(float)
    assert misfit_of(points, bones) is None
    assert misfit_of(100 * points, bones).scale == 100


def test_arrays():
    """The warning is the last one, because it explains all others."""
    found = araplbs.weights(
        100 * BODY[0], BODY[1], HEADS, PARENTS, names=NAMES, pose_count=4, iterations=1
    )
    assert found.report["misfit"] == {"scale": 100.0, "turn": None, "shift": None}
    assert found.lines[-2].startswith("Warning: The skeleton is 100 times smaller than the mesh: ")
