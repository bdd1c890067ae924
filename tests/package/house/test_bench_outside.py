"""The benchmark of unprepared characters: the files that it finds, and its messages about missing
ones."""

import sys
from importlib import import_module

import numpy as np
import pytest
from paths import ROOT

pytest.importorskip("scipy", reason="make bench brings it")
sys.path.append(str(ROOT / "bench"))
outside = import_module("outside")

RIG = (
    "joints hip 0 0 0\njoints knee 0 0 -1\nhier hip knee\nskin 0 hip 1\nskin 1 knee 1\nskin 2 hip 1"
)
OBJ = "v 0 0 0\nv 0 0 -1\nv 1 0 0\nf 1 2 3"
FILES = {
    "RigNet/quick_start/11_ori": "rignet_11",
    "Puppeteer/skeleton/data_utils/examples/0a59": "articulation_0a59",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for stem in FILES:
        path = tmp_path / stem
        path.parent.mkdir(parents=True)
        rig = "_rig.txt" if "RigNet" in stem else ".txt"
        path.with_name(path.name + rig).write_text(RIG)
        path.with_name(path.name + ".obj").write_text(OBJ)
    monkeypatch.setattr(outside, "DATA", tmp_path)
    return tmp_path


def test_what_is_there_and_what_is_absent(folder):
    found, absent = outside.known(folder)
    assert list(found) == list(reversed(FILES.values()))
    assert absent[0].startswith("SOMA is left out")
    assert absent[1].startswith("Puppeteer is left out") and len(absent) == 2
    assert "git clone https://github.com/Seed3D/Puppeteer" in absent[1]
    arrays = outside.arrays_of(found["rignet_11"][1])
    assert arrays["W"].tolist() == [[1, 0], [0, 1], [1, 0]]
    soma = folder / "soma.npz"
    np.savez(soma, **arrays)
    found, absent = outside.known(folder)
    assert next(iter(found)) == "soma" and len(absent) == 1
    assert outside.arrays_of(found["soma"][1])["F"].tolist() == [[0, 1, 2]]


def test_an_animal_in_folders_of_its_own(folder):
    path = folder / "Puppeteer/animation/inputs/fish/objs"
    path.mkdir(parents=True)
    (path / "rig.txt").write_text(RIG)
    (path / "mesh.obj").write_text(OBJ)
    found, _absent = outside.known(folder)
    assert found["puppeteer_fish"][1] == (path / "rig.txt", path / "mesh.obj")


def row(name, area, deaf, unweighted=0):
    judged = dict.fromkeys(outside.FORMS, 0.1)
    ways = {
        way: {**judged, "area": each, "deaf": bones, "unweighted": 0, "parts": 3}
        for way, each, bones in zip(outside.WAYS, area, deaf, strict=True)
    }
    ways["heat"]["unweighted"] = unweighted
    return {"name": name, "weights": "", "vertices": 9, "bones": 2, "ways": ways}


def test_means_are_of_what_both_can_do():
    rows = [row("a", (0.4, 0.2, 0.1), (0, 0, 3)), row("b", (0.1, 0.2, 0.1), (7, 0, 1), 5)]
    lines = outside.means(rows).splitlines()
    assert "|          1 | 0.25 times |" in lines[2] and "| 3 / 0 |" in lines[2]
    assert "0.50 times" in lines[3] and "| 4 / 0 |" in lines[3]
    assert list(outside.cells(rows[1], ("area", "wrong"))) == ["- / 20.0 / 10.0", "- / 0 / 0 of 3"]


def test_without_any_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(outside, "DATA", tmp_path)
    monkeypatch.setenv("OUTSIDE", str(tmp_path))
    assert outside.main(tmp_path / "zip", tmp_path / "out") == 0
    assert not (tmp_path / "out").exists()
    assert "RigNet is left out" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no character nobody"):
        outside.main(tmp_path / "zip", tmp_path / "out", "nobody")
