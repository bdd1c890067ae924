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


def row(name, heat, ours, unweighted=0):
    judged = {"p99": 0.5, "drift": 0.2, "volume": -0.1, "l1": 0.3, "unweighted": 0}
    ways = {
        way: {kind: {**judged, "area": each} for kind in ("random", "animation")}
        for way, each in {"heat": heat, "artist": 0.4, "default": ours, "Crisp": ours}.items()
    }
    ways["heat"]["random"]["unweighted"] = unweighted
    return {"name": name, "painted": True, "ways": ways}


TEXT = """\
| Cesium man | old | old | old | 0.05 s |
- Compared with Blender's automatic weights, old
  lines.
- Compared with the artists' weights
- Costs: old

End.
"""


def test_numbers_come_in(monkeypatch):
    monkeypatch.setattr(brings, "ROWS", {"Cesium man": "a"})
    rows = [row("a", 0.4, 0.1), row("b", 0.1, 0.125), row("c", 0.1, 0.3, unweighted=5)]
    text = brings_seen.filled(TEXT, rows)
    assert "| Cesium man | 40.0 / 50 | 40.0 / 50 | 10.0 / 50 | 0.05 s |" in text
    words = " ".join(text.split())
    assert "1 of 2 characters strains more in random poses, by at most 25 % (b), and" in words
    assert "on the 2 to 2 characters" in words and "0.56 and 0.56 times as much strain" in words
    assert "No vertex is left without weights. - Costs: in random poses" in words
    assert words.endswith("*Film* reduces strain instead. End.")
    assert brings_seen.filled(text, rows) == text
    rows[1] = row("b", 0.1, 0.09)
    assert "none of 2 characters strains more in animations." in " ".join(
        brings_seen.filled(text, rows).split()
    )
    rows[1]["ways"]["default"]["random"]["unweighted"] = 3
    assert "3 vertices are left without" in " ".join(brings_seen.filled(text, rows).split())


def test_a_paragraph_that_is_gone_is_missed(monkeypatch, capsys):
    monkeypatch.setattr(brings, "ROWS", {})
    assert "- Costs" not in brings_seen.filled(TEXT.replace("- Costs", "- Price"), [row("a", 1, 1)])
    assert "by hand, please: The paragraph on costs" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["random", "animation"])
def test_failures_are_named(kind):
    assert brings_seen.strain(row("a", 1, 1, unweighted=2), "heat", kind) == "fails"


def test_presets_of_the_page_are_in_the_manual():
    """Those that all characters have."""
    rows = [row("a", 0.4, 0.1), row("b", 0.1, 0.125)]
    for each, drift in zip(rows, (0.1, 0.2), strict=True):
        each["ways"]["default"]["random"]["drift"] = drift
    rows[0]["ways"]["Film"] = rows[0]["ways"]["default"]
    text = f"Before.\n\n{brings_seen.HEAD}| Old | 1 |\n| Older | 2 |\n\nAfter.\n"
    assert brings_seen.filled(text, rows, brings_seen.MANUAL).split(brings_seen.HEAD)[1] == (
        "| Game 4 | 0.56 | 0.56 | 1.00 | 0.15 | 0.30 |\n"
        "| Crisp | 0.56 | 0.56 | 1.00 | 0.20 | 0.30 |\n"
        "| Blender's weights | 1.00 | 1.00 | 1.00 | 0.20 | 0.30 |\n\nAfter.\n"
    )
