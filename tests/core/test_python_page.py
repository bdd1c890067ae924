"""The blocks of docs/manual/python.md that begin a program run on a tube."""

import re

from gltf_files import HEADS, PARENTS, TRIANGLES, VERTICES
from paths import ROOT

PAGE = (ROOT / "docs/manual/python.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_weights_in_one_call(capsys):
    names = {
        **{"vertices": VERTICES, "triangles": TRIANGLES, "joints": HEADS, "parents": PARENTS},
        "names": [f"spine{k}" for k in range(len(HEADS))],
    }
    exec(compile(BLOCKS[0], "python.md", "exec"), names)
    assert names["bones"].shape == names["shares"].shape == (len(VERTICES), 4)
    assert "stretch" in capsys.readouterr().out.splitlines()[-1]
