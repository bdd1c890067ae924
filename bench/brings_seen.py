"""Writes strain, drift and likeness, as measured by seen.py, into docs/bench/brings.md and into the
table of presets of the manual.

brings.py writes the times on that page. rows: see seen_numbers.py.

brings_seen.py     updates both from docs/bench/seen.json"""

import json
import re
from pathlib import Path

import brings
import numpy as np
from seen_numbers import mean, mean_ratio, value, values

HEAT, ARTIST, OURS, CRISP = "heat", "artist", "default", "Crisp"
BENCH = Path(brings.BRINGS).parent
MANUAL = BENCH.parent / "manual/auto_weight.md"
PRESETS = {  # of the table in the manual, those that the page has
    "Game 4": OURS,
    "Game 8": "Game_8",
    "Film": "Film",
    "Soft": "Soft",
    "Crisp": CRISP,
    "As published": "As_published_(2018_paper)",
    "Blender's weights": HEAT,
}
COLUMNS = (
    *("preset", "stretch, random poses", "stretch, animations", "worst 1 % of the faces"),
    *("Limb Drift", "distance to painted weights"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|---{'|--:' * (len(COLUMNS) - 1)}|\n"
MORE = 1.001  # times heat's strain: above this, a character is worse


def strain(row, way, kind):
    """ "area / p99" in %, or "fails"."""
    area, p99 = (100 * value(row, way, kind, key) for key in ("area", "p99"))
    return "fails" if np.isnan(area) else f"{area:.1f} / {p99:.0f}"


def table_strain(text, rows, _processors=None):
    """The text with updated strain columns of the table."""
    known = {row["name"]: row for row in rows}
    for words, name in brings.ROWS.items():
        kind = "random" if "random poses" in words else "animation"
        cells = (strain(known[name], way, kind) for way in (HEAT, ARTIST, OURS))
        text = brings.instead(
            text, rf"(?m)^\| {re.escape(words)} \|.*\|(?=[^|]*\|$)",
            f"| {words} | " + " | ".join(cells) + " |",
        )  # fmt: skip
    return text


def ratios(rows, base, kind):
    """Returns {name: our strain by area relative to another's} for characters on which both are
    known."""
    found = values(rows, OURS, kind, "area") / values(rows, base, kind, "area")
    return {r["name"]: each for r, each in zip(rows, found, strict=True) if np.isfinite(each)}


def above(rows, kind):
    """A clause on how many characters have more strain than with heat."""
    found = ratios(rows, HEAT, kind)
    worse = {name: each for name, each in found.items() if each > MORE}
    where = "in random poses" if kind == "random" else "in animations"
    if not worse:
        return f"none of {len(found)} characters strains more {where}"
    most = max(worse, key=worse.get)
    strain = "strains" if len(worse) == 1 else "strain"
    count = f"{len(worse)} of {len(found)} characters {strain} more {where}"
    return f"{count}, by at most {100 * (worse[most] - 1):.0f} % ({most})"


def both(rows, base, key):
    """ "0.68 and 0.73": random poses, animations."""
    found = (mean_ratio(rows, OURS, base, kind, key) for kind in ("random", "animation"))
    return " and ".join(f"{each:.2f}" for each in found)


def beside_heat(text, rows, _processors=None):
    """The paragraph on heat."""
    counts = sorted(len(ratios(rows, HEAT, kind)) for kind in ("random", "animation"))
    line = (
        f"- Compared with Blender's automatic weights, on the {counts[0]} to {counts[1]} "
        f"characters on which Blender succeeds, our weights have {both(rows, HEAT, 'area')} times "
        "as much strain in random poses and in animations (geometric means). In the worst 1 % "
        f"of the faces, the factors are {both(rows, HEAT, 'p99')}. By area, "
        f"{above(rows, 'random')}, and {above(rows, 'animation')}."
    )
    return brings.paragraph(text, "- Compared with Blender's automatic weights", line)


def beside_artists(text, rows, _processors=None):
    """The paragraph on the artists."""
    area, p99 = (mean_ratio(rows, OURS, ARTIST, "animation", key) for key in ("area", "p99"))
    painted = [row for row in rows if row["painted"]]
    ours, heat = (mean(painted, way, "random", "l1") for way in (OURS, HEAT))
    bare = sum(row["ways"][OURS]["random"]["unweighted"] for row in rows)
    line = (
        "- Compared with the artists' weights, on the characters' own animations, our weights "
        f"have {area:.2f} times as much strain, and {p99:.2f} times as much in the worst 1 % of "
        f"the faces. The L1 distance to painted weights is {ours:.2f} for our weights and "
        f"{heat:.2f} for heat. "
        + ("No vertex is left" if not bare else f"{bare:,} vertices are left")
        + " without weights."
    )
    return brings.paragraph(text, "- Compared with the artists' weights", line)


def costs(text, rows, _processors=None):
    """The paragraph on costs, except time."""
    drift = {way: mean(rows, way, "random", "drift") for way in (OURS, HEAT, CRISP)}
    lost = {way: -100 * mean(rows, way, "random", "volume") for way in (OURS, HEAT, CRISP)}
    crisp = mean_ratio(rows, CRISP, HEAT, "random", "area")
    line = (
        f"- Costs: in random poses that rotate every bone by up to 60 degrees, limbs drift from "
        f"their bones by {drift[OURS]:.2f} of their radius (heat: {drift[HEAT]:.2f}), and closed "
        f"bodies lose {lost[OURS]:.1f} % of their volume (heat: {lost[HEAT]:.1f} %). The preset "
        f"*Crisp* reduces these values to {drift[CRISP]:.2f} and {lost[CRISP]:.1f} %, with "
        f"{crisp:.2f} times the strain of heat. The preset *Film* reduces strain instead."
    )
    return brings.paragraph(text, "- Costs:", line)


def presets(text, rows, _processors=None):
    """The table of presets."""
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
    return brings.instead(text, re.escape(HEAD) + r"(\|.*\n)+", HEAD + lines)


CHANGES = {
    brings.BRINGS: (table_strain, beside_heat, beside_artists, costs),
    MANUAL: (presets,),
}


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
                    kind: each if kind == "seconds" else
                    {key: np.nan if number is None else number for key, number in each.items()}
                    for kind, each in found.items()
                }
                for way, found in ways.items()
            },
        }
        for name, ways in numbers.items()
    ]  # fmt: skip


def filled(text, rows, file=brings.BRINGS):
    return brings.changed(text, CHANGES[file], rows, None)


def fill(rows):
    """Updates the pages from the rows of seen.py."""
    for file in CHANGES:
        text = filled(file.read_text(encoding="utf-8"), rows, file)
        file.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    fill(rows_of_the_page())
