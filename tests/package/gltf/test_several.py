"""A character in several files: parts that are weighted as one, and levels of detail."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import shapes
from araplbs.character.mesh import Mesh
from araplbs.gltf.character import welded
from gltf_files import (
    BONES,
    HEADS,
    TRIANGLES,
    VERTICES,
    Glb,
    bare,
    bound_at,
    moves,
    plain,
    rows,
)
from gltf_validity import File, faults

UP = VERTICES[:, 2] > np.median(VERTICES[:, 2])
LOWER, UPPER = TRIANGLES[~UP[TRIANGLES].all(1)], TRIANGLES[UP[TRIANGLES].all(1)]


def part(triangles, name="Tube", joints=BONES, **more):
    """Some triangles of the tube, on the first joints of the chain."""
    glb = Glb()
    nodes = glb.joints()[:joints]
    if joints < BONES:
        del glb.json["nodes"][joints:]
        del glb.json["nodes"][-1]["children"]
    glb.node(mesh=glb.mesh(glb.primitive(triangles, **more), name=name), skin=glb.skin(nodes))
    return glb


def by_place(*names):
    """{position: dense weights} of the first mesh of each file."""
    found = {}
    for name in names:
        for point, row in zip(*rows(File(name)), strict=True):
            found.setdefault(tuple(point), []).append(row)
    return found


def test_parts_are_weighted_as_one(main, tmp_path):
    """The weights are those of the parts in one file, and seams between the files are closed."""
    whole = Glb()
    skin = whole.skin(whole.joints())
    for name, triangles in (("Lower", LOWER), ("Upper", UPPER)):
        part(triangles, name).write(tmp_path / f"{name}.glb")
        whole.node(mesh=whole.mesh(whole.primitive(triangles), name=name), skin=skin)
    whole.write(tmp_path / "whole.glb")
    assert main(["weight", "whole.glb", "-o", "one.glb", "-q", "--float-weights"]) == 0
    words = ["-o", "out/", "--json", "r.json", "--float-weights"]
    assert main(["weight", "--together", "Lower.glb", "Upper.glb", *words]) == 0
    one, apart = File("one.glb"), by_place("out/Lower.glb", "out/Upper.glb")
    for number in range(2):
        for point, row in zip(*rows(one, number), strict=True):
            assert all(np.allclose(row, each, atol=1e-6) for each in apart[tuple(point)])
    assert any(len(each) == 2 for each in apart.values())
    (entry,) = json.loads((tmp_path / "r.json").read_text())["files"]
    assert [each["input"] for each in entry["with"]] == ["Upper.glb"]
    assert [each["name"] for each in entry["characters"][0]["objects"]] == ["Lower", "Upper"]
    assert faults("out/Lower.glb") == faults("out/Upper.glb") == []


def test_a_part_without_some_joints(main, tmp_path):
    """The first file has fewer joints, and follows only those that it has."""
    part(LOWER, "Lower", joints=3).write(tmp_path / "lower.glb")
    part(UPPER, "Upper").write(tmp_path / "upper.glb")
    assert main(["weight", "--together", "lower.glb", "upper.glb", "-o", "out/", "-q"]) == 0
    assert faults("out/lower.glb") == [] and faults("out/upper.glb") == []
    file = File("out/lower.glb")
    assert len(file.json["skins"][0]["joints"]) == 3
    assert rows(file)[1][:, :3].sum(1) == pytest.approx(1, abs=1e-6)
    assert rows(file)[1][:, 2].max() > 0.5
    assert rows(File("out/upper.glb"))[1][:, 4].max() > 0.9


def test_a_part_of_the_parts(main, tmp_path, capsys):
    """Names of meshes are those of all files."""
    for name, triangles in (("Lower", LOWER), ("Upper", UPPER)):
        part(triangles, name).write(tmp_path / f"{name}.glb")
    assert main(["weight", "--together", "Lower.glb", "Upper.glb", "-o", "a/", "-q"]) == 0
    words = ["--together", "a/Lower.glb", "a/Upper.glb", "-o", "b/", "-q", "--firmness", "99"]
    assert main(["weight", *words, "--keep-mesh", "Lower"]) == 0
    assert (tmp_path / "a/Lower.glb").read_bytes() == (tmp_path / "b/Lower.glb").read_bytes()
    assert (tmp_path / "a/Upper.glb").read_bytes() != (tmp_path / "b/Upper.glb").read_bytes()
    assert main(["weight", *words, "--rigid-mesh", "Upper"]) == 0
    assert main(["weight", *words, "--rigid-mesh", "Nose"]) == 1
    assert "no file has a material or mesh 'Nose'" in capsys.readouterr().err


def test_levels_of_detail(main, tmp_path, capsys):
    """Each level gets the weights of the first, with its own limit; one has no skin, and one has
    fewer joints."""
    plain(weights="<f4").write(tmp_path / "hero.glb")
    skins = {"lod1.glb": part(TRIANGLES), "lod3.glb": part(TRIANGLES, joints=4)}
    for name, glb in {**skins, "lod2.glb": bare()}.items():
        glb.write(tmp_path / name)
    words = ["--lod", "lod1.glb", "--lod", "lod2.glb", "--lod", "lod3.glb", "--json", "r.json"]
    limits = ["--lod-influences", "2", "--lod-influences", "1"]
    assert main(["weight", "hero.glb", "-o", "out/", *words, *limits]) == 0
    assert "lod2.glb: saved" in capsys.readouterr().out
    first = by_place("out/hero.glb")
    for name, most in (("lod1.glb", 2), ("lod2.glb", 1), ("lod3.glb", 1)):
        assert faults(f"out/{name}") == [], name
        places, dense = rows(File(f"out/{name}"))
        assert (dense > 0).sum(1).max() == most
        own = np.array([first[tuple(point)][0] for point in places])
        if name == "lod3.glb":
            own = np.hstack([own[:, :3], own[:, 3:].sum(1, keepdims=True), np.zeros((len(own), 1))])
        clear = own.max(1) > 0.9
        assert (dense.argmax(1) == own.argmax(1))[clear].all() and clear.any()
    assert moves(rows(File("out/lod1.glb"))[1])
    (entry,) = json.loads((tmp_path / "r.json").read_text())["files"]
    levels = [each["input"] for each in entry["characters"][0]["levels"]]
    assert levels == ["lod1.glb", "lod2.glb", "lod3.glb"]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda glb: glb.json["nodes"][4].update(name="Nose"), "lacks joint 'Nose' of b.glb"),
        (
            lambda glb: [node.update(name=f"x{k}") for k, node in enumerate(glb.json["nodes"])],
            "have no joint of the same name",
        ),
    ],
)
def test_other_skeletons(main, tmp_path, capsys, spoil, sentence):
    part(LOWER).write(tmp_path / "a.glb")
    other = part(UPPER)
    spoil(other)
    other.write(tmp_path / "b.glb")
    assert main(["weight", "--together", "a.glb", "b.glb", "-o", "out/"]) == 1
    assert sentence in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_joints_elsewhere(main, tmp_path, capsys):
    part(LOWER).write(tmp_path / "a.glb")
    other = Glb()
    other.bind(other.primitive(UPPER), other.joints(), bound_at(HEADS * 1.5))
    other.write(tmp_path / "b.glb")
    for words in (["--together", "a.glb", "b.glb"], ["a.glb", "--lod", "b.glb"]):
        assert main(["weight", *words, "-o", "out/"]) == 1
        assert "have joint 'joint 4' in different places" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [["--together", "a.glb", "b.glb"], ["a.glb", "--lod", "b.glb"]])
def test_the_name_of_a_damaged_file(main, tmp_path, capsys, words):
    part(LOWER).write(tmp_path / "a.glb")
    (tmp_path / "b.glb").write_bytes(b"glTF")
    assert main(["weight", *words, "-o", "out/"]) == 1
    assert "a.glb: b.glb: ends after 4 bytes" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_level_among_the_inputs(main, tmp_path):
    """A pattern may also match the levels, which then come in any order."""
    plain().write(tmp_path / "hero.glb")
    part(TRIANGLES).write(tmp_path / "LOD1.glb")
    words = ["--lod", "LOD1.glb", "--json", "r.json"]
    assert main(["weight", "*.glb", "-o", "out/", *words]) == 0
    (entry,) = json.loads((tmp_path / "r.json").read_text())["files"]
    assert entry["input"] == "hero.glb" and entry["with"][0]["input"] == "LOD1.glb"


TWICE = ["--lod-influences", "4", "--lod-influences", "2"]
WRONG = [
    (["a.glb", "--together"], "--together needs at least two files"),
    (["a.glb", "b.glb", "--lod", "c.glb"], "--lod needs exactly one other file"),
    (["a.glb", "b.glb", "--together", "--lod", "c.glb"], "cannot be used together"),
    (["a.glb", "--lod", "missing.glb"], "missing.glb: no such file"),
    (["a.glb", "--lod-influences", "2"], "--lod-influences needs --lod"),
    (["a.glb", "--lod", "b.glb", "--lod-influences", "0"], "is 0: must be from 1 to 32767"),
    (["a.glb", "--lod", "b.glb", "--lod-influences", "99999"], "is 99999: must be from 1 to 32767"),
    (["a.glb", "--lod", "b.glb", *TWICE], "--lod-influences has 2 numbers for 1 levels"),
    (["a.glb", "--lod", "b.glb", "--lod", "b.glb"], "two inputs would become"),
    (["a.glb", "--lod", "a.glb"], "--lod needs exactly one other file"),
    (["a.glb", "--lod", "b.glb", "--plan"], "--lod and --plan cannot be used together"),
    (["a.glb", "b.glb", "--together", "--from", "c.glb"], "--together and --from cannot be used"),
    (["a.glb", "b.glb", "--together", "--timeout", "9"], "--together and --timeout cannot be"),
]


@pytest.mark.parametrize(("words", "sentence"), WRONG, ids=[" ".join(each) for each, _ in WRONG])
def test_wrong_arguments(main, tmp_path, capsys, words, sentence):
    for name in "abc":
        plain().write(tmp_path / f"{name}.glb")
    assert main(["weight", *words, "-o", "out/"]) == 2
    assert sentence in capsys.readouterr().err and not (tmp_path / "out").exists()


@dataclass
class Bound:
    mesh: Mesh


@pytest.mark.parametrize("sizes", [1e3, 1e7])
def test_a_stray_vertex_welds_no_others(sizes):
    """The distance within which vertices coincide is a share of the size without it."""
    vertices, triangles = shapes.tube(8, 16)
    stray, none = np.array([[sizes, 0.0, 0.0]]), np.zeros((0, 2), int)
    first = Bound(Mesh("A", np.concatenate([vertices, stray]), triangles, none, np.eye(4)))
    second = Bound(Mesh("B", vertices + np.array([0, 0, 1e-7]), triangles, none, np.eye(4)))
    one, other = (each.mesh.vertices for each in welded([first, second]))
    np.testing.assert_array_equal(one, first.mesh.vertices)
    np.testing.assert_array_equal(other, vertices)
