"""New weights for a part of a character: everything else stays the same to the last bit."""

import json

import araplbs
import numpy as np
import pytest
from gltf_files import BONES, TRIANGLES, VERTICES, Glb, plain, rows
from gltf_validity import File, faults

KINDS = pytest.mark.parametrize("kind", ["<f4", "u1", "<u2"])
UP = VERTICES[:, 2] > np.median(VERTICES[:, 2])


@pytest.fixture
def weighted(main, tmp_path):
    """Called with a Glb; writes it and in.glb, which has weights of 3 influences."""

    def write(glb, *more):
        glb.write(tmp_path / "bare.glb")
        words = ["-q", "--initial-weights", "nearest", "--firmness", "90", "--max-influences", "3"]
        assert main(["weight", "bare.glb", "-o", "in.glb", *words, *more]) == 0

    return write


def stored(name, number=0, joints=BONES):
    """The dense weights (n, joints) of a mesh as they are stored: floats, or whole numbers."""
    file = File(name)
    found = np.zeros((len(file.read(attributes(file, number)["POSITION"])), joints))
    for k in range(2):
        if f"JOINTS_{k}" in attributes(file, number):
            which, values = (
                file.read(attributes(file, number)[f"{what}_{k}"]) for what in ("JOINTS", "WEIGHTS")
            )
            np.add.at(found, (np.arange(len(which))[:, None], which.astype(int)), values)
    return found


def attributes(file, number=0):
    return file.json["meshes"][number]["primitives"][0]["attributes"]


def of_two_meshes():
    """Two halves of the tube, in two meshes."""
    glb = Glb()
    skin = glb.skin(glb.joints())
    for name, which in (("Lower", ~UP), ("Upper", UP)):
        triangles = TRIANGLES[(which[TRIANGLES]).any(1)]
        glb.node(mesh=glb.mesh(glb.primitive(triangles), name=name), skin=skin)
    return glb


@KINDS
@pytest.mark.parametrize(
    ("words", "free"),
    [
        (["--only-bones", "joint 3/"], [3, 4]),
        (["--only-bones", "joint 1", "--only-bones", "joint [23]"], [1, 2, 3]),
        (["--keep-bones", "joint 0", "--keep-bones", "*2"], [1, 3, 4]),
    ],
)
def test_bones(main, weighted, kind, words, free):
    weighted(plain(weights=kind))
    assert main(["weight", "in.glb", "-o", "out.glb", "-q", *words]) == 0
    before, after = stored("in.glb"), stored("out.glb")
    kept = np.setdiff1d(np.arange(BONES), free)
    assert np.array_equal(before[:, kept], after[:, kept])
    changed = (before != after).any(1)
    assert 0 < changed.sum() < len(changed) and faults("out.glb") == []
    whole = {"<f4": 1, "u1": 255, "<u2": 65535}[kind]
    assert np.abs(after.sum(1) - whole).max() <= (1e-6 if kind == "<f4" else 0)


def test_mesh(main, weighted):
    """The bytes of a kept mesh stay, and the seam to the other mesh stays closed."""
    weighted(of_two_meshes())
    assert main(["weight", "in.glb", "-o", "out.glb", "-q", "--keep-mesh", "Lower"]) == 0
    assert np.array_equal(stored("in.glb"), stored("out.glb"))
    assert not np.array_equal(stored("in.glb", 1), stored("out.glb", 1))
    before, after = File("in.glb"), File("out.glb")
    for name in ("JOINTS_0", "WEIGHTS_0"):
        views = [
            file.json["bufferViews"][file.json["accessors"][attributes(file)[name]]["bufferView"]]
            for file in (before, after)
        ]
        assert views[0] == views[1]
        begin = views[0].get("byteOffset", 0)
        end = begin + views[0]["byteLength"]
        assert before.blob[begin:end] == after.blob[begin:end]
    (lower, low), (upper, high) = (rows(after, number) for number in (0, 1))
    pairs = [(i, j) for i, p in enumerate(lower) for j, q in enumerate(upper) if (p == q).all()]
    assert pairs and all(np.allclose(low[i], high[j], atol=1e-6) for i, j in pairs)


@KINDS
def test_selected_vertices(main, weighted, tmp_path, kind):
    chosen = np.flatnonzero(UP)[5:40].tolist()
    (tmp_path / "selected.json").write_text(json.dumps({"Tube": chosen}))
    glb = plain(weights=kind)
    glb.json["nodes"][BONES]["name"] = "Tube"
    weighted(glb)
    assert (
        main(["weight", "in.glb", "-o", "out.glb", "-q", "--only-selected", "selected.json"]) == 0
    )
    changed = np.flatnonzero((stored("in.glb") != stored("out.glb")).any(1))
    assert len(changed) and set(changed) <= set(chosen)


