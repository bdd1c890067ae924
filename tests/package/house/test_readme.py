"""Every number in README.md and in the manual's table of presets is computed from a page of
docs/bench."""

import re
import sys
from importlib import import_module

import pytest
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
readme, presets = import_module("readme"), import_module("presets")
TEXT = (ROOT / "README.md").read_text("utf-8")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
# Numbers that are not measurements: versions, settings, limits of classes, the paper's year.
MOST = 40
PLAIN = re.compile(
    r"Blender \d\.\d(?: (?:or|to) (?:later|\d\.\d))?|from \d\.\d to \d\.\d|Python \d\.\d+|\(2018\)"
    r"|100 poses|4 influences|worst 1 %|^\d\. |below 1,000|1,000 to 10,000|[Aa]bove 10,000|3D"
    r"|GPL-3\.0|\bF1\b|\| 1\.00 \| 1\.00 \|",
    re.MULTILINE,
)


def test_numbers_are_those_of_the_pages():
    differing = {
        TEXT[slice(*span)]: value
        for span, value in readme.differences(TEXT)
        if TEXT[slice(*span)] != value
    }
    assert not differing, f"python bench/readme.py brings README up to date: {differing}"


def test_no_number_without_a_page():
    text = list(TEXT)
    for (start, end), _value in readme.differences(TEXT):
        text[start:end] = " " * (end - start)
    assert len(readme.differences(TEXT)) <= MOST
    rest = PLAIN.sub("", CODE.sub("", "".join(text)))
    assert not re.findall(r".*\d.*", rest)


def test_pages_that_changed_change_readme():
    changed = re.sub(r"(weights \|) 0\.\d+ ", r"\1 9.99 ", TEXT)
    assert changed.count("9.99") == 2
    assert readme.filled(changed) == readme.filled(TEXT)
    with pytest.raises(ValueError, match="0 places"):
        readme.filled(TEXT.replace("less than a second on", "a minute on"))


def test_the_presets_of_the_manual():
    text, rows = presets.MANUAL.read_text("utf-8"), presets.rows_of_the_page()
    assert presets.filled(text, rows) == text, "python bench/presets.py brings it up to date"
    with pytest.raises(ValueError, match="0 tables"):
        presets.filled("", rows)
