"""The commands of araplbs that change the weights of a file (repair, transfer, quantize,
reduce-bones), and compare, which writes a page."""

import json
from pathlib import Path

import numpy as np
import pytest
from gltf_files import HEADS, TRIANGLES, VERTICES, Glb, plain, rows
from gltf_validity import File, faults

N = len(VERTICES)


@pytest.fixture
def folder(tmp_path, main):
    """A folder with a weighted file, good.glb."""
    plain(weights="<f4").write(tmp_path / "in.glb")
    assert main(["weight", "in.glb", "-o", "good.glb", "-q"]) == 0
    return tmp_path


def report(folder):
    (each,) = json.loads((folder / "r.json").read_text())["files"][0]["characters"]
    return each


def spoiled(folder):
    """good.glb with three vertices of the upper end on the first joint."""
    content = bytearray((folder / "good.glb").read_bytes())
    file = File(folder / "good.glb")
    attributes = file.json["meshes"][0]["primitives"][0]["attributes"]
    begin = content.index(file.blob)
    bad = np.argsort(-VERTICES[:, 2])[10:13]
    for name, values in (("JOINTS_0", bytes(4)), ("WEIGHTS_0", np.float32([1, 0, 0, 0]).tobytes())):
        view = file.json["bufferViews"][file.json["accessors"][attributes[name]]["bufferView"]]
        for vertex in bad:
            place = begin + view["byteOffset"] + vertex * len(values)
            content[place : place + len(values)] = values
    (folder / "bad.glb").write_bytes(content)
    return bad


def test_baseline(main, folder, capsys):
    """Only findings that the earlier file does not have are listed, and fail."""
    spoiled(folder)
    assert main(["check", "bad.glb", "--fail-on", "low", "-q"]) == 3
    words = ["--fail-on", "low", "--json", "r.json", "--baseline"]
    (folder / "same.glb").write_bytes((folder / "bad.glb").read_bytes())
    assert main(["check", "bad.glb", *words, "same.glb"]) == 0
    said = capsys.readouterr().out
    assert "; new: 0 high, 0 medium, 0 low" in said and "low:" not in said
    found = report(folder)
    assert sum(found["health"].values()) == len(found["findings"]) > 0
    assert not any(each["new"] for each in found["findings"])
    assert main(["check", "bad.glb", *words, "good.glb"]) == 3
    found, said = report(folder), capsys.readouterr().out
    new = [each for each in found["findings"] if each["new"]]
    assert new and len(new) == sum(found["health_new"].values())
    assert all(f"{each['words']}. {each['cause']}" in said for each in new)
    (folder / "before").mkdir()
    assert main(["check", "bad.glb", *words, "before"]) == 3
    assert "so all findings are new" in capsys.readouterr().out
    (folder / "before/bad.glb").write_bytes((folder / "bad.glb").read_bytes())
    assert main(["check", "bad.glb", *words, "before"]) == 0
    for itself in ("bad.glb", "."):
        assert main(["check", "bad.glb", *words, itself]) == 1
        assert "bad.glb: the baseline is the file itself" in capsys.readouterr().err
    (folder / "before/bad.glb").write_bytes(b"glTF")
    assert main(["check", "bad.glb", *words, "before"]) == 1
    named = Path("before/bad.glb")
    assert f"bad.glb: {named}: ends after 4 bytes" in capsys.readouterr().err


@pytest.mark.parametrize("rigs", [1, 2])
def test_baseline_of_one_name(main, tmp_path, rigs):
    """A finding of the second Body is not one of the first, on the same rig or on another Rig."""
    nearest = np.abs(VERTICES[:, None, 2] - HEADS[:, 2]).argmin(1)
    spoiled = np.where(np.arange(N) < N - 3, nearest, 0)
    for name, second in (("before.glb", nearest), ("in.glb", spoiled)):
        glb = Glb()
        skins = [glb.skin(glb.joints()) for _rig in range(rigs)]
        for skin in glb.json["skins"]:
            skin["name"] = "Rig"
        for k, bones in enumerate((spoiled, second)):
            part = glb.primitive(TRIANGLES, (3 * k if rigs == 1 else 0, 0, 0))
            joints = glb.add(np.c_[bones, np.zeros((N, 3))], "u1", "VEC4")
            part["attributes"]["JOINTS_0"] = joints
            glb.node(name="Body", mesh=glb.mesh(part), skin=skins[k % rigs])
        glb.write(tmp_path / name)
    assert main(["check", "in.glb", "--json", "r.json", "--baseline", "before.glb"]) == 3
    characters = json.loads((tmp_path / "r.json").read_text())["files"][0]["characters"]
    new = [[each["mesh"] for each in found["findings"] if each["new"]] for found in characters]
    assert set(new[-1]) == {"Body.001" if rigs == 1 else "Body"} and new[:-1] == [[]] * (rigs - 1)


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({}, False),
        ({"level": "low"}, False),
        ({"level": "high"}, True),
        ({"kind": "COLLAPSE"}, True),
        ({"mesh": "Shirt"}, True),
        ({"bone": "Hand"}, False),  # at common vertices
        ({"bone": "Hand", "vertices": [7]}, True),
        ({"bone": None, "vertices": []}, True),
        ({"vertices": [7]}, False),  # the same bone
    ],
)
def test_what_is_new(core, changes, new):
    old = {"kind": "STRETCH", "level": "medium", "mesh": "Body", "bone": "Arm", "vertices": [1, 2]}
    now = {"findings": [old | changes]}
    core("features.check.report").mark_new(now, {"findings": [old]}, {"Body"})
    assert now["findings"][0]["new"] is new
    level = now["findings"][0]["level"]
    assert now["health_new"] == dict.fromkeys(("high", "medium", "low"), 0) | {level: int(new)}


