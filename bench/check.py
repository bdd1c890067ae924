"""Counts the findings of Check Weights in artists' weights, in bone heat weights and in ours, and
measures the check's run time.

check.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

Environment: BENCH_RUNS=3, the number of runs, of which the fastest counts."""

import json
import os
import sys
from pathlib import Path

import rigged
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page

LIMIT = 900  # seconds for one character
WAYS = ("artist", "heat", "ours")
LEVELS = ("high", "medium", "low")
RUNS = os.environ.get("BENCH_RUNS", "3")
FASTEST = "once each" if RUNS == "1" else f"each the fastest of {RUNS}"
NOTE = f"""\
Each cell lists the findings of high / medium / low severity in 12 random poses (every bone swings
by up to 60 and twists by up to 10 degrees). All three sets of weights are checked in the same
poses. *heat*: Blender's automatic weights. *check s*: run time of Check Weights on our weights, in
seconds, including reading data from Blender. *Auto-weight s*: total run time of the operator on the
same mesh, in seconds. Times are {FASTEST}. *new*: number of findings of high severity, of heat / of
ours, for which the artist's weights have none of the same kind and severity at the same place (the
two findings share at least a fifth of the vertices of the smaller finding)."""
KINDS_NOTE = """\
The next table lists the findings by kind, over all characters."""

ALONE = """\
## Ours alone

The table lists the findings of high severity about our weights for which the artist's weights have
no finding of the same kind and severity at the same place. *ours*, *artist*: the severity of our
finding, and of the artist's worst finding of that kind at that place (from 0 to 1, high from
0.66)."""
SAME_PLACE = 0.2  # share of the smaller finding's vertices that must be in both


def levels(counts):
    return " / ".join(str(counts[level]) for level in LEVELS)


def measure(zip_path, name):
    """The results of check_in_blender.py for a character, or a line that states what went wrong."""
    result = BUILD / f"check_{name}.json"
    error = run_in_blender(
        "check_in_blender.py", zip_path, DATA / f"{name}.blend", result, limit=LIMIT
    )
    return error or json.loads(result.read_text())


def same_place(one, other):
    """Whether two findings are of the same kind and share vertices."""
    if (one["kind"], one["mesh"]) != (other["kind"], other["mesh"]):
        return False
    a, b = set(one["vertices"]), set(other["vertices"])
    return len(a & b) > SAME_PLACE * min(len(a), len(b)) or not (a or b)


def in_file(row, finding):
    """The worst of the artist's findings of this kind at this place, or None."""
    here = [each for each in row["artist"]["findings"] if same_place(finding, each)]
    return max(here, key=lambda each: each["severity"], default=None)


def alone(row, way="ours"):
    """Returns [(finding, the artist's worst finding there or None)] for the findings of high
    severity that the artist's weights do not have at this severity."""
    high = [each for each in row[way]["findings"] if each["level"] == "high"]
    placed = [(each, in_file(row, each)) for each in high]
    return [(each, there) for each, there in placed if not there or there["level"] != "high"]


def told(finding):
    return f"{finding['level']}, {finding['severity']:.2f}" if finding else "none"


def in_all(rows):
    """A sentence on the findings of high severity that the artist's weights do not have."""
    said = []
    for way, name in (("ours", "Our weights have"), ("heat", "Heat has")):
        counts = [len(alone(row, way)) for row in rows]
        nowhere = sum(there is None for row in rows for _each, there in alone(row, way))
        said.append(
            f"{name} {sum(counts)} new finding{'s' * (sum(counts) != 1)} of high severity on "
            f"{sum(map(bool, counts))} of {len(rows)} characters. At the places of {nowhere} of "
            "these findings, the artist's weights have no finding of the same kind at any level."
        )
    return " ".join(said)


def by_kind(rows):
    kinds = sorted({kind for row in rows for way in WAYS for kind in row[way]["kinds"]})
    for kind in kinds:
        cells = []
        for way in WAYS:
            own = [row[way]["kinds"].get(kind, dict.fromkeys(LEVELS, 0)) for row in rows]
            cells.append(levels({level: sum(each[level] for each in own) for level in LEVELS}))
        yield kind, *cells


def main(zip_path, output, *asked):
    rows, lines, failed = [], [], []
    for name in rigged.names(asked):
        row = measure(Path(zip_path), name)
        if isinstance(row, str):
            say(f"{name}: {row}")
            failed.append(f"{name}: {row}")
            continue
        rows.append({"name": name, **row})
        new = f"{len(alone(row, 'heat'))} / {len(alone(row))}"
        cells = [*(levels(row[way]["health"]) for way in WAYS), new]
        seconds = row["ours"]["seconds"], row["auto_weight"]
        lines.append(
            (name, f"{row['vertices']:,}", *cells, *(f"{s:.3f}" for s in seconds),
             f"{seconds[0] / seconds[1]:.2f}")
        )  # fmt: skip
        say(*lines[-1])
    if not rows:
        sys.exit("bench: no character could be checked")
    head = ("character", "vertices", *WAYS, "new", "check s", "Auto-weight s", "ratio")
    blocks = [NOTE, table(head, lines), in_all(rows)]
    blocks += [KINDS_NOTE, table(("kind", *WAYS), by_kind(rows))]
    new = [
        (row["name"], each["kind"], f"{each['severity']:.2f}", told(there), each["words"])
        for row in rows for each, there in alone(row)
    ]  # fmt: skip
    if new:
        blocks += [ALONE, table(("character", "kind", "ours", "artist", "finding"), new)]
    if failed:
        blocks.append("Failed: " + "; ".join(failed))
    write_page(Path(output), "check", "Findings of Check Weights", *blocks, rows=rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
