"""The changelog says each change once."""

import re

from paths import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text("utf-8")
VERSION = re.search(r'^version = "(.*)"$', (ROOT / "blender_manifest.toml").read_text(), re.M)[1]


def test_no_line_is_there_twice():
    """No two lines are equal or have the same beginning."""
    of_version = CHANGELOG.split(f"\n## {VERSION}\n")[1].split("\n## ")[0]
    lines = [" ".join(each.split()) for each in re.split(r"\n- ", of_version)[1:]]
    starts = [" ".join(line.split()[:6]) for line in lines]
    assert len(lines) > 50
    assert sorted({s for s in starts if starts.count(s) > 1}) == []
