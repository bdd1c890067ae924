"""The strain in the summary docs/bench/brings.md equals that of the page *seen*, which stores its
numbers in seen.json."""

import json
import re
import sys
from importlib import import_module

import pytest
from paths import ROOT, TESTS

sys.path.append(str(TESTS / "bench"))
brings, brings_seen = import_module("brings"), import_module("brings_seen")
FOLDER = ROOT / "docs/bench"


def rows_of_the_page():
    """Painted characters are marked + in the page."""
    numbers = json.loads((FOLDER / "seen.json").read_text("utf-8"))
    page = (FOLDER / "seen.md").read_text("utf-8")
    painted = set(re.findall(r"(?m)^\| (\w+) \+ +\|", page))
    nan = float("nan")
    return [
        {
            "name": name, "painted": name in painted,
            "ways": {
                way: {
                    kind: each if kind == "seconds" else
                    {key: nan if number is None else number for key, number in each.items()}
                    for kind, each in found.items()
                }
                for way, found in ways.items()
            },
        }
        for name, ways in numbers.items()
    ]  # fmt: skip


def test_the_summary_says_what_the_page_says(capsys):
    text = brings.BRINGS.read_text("utf-8")
    assert brings_seen.filled(text, rows_of_the_page()) == text, (
        "running this file brings it up to date"
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


if __name__ == "__main__":  # with tests and tests/package on PYTHONPATH
    brings_seen.fill(rows_of_the_page())