def test_vertices_of_other_meshes_are_not_compared(core):
    old = {"kind": "STRETCH", "level": "low", "mesh": "Body", "bone": "Arm", "vertices": [1]}
    now = {"findings": [old | {"bone": "Hand"}]}
    core("features.check.report").mark_new(now, {"findings": [old]}, ())
    assert now["findings"][0]["new"]


def test_repair(main, folder, capsys):
    """The wrong vertices get other weights. The weights of all other vertices stay
    bit-identical."""
    bad = spoiled(folder)
    assert main(["repair", "bad.glb", "-o", "out.glb", "--json", "r.json"]) == 0
    assert "repaired" in capsys.readouterr().out and faults("out.glb") == []
    before, after = (rows(File(name))[1] for name in ("bad.glb", "out.glb"))
    assert (after[bad, 0] < 0.1).all()
    far = VERTICES[:, 2] < 1.0
    assert (before[far] == after[far]).all()
    assert {"REPAIRED"} <= {each["result"] for each in report(folder)["repairs"]}
    assert 0 < report(folder)["changed"] < N / 2


def test_repair_of_what_is_good_changes_no_byte(main, folder):
    assert main(["repair", "good.glb", "-o", "out.glb", "--kind", "speckle", "-q"]) == 0
    assert (folder / "out.glb").read_bytes() == (folder / "good.glb").read_bytes()


@pytest.mark.parametrize(("bits", "component", "whole"), [("8", 5121, 255), ("16", 5123, 65535)])
def test_quantize(main, folder, bits, component, whole):
    assert main(["quantize", "good.glb", "-o", "out.glb", "--bits", bits, "--json", "r.json"]) == 0
    assert faults("out.glb") == []
    file = File("out.glb")
    number = file.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]
    assert file.json["accessors"][number]["componentType"] == component
    assert (file.read(number).sum(1, dtype=int) == whole).all()
    off = abs(rows(file)[1] - rows(File("good.glb"))[1]).max()
    assert off <= 1 / whole + 1e-6
    assert report(folder)["objects"][0]["largest_change"] == pytest.approx(off, abs=1e-6)


