"""The strain in the summary docs/bench/brings.md and the table of presets in the manual equal those
of the page *seen*, which stores its numbers in seen.json."""

import sys
from importlib import import_module

import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
brings, brings_seen = import_module("brings"), import_module("brings_seen")


@pytest.mark.parametrize("file", brings_seen.CHANGES, ids=lambda file: file.name)
def test_pages_say_what_the_page_says(file, capsys):
    """The summary of the benchmarks and the table of presets in the manual."""
    text = file.read_text("utf-8")
    assert brings_seen.filled(text, brings_seen.rows_of_the_page(), file) == text, (
        "running bench/brings_seen.py brings it up to date"
    )
    assert "by hand" not in capsys.readouterr().out
