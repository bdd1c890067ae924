"""The parts of the comparison with peers that need no Blender: RigNet's files, roughness, and
lists made from numbers."""

import sys
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
better, rignet = map(import_module, ("better", "rignet"))

RIG = """\
joints hips 0 0 1
joints knee 0 0 0.5
joints foot 0 0.1 0
joints arm 1 0 1
root hips
hier hips knee
hier knee foot
hier hips arm
skin 0 hips 0.75 arm 0.25
skin 2 foot 1.0
"""
OBJ = """\
# a quad
v 0 0 1
v 1 0 1
v 1 0 0
v 0 0 0
vn 0 1 0
f 1//1 2//1 3//1 4//1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "thing_rig.txt").write_text(RIG)
    (tmp_path / "thing.obj").write_text(OBJ)
    return tmp_path


def test_a_file_of_rignet(folder):
    model = rignet.model(folder, "thing")
    assert rignet.names(folder) == ["thing"]
    assert model["bone_names"].tolist() == ["hips", "knee", "foot", "arm"]
    assert model["bone_parent"].tolist() == [-1, 0, 1, 0]
    assert model["F"].tolist() == [[0, 1, 2], [0, 2, 3]]
    expected = [[0.75, 0, 0, 0.25], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert model["reference"].tolist() == expected
    tails = [[0.5, 0, 0.75], [0, 0.1, 0], [0, 0.15, -0.25], [1.5, 0, 1]]
    assert model["bone_tail"] == pytest.approx(np.array(tails))


def test_no_bone_without_a_length(folder):
    (folder / "thing_rig.txt").write_text(RIG.replace("knee 0 0 0.5", "knee -1 0 1"))
    model = rignet.model(folder, "thing")
    lengths = np.linalg.norm(model["bone_tail"] - model["bone_head"], axis=1)
    assert lengths.min() > 0


def test_a_file_for_bones_that_are_known(folder):
    bones = ["arm", "tail", "foot", "knee", "hips"]
    weights = rignet.weights_for(folder, "thing", bones, 3)
    assert weights.tolist() == [[0.25, 0, 0, 0, 0.75], [0] * 5, [0, 0, 1, 0, 0]]
    with pytest.raises(rignet.BadFile, match="thing has no bone 'foot'"):
        rignet.weights_for(folder, "thing", ["arm", "knee", "hips"], 3)
    with pytest.raises(rignet.BadFile, match="skin of vertex 2, but there are 2 vertices"):
        rignet.weights_for(folder, "thing", bones, 2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("joints arm 1 0 1", "joints arm 1 0", "line 4: not a line of .*: joints"),
        ("joints arm 1 0 1", "joints arm 1 x 1", "line 4: could not convert .*: 'x'"),
        ("joints arm 1 0 1", "joints arm 1 nan 1", "line 4: not a finite number: 1 nan 1"),
        ("joints arm 1 0 1", "joints knee 1 0 1", "line 4: joint 'knee' is there twice"),
        ("root hips", "rot hips", "line 5: not a line of .*: rot"),
        ("hier hips arm", "hier hips hand", "line 8: there is no joint 'hand'"),
        ("hier hips arm", "hier arm foot", "line 8: joint 'foot' has two parents"),
        ("hier hips arm", "hier foot hips", "joint 'hips' is above itself"),
        ("skin 2 foot 1.0", "skin 2 foot", "line 10: not a line of .*: skin"),
        ("skin 2 foot 1.0", "skin 2 toe 1.0", "line 10: there is no joint 'toe'"),
        ("skin 2 foot 1.0", "skin -2 foot 1.0", "line 10: not a vertex: -2"),
        ("skin 2 foot 1.0", "skin 0 foot 1.0", "line 10: vertex 0 is there twice"),
        ("skin 2 foot 1.0", "skin 2 foot -1", "line 10: a weight below zero: -1"),
        ("skin 2 foot 1.0", "skin 4 foot 1", "skin of vertex 4, but there are 4 vertices"),
        (RIG, "root hips", "no joints"),
        (RIG, "joints hips 0 0 1", "no skin"),
    ],
)
def test_bad_rigs_are_refused(folder, old, new, message):
    (folder / "thing_rig.txt").write_text(RIG.replace(old, new))
    with pytest.raises(rignet.BadFile, match=f"thing_rig.txt: .*{message}"):
        rignet.model(folder, "thing")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("v 1 0 0", "v 1 0", "line 4: a vertex of 2 numbers"),
        ("f 1//1 2//1 3//1 4//1", "f 1 2", "line 7: not a face: 1 2"),
        ("f 1//1 2//1 3//1 4//1", "f 1 2 -1", "line 7: not a face: 1 2 -1"),
        ("f 1//1 2//1 3//1 4//1", "f 1 2 5", "a face of vertex 5, of 4"),
        ("f 1//1 2//1 3//1 4//1", "", "no faces"),
        (OBJ, "# nothing", "no vertices"),
    ],
)
def test_bad_meshes_are_refused(folder, old, new, message):
    (folder / "thing.obj").write_text(OBJ.replace(old, new))
    with pytest.raises(rignet.BadFile, match=f"thing.obj: .*{message}"):
        rignet.model(folder, "thing")


def test_a_folder_without_results(tmp_path):
    with pytest.raises(rignet.BadFile, match="no file"):
        rignet.names(tmp_path)


def rows_of(**ways):
    """Two characters, each method with (strain, recall) of both; the first is painted."""
    return [
        {
            "name": name,
            "painted": name == "cat",
            "ways": {
                way: {"random": {"area": values[k][0], "recall": values[k][1]}}
                for way, values in ways.items()
                if values[k]
            },
        }
        for k, name in enumerate(["cat", "dog"])
    ]


AREA = better.Measure("area", "random", "less strain", "area", ".0f", "%", geometric=True)
RECALL = better.Measure("recall", "random", "higher recall", "recall", more_is_better=True)


def test_what_is_better_in_the_mean_and_what_on_some():
    rows = rows_of(peer=[(0.1, 0.5), (0.9, 0.5)], ours=[(0.2, 0.9), (0.2, 0.4)])
    assert better.bullets(rows, [AREA, RECALL], "peer", "ours", "Peer").split("\n    - ") == [
        "- **Peer**",
        "less strain: 1 of 2 characters (cat)",
        "higher recall: 1 of 2 characters (dog)",
    ]
    assert better.bullets(rows, [AREA, RECALL], "ours", "peer", "Ours").split("\n    - ") == [
        "- **Ours**",
        "less strain: 20 % against 30 %, better on 1 of 2 characters",
        "higher recall: 0.65 against 0.50, better on 1 of 2 characters",
    ]
    alike = better.bullets(rows, [AREA, RECALL], "ours", "ours", "Ours")
    assert alike == "- **Ours**\n    - nothing"


def test_only_characters_that_both_can_do():
    rows = rows_of(peer=[(0.1, 0.5), None], ours=[(0.2, 0.5), (0.0, 0.5)])
    assert better.beside(rows, AREA, "peer", "ours") == "0.50"
    assert better.beside(rows, RECALL, "peer", "ours") == "0.50 / 0.50"
    assert better.beside(rows, AREA, "nobody", "ours") == "-"
    assert better.clauses(rows, [AREA, RECALL], "peer", "ours") == (
        ["less strain: 10 % against 20 %, better on 1 of 1 characters"],
        [],
    )


def test_likeness_counts_where_painted():
    rows = rows_of(peer=[(0.1, 0.5), (0.1, 0.9)], ours=[(0.2, 0.4), (0.2, 0.1)])
    painted = better.Measure("recall", "random", "", "recall", more_is_better=True, painted=True)
    assert better.beside(rows, painted, "peer", "ours") == "0.50 / 0.40"


def test_roughness_of_a_flat_square():
    pytest.importorskip("scipy")
    roughness = import_module("roughness")
    x, y = (c.ravel() for c in np.meshgrid(*[np.linspace(0, 2, 9)] * 2, indexing="ij"))
    corner = np.array([9 * i + j for i in range(8) for j in range(8)])
    triangles = np.concatenate([corner[:, None] + [0, 9, 10], corner[:, None] + [0, 10, 1]])
    points = np.column_stack([x, y, 0 * x])
    rough = roughness.Roughness(points, triangles)
    order = rough.first
    # The integral of the gradient's square, of the function x on an area of 4.
    assert -(x[order] @ (rough.laplacian @ x[order])) == pytest.approx(4)
    assert rough.mass.sum() == pytest.approx(4)
    inside = (abs(x - 1) < 0.9) & (abs(y - 1) < 0.9)
    bent = rough.laplacian @ (x**2 / 2)[order] / rough.mass
    assert bent[inside[order]] == pytest.approx(1)
    assert rough(np.ones((81, 2))) == pytest.approx(0)
    weights = np.column_stack([x * y, np.cos(3 * x)])
    parts = rough(weights[:, :1]) + rough(weights[:, 1:])
    assert rough(weights) == pytest.approx(parts)
    assert roughness.Roughness(7 * points, triangles)(weights) == pytest.approx(rough(weights))
    halves = np.concatenate([triangles[:64], triangles[64:] + 81])  # welded again
    doubled = roughness.Roughness(np.tile(points, (2, 1)), halves)
    assert doubled(np.tile(weights, (2, 1))) == pytest.approx(rough(weights))
