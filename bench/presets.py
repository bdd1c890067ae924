"""Writes the table of presets in the manual from the page *seen*, which stores its numbers in
docs/bench/seen.json.

presets.py     updates the table; seen.py does so for all characters"""

import json
import re

import numpy as np
from in_blender import ROOT
from seen_numbers import mean, mean_ratio, value, values

HEAT = "heat"
BENCH = ROOT / "docs/bench"
MANUAL = ROOT / "docs/manual/auto_weight.md"
PRESETS = {  # of the table in the manual, those that the page has
    "Game 4": "default",
    "Game 8": "Game_8",
    "Film": "Film",
    "Soft": "Soft",
    "Crisp": "Crisp",
    "As published": "As_published_(2018_paper)",
    "Blender's weights": HEAT,
}
COLUMNS = (
    *("preset", "stretch, random poses", "stretch, animations", "worst 1 % of the faces"),
    *("Limb Drift", "distance to painted weights"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|\n"


def rows_of_the_page():
    """The rows of seen.py, from the files that it has written. Painted characters are marked +."""
    numbers = json.loads((BENCH / "seen.json").read_text("utf-8"))
    page = (BENCH / "seen.md").read_text("utf-8")
    painted = set(re.findall(r"(?m)^\| (\w+) \+ +\|", page))
    return [
        {
            "name": name, "painted": name in painted,
            "ways": {
                way: {
                    kind: measures if kind == "seconds" else
                    {key: np.nan if number is None else number for key, number in measures.items()}
                    for kind, measures in kinds.items()
                }
                for way, kinds in ways.items()
            },
        }
        for name, ways in numbers.items()
    ]  # fmt: skip


def filled(text, rows):
    """The manual's text with these presets."""
    painted = [row for row in rows if row["painted"]]
    drifts = [row for row in rows if np.isfinite(value(row, HEAT, "random", "drift"))]
    lines = ""
    for name, way in PRESETS.items():
        if all(way in row["ways"] for row in rows):
            stretch = [
                mean_ratio(rows, way, HEAT, kind, key)
                for kind, key in (("random", "area"), ("animation", "area"), ("random", "p99"))
            ]
            drift = np.median(values(drifts, way, "random", "drift"))
            cells = *stretch, drift, mean(painted, way, "random", "l1")
            lines += f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |\n"
    text, count = re.subn(re.escape(HEAD) + r"(\|.*\n)+", lambda _match: HEAD + lines, text)
    if count != 1:
        raise ValueError(f"{count} tables of presets in {MANUAL.name}")
    return text


def fill(rows):
    text = filled(MANUAL.read_text("utf-8"), rows)
    MANUAL.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    fill(rows_of_the_page())
