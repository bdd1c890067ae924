"""Time and memory where they once grew faster than the input: many bones, hair, thousands of parts.

worst.py ZIP OUTPUT_FOLDER     (bench.py calls it)"""

import json
import subprocess
import sys
from pathlib import Path

from results import say, table, write_page
from worst_inputs import BALL, HAIR

CASES = (  # name, function of worst_inputs.py, its arguments
    ("tube, a chain of bones", "tube", ((20_000, 100), (20_000, 300), (20_000, 1_000))),
    (f"hair, {HAIR} vertices each", "hair", ((20_000, 20), (60_000, 20), (200_000, 20))),
    (f"loose plates, {BALL**2} vertices each", "parts", ((1_000, 20), (2_500, 20), (5_000, 20))),
)
LIMIT = 3600  # seconds for a case
NOTE = """\
Generated inputs (`tests/bench/worst_inputs.py`), default settings, one thread, each in a process of
its own. *Seconds*: of processor time, with those of the system, from the mesh to the weights;
on a busy machine they are up to twice those of a quiet one. *Coarse*: vertices of the next coarser
mesh, 0 without one. *MiB*: peak memory of the process, Python and the mesh included."""


def measure(kind, size, bones):
    script = Path(__file__).with_name("worst_one.py")
    child = subprocess.run(
        [sys.executable, script, kind, str(size), str(bones)],
        capture_output=True, text=True, timeout=LIMIT, check=True,
    )  # fmt: skip
    row = json.loads(child.stdout)
    say(f"{kind}, {row['vertices']:,} vertices: {row['seconds']:.2f} s")
    return row


def main(output):
    rows, lines = [], []
    for name, kind, sizes in CASES:
        for size, bones in sizes:
            row = measure(kind, size, bones)
            rows.append({"kind": kind, **row})
            each = 1e6 * row["seconds"] / row["vertices"]
            lines.append(
                [name, f"{row['vertices']:,}", f"{row['bones']:,}", f"{row['parts']:,}",
                 f"{row['coarse_vertices']:,}", row["iterations"], f"{row['seconds']:.2f}",
                 f"{each:.0f}", f"{row['mib']:.0f}"]
            )  # fmt: skip
    head = ["input", "vertices", "bones", "parts", "coarse", "iterations", "seconds",
            "µs a vertex", "MiB"]  # fmt: skip
    write_page(output, "worst", "Worst cases", NOTE, table(head, lines), rows=rows)


if __name__ == "__main__":
    main(Path(sys.argv[2]))
