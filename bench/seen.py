"""Measures the visible quality of our weights, of Blender's bone heat and of the artists' weights.

seen.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

In addition to the page and its plot, OUTPUT_FOLDER/seen.json contains all numbers. The results over
all characters are also written into the manual's table of presets (presets.py)."""

import json
import sys
from pathlib import Path

import numpy as np
import plots
import presets
import rigged
from beyond_strain import BeyondStrain
from in_blender import ROOT
from results import say, table, write_page
from seen_numbers import (
    mean,
    mean_ratio,
    regretful,
    regretted,
    shown,
    value,
    values,
    worse,
)
from yardstick import Yardstick

KINDS = ("random", "animation")
MOST_DRIFT = 2  # in the plot; the artist of a hand among tets is at 16
COLUMNS = {
    "heat": "heat", "artist": "artist", "default": "ours", "before": "0.1.0",
    rigged.PUBLISHED: "as published",
}  # fmt: skip
BEYOND = ("heat", "artist", "default")  # the ways that are judged beyond strain
EDGE_WEIGHTS = Path(__file__).with_name("edge_weights.md")  # measured once, see there
MEASURES = {  # form and factor in the tables
    "area": (".1f", 100), "p99": (".0f", 100), "peak": (".0f", 100), "median_drift": (".2f", 1),
    "astray": (".0f", 100), "volume": (".1f", 100),
}  # fmt: skip
LABELS = {"median_drift": "median drift"}
BEYOND_STRAIN = {
    "deaf": (".0f", 1), "wrong": (".0f", 1), "gap": (".1f", 100), "crossing": (".1f", 100),
    "crease": (".2f", 100), "below": (".1f", 100), "through": (".1f", 100),
    "asymmetry": (".3f", 1),
}  # fmt: skip
SHARES = ("gap", "crossing", "crease", "below", "through")  # of these, in %
LIKENESS = {
    "l1": (".2f", 1), "core": (".2f", 1), "over": (".1f", 100), "influences": (".2f", 1),
    "seconds": (".2f", 1),
}  # fmt: skip
RIVALS = ("heat", "artist")
IN_MEANS = ("drift", "median_drift", "astray", "volume")
NOTE = """\
Each cell lists Blender's bone heat / the artist's weights / our defaults / the defaults of version
0.1.0 (the paper's edge weights, no bone springs, no cost per influence, control bones included) /
the preset *As published*. A single Blender process computes all weights of one character. The
weights are evaluated in 24 random poses (every bone swings by up to 60 and twists by up to 10
degrees) and in up to 24 frames of the animation.

- *area*: surface strain in %, root mean square by area.
- *p99*: 99th percentile of the strain over the triangles.
- *peak*: strain of the worst triangle, in %.
- *drift*: distance by which limbs drift from their bones, in limb radii, as the mean and the median
  over the limbs.
- *astray*: share of the limbs, in %, that drift by more than a quarter of their radius.
- *volume*: volume change of closed meshes, in %.
- *L1*: mean distance to the artist's weights, 0 to 2. Weights painted by the artist are marked +.
  Weights that the artist generated with bone heat do not serve as a reference.
- *core*: mean weight of a bone at the vertices at which the artist gives this bone more than
  0.9.
- *over*: overreach in %, the weight that limbs have on skin that the artist does not give them,
  by area. Strain does not reveal it, because skin that goes along with a limb does not stretch.
- *influences*: mean number of influences per vertex.
- *worse than*: the measures by which our weights are worse by more than 5 %, or by one bone or
  one part, on the animation or, without one, in random poses.
- *s*: total run time of the operator in seconds.

`bench/yardstick.py` defines these measures. A dash (-) means that the method failed,
because heat or the artist leaves vertices of triangles without weights. Two characters are
omitted: fox_soup is a set of unconnected triangles, and the rig of human_game_engine does not
fit its mesh."""

