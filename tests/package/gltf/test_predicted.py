"""Tests araplbs weight --from with rigs predicted by networks, as a .txt file next to an .obj file
or as a .glb file."""

import json

import numpy as np
import pytest
from araplbs.model.sparse_weights import dense_of
from gltf_files import BONES, HEADS, TRIANGLES, VERTICES, Glb, bare, moves, plain, rows
from gltf_validity import File, faults
from rig_files import NAMES, obj_text, predicted, rig_text, write_rig


@pytest.fixture
def main(main, tmp_path):
    write_rig(tmp_path / "mesh.obj", tmp_path / "rig.txt")
    return main


def report_of(main, *words):
    assert main(["weight", *words, "-o", "out.glb", "--json", "r.json", "-q"]) == 0
    with open("r.json") as file:
        return json.load(file)["files"][0]["characters"][0]


def dense(path):
    """(n, joints) the weights of the first primitive of a file."""
    return rows(File(path))[1]


def test_mesh_and_rig(main):
    """The .glb contains the mesh, the skeleton, and weights that move it."""
    report = report_of(main, "mesh.obj", "--from", "rig.txt")
    assert faults("out.glb") == []
    file = File("out.glb")
    names = [file.json["nodes"][joint]["name"] for joint in file.json["skins"][0]["joints"]]
    assert names == NAMES and report["vertices"] == len(VERTICES)
    assert report["options"]["start_from"] == "PRESENT"
    assert moves(rows(file)[1])
    # That of the predicted weights is known, too.
    assert report["deformation"]["before"]["surface_strain"] > 0


def test_weights_are_ignored_on_request(main):
    fresh = report_of(main, "mesh.obj", "--from", "rig.txt", "--start-from", "fresh")
    assert fresh["options"]["start_from"] == "FRESH" and "before" not in fresh["deformation"]
    found = dense("out.glb")
    with open("rig.txt", "w") as file:
        file.write(rig_text())  # without weights
    assert report_of(main, "mesh.obj", "--from", "rig.txt", "--start-from", "fresh")
    assert np.array_equal(dense("out.glb"), found)


def test_the_weights_that_it_starts_from(core, tmp_path, main):
    """The initial weights are those of the file, matched by vertex numbers and joint names."""
    document, numbers = core("gltf.obj").read_obj("mesh.obj")
    given = core("gltf.predicted").Predicted("rig.txt")
    given.give_skeleton(document)
    (character,) = core("gltf.character").characters_of(document)
    given.give_weights(character, numbers)
    (found,) = character.weights
    order = [NAMES.index(name) for name in character.skeleton.names]
    assert np.allclose(dense_of(found, BONES), predicted()[numbers][:, order])


def test_predicted_glb_for_another_mesh(main, tmp_path):
    """A network's result on a simpler mesh, whose surface provides the weights."""
    assert main(["weight", "mesh.obj", "-o", "predicted.glb", "--from", "rig.txt", "-q"]) == 0
    bare(TRIANGLES[::-1]).write(tmp_path / "bare.glb")
    report = report_of(main, "bare.glb", "--from", "predicted.glb")
    assert report["options"]["start_from"] == "PRESENT" and faults("out.glb") == []
    before, after = dense("predicted.glb"), dense("out.glb")
    assert abs(before.sum(1) - 1).max() < 1e-6 and abs(after - before).max() < 0.2


def test_a_file_with_a_skin_keeps_its_skeleton(main, tmp_path):
    names = [f"joint{k}" for k in range(BONES)]
    own = Glb()
    skin = own.skin(own.joints(names))
    own.node(mesh=own.mesh(own.primitive(TRIANGLES)), skin=skin)
    own.write(tmp_path / "own.glb")
    assert main(["weight", "mesh.obj", "-o", "predicted.glb", "--from", "rig.txt", "-q"]) == 0
    report_of(main, "own.glb", "--from", "predicted.glb")
    assert len(File("out.glb").json["skins"]) == 1 and moves(rows(File("out.glb"))[1])


def test_names_of_outputs(main, tmp_path):
    assert main(["weight", "*.obj", "-o", "rigged/", "--from", "rig.txt", "-q"]) == 0
    assert [path.name for path in (tmp_path / "rigged").iterdir()] == ["mesh.glb"]


def test_obj_with_another_skeleton(main, tmp_path):
    plain().write(tmp_path / "skeleton.glb")
    report = report_of(main, "mesh.obj", "--skeleton", "skeleton.glb")
    assert report["deforming_bones"] == BONES and report["misfit"] is None


def test_a_skeleton_in_another_unit(main, tmp_path):
    plain().write(tmp_path / "skeleton.glb")
    (tmp_path / "mesh.obj").write_text(obj_text(100 * VERTICES))
    report = report_of(main, "mesh.obj", "--skeleton", "skeleton.glb")
    assert report["warnings"][-1].startswith("The skeleton is 100 times smaller than the mesh: ")


OBJ = {
    "corners with normals and coordinates": (
        "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n",
        "{}/1/1 {}/2/1 {}/3/1",
    ),
    "numbers from the end": ("", "-3 -2 -1"),
    "quads": ("", "1 2 3 4"),
    "other lines": ("mtllib a.mtl\no Thing\ng a b\ns 1\nusemtl Red\nl 1 2\n", "1//1 2//1 3//1"),
}


