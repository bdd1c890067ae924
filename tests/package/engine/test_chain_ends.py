"""Tests bones that begin at the end of a chain but are children of the root. The poses used to
judge weights do not separate the two."""

import numpy as np
import pytest
from araplbs.character.mesh import Mesh
from araplbs.character.pose_sets import checked_poses, pose_set
from araplbs.character.problem import Problem
from araplbs.model.options import Options
from araplbs.skeleton.chain_ends import hung_on_ends
from araplbs.skeleton.skeleton import Skeleton

SIDES = (("L", 1.0), ("R", -1.0))


def biped(foot=0.0, **changed):
    """A skeleton with feet that are children of the root, at a distance from the ends of the legs.
    changed: {name of a bone: its parent}."""
    bones = [("root", (0, 0, 0), (0, 1, 0), None), ("hips", (0, 0, 1), (0, 0, 1.4), "root")]
    for side, x in SIDES:
        bones += [
            (f"thigh.{side}", (x, 0, 1), (x, 0, 0.5), "hips"),
            (f"shin.{side}", (x, 0, 0.5), (x, 0, 0.1), f"thigh.{side}"),
            (f"foot.{side}", (x, foot, 0.1), (x, 0.3, 0.05), "root"),
            (f"toe.{side}", (x, 0.3, 0.05), (x, 0.4, 0.05), f"foot.{side}"),
        ]
    names, heads, tails, parents = zip(*bones, strict=True)
    parents = [changed.get(n, p) for n, p in zip(names, parents, strict=True)]
    place = {name: k for k, name in enumerate(names)}
    return Skeleton.from_joints(
        np.array(heads, float), [-1 if p is None else place[p] for p in parents],
        tails=np.array(tails, float), names=list(names),
    )  # fmt: skip


def hung(skeleton):
    """{bone: its other parent}"""
    parents = skeleton.solver_parents
    found = hung_on_ends(skeleton, parents)
    names = skeleton.names
    return {names[b]: names[found[b]] for b in np.flatnonzero(found != parents)}


def test_feet_hang_on_their_legs():
    assert hung(biped()) == {"foot.L": "shin.L", "foot.R": "shin.R"}


def test_feet_without_a_parent():
    assert hung(biped(**{"foot.L": None, "foot.R": None})) == {
        "foot.L": "shin.L",
        "foot.R": "shin.R",
    }


@pytest.mark.parametrize(
    "skeleton",
    [
        biped(foot=0.2),
        biped(**{"foot.L": "hips"}),
        biped(**{"foot.L": "thigh.L", "foot.R": "thigh.R"}),
        biped(**{"toe.L": "shin.L", "toe.R": "shin.R"}),
    ],
    ids=["far", "one side", "in the chain", "the leg goes on"],
)
def test_what_stays(skeleton):
    """Feet that begin elsewhere or on only one side, or that belong to the chain, and legs with
    more children."""
    assert hung(skeleton) == {}


def test_in_judged_poses_they_stay_together():
    skeleton = biped()
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    mesh = Mesh("M", corners, np.array([[0, 1, 2]]), np.zeros((0, 2), int), np.eye(4))
    problem = Problem([mesh], skeleton)
    options = Options(pose_count=8)
    foot, shin = (skeleton.names.index(name) for name in ("foot.L", "shin.L"))

    def apart(found):
        at = np.append(skeleton.heads[foot], 1)
        return np.linalg.norm((found.transforms[:, foot] - found.transforms[:, shin]) @ at, axis=1)

    assert apart(checked_poses(problem, options)).max() < 1e-9
    assert apart(pose_set(problem, options)).max() > 0.1
