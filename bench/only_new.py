"""Compares Weight Only What Is New with Auto-weight of the whole mesh: the time, and the seam.

only_new.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import json
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page

USUAL = ("knight", "mage", "m2m_horse", "mh_game", "mh_base", "mh_subdiv1")
FOLDER = BUILD / "only_new"
LIMIT = 1800  # seconds for one character
NOTE = """\
The largest mesh of each character is weighted with default settings (*whole*: the operator's
run time in seconds). Then, the weights around three random vertices are removed, and *Weight
Only What Is New* runs. All other weights remain bit-identical.

- *new*: mean number of vertices without weights.
- *seconds*: run time of *Weight Only What Is New*, as the mean over the three regions, with the
  faster of two runs for each region.
- *share*: ratio of *seconds* to *whole*.
- *off*: difference from the former weights, summed over the bones and averaged over the
  vertices.
- *seam*, *inside*: weight difference along an edge, summed over the bones, before and after.
  *Seam* is the mean over the edges that cross the seam, and *inside* is the mean over the edges
  between new vertices."""


def measure(zip_path, name):
    """The results of only_new_weights.py, or a line that states what went wrong."""
    result = FOLDER / f"{name}.json"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not result.exists() or result.stat().st_mtime < zip_path.stat().st_mtime:
        error = run_in_blender(
            "only_new_weights.py", zip_path, DATA / f"{name}.blend", result, limit=LIMIT
        )
        if error:
            return error
    return json.loads(result.read_text())


def lines(name, found):
    def size(row):
        return len(str(row["new"]))

    for _digits, rows in groupby(sorted(found["rows"], key=size), key=size):
        group = list(rows)
        seconds, off, new = (
            np.mean([row[key] for row in group]) for key in ("seconds", "off", "new")
        )
        pairs = [np.mean([row[key] for row in group], axis=0) for key in ("seam", "inside")]
        yield (
            name, f"{found['vertices']:,}", f"{found['seconds']:.2f}", f"{new:.0f}",
            f"{seconds:.2f}", f"{100 * seconds / found['seconds']:.0f} %", f"{off:.3f}",
            *(f"{before:.3f}, {after:.3f}" for before, after in pairs),
        )  # fmt: skip


def main(zip_path, output, *names):
    rows, all_found = [], {}
    for name in names or USUAL:
        if not (DATA / f"{name}.blend").exists():
            say(f"no {DATA / name}.blend")
            continue
        found = measure(Path(zip_path), name)
        if isinstance(found, str):
            say(f"{name}: {found}")
            continue
        all_found[name] = found
        rows += lines(name, found)
    if not rows:
        sys.exit("bench: no character was measured")
    head = ("mesh", "vertices", "whole", "new", "seconds", "share", "off", "seam", "inside")
    write_page(
        Path(output),
        "only_new",
        "Weights of new vertices only",
        NOTE,
        table(head, rows),
        rows=all_found,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