@pytest.mark.parametrize("name", OBJ)
def test_forms_of_obj(core, tmp_path, name):
    more, face = OBJ[name]
    path = tmp_path / "a.obj"
    path.write_text(f"{more}v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0 1.0\nf {face.format(1, 2, 3)}\n")
    document, numbers = core("gltf.obj").read_obj(path)
    (primitive,) = document.json["meshes"][0]["primitives"]
    assert len(numbers) in (3, 4)
    assert ("TEXCOORD_0" in primitive["attributes"]) == ("coordinates" in name)
    count = document.json["accessors"][primitive["indices"]]["count"]
    assert count == (6 if name == "quads" else 3)


BAD_OBJ = [
    ("v 0 0\nf 1 1 1\n", "line 1: not a valid line of an .obj file"),
    ("v 0 0 0\nf 1 2 3\n", "line 2: not a valid line of an .obj file"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "line 4: not a valid line"),
    ("v 0 0 0\n", "has no faces"),
    ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "has a vertex with a non-finite position"),
]
BAD_RIG = [
    ("", "has no joints: it is not a rig text file"),
    ("hello world\n", "line 1: not a valid line of a rig"),
    ("joints a 0 0\n", "line 1: not a valid line of a rig"),
    ("joints a 0 0 x\n", "line 1: not a valid line of a rig"),
    ("joints a 0 0 0\njoints a 0 0 1\n", "line 2: the joint 'a' occurs twice"),
    ("joints a 0 0 0\nhier b a\n", "refers to the joint 'b', which it does not contain"),
    ("joints a 0 0 0\nskin 0 b 1\n", "refers to the joint 'b', which it does not contain"),
    ("joints a 0 0 0\njoints b 0 0 1\nhier a b\nhier b a\n", "the joint 'a' is its own ancestor"),
    ("joints a 0 0 inf\n", "has a joint with a non-finite position"),
    ("joints a 0 0 0\nskin 0 a -1\n", "has weights that are negative or not finite"),
    ("joints a 0 0 0\nskin -1 a 1\n", "has weights for vertex -1"),
    ("joints a 0 0 0\nskin 0 a\n", "line 2: not a valid line of a rig"),
]


@pytest.mark.parametrize(("text", "words"), BAD_OBJ)
def test_bad_obj(main, tmp_path, capsys, text, words):
    (tmp_path / "bad.obj").write_text(text)
    assert main(["weight", "bad.obj", "-o", "out.glb", "--from", "rig.txt"]) == 1
    assert words in capsys.readouterr().err and not (tmp_path / "out.glb").exists()


@pytest.mark.parametrize(("text", "words"), BAD_RIG)
def test_bad_rig(main, tmp_path, capsys, text, words):
    (tmp_path / "bad.txt").write_text(text)
    assert main(["weight", "mesh.obj", "-o", "out.glb", "--from", "bad.txt"]) == 1
    assert words in capsys.readouterr().err and not (tmp_path / "out.glb").exists()


def test_a_rig_that_does_not_fit(main, tmp_path, capsys):
    (tmp_path / "none.txt").write_text(rig_text())
    (tmp_path / "short.txt").write_text(rig_text(predicted()[:50]))
    far = obj_text(np.add(VERTICES, (0, 0, 10)))
    (tmp_path / "far.obj").write_text(far)
    for words, sentence in [
        (["mesh.obj", "--from", "none.txt"], "has no weights to start from: add --start-from"),
        (["mesh.obj", "--from", "short.txt"], "has weights for 50 vertices, but the mesh has more"),
    ]:
        assert main(["weight", *words, "-o", "out.glb"]) == 1
        assert sentence in capsys.readouterr().err
    assert main(["weight", "mesh.obj", "-o", "predicted.glb", "--from", "rig.txt", "-q"]) == 0
    assert main(["weight", "far.obj", "-o", "out.glb", "--from", "predicted.glb"]) == 1
    line = "predicted.glb belongs to another mesh: 202 of the 202 vertices"
    assert line in capsys.readouterr().err


WRONG = [
    (["mesh.obj", "-o", "out.glb"], "an .obj file has no skeleton: specify one with --from"),
    (["mesh.obj", "--from", "rig.txt", "--in-place"], "--in-place cannot write .obj files"),
    (["mesh.obj", "-o", "o.glb", "--from", "rig.fbx"], "rig.fbx: no such file"),
    (["mesh.obj", "-o", "o.glb", "--from", "mesh.obj"], "mesh.obj: is not a .glb, .gltf, .vrm or"),
    (["mesh.obj", "-o", "o.glb", "--from", "rig.txt", "--skeleton", "a.glb"], "a.glb: no such"),
    (["mesh.obj", "-o", "out.obj", "--from", "rig.txt"], "is neither a .glb"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda each: " ".join(each)[:50])
def test_wrong_arguments(main, capsys, arguments, words):
    assert main(["weight", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_joints_are_where_the_rig_has_them(core, main):
    text = core("gltf.rig_text").read_rig_text("rig.txt")
    assert text.names == NAMES and np.allclose(text.joints, HEADS)
    document = text.document()
    nodes = core("gltf.nodes").Nodes(document)
    places = [nodes.world(k)[:3, 3] for k in range(BONES)]
    assert np.allclose(places, HEADS)
