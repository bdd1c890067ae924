"""Prints a table: our weights beside Blender's automatic weights, on the generated character and
on those of ../shared/data, subdivided 0, 1 and 2 times.

bench.py ZIP OUTPUT_FOLDER [CHARACTER...]     (tools/bench.sh calls it)

Environment: BENCH_LEVELS="0 1 2", BENCH_MOST=150000 (vertices: larger cases are left out)."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
LEVELS = [int(level) for level in os.environ.get("BENCH_LEVELS", "0 1 2").split()]
MOST = int(os.environ.get("BENCH_MOST", "150000"))
LIMIT = 1800  # seconds for one case

HEAD = (
    "character", "vertices", "bones", "Blender s", "ours s", "ratio", "start s", "iteration s",
    "its", "MiB B/o", "stretch % B", "ours", "file", "worst % B/o", "animation % B", "ours", "file",
    "unweighted B/o",
)  # fmt: skip


def cases(names):
    """(name, path) of the characters asked for."""
    found = {"generated": "generated"}
    if DATA.is_dir():
        found.update({path.stem: str(path) for path in sorted(DATA.glob("*.blend"))})
    else:
        print(f"no {DATA}: only the generated character is measured", flush=True)
    unknown = set(names) - set(found)
    if unknown:
        sys.exit(f"bench: no character {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    return [(name, path) for name, path in found.items() if not names or name in names]


def measure(zip_path, path, levels, folder):
    result = folder / "row.json"
    result.unlink(missing_ok=True)
    user = folder / "user"
    subprocess.run(["rm", "-rf", user], check=True)
    log = folder / "log.txt"
    with log.open("w") as output:
        try:
            code = subprocess.run(
                [ROOT / "tools/run_blender.sh", ROOT / "tests/bench/measure.py", zip_path, path,
                 str(levels), result],
                env={**os.environ, "BLENDER_USER_RESOURCES": str(user)},
                stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"longer than {LIMIT} s"
    if code or not result.exists():
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {code}"
    return json.loads(result.read_text())


def percent(energy):
    return "-" if energy is None else f"{100 * math.sqrt(max(energy, 0)):.1f}"


def worst(outcome):
    stretch = outcome["worst_stretch"]
    return "-" if stretch is None else f"{100 * stretch:.0f}"


def line(row):
    blender, ours, file = row["blender"], row["ours"], row.get("file", {})
    failed = blender["unweighted"] > 0
    energy = lambda who, key: percent(who.get(key))  # noqa: E731
    mark = "*" if failed else ""
    return (
        row["character"] + (f" x{4 ** row['levels']}" if row["levels"] else ""),
        f"{row['vertices']:,}", row["bones"], f"{blender['seconds']:.2f}{mark}",
        f"{ours['seconds']:.2f}", f"{ours['seconds'] / max(blender['seconds'], 1e-9):.1f}",
        f"{row['initial_seconds']:.2f}", f"{row['iteration_seconds']:.3f}", row["iterations"],
        f"{blender['peak_mib']:.0f}/{ours['peak_mib']:.0f}",
        energy(blender, "energy") + mark, energy(ours, "energy"), energy(file, "energy"),
        f"{worst(blender)}/{worst(ours)}",
        energy(blender, "animation_energy") + mark, energy(ours, "animation_energy"),
        energy(file, "animation_energy"), f"{blender['unweighted']}/{ours['unweighted']}",
    )  # fmt: skip


def table(rows):
    cells = [HEAD, *[[str(cell) for cell in line(row)] for row in rows]]
    widths = [max(len(row[c]) for row in cells) for c in range(len(HEAD))]
    text = [" | ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
    rule = " | ".join("-" * (w - 1) + ":" for w in widths)
    return "\n".join(f"| {each} |" for each in (text[0], rule, *text[1:]))


def main(zip_path, folder, *names):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows, failures = [], []
    for name, path in cases(names):
        vertices = 0
        for levels in LEVELS:
            if 4 * vertices > MOST:
                print(f"{name} x{4**levels}: left out, about {4 * vertices:,} vertices", flush=True)
                break
            row = measure(zip_path, path, levels, folder)
            if isinstance(row, str):
                failures.append(f"{name} x{4**levels}: {row}")
                print(failures[-1], flush=True)
                break
            vertices = row["vertices"]
            rows.append(row)
            print(" | ".join(str(cell) for cell in line(row)), flush=True)
    text = table(rows)
    note = (
        "B: Blender's parent_set(type='ARMATURE_AUTO') in the same process; * it left vertices "
        "without weights. stretch: root of the relative ARAP energy on 100 poses not used "
        "before; worst: its 99th percentile over the vertices."
    )
    (folder / "table.md").write_text(f"{text}\n\n{note}\n")
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    print(f"\n{text}\n\n{note}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
