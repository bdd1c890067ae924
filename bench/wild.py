"""Weights skinned files of public repositories as a new user would.

wild.py ZIP OUTPUT_FOLDER [FILE...]     (called by bench.py)

../shared/wild/sources.tsv names the files, and ../shared/wild/get.sh copies them from the
repositories into a folder, which the environment variable WILD names (`make bench PART=wild
WILD=folder`). Missing files are skipped, and the page says so. The numbers are stored in
build/bench/wild.json. The environment variable BEFORE names such a file of an earlier engine. The
page then shows whether a change carries over to repositories other than those that benefit. A
.blend file is opened unchanged, and others are read by Blender's importers with their default
settings. There are no pictures, because most of these files state no license."""

import csv
import json
import os
import sys
from pathlib import Path

import numpy as np
import paths
import rigs
from core_modules import add_on
from results import say, table, write_page
from rig_judge import falls_short

LEAST_CHANGE = 1e-3
SOURCES = paths.SHARED / "wild/sources.tsv"
KINDS = {".blend": "drawn in Blender (.blend)", ".glb": "glTF, imported", ".fbx": "FBX, imported"}
NOTE = """\
The files come from {repositories} public repositories and are opened as a new user would open
them. .blend files are used unchanged. .glb and .fbx files are imported with the default
settings of Blender's importers, so the importers determine the bone directions.
[rigs.md](rigs.md) explains the columns and the criteria for falling short. In the tables by
kind and by generator, our numbers are means over all files. The numbers after a semicolon
compare ours with heat, over the files in which heat weights every vertex. For *L1* and *over*,
these are only the files whose own weights are not bone heat (L1 of heat above {copied}). Means of
strain are geometric means, followed by the number of files for which both strains are known."""
GENERATORS = """\
## By names of bones

The table groups these files and the [production rigs](rigs.md) by the generators or engines
whose bone names they use. A file can belong to several groups."""
CARRIED = """\
## Changes, leaving out repositories

Changes of totals relative to an earlier engine. *Without one* is the range of the change if one
repository is left out. A rule whose benefit disappears there suits only this repository."""
CARRIED_HEAD = ["total", "before", "now", "change", "without one", "repositories better / worse"]
KIND_HEAD = [
    *("kind", "files", "strain relative to heat", "worst"),
    *("strain relative to the file", "worst"),
    *("deaf bones ours / heat", "parts on another bone ours / heat", "L1 ours / heat"),
    "over % ours / heat",
    "fall short",
]


def sources():
    """{name: repository}"""
    if not SOURCES.exists():
        return {}
    with SOURCES.open(encoding="utf-8") as file:
        return {row["name"]: row["repository"] for row in csv.DictReader(file, delimiter="\t")}


def known(folder, listed):
    """({name: path}, [sentence about missing files])"""
    found = rigs.files_in(folder) if folder and folder.is_dir() else {}
    chosen = {name: found[name] for name in listed if name in found}
    gone = [name for name in listed if name not in found]
    if not gone:
        return chosen, []
    return chosen, [f"{len(gone)} of {len(listed)} files are not there: {', '.join(gone)}."]


def ratios(rows, way):
    found = np.array([judged.ratio(way) for judged in rows])
    return found[np.isfinite(found)]


def told_ratio(found):
    """[geometric mean with the number of files, worst]"""
    if not len(found):
        return ["-", "-"]
    return [f"{np.exp(np.log(found).mean()):.2f} ({len(found)})", f"{found.max():.2f}"]


def kind_line(label, rows):
    painted = [judged for judged in rows if not np.isnan(judged.l1)]
    both = [judged for judged in painted if judged.beside_heat]
    line = [label, len(rows), *told_ratio(ratios(rows, "heat")), *told_ratio(ratios(rows, "file"))]
    return [*line, *counted(painted, both), sum(bool(falls_short(each)) for each in rows)]


def counted(painted, both):
    """Our value over all files with weights, and both values over those on which heat succeeds."""
    deaf = sum(len(each.deaf) for each in painted)
    wrong, parts = (sum(getattr(each, key) for each in painted) for key in ("wrong_parts", "parts"))
    beside = [
        f"; {sum(each.value('ours', key) for each in both)} / "
        f"{sum(each.value('heat', key) for each in both)}" if both else ""
        for key in ("deaf", "wrong")
    ]  # fmt: skip
    return [
        f"{deaf}{beside[0]}", f"{wrong} of {parts}{beside[1]}",
        *(rigs.beside_own(painted, key) for key in rigs.LIKENESS),
    ]  # fmt: skip