BEYOND_NOTE = """\
## What strain does not show

Each cell lists Blender's bone heat / the artist's weights / our default weights, in random poses.
These measures show defects that stretch does not reveal, because a bone without influence stretches
nothing, and a closing fold causes little stretch. *deaf* is the number of bones that do not move
their own skin, as defined by the artist's weights. When such a bone is rotated by 40 degrees, this
skin moves less than a quarter as far as with the artist's weights.

- *parts*: number of loose parts that follow a different bone than with the artist's weights,
  out of the parts that the artist assigns to one bone.
- *gap*: distance by which loose parts separate from the surface that they touch at rest, as a
  percentage of the diagonal.
- *crossing*: share of the area, in %, of triangles that intersect others in a pose but not at
  rest.
- *crease*: edges that fold by 60 degrees more than at rest, as a percentage of the total edge
  length.
- *below*: share of the vertices, in %, that lie on another part of the mesh at rest (as clothes
  do) and end up below that part.
- *through*: share of the vertices, in %, that lie under another part at rest and penetrate that
  part.
- *asymmetry*: mean difference from the weights on the opposite side, 0 to 2, for characters
  with two sides.

`bench/beyond_strain.py` defines these measures."""


def measure(zip_path, name):
    """{way: {kind: measures, "seconds": s}} and data about the character, or a line on the
    failure."""
    arrays = rigged.model(name)
    ways = rigged.weights(zip_path, name)
    if isinstance(ways, str):
        return ways
    yardstick = Yardstick(arrays)
    if yardstick.artist is not None:
        ways["artist"] = arrays["W"], None
    row = {"name": name, "painted": rigged.is_painted(arrays), "ways": {}}
    beyond = BeyondStrain(yardstick)
    for way, (weights, seconds) in ways.items():
        found = yardstick.judge(weights)
        if way in BEYOND:
            more = beyond.judge(weights)
            found = {kind: {**found[kind], **more[kind]} for kind in found}
        row["ways"][way] = {**found, "seconds": seconds}
    return row


def cell(row, kind, key, form, factor, ways=COLUMNS):
    return " / ".join(shown(value(row, way, kind, key), form, factor) for way in ways)


def strain_table(rows, kind):
    known = [row for row in rows if kind in row["ways"]["default"]]
    head = ["character", *(LABELS.get(key, f"{key} %") for key in MEASURES)]
    return table(
        head,
        (
            [row["name"], *(cell(row, kind, key, *MEASURES[key]) for key in MEASURES)]
            for row in known
        ),
    )


def likeness_table(rows):
    head = ["character", "L1", "core", "over %", "influences", "s"]
    return table(
        [*head, *(f"worse than {rival}" for rival in RIVALS)],
        (
            [
                row["name"] + (" +" if row["painted"] else ""),
                *(cell(row, "random", key, *LIKENESS[key]) for key in LIKENESS),
                *(worse_in(row, rival) for rival in RIVALS),
            ]
            for row in rows
        ),
    )


def worse_in(row, rival):
    """The measures by which our weights are worse than a rival's."""
    found = regretted(row, "default", rival)
    return "-" if found is None else ", ".join(LABELS.get(key, key) for key in found)


def beyond_table(rows):
    """The measures in random poses, which exist for all characters."""
    head = ["character", "deaf", "parts", *(f"{key} %" for key in SHARES)]
    return table([*head, "asymmetry"], map(beyond_cells, rows))


def beyond_cells(row):
    cells = {
        key: cell(row, "random", key, *form, ways=BEYOND) for key, form in BEYOND_STRAIN.items()
    }
    parts = value(row, "default", "random", "parts")
    cells["wrong"] += "" if np.isnan(parts) else f" of {parts:.0f}"
    return [row["name"], *cells.values()]


def summary(rows):
    """Lines of numbers per method: {label: {way: text}}."""
    painted = [row for row in rows if row["painted"]]
    lines = {}
    for base in ("heat", "artist"):
        for key, kind in ((key, kind) for key in ("area", "p99", "peak") for kind in KINDS):
            lines[f"{key} against {base}, {kind}"] = {
                way: shown(mean_ratio(rows, way, base, kind, key), ".2f") for way in COLUMNS
            }
    for kind in KINDS:
        lines[f"characters worse than heat by area, {kind}"] = {
            way: worse(rows, way, "heat", kind, "area") for way in COLUMNS
        }
    for rival in RIVALS:
        lines[f"characters worse than {rival} by any measure"] = {
            way: regretful(rows, way, rival) if way in BEYOND else "-" for way in COLUMNS
        }
    means = {**MEASURES, "drift": (".2f", 1)}
    for key, kind in ((k, kind) for k in IN_MEANS for kind in KINDS):
        form, factor = means[key]
        label = f"{LABELS.get(key, key)}, {kind}" + (" %" if factor == 100 else "")
        lines[label] = {way: shown(mean(rows, way, kind, key), form, factor) for way in COLUMNS}
    for label, key, form in (
        ("L1, painted", "l1", (".3f", 1)),
        ("over, painted %", "over", (".1f", 100)),
    ):
        lines[label] = {way: shown(mean(painted, way, "random", key), *form) for way in COLUMNS}
    for kind in KINDS:
        for key in SHARES:
            lines[f"{key}, {kind} %"] = {
                way: shown(mean(rows, way, kind, key), *BEYOND_STRAIN[key]) for way in COLUMNS
            }
    lines["asymmetry"] = {
        way: shown(mean(rows, way, "random", "asymmetry"), ".3f") for way in COLUMNS
    }
    for key in ("core", "influences", "seconds"):
        lines[key] = {way: shown(mean(rows, way, "random", key), ".2f") for way in COLUMNS}
    return lines