def test_quantize_refuses_bare_vertices(main, folder, capsys):
    glb = plain(weights="<f4")
    begin = glb.place_of(glb.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"])
    glb.blob[begin + 32 : begin + 48] = bytes(16)
    glb.write(folder / "bare.glb")
    assert main(["quantize", "bare.glb", "-o", "out.glb"]) == 1
    assert "has vertices without weights (first: 2)" in capsys.readouterr().err


def test_reduce_bones(main, folder, capsys):
    assert main(["reduce-bones", "good.glb", "-o", "out.glb", "--bones", "3"]) == 0
    assert "5 -> 3 deform bones" in capsys.readouterr().out and faults("out.glb") == []
    file = File("out.glb")
    dense = rows(file, width=3)[1]
    assert (dense.max(0) > 0).all() and abs(dense.sum(1) - 1).max() < 1e-6
    assert len(file.json["skins"][0]["joints"]) == 3
    assert file.json["nodes"] == File("good.glb").json["nodes"]
    assert main(["reduce-bones", "good.glb", "-o", "x.glb", "--remove", "selected"]) == 2


@pytest.mark.parametrize("which", [["--bones", "5"], ["--bones", "30"], ["--remove", "ends"]])
def test_nothing_to_reduce(main, folder, capsys, which):
    """A character with few bones is no error, because files are often processed in batches."""
    assert main(["reduce-bones", "good.glb", "-o", "out.glb", "--json", "r.json", *which]) == 0
    assert ": unchanged" in capsys.readouterr().out and "unchanged" in report(folder)
    assert (folder / "out.glb").read_bytes() == (folder / "good.glb").read_bytes()


def body_and_sleeve():
    """A tube, and a wider one around its middle, both on one skeleton."""
    glb = Glb()
    joints = glb.joints()
    skin = glb.skin(joints)
    glb.node(mesh=glb.mesh(glb.primitive(TRIANGLES), name="Body"), skin=skin, name="body")
    middle = np.ptp(VERTICES[TRIANGLES, 2], axis=1) >= 0
    middle &= (VERTICES[TRIANGLES, 2] > 0.5).all(1) & (VERTICES[TRIANGLES, 2] < 1.5).all(1)
    used, corners = np.unique(TRIANGLES[middle], return_inverse=True)
    part = glb.part(glb.attributes(VERTICES[used] * (1.1, 1.1, 1)), corners)
    glb.node(mesh=glb.mesh(part, name="Sleeve"), skin=skin, name="sleeve")
    return glb, used


def test_transfer(main, folder, capsys):
    glb, used = body_and_sleeve()
    glb.write(folder / "two.glb")
    assert main(["weight", "two.glb", "-o", "two.glb", "--in-place"]) == 2
    assert main(["weight", "two.glb", "-o", "both.glb", "-q", "--float-weights"]) == 0
    names = ["--source", "Body", "--target", "sleeve"]
    assert main(["transfer", "both.glb", "-o", "out.glb", *names]) == 0
    assert "match" in capsys.readouterr().out and faults("out.glb") == []
    before, after = File("both.glb"), File("out.glb")
    assert (rows(before, 0)[1] == rows(after, 0)[1]).all(), "the source stays"
    apart = abs(rows(after, 1)[1] - rows(after, 0)[1][used]).sum(1)
    assert apart.mean() < 0.1


def test_few_matches(main, folder, capsys):
    """Most of the body matches nothing on the sleeve."""
    body_and_sleeve()[0].write(folder / "two.glb")
    names = ["--source", "Sleeve", "--target", "Body"]
    assert main(["transfer", "two.glb", "-o", "out.glb", *names]) == 1
    assert "Its weights would be replaced, and mostly filled in" in capsys.readouterr().err
    assert not (folder / "out.glb").exists()
    assert main(["transfer", "two.glb", "-o", "out.glb", *names, "--force"]) == 0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["--source", "Body", "--target", "Shirt"], "has no skinned mesh 'Shirt'; available: body"),
        (["--source", "Hat", "--target", "Body"], "has no skinned mesh 'Hat'"),
        (["--source", "Body", "--target", "body"], "'body' is both a source and a target"),
    ],
)
def test_transfer_refuses(main, folder, capsys, names, words):
    body_and_sleeve()[0].write(folder / "two.glb")
    assert main(["transfer", "two.glb", "-o", "out.glb", *names]) == 1
    assert words in capsys.readouterr().err and not (folder / "out.glb").exists()


def test_compare(main, folder, capsys):
    methods = ["--method", "present", "--method", "nearest", "--method", "ours"]
    assert main(["compare", "good.glb", "-o", "made", *methods, "--test-poses", "5"]) == 0
    assert "3 methods compared" in capsys.readouterr().out
    found = json.loads((folder / "made/report.json").read_text())["characters"][0]
    assert [m["reason"] for m in found["methods"]] == [None] * 3
    assert "<img" in (folder / "made/index.html").read_text()


WRONG = [
    (["compare", "in.glb"], "required: --output"),
    (
        ["compare", "in.glb", "good.glb", "-o", "made"],
        "only one FILE can be compared at a time, not 2",
    ),
    (["compare", "in.glb", "-o", "made", "--method", "magic"], "no method magic"),
    (["compare", "in.glb", "-o", "in.glb"], "is not a folder"),
    (["repair", "in.glb", "-o", "out.glb", "--kind", "ugly"], "invalid choice: 'ugly'"),
    (["quantize", "in.glb", "-o", "out.glb", "--bits", "7"], "invalid choice: '7'"),
    (["quantize", "in.glb", "-o", "out.glb", "--threshold", "2"], "--threshold is 2: must be from"),
    (["transfer", "in.glb", "-o", "out.glb", "--source", "Body"], "required: --target"),
    (["reduce-bones", "in.glb", "-o", "out.glb", "--bones", "1"], "--bones is 1: must be from 2"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda each: " ".join(each)[:60])
def test_exit_code_2(main, folder, capsys, arguments, words):
    before = sorted(folder.iterdir())
    assert main(arguments) == 2
    assert words in capsys.readouterr().err and sorted(folder.iterdir()) == before
