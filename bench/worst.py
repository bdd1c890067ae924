"""Measures time and memory by the number of vertices and bones, for inputs whose cost once grew
faster than their size (hair, thousands of parts), and for one character with each preset, with
locked vertices and with rigid parts.

worst.py ZIP OUTPUT_FOLDER     (called by bench.py)

Environment: BENCH_MOST=300000 (vertices of the largest creature)."""

import json
import os
import subprocess
import sys
from pathlib import Path

from core_modules import add_on
from in_blender import BUILD
from problems import characters, problems
from results import say, table, write_page
from worst_inputs import BALL, HAIR, SHAPES

MOST = int(os.environ.get("BENCH_MOST", "300000"))
SIZES = tuple(n for n in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= MOST)
CASES = (  # name, function of worst_inputs.py, its arguments
    ("creature, by vertices", "creature", tuple((vertices, 54) for vertices in SIZES)),
    ("creature, by bones", "creature", tuple((60_000, bones) for bones in SHAPES)),
    ("tube, a chain of bones", "tube", ((20_000, 100), (20_000, 300), (20_000, 1_000))),
    (f"hair, {HAIR} vertices each", "hair", ((20_000, 20), (60_000, 20), (200_000, 20))),
    (f"loose plates, {BALL**2} vertices each", "parts", ((1_000, 20), (2_500, 20), (5_000, 20))),
    ("loose plates as rigid parts", "rigid", ((1_000, 20), (2_500, 20), (5_000, 20))),
)
CHARACTER, OTHERWISE = "mh_game", "generated"  # which is always there
SHARES = (0.25, 0.75)
LIMIT = 3600  # seconds for a case
NOTE = """\
Each case uses default settings and one thread, and runs in its own process. *Seconds*:
processor time of one run including system time, from the mesh to the weights. On a busy
machine, this time is up to twice as long as on an idle machine. *Coarse*: vertices of the next
coarser mesh, or 0. *Factor*: size of the factor of the last system. *MiB*: peak memory beyond
the memory of Python and the mesh."""
GENERATED = "The program `bench/worst_inputs.py` generates the inputs."
ONE = """\
The test uses {name} ({vertices:,} vertices, {bones} bones). The rows down to *As published* cover
the presets of the extension. Presets with the same settings share a row. The other rows use the
first preset. In these rows, a share of the vertices either is locked, starting from one end of the
longest side, or belongs to rigid parts formed from the vertices of some bones. Only the engine
settings of a preset have an effect here, because control bones are determined beforehand."""


def measure(*about):
    script = Path(__file__).with_name("worst_one.py")
    child = subprocess.run(
        [sys.executable, script, *map(str, about)],
        capture_output=True, text=True, timeout=LIMIT, check=False,
    )  # fmt: skip
    if child.returncode:
        sys.exit(f"bench: {about}: {child.stderr.strip()}")
    row = json.loads(child.stdout)
    say(*about, f"{row['vertices']:,} vertices: {row['seconds']:.2f} s")
    return row


def presets():
    """Lists of the names of presets that have the same settings."""
    known = add_on("disk.presets")
    same = {}
    for name in known.ORDER:
        same.setdefault(str(sorted(known.PRESETS[name].items())), []).append(name)
    return list(same.values())


def of_character(zip_path):
    """(name, rows) of one character with presets, locks and rigid parts."""
    name = CHARACTER if CHARACTER in characters([]) else OTHERWISE
    list(problems(zip_path, [name]))  # makes it
    kept = BUILD / "worst_weights.npz"
    kept.unlink(missing_ok=True)
    alike = presets()
    cases = [(", ".join(names), names[0], 0, 0) for names in alike]
    first = alike[0][0]
    cases += [(f"{100 * share:.0f} % locked", first, share, 0) for share in SHARES]
    cases += [(f"{100 * share:.0f} % in rigid parts", first, 0, share) for share in SHARES]
    return name, [
        {"case": case, **measure("character", name, preset, locked, rigid, kept)}
        for case, preset, locked, rigid in cases
    ]


def shown(row):
    """The last columns of both tables."""
    return [
        f"{row['coarse_vertices']:,}", row["iterations"], f"{row['unknowns']:,}",
        f"{row['factor_bytes'] / 2**20:.1f}", f"{row['seconds']:.2f}",
        f"{1e6 * row['seconds'] / row['vertices']:.0f}", f"{row['mib']:.0f}",
    ]  # fmt: skip


ENDS = ["coarse", "iterations", "unknowns", "factor MiB", "seconds", "µs a vertex", "MiB"]


def main(zip_path, output):
    rows = [
        {"case": name, **measure("input", kind, size, bones)}
        for name, kind, sizes in CASES
        for size, bones in sizes
    ]
    generated = table(
        ["input", "vertices", "bones", "parts", *ENDS],
        (
            [row["case"], f"{row['vertices']:,}", f"{row['bones']:,}", f"{row['parts']:,}",
             *shown(row)] for row in rows
        ),
    )  # fmt: skip
    name, own = of_character(Path(zip_path))
    character = table(
        [name, "influences", "rigid parts", *ENDS],
        ([row["case"], row["most_influences"], row["rigid_parts"], *shown(row)] for row in own),
    )
    about = ONE.format(name=name, vertices=own[0]["vertices"], bones=own[0]["bones"])
    write_page(
        Path(output), "worst", "Sizes and worst cases", NOTE,
        "## By vertices, bones, wires and parts", GENERATED, generated,
        "## By presets, locks and rigid parts", about, character,
        rows={"generated": rows, "character": own},
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
