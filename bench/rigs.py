"""Weights production rigs, as their makers left them, with the operator and with bone heat, and
evaluates the weights on the rigs' own animations.

rigs.py ZIP OUTPUT_FOLDER [RIG...]     (called by bench.py)

The rigs are in ../shared/rigs or in the folder that the environment variable RIGS names (`make
bench PART=rigs RIGS=folder`). In the latter case, the page is written to build/bench/some. Files
other than .blend are read by Blender's importer with its default settings. The pictures are written
to the folder `looks` next to the page."""

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import paths
import rig_pictures
from in_blender import BUILD, run_in_blender
from results import say, table, write_page
from rig_judge import AS_FILE, AS_HEAT, MOST_EXTRA, MOST_WRONG, RANDOM, WIDER, falls_short, judge
from rig_response import DEAF, ELSEWHERE, HANGS, HELD, LEAST_OWN, LEAST_PART, OWN

FOLDER = BUILD / "rigs"
SUFFIXES = {".blend", ".glb", ".gltf", ".vrm", ".fbx"}  # what rig_weights.py opens
LIMIT = 1800  # seconds for one file
PICTURES = 5
NOTE = f"""\
Every file is used unchanged. The test uses the rig that deforms the most vertices, with all
meshes, controls, constraints and drivers of this rig, and removes the weights of its bones.
*Ours* refers to the operator's weights with default settings, *heat* to Blender's automatic
weights, and *file* to the original weights. The columns are:

- *area*, *p99*: strain by area and in the worst 1 % of the faces, in %, over up to 24
  frames of the file's own actions, or over {RANDOM} random poses if the file has no actions. A
  dash (-) means that heat or the file leaves vertices without weights.
- *extra*: share of our weights, in %, on bones without weights in the file.
- *deaf*: bones that do not move their skin. A bone is tested if it has a weight above {OWN}
  at {LEAST_OWN} or more vertices in the file. The bone is rotated by 40 degrees about two
  axes perpendicular to it, together with its children. The bone is counted if these vertices
  then move less than {DEAF} times as far with our weights as with the file's weights. Strain
  does not reveal such bones, because a bone without influence stretches nothing. In some
  files, a limb's skin follows adjacent bones. A separate count covers bones that are at least
  {ELSEWHERE} times as far from their own vertices as the nearest bone is.
- *parts*: loose parts of at least {LEAST_PART} vertices on the wrong bone, out of all parts that
  the file assigns to one bone (mean weight of at least {HANGS}). A part is on the wrong bone if
  our weights give the file's bone a mean weight below {HELD}.
- *gap*: distance by which loose parts separate, in the widest pose, from the surface that they
  touch at rest. The number is the 95th percentile over pairs of vertices in contact, as a
  percentage of the character's size, for the file's weights and for ours.
- *L1*: sum of |weight - weight of the file| over the bones, from 0 to 2, averaged over the
  vertices.
- *s*: total run time of the operator and of heat, in seconds.

A file falls short if

- weighting fails, or vertices remain without weights,
- the strain exceeds {AS_HEAT} times the strain with heat or {AS_FILE} times the strain with the
  file's weights,
- more than {100 * MOST_EXTRA:.0f} % of the weight is on extra bones,
- a bone does not move its skin,
- more than {100 * MOST_WRONG:.0f} % of the parts, and more than one part, are on the wrong bone,
  or
- gaps exceed those with the file's weights by more than {100 * WIDER} % of the character's
  size."""
EMPTY = """\
## Bones that the file leaves empty

Some files have more than 1 % of our weight on bones that have no weight in the file. For these
files, the table lists the bones with the most weight, their weight with heat, and the bone to
which the file assigns most of that skin. In some cases, this main bone is adjacent, such as the
bone across the seam of a mirrored body."""
STRETCHED = """\
## Bones that stretch

In the frames of {name}, {percent:.0f} % of the bones with weight change their length by a factor
of more than 1.1. Skin that follows only one of these bones stretches with it."""
EMPTY_HEAD = ["file", "bone", "ours %", "heat %", "main bone of this skin in the file", "%"]
MOST_EMPTY = 8  # rows of a file
MANY = 0.5  # of the bones
WORST = """\
## The worst

The pictures show the files with the highest strain relative to heat or to the file's weights, each
in the pose in which our strain exceeds the other two by the most. Each picture gives the strain by
area in its pose. Vertices without weights are blue."""
HEAD = [
    *("file", "vertices", "deform bones", "poses", "area heat / ours / file"),
    *("p99 heat / ours / file", "extra %", "deaf", "parts", "gap file / ours", "L1 heat / ours"),
    *("s ours / heat", "falls short"),
]
COPIED = 0.13  # L1 of heat to the file: with less, the file's own weights come from bone heat
REACH = f"""\
## Reach, drift and regrets

The first table lists our means, and after the semicolon ours and heat's over the files whose own
weights are not bone heat (L1 of heat above {COPIED}). The cells of the last table list heat / ours
/ file.

- *over*: overreach in %, the weight that limbs have on skin that the file does not give them, by
  area. A limb is a bone with all its descendants that has 1 to 90 % of the skin in the file. Strain
  does not reveal overreach, because skin that goes along with a limb does not stretch.
- *drift*: distance of limbs from their bones in limb radii, as the median over the limbs.
- *astray*: share of the limbs, in %, that drift by more than a quarter of their radius.
- *peak*: strain of the worst triangle, in %.
- *worse than*: the measures by which our weights are worse by more than 5 %, or by one bone or one
  part, than heat or the file's weights."""
