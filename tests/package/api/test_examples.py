"""The programs in examples/ print the files next to them, and the code in the manual runs."""

import re
import subprocess
import sys

import araplbs
import numpy as np
import pytest
from paths import ROOT
from shapes import chain, tube

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def test_they_are_numbered():
    assert [path.name[:2] for path in EXAMPLES] == [f"{k + 1:02}" for k in range(6)]
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