def summary_table(rows):
    head = ["mean", *COLUMNS.values()]
    return table(head, ([label, *line.values()] for label, line in summary(rows).items()))


def draw(rows, output, file, ways, labels):
    """Strain against drift, and against likeness: small marks for characters, large ones for means.
    labels: of methods, if they differ from the names."""
    fig, [panels] = plots.figure(2, width=11, height=5)
    painted = [row for row in rows if row["painted"]]
    for panel, chosen, key, label in (
        (panels[0], rows, "drift", "drift of limbs, radii"),
        (panels[1], painted, "l1", "L1 to painted weights"),
    ):
        for way, color, marker in plots.looks(ways):
            if key == "l1" and way == "artist":
                continue
            strain = values(chosen, way, "random", "area") / values(
                chosen, "heat", "random", "area"
            )
            other = values(chosen, way, "random", key)
            known = np.isfinite(strain) & np.isfinite(other) & (strain > 0)
            strain, other = strain[known], other[known]
            panel.scatter(strain, other, s=10, color=color, marker=marker, alpha=0.35, linewidths=0)
            name = labels.get(way, way.replace("_", " "))
            if known.any():
                panel.scatter(
                    np.exp(np.log(strain).mean()), other.mean(), s=90, color=color, marker=marker,
                    label=name, zorder=3,
                )  # fmt: skip
        if panel.get_legend_handles_labels()[0]:  # heat has not failed everywhere
            panel.set_xscale("log")
            plots.plain_multiples(panel.xaxis)
        panel.set_xlabel("strain by area in random poses, as a multiple of heat's")
        panel.set_ylabel(label)
        panel.set_ylim(0, MOST_DRIFT if key == "drift" else None)
    plots.legend_above(fig, panels[0], 4)
    return plots.save(fig, output, file)


def plain(found):
    """For JSON: five digits, and None instead of NaN."""
    if isinstance(found, dict):
        return {key: plain(each) for key, each in found.items()}
    if isinstance(found, float):
        return None if np.isnan(found) else float(f"{found:.5g}")
    return found


def main(zip_path, output, *asked):
    output, rows, failures = Path(output), [], []
    for name in rigged.names(asked):
        row = measure(Path(zip_path), name)
        if isinstance(row, str):
            failures.append(f"{name}: {row}")
            say(failures[-1])
            continue
        rows.append(row)
        areas = cell(row, "random", "area", *MEASURES["area"])
        say(name, "area %", areas, "s", cell(row, "random", "seconds", ".2f", 1))
    blocks = [NOTE, "## Means", summary_table(rows)]
    for kind in KINDS:
        blocks += [f"## On {kind} poses" if kind == "random" else "## On animations"]
        blocks += [strain_table(rows, kind)]
    blocks += [BEYOND_NOTE, beyond_table(rows)]
    blocks += ["## Likeness, influences, time", likeness_table(rows), *failures]
    blocks += [EDGE_WEIGHTS.read_text(encoding="utf-8").strip()]
    ways = ["heat", "artist", "default", "before", *rigged.PRESETS]
    picture = draw(rows, output, "seen.png", ways, COLUMNS)
    write_page(output, "seen", "Visible results", *blocks, pictures=[picture])
    numbers = {row["name"]: plain(row["ways"]) for row in rows}
    (output / "seen.json").write_text(json.dumps(numbers, indent=1) + "\n")
    if not asked and not failures and output == ROOT / "docs/bench":
        presets.fill(rows)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