REACH_HEAD = [
    "file",
    "over %",
    "drift",
    "astray %",
    "peak",
    "worse than heat",
    "worse than the file",
]
REACH_FORMS = {
    "over": (".1f", 100), "median_drift": (".2f", 1), "astray": (".0f", 100), "peak": (".0f", 100),
}  # fmt: skip

FOLDS = """\
## Folds and sides

- *crossing*: share of the area, in %, of triangles that intersect others in a pose but not at
  rest.
- *crease*: edges that fold by 60 degrees more than at rest, as a percentage of the total edge
  length.
- *asymmetry*: mean difference from the weights on the opposite side, from 0 to 2, for rigs with
  two sides.

Each cell lists heat / ours / file."""
FOLDS_HEAD = ["file", "crossing %", "crease %", "asymmetry"]
LIKENESS = {"l1": (".2f", 1), "over": (".1f", 100)}
LABELS = {"median_drift": "drift", "wrong": "parts"}
FOLDS_FORMS = {"crossing": (".1f", 100), "crease": (".2f", 100), "asymmetry": (".3f", 1)}


def files_in(folder):
    """{name: path} of the files that rig_weights.py opens."""
    kept = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES]
    found = {}
    for path in kept:  # of several with one stem, the later ones by their whole names
        found[path.name if path.stem in found else path.stem] = path
    return found


def files(asked):
    """The files requested by name, or all files. Exits if no file is found."""
    folder = Path(os.environ.get("RIGS") or paths.RIGS)
    found = files_in(folder)
    unknown = set(asked) - set(found)
    if unknown or not found:
        sys.exit(f"bench: no rig {', '.join(sorted(unknown))} in {folder}")
    return {name: path for name, path in found.items() if not asked or name in asked}


def arrays_of(zip_path, name, path):
    """The arrays that rig_weights.py makes from a file, unless a run of the same extension has
    stored them; or a line that states what went wrong."""
    result = FOLDER / f"{name}.npz"
    FOLDER.mkdir(parents=True, exist_ok=True)
    newest = max(each.stat().st_mtime for each in (zip_path, path))
    if not result.exists() or result.stat().st_mtime < newest:
        error = run_in_blender("rig_weights.py", zip_path, path, result, limit=LIMIT)
        if error:
            return error
    with np.load(result) as file:
        return dict(file)


def shown(number, form, factor=100):
    return "-" if np.isnan(number) else f"{factor * number:{form}}"


def row(judged):
    ways = ("heat", "ours", "file")
    return [
        judged.name, f"{judged.vertices:,}", judged.bones,
        len(judged.poses) if judged.animated else f"{len(judged.poses)} random",
        " / ".join(shown(judged.area(way), ".1f") for way in ways),
        " / ".join(shown(judged.value(way, "p99"), ".0f") for way in ways),
        f"{100 * judged.extra:.1f}", len(judged.deaf), f"{judged.wrong_parts} of {judged.parts}",
        f"{100 * judged.gap['file']:.1f} / {100 * judged.gap['ours']:.1f}",
        " / ".join(shown(judged.value(way, "l1"), ".2f", 1) for way in ways[:2]),
        f"{judged.seconds:.1f} / {judged.heat_seconds:.1f}",
        "; ".join(falls_short(judged)) or "",
    ]  # fmt: skip


def reach(judged):
    cells = (
        " / ".join(shown(judged.value(way, key), *form) for way in ("heat", "ours", "file"))
        for key, form in REACH_FORMS.items()
    )
    rivals = (
        ", ".join(LABELS.get(key, key) for key in judged.worse_than(way))
        for way in ("heat", "file")
    )
    return [judged.name, *cells, *rivals]


def reach_blocks(rows):
    return [REACH, likeness(rows), regret_totals(rows), table(REACH_HEAD, map(reach, rows))]


def folds(judged):
    cells = (
        " / ".join(shown(getattr(judged, key)[way], *form) for way in ("heat", "ours", "file"))
        for key, form in FOLDS_FORMS.items()
    )
    return [judged.name, *cells]


def beside_own(rows, key):
    """Our mean; and both means over the files whose own weights are not bone heat."""
    form = LIKENESS[key]
    own = [judged for judged in rows if judged.beside_heat and judged.value("heat", "l1") > COPIED]
    both = " / ".join(shown(mean_of(own, way, key), *form) for way in ("ours", "heat"))
    return shown(mean_of(rows, "ours", key), *form) + (f"; {both}" if own else "")


