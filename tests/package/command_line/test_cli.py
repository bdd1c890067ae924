"""Tests the outputs, printed lines and exit codes of the command araplbs on files."""

import importlib
import json
import os
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from gltf_files import BONES, TRIANGLES, VERTICES, Glb, moves, plain, rows
from gltf_validity import File, faults
from paths import ROOT, environment


@pytest.fixture
def folder(main, tmp_path):
    plain().write(tmp_path / "in.glb")
    return tmp_path


def test_weight(main, folder, capsys):
    before = (folder / "in.glb").read_bytes()
    assert main(["weight", "in.glb", "-o", "out.glb"]) == 0
    said = capsys.readouterr()
    assert "202 vertices, 5 bones: stretch" in said.out and "saved out.glb" in said.out
    assert not said.err and (folder / "in.glb").read_bytes() == before
    assert faults("out.glb") == [] and moves(rows(File("out.glb"))[1])


def test_quiet(main, folder, capsys):
    assert main(["weight", "in.glb", "-o", "out.glb", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_in_place(main, folder):
    before = (folder / "in.glb").read_bytes()
    (folder / "in.glb").chmod(0o640)
    assert main(["weight", "in.glb", "--in-place"]) == 0
    assert (folder / "in.glb").read_bytes() != before and moves(rows(File("in.glb"))[1])
    assert os.name == "nt" or (folder / "in.glb").stat().st_mode & 0o777 == 0o640
    assert os.listdir(folder) == ["in.glb"]


@pytest.mark.parametrize("target", ["made/", "made"])
def test_patterns_and_folders(main, folder, target):
    """The command expands patterns, because not every shell does."""
    for name in ("a [1].glb", "b ü.vrm"):
        plain().write(folder / name)
    assert main(["weight", "*.glb", "b*.vrm", "-o", target]) == 0
    assert sorted(os.listdir("made")) == ["a [1].glb", "b ü.vrm", "in.glb"]


def test_json_to_standard_output(main, folder, capsys):
    """Only the JSON; text for users goes to standard error."""
    assert main(["weight", "in.glb", "-o", "out.glb", "--json", "-"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert "saved out.glb" in said.err
    assert found["schema"] == 1 and found["command"] == "weight"
    report = found["files"][0]["characters"][0]
    assert report["vertices"] == len(VERTICES) and report["deforming_bones"] == BONES
    assert found["files"][0]["output"] == "out.glb"


def test_json_and_page(main, folder):
    for _again in range(2):  # a report and a page may replace those of before
        arguments = ["--json", "report.json", "--report", "page.html", "--quiet"]
        assert main(["weight", "in.glb", "-o", "out.glb", *arguments]) == 0
    assert json.loads((folder / "report.json").read_text())["files"][0]["input"] == "in.glb"
    page = (folder / "page.html").read_text()
    assert "data:image/png;base64," in page and "Stretch" in page and "<script" not in page


def test_a_file_that_fails_does_not_stop_the_others(main, folder, capsys):
    (folder / "bad.glb").write_bytes(b"glTF")
    assert main(["weight", "bad.glb", "in.glb", "-o", "made/", "--json", "r.json"]) == 1
    assert os.listdir("made") == ["in.glb"]
    assert "araplbs: bad.glb: ends after 4 bytes" in capsys.readouterr().err
    files = json.loads((folder / "r.json").read_text())["files"]
    assert "error" in files[0] and "error" not in files[1]


def test_check(main, folder, capsys):
    """All skin of the tube follows the first joint, until `weight` computes new weights."""
    check = ["check", "--fail-on", "medium"]
    assert main([*check, "in.glb", "--json", "found.json"]) == 3
    assert "medium: Idle Bone: 'joint 1'" in capsys.readouterr().out
    found = json.loads((folder / "found.json").read_text())["files"][0]["characters"][0]
    assert found["health"] == {"high": 0, "medium": 4, "low": 0}
    assert main(["check", "in.glb"]) == main(["check", "in.glb", "--fail-on", "never"]) == 0
    assert main(["weight", "in.glb", "-o", "out.glb"]) == 0
    assert main([*check, "out.glb"]) == 0
    assert main([*check, "in.glb", "out.glb", "--report", "page.html", "-q"]) == 3
    assert (folder / "page.html").read_text().count("data:image/png") == 2


def test_options_reach_the_solver(main, folder):
    assert main(["weight", "in.glb", "-o", "one.glb", "--max-influences", "1"]) == 0
    dense = rows(File("one.glb"))[1]
    assert ((dense > 0).sum(1) == 1).all()
    report = {}
    for name, more in (("degrees", ["--swing", "30"]), ("plain", ["--bone-spring-stiffness", "3"])):
        assert main(["weight", "in.glb", "-o", "x.glb", "--json", "r.json", *more]) == 0
        files = json.loads((folder / "r.json").read_text())["files"]
        report[name] = files[0]["characters"][0]["options"]
    assert report["degrees"]["swing"] == pytest.approx(np.pi / 6)
    assert report["plain"]["bone_spring_stiffness"] == 3


def test_animations_as_poses(main, folder):
    glb = plain()
    glb.animate(2, "rotation", [[0, 0, 0, 1], [0.5, 0, 0, 0.5**0.5 * 1.2247]])
    glb.write(folder / "in.glb")
    arguments = ["weight", "in.glb", "-o", "out.glb", "--json", "r.json"]
    assert main([*arguments, "--my-animation", "all", "--frames", "7"]) == 0
    report = json.loads((folder / "r.json").read_text())["files"][0]["characters"][0]
    assert report["poses"] == 107


def without_skin(folder):
    """A tube without joints, away from the center, and the joints in another file, with a tube
    there that is bound to them."""
    glb = Glb()
    away = glb.mesh(glb.primitive(TRIANGLES, (-1, 0, -2), skinned=False))
    glb.node(mesh=away, translation=[1, 0, 2])
    glb.json["scenes"] = [{"nodes": [0]}]
    glb.write(folder / "body.glb")
    return ["weight", "body.glb", "-o", "out.glb"]


def test_no_skin_says_what_to_do(main, folder, capsys):
    assert main(without_skin(folder)) == 1
    assert "Use the joints of another file with --skeleton" in capsys.readouterr().err
    assert not (folder / "out.glb").exists()


def test_a_skeleton_of_another_file(main, folder):
    assert main([*without_skin(folder), "--skeleton", "in.glb"]) == 0
    file = File("out.glb")
    assert faults("out.glb") == []
    places, dense = rows(file)
    assert moves(dense, places + np.array([1, 0, 2]))
    names = [file.json["nodes"][joint]["name"] for joint in file.json["skins"][0]["joints"]]
    assert names == [f"joint {k}" for k in range(BONES)]
    assert len(file.json["scenes"][0]["nodes"]) == 2
    assert main(["weight", "in.glb", "-o", "x.glb", "--skeleton", "in.glb"]) == 1


def test_as_a_program(folder):
    """The command runs in a process of its own, by python -m. The call in the script that pip
    creates is also tested."""
    done = subprocess.run(
        [sys.executable, "-m", "araplbs", "check", "in.glb", "--fail-on", "low"],
        env=environment(),
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 3 and "findings: " in done.stdout and not done.stderr
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    module, _colon, name = scripts["araplbs"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))
