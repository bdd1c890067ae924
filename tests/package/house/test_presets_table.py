"""The table of presets in the manual equals the page *seen*, which stores its numbers in
seen.json."""

import sys
from importlib import import_module

import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
presets = import_module("presets")


def test_the_manual_says_what_the_page_says():
    text, rows = presets.MANUAL.read_text("utf-8"), presets.rows_of_the_page()
    assert presets.filled(text, rows) == text, "python bench/presets.py brings it up to date"
    with pytest.raises(ValueError, match="0 tables"):
        presets.filled("", rows)
