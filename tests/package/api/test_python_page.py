"""Every Python block of docs/manual/python.md and of README.md runs on a tube."""

import re
import shlex

import numpy as np
import pytest
from gltf_files import HEADS, PARENTS, TAILS, TRIANGLES, VERTICES, plain
from gltf_validity import faults
from paths import ROOT

PAGE = (ROOT / "docs/manual/python.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def blocks(text, kind="python"):
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for language, block in fences if language == kind]


@pytest.fixture
def names(core):
    """The names that the blocks expect."""
    painted = np.zeros((len(VERTICES), len(HEADS)))
    nearest = np.linalg.norm(VERTICES[:, None] - np.asarray(HEADS)[None], axis=2).argmin(1)
    painted[np.arange(len(VERTICES)), nearest] = 1
    return {
        **{"vertices": VERTICES, "triangles": TRIANGLES, "joints": HEADS, "parents": PARENTS},
        **{"bone_heads": HEADS, "bone_tails": TAILS, "bone_parents": PARENTS},
        **{"names": [f"spine{k}" for k in range(len(HEADS))], "painted": painted},
        "frames": np.tile(np.eye(4)[:3], (2, len(HEADS), 1, 1)),
    }


def run(text, names):
    exec(compile(text, "python.md", "exec"), names)


def test_all_blocks_are_tried():
    assert len(blocks(PAGE)) == 4 and len(blocks(README)) == 1


def test_weights_in_one_call(names, capsys):
    run(blocks(PAGE)[0], names)
    assert names["bones"].shape == names["shares"].shape == (len(VERTICES), 4)
    assert "stretch" in capsys.readouterr().out.splitlines()[-1]


def test_step_by_step(names, capsys):
    run(blocks(PAGE)[1], names)
    energies = [float(line) for line in capsys.readouterr().out.splitlines()]
    assert len(energies) > 1 and energies[-1] <= energies[0]
    assert names["weights"].shape == (len(VERTICES), len(HEADS))
    assert not names["solver"].done


def test_comparing_methods(names, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(blocks(PAGE)[2], names)
    assert float(capsys.readouterr().out) > 0
    assert (tmp_path / "index.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_joints(names):
    run("import araplbs\n" + blocks(PAGE)[3], names)
    assert np.shape(names["heads"]) == np.shape(names["tails"]) == np.shape(HEADS)


def test_readme(names, core, tmp_path, monkeypatch):
    run(blocks(README)[0], names)
    assert np.allclose(names["made"].toarray().sum(1), 1)
    monkeypatch.chdir(tmp_path)
    plain().write(tmp_path / "in.glb")
    lines = [line for text in blocks(README, "") for line in text.splitlines()]
    (line,) = [line for line in lines if line.startswith("araplbs ")]
    assert core("cli.main").main([*shlex.split(line)[1:], "-q"]) == 0
    assert faults("out.glb") == []
