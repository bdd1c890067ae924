"""The poses that a file contains for an armature, in words."""

import pytest
from araplbs.reports.pose_sources import PoseSources


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 0), "nothing"),
        ((1, 1, 1), "1 pose asset, 1 action, 1 marked frame"),
        ((0, 3, 2), "3 actions, 2 marked frames"),
    ],
)
def test_words(counts, expected):
    assert str(PoseSources(*counts, plays=False)) == expected


def test_what_is_missing():
    choices = ("ACTIVE", "ALL", "POSE_LIBRARY", "MARKERS")
    empty, full = PoseSources(0, 0, 0, False), PoseSources(1, 1, 1, True)
    assert all(map(empty.lacks, choices)) and not any(map(full.lacks, choices))
    assert len({empty.lacks(each) for each in choices}) == len(choices)
    assert empty.lacks("NONE") is None