def kinds_table(rows, suffixes):
    """A line for each kind of file, and one for all."""
    lines = [
        kind_line(label, [each for each in rows if suffixes[each.name] == suffix])
        for suffix, label in KINDS.items()
        if suffix in suffixes.values()
    ]
    return table(KIND_HEAD, [*lines, kind_line("all", rows)])


def generators_table(rows, names):
    """A line for each recognized generator of skeletons, and one for the rest. names: {file: names
    of its bones}"""
    recognize = add_on("skeleton.generators").recognize
    of = {file: [each.name for each in recognize(map(str, bones))] for file, bones in names.items()}
    lines = []
    for generator in sorted({each for found in of.values() for each in found}):
        lines.append(kind_line(generator, [row for row in rows if generator in of[row.name]]))
    rest = [row for row in rows if not of[row.name]]
    return table(KIND_HEAD, [*lines, *([kind_line("none of these", rest)] if rest else [])])


def counts(judged):
    """{name of a total: number of a file}, less is better."""
    ratio = judged.ratio("heat")
    found = {
        "files that fall short": len(falls_short(judged)) > 0,
        "deaf bones": len(judged.deaf),
        "parts on another bone": judged.wrong_parts,
        "L1": judged.l1,
        "over": judged.value("ours", "over"),
        "drift": judged.value("ours", "drift"),
        "gap": judged.gap["ours"],
        "strain (logarithm, relative to heat)": np.log(ratio) if ratio > 0 else np.nan,
    }
    return {total: float(number) for total, number in found.items() if np.isfinite(number)}


def carried(before, now, repositories):
    """A table of the changes of totals, over the files that both contain. before, now: {file:
    counts}; repositories: {file: repository}"""
    lines = []
    for total in dict.fromkeys(total for each in now.values() for total in each):
        both = [name for name in now if total in now[name] and total in before.get(name, {})]
        change = dict.fromkeys((repositories[name] for name in both), 0.0)
        for name in both:
            change[repositories[name]] += now[name][total] - before[name][total]
        if not both:
            continue
        old, new = (sum(each[name][total] for name in both) for each in (before, now))
        rest = [new - old - each for each in change.values()]
        better = sum(each < -LEAST_CHANGE for each in change.values())
        worse = sum(each > LEAST_CHANGE for each in change.values())
        signs = f"{min(rest):+.3g} to {max(rest):+.3g}"
        row = [total, f"{old:.4g}", f"{new:.4g}", f"{new - old:+.3g}", signs]
        lines.append([*row, f"{better} / {worse}"])
    return [CARRIED, table(CARRIED_HEAD, lines)]


def main(zip_path, output, *asked):
    listed = sources()
    unknown = set(asked) - set(listed)
    if unknown:
        sys.exit(f"bench: {SOURCES.name} has no {', '.join(sorted(unknown))}")
    listed = {name: listed[name] for name in listed if not asked or name in asked}
    folder = os.environ.get("WILD")
    chosen, absent = known(Path(folder) if folder else None, listed)
    for sentence in absent:
        say(sentence)
    if not chosen:
        say("bench: nothing for the part wild; its page stays (WILD=folder names the files)")
        return 0
    rows, arrays, failures = rigs.judged_files(zip_path, chosen)
    riggers = {} if asked or not paths.RIGS.is_dir() else rigs.files_in(paths.RIGS)
    more, arrays_of_more, _failures = rigs.judged_files(zip_path, riggers)
    names = {name: each["bone_names"] for name, each in {**arrays, **arrays_of_more}.items()}
    suffixes = {name: path.suffix.lower() for name, path in chosen.items()}
    short = sum(bool(falls_short(each)) for each in rows)
    note = NOTE.format(repositories=len({listed[name] for name in chosen}), copied=rigs.COPIED)
    blocks = [note, f"{short} of {len(rows)} fall short.", kinds_table(rows, suffixes)]
    blocks += [rigs.totals(rows), GENERATORS, generators_table([*rows, *more], names)]
    blocks += ["## File by file", table(rigs.HEAD, [rigs.row(each) for each in rows])]
    numbers = {each.name: counts(each) for each in rows}
    if os.environ.get("BEFORE"):
        before = json.loads(Path(os.environ["BEFORE"]).read_text(encoding="utf-8"))
        blocks += carried(before, numbers, listed)
    blocks += [
        *rigs.reach_blocks(rows),
        rigs.FOLDS,
        table(rigs.FOLDS_HEAD, map(rigs.folds, rows)),
        *failures,
        *absent,
    ]
    write_page(Path(output), "wild", "Files of public repositories", *blocks, rows=numbers)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
