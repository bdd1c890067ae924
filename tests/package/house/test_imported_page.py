"""The page about imported characters has a row for each format and source, and contains no advice
that causes bones to lose their skin."""

import re

import pytest
from paths import ROOT

PAGE = (ROOT / "docs/manual/imported.md").read_text("utf-8")
SOURCES = ("glTF", "FBX", "VRM", "Mixamo", "Meshy", "Unreal", "Unity", "Daz", "MMD")


def rows(title):
    """The rows of the table below a title, without its header."""
    table = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return [line for line in table.splitlines() if line.startswith("|")][2:]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_a_row(source):
    found = rows("What to choose in the importer") + rows("What to expect of a file")
    assert any(re.search(rf"\b{source}\b", row) for row in found)


def test_scripts_keep_leaf_bones():
    """Blender 4's importer would remove the last bone of every chain, such as toes."""
    assert "ignore_leaf_bones" not in PAGE
