"""What Check Weights finds in weights of artists, of bone heat and of ours, and its time.

check.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import json
import sys
from pathlib import Path

import rigged
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page

LIMIT = 900  # seconds for one character
WAYS = ("artist", "heat", "ours")
LEVELS = ("high", "medium", "low")
NOTE = """\
Each cell: findings of high / medium / low severity, in 12 random poses (swings up to 60, twists up
to 10 degrees of every bone). *heat*: Blender's automatic weights. *check s*: seconds of Check
Weights on our weights with all that it reads from Blender; *Auto-weight s*: those of the whole
operator on the same mesh; each the fastest of three."""
KINDS_NOTE = """\
The same by kind, over all characters."""


def levels(counts):
    return " / ".join(str(counts[level]) for level in LEVELS)


def measure(zip_path, name):
    """What check_in_blender.py says of a character, or a line on what went wrong."""
    result = BUILD / f"check_{name}.json"
    error = run_in_blender(
        "check_in_blender.py", zip_path, DATA / f"{name}.blend", result, limit=LIMIT
    )
    return error or json.loads(result.read_text())


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
        cells = [levels(row[way]["health"]) for way in WAYS]
        seconds = row["ours"]["seconds"], row["auto_weight"]
        lines.append(
            (name, f"{row['vertices']:,}", *cells, *(f"{s:.3f}" for s in seconds),
             f"{seconds[0] / seconds[1]:.2f}")
        )  # fmt: skip
        say(*lines[-1])
    if not rows:
        sys.exit("bench: no character could be checked")
    head = ("character", "vertices", *WAYS, "check s", "Auto-weight s", "ratio")
    blocks = [NOTE, table(head, lines), KINDS_NOTE, table(("kind", *WAYS), by_kind(rows))]
    if failed:
        blocks.append("Failed: " + "; ".join(failed))
    write_page(Path(output), "check", "Findings of Check Weights", *blocks, rows=rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
