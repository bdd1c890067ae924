"""The programs in examples/ print the files next to them, and the code in the manual runs."""

import os
import re
import shutil
import subprocess
import sys

import araplbs
import numpy as np
import pytest
from gltf_files import plain
from paths import ROOT, environment
from shapes import chain, tube

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def test_they_are_numbered():
    assert [path.name[:2] for path in EXAMPLES] == [f"{k + 1:02}" for k in range(8)]
    assert {path.with_suffix(".out") for path in EXAMPLES} == set((ROOT / "examples").glob("*.out"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path):
    # The paths are set in code, because a Python that is only unpacked uses neither PYTHONPATH nor
    # this folder.
    folders = [str(path.parent), *filter(None, sys.path)]
    code = (
        f"import runpy, sys; sys.path[:0] = {folders!r}; "
        f"runpy.run_path({str(path)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.stderr
    assert done.stdout == path.with_suffix(".out").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="needs sh and git")
def test_check_of_changed_files(core, tmp_path, monkeypatch):
    """The script of the workflow and the hook compares a file with its earlier revision."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/araplbs"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m araplbs "$@"\n')
    command.chmod(0o755)
    (tmp_path / "my files").mkdir()
    file = tmp_path / "my files/a.glb"
    plain(weights="<f4").write(file)
    path = os.pathsep.join((str(command.parent), os.environ["PATH"]))
    variables = environment(PATH=path, FAIL_ON="low", GIT_CONFIG_GLOBAL=os.devnull)

    def run(*words):
        return subprocess.run(words, env=variables, capture_output=True, text=True, check=False)

    def check():
        return run("sh", str(ROOT / "examples/check_changed.sh"), "HEAD", "my files/a.glb")

    run("git", "init", "-q")
    done = check()
    assert done.returncode == 3 and "so all findings are new" in done.stdout, done.stderr
    run("git", "add", "my files")
    run("git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    assert check().returncode == 0
    assert core("cli.main").main(["weight", str(file), "--in-place", "-q"]) == 0
    assert check().returncode == 0
    file.write_bytes(b"glTF")
    assert check().returncode == 1


@pytest.mark.parametrize("name", ["github_workflow.yml", "pre_commit_config.yaml"])
def test_examples_for_services_run_the_script(name):
    text = (ROOT / "examples" / name).read_text("utf-8")
    assert "sh tools/check_changed.sh" in text and "check_changed.sh to" in text


def test_code_of_the_manual(tmp_path, monkeypatch, capsys):
    """The blocks run one after the other, with arrays for the names that the blocks leave to the
    reader."""
    text = (ROOT / "docs/manual/python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    vertices, triangles = tube(8, 25, caps=True)
    heads, tails, parents = chain(4)
    turn = np.array([(1, 0, 0), (0, 0.8, -0.6), (0, 0.6, 0.8)])
    bent = np.tile(np.eye(4), (2, 4, 1, 1))
    bent[1, 3, :3, :3], bent[1, 3, :3, 3] = turn, heads[3] - turn @ heads[3]
    painted = np.eye(4)[np.abs(vertices[:, 2, None] - (heads + tails)[:, 2] / 2).argmin(1)]
    names = {
        "vertices": vertices,
        "triangles": triangles,
        "bone_heads": heads,
        "bone_tails": tails,
        "bone_parents": parents,
        "joints": heads,
        "parents": parents,
        "names": ["hip", "knee", "foot", "toe"],
        "painted": painted,
        "frames": bent,
        "araplbs": araplbs,
    }
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    assert names["weights"].shape == (len(vertices), 4)
    assert (tmp_path / "index.html").stat().st_size > 10_000
    assert capsys.readouterr().out