def test_a_second_set_stays(main, weighted, tmp_path):
    """The rows that stay have five influences, the new ones at most two."""
    glb = plain(weights="<f4")
    glb.json["nodes"][BONES]["name"] = "Tube"
    weighted(glb)
    file = araplbs.load_gltf("in.glb")
    five = np.random.default_rng(1).random((len(VERTICES), BONES)) + 0.1
    file.characters[0].set_weights(five / five.sum(1, keepdims=True))
    file.save("in.glb")
    assert "WEIGHTS_1" in attributes(File("in.glb"))
    (tmp_path / "some.json").write_text('{"Tube": [20, 21, 22]}')
    words = ["--only-selected", "some.json", "--max-influences", "2"]
    assert main(["weight", "in.glb", "-o", "out.glb", "-q", *words]) == 0
    before, after = stored("in.glb"), stored("out.glb")
    changed = np.flatnonzero((before != after).any(1))
    assert changed.tolist() == [20, 21, 22] and (after[changed] > 0).sum(1).max() <= 2


def test_package(weighted):
    """weigh() and set_weights() keep the same bytes."""
    weighted(plain(weights="<f4"))
    file = araplbs.load_gltf("in.glb")
    (character,) = file.characters
    earlier = character.weights.toarray()
    made = character.weigh(keep_bones=["joint 0", "joint 2"])
    assert np.array_equal(made.toarray()[:, [0, 2]], earlier[:, [0, 2]])
    character.set_weights(made)
    file.save("out.glb")
    before, after = stored("in.glb"), stored("out.glb")
    assert np.array_equal(before[:, [0, 2]], after[:, [0, 2]]) and (before != after).any()
    character.set_weights(made)  # nothing new
    file.save("again.glb")
    assert np.array_equal(after, stored("again.glb"))


def test_weights_of_the_file_change_no_byte(weighted, tmp_path):
    weighted(plain(weights="u1"))
    file = araplbs.load_gltf("in.glb")
    file.characters[0].set_weights(file.characters[0].weights)
    file.save("out.glb")
    assert (tmp_path / "out.glb").read_bytes() == (tmp_path / "in.glb").read_bytes()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only-bones", "Arm"], "has no joint 'Arm'"),
        (["--keep-bones", "Arm/"], "has no joint 'Arm'"),
        (["--keep-mesh", "Face"], "has no skinned mesh 'Face'"),
        (["--keep-bones", "*"], "has nothing to weight"),
        (["--keep-mesh", "Tube"], "has nothing to weight"),
    ],
)
def test_refused(main, weighted, capsys, words, sentence):
    glb = plain()
    glb.json["nodes"][BONES]["name"] = "Tube"
    weighted(glb)
    assert main(["weight", "in.glb", "-o", "out.glb", *words]) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "code", "sentence"),
    [
        (
            "{",
            2,
            'must contain names of meshes with lists of vertices, such as {"Body": [0, 1, 2]}',
        ),
        ("[1]", 2, "must contain names of meshes"),
        ('{"Tube": [1.5]}', 2, "must contain names of meshes"),
        ('{"Tube": 3}', 2, "must contain names of meshes"),
        ('{"Face": [1]}', 1, "has no skinned mesh 'Face'"),
        ('{"Tube": [-1]}', 1, "'Tube' has no vertex -1"),
        ('{"Tube": [99999]}', 1, "'Tube' has no vertex 99999, but "),
        ('{"Tube": []}', 1, "has nothing to weight"),
    ],
)
def test_refused_selections(main, weighted, tmp_path, capsys, content, code, sentence):
    glb = plain()
    glb.json["nodes"][BONES]["name"] = "Tube"
    weighted(glb)
    (tmp_path / "some.json").write_text(content)
    words = ["weight", "in.glb", "-o", "out.glb", "--only-selected"]
    assert main([*words, "some.json"]) == code
    assert sentence in capsys.readouterr().err
    assert main([*words, "none.json"]) == 2
    assert "--only-selected: 'none.json' cannot be read" in capsys.readouterr().err


def test_nothing_to_keep(main, weighted, tmp_path, capsys):
    glb = plain()
    weighted(glb)
    for name in ("JOINTS_0", "WEIGHTS_0"):
        del glb.json["meshes"][0]["primitives"][0]["attributes"][name]
    glb.write(tmp_path / "bare.glb")
    assert main(["weight", "bare.glb", "-o", "out.glb", "--only-bones", "joint 1"]) == 1
    assert "has vertices without weights (first: 0)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["--float-weights"], ["--skeleton", "in.glb"], ["--from", "in.glb"]]
)
def test_all_weights_would_be_replaced(main, weighted, capsys, more):
    weighted(plain())
    words = ["weight", "in.glb", "-o", "out.glb", "--keep-bones", "joint 1"]
    assert main([*words, *more]) == 2
    assert f"{more[0]} cannot be used if some of the weights are kept" in capsys.readouterr().err