def mean_of(rows, way, key):
    return np.mean([judged.value(way, key) for judged in rows]) if rows else np.nan


def likeness(rows):
    painted = [judged for judged in rows if not np.isnan(judged.l1)]
    head = ["likeness", "L1 ours / heat", "over % ours / heat"]
    return table(head, [["mean", *(beside_own(painted, key) for key in LIKENESS)]])


def regret_totals(rows):
    """A sentence for each rival on how many files are worse than it by any measure."""
    lines = []
    for way, rival in (("heat", "heat"), ("file", "the file's weights")):
        known = [judged for judged in rows if judged.rows[way].any()]
        found = Counter(key for judged in known for key in set(judged.worse_than(way)))
        worse = sum(bool(judged.worse_than(way)) for judged in known)
        by = ", ".join(f"{LABELS.get(key, key)} {count}" for key, count in found.most_common())
        lines.append(
            f"{worse} of {len(known)} files are worse than with {rival} by any measure"
            + (f" ({by})." if by else ".")
        )
    return "\n".join(lines)


def means(rows):
    """A table of ratios over the files in which both strains are known."""
    lines = []
    for way, what in (("heat", "heat"), ("file", "the file")):
        ratios = np.array([judged.ratio(way) for judged in rows])
        ratios = ratios[np.isfinite(ratios)]
        if len(ratios):
            mean = np.exp(np.log(ratios).mean())
            lines.append([f"relative to {what}", f"{mean:.2f}", f"{ratios.max():.2f}", len(ratios)])
    return table(["strain by area", "geometric mean", "worst", "files"], lines)


def totals(rows):
    """A sentence on the counts over the files with weights."""
    painted = [judged for judged in rows if not np.isnan(judged.l1)]
    if not painted:
        return "No file has weights."
    deaf, asleep = (sum(len(getattr(each, key)) for each in painted) for key in ("deaf", "asleep"))
    wrong, parts, elsewhere = (
        sum(getattr(each, key) for each in painted) for key in ("wrong_parts", "parts", "elsewhere")
    )
    return (
        f"In the {len(painted)} files with weights, {deaf} bones do not move their skin. The skin "
        f"that the file gives to {elsewhere} of these bones is next to other bones. {asleep} bones "
        f"are nearly inactive, that is, their weight is at most a tenth of their weight in the "
        f"file. {wrong} of {parts} parts are on the wrong bone. The mean L1 is "
        f"{np.mean([judged.l1 for judged in painted]):.2f}."
    )


def reasons(rows):
    """[block]: bones that the file leaves empty, and bones that its frames stretch."""
    empty = [
        [judged.name, each.name, *(f"{100 * share:.2f}" for share in (each.ours, each.heat)),
         each.owner, f"{100 * each.share:.0f}"]
        for judged in rows if judged.extra > MOST_EXTRA for each in judged.neglected[:MOST_EMPTY]
    ]  # fmt: skip
    blocks = [EMPTY, table(EMPTY_HEAD, empty)] if empty else []
    above = [each for each in rows if each.ratio("heat") > AS_HEAT and each.stretched > MANY]
    return blocks + [
        STRETCHED.format(name=each.name, percent=100 * each.stretched) for each in above
    ]


def judged_files(zip_path, chosen):
    """(Judged of each file, {name: arrays}, lines on failures)"""
    rows, arrays, failures = [], {}, []
    for name, path in chosen.items():
        found = arrays_of(Path(zip_path), name, path)
        if isinstance(found, str):
            failures.append(f"{name}: {found}")
            say(failures[-1])
            continue
        arrays[name] = found
        rows.append(judge(name, found))
        say(*row(rows[-1]))
    return rows, arrays, failures


def main(zip_path, output, *asked):
    output = BUILD / "some" if os.environ.get("RIGS") else Path(output)
    rows, arrays, failures = judged_files(zip_path, files(asked))
    short = [judged for judged in rows if falls_short(judged)]
    worst = sorted(
        (judged for judged in rows if judged.strain["ours"] is not None),
        key=lambda judged: -judged.worst_ratio,
    )[:PICTURES]
    folder = output.parent / "looks"
    drawn = [rig_pictures.picture(arrays[each.name], each, folder) for each in worst]
    blocks = [NOTE, f"{len(short)} of {len(rows)} fall short.", means(rows), totals(rows)]
    blocks += [table(HEAD, [row(judged) for judged in rows]), *failures]
    blocks += [*reach_blocks(rows), FOLDS, table(FOLDS_HEAD, map(folds, rows))]
    blocks += [*reasons(rows), WORST]
    pictures = [f"../looks/{name}" for name in drawn]
    write_page(output, "rigs", "Production rigs", *blocks, pictures=pictures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
