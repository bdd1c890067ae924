"""Messages that compare new weights with the earlier ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import shapes
from araplbs.character.mesh import Mesh
from araplbs.character.pose_sets import pose_set
from araplbs.character.problem import Problem
from araplbs.features.check import before_after
from araplbs.model.options import Options
from araplbs.model.sparse_weights import sparse_of
from araplbs.skeleton.skeleton import Skeleton


@pytest.mark.parametrize(
    ("counts", "strains", "expected"),
    [
        ((17, 2), (0.7, 2.1), True),
        ((9, 10), (0.4, 0.2), True),
        ((11, 14), (0.69, 0.48), True),
        ((17, 2), (0.7, 0.8), False),
        ((17, 2), (0.7, 0.2), False),
        ((2, 17), (0.2, 0.7), False),
        ((3, 3), (0.2, 0.7), False),
        ((17, 2), (None, None), False),
    ],
)
def test_numbers_of_places_that_stretch_contradicts(core, counts, strains, expected):
    """Fewer findings are no improvement if the surface stretches clearly more."""
    contradict = core("features.check.before_after")._contradict
    assert contradict(list(counts), list(strains)) is expected


def test_what_facts_and_findings_say_about_bones(core):
    """A bone that is lost, or that moves its skin as before, is not called unresponsive as well."""
    finding = core("features.check.findings").Finding
    problem = SimpleNamespace(
        names=["Body", "Belt"], skeleton=SimpleNamespace(names=["root", "arm", "hand", "eye"])
    )
    findings = [
        *(finding("DEAF_BONE", 0.9, 0, bone) for bone in (1, 2, 3)),
        finding("LOOSE_PART", 0.9, 1, vertices=np.array([7, 8])),
        finding("LOOSE_PART", 0.1, 0, vertices=np.array([1])),
        finding("STRETCH", 0.9, 0, 0),
        *(finding("OVERREACH", 0.4, 0, bone, others=(3,)) for bone in (1, 2)),
    ]
    seen_in = core("features.check.before_after").seen_in
    facts = {
        "lost": [2],
        "fit_better": [2],
        "had_skin": [0],
        "as_before": [3],
        "reaching": [(1, 3)],
        "twist_gain": 0.3,
    }
    assert seen_in(facts, findings, problem) == {
        "unresponsive": ["arm"],
        "leaving": [("Belt", 7)],
        "lost": ["hand"],
        "fit_better": ["hand"],
        "had_skin": ["root"],
        "reaching": [("arm", "eye")],
        "over": [("hand", "eye")],
        "twist_gain": 0.3,
    }
    assert seen_in({}, findings[:1], problem) == {
        "unresponsive": ["arm"],
        "leaving": [],
        "lost": [],
        "fit_better": [],
        "had_skin": [],
        "reaching": [],
        "over": [],
        "twist_gain": None,
    }


def test_other_bones_fit_better_only_if_the_skin_stretches_less():
    """A bone that loses its skin to a neighbor without need, and one that had torn it."""
    vertices, triangles = shapes.tube(12, 17, 0.2, 2.0)
    bones = shapes.chain(4)
    skeleton = Skeleton.from_joints(bones.heads, bones.parents, tails=bones.tails)
    problem = Problem(
        [Mesh("Limb", vertices, triangles, np.zeros((0, 2), int), np.eye(4))], skeleton
    )
    options = Options(pose_count=6, animation="NONE")
    poses = pose_set(problem, options)
    share = np.clip(vertices[:, 2] / 0.5 - 0.5, 0, 3)
    smooth = np.maximum(0, 1 - abs(share[:, None] - np.arange(4)))
    torn, taken = smooth.copy(), smooth.copy()
    skin = np.flatnonzero(smooth[:, 3] > 0.5)
    torn[skin[::2]] = np.eye(4)[0]
    torn[skin[1::2]] = np.eye(4)[3]
    taken[skin] = np.eye(4)[0]
    fit_better = before_after._fit_better
    rows = [sparse_of(each) for each in (smooth, torn, taken)]
    assert fit_better(problem, rows[0], rows[2], [3], poses, 1) == []
    assert fit_better(problem, rows[1], rows[0], [3], poses, 1) == [3]
    assert fit_better(problem, rows[1], rows[0], [], poses, 1) == []


@pytest.mark.parametrize(("start", "before"), [("FRESH", None), ("PRESENT", 0.5)])
def test_facts_of_every_report(core, start, before):
    report = {
        "options": {"start_from": start},
        "deformation": {"before": {"surface_strain": 0.5}, "after": {"surface_strain": 0.25}},
    }
    assert core("reports.last_lines").plain_facts(report) == {"stretch": (before, 0.25)}
