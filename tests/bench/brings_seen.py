"""Writes strain, drift and likeness, as measured by seen.py, into docs/bench/brings.md.

brings.py writes the times on that page. rows: see seen_numbers.py."""

import re

import brings
import numpy as np
from seen_numbers import mean, mean_ratio, value, values

HEAT, ARTIST, OURS, CRISP = "heat", "artist", "default", "Crisp"
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


CHANGES = (table_strain, beside_heat, beside_artists, costs)


def filled(text, rows):
    return brings.changed(text, CHANGES, rows, None)


def fill(rows):
    """Updates the page from the rows of seen.py."""
    text = filled(brings.BRINGS.read_text(encoding="utf-8"), rows)
    brings.BRINGS.write_text(text, encoding="utf-8", newline="\n")
