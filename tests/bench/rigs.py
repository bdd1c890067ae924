"""Production rigs as their makers left them, weighted by the operator and by bone heat, judged on
their own animations.

rigs.py ZIP OUTPUT_FOLDER [RIG...]     (bench.py calls it)

The rigs are those of ../shared/rigs, or of the folder that the environment variable RIGS names
(`make bench PART=rigs RIGS=folder`): then the page goes to build/bench/some. Other files than
.blend come through Blender's importer with its default settings. The pictures go to the folder
`looks` next to the page."""

import os
import sys
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
Every file is used unchanged: the rig that deforms the most vertices, with all its
meshes, control rig, constraints and drivers. The weights of its bones are removed. *Ours* are the
weights of the operator with its defaults, *heat* Blender's automatic weights, *file* the original
weights. Columns:

- *area*, *p99*: strain by area and of the worst percent of the faces, in %, on up to 24 frames of
  the file's own actions, or on {RANDOM} random poses if it has none. A dash (-): heat or the file
  leaves vertices without weights.
- *extra*: share of our weight on bones that the file leaves empty, in %.
- *deaf*: bones that do not move their skin. A bone is tested if the file gives it more than
  {OWN} at {LEAST_OWN} vertices. It is turned by 40 degrees about two axes across it, together with
  its children. It is deaf if these vertices then move less than {DEAF} as far by our weights as
  by the file's. Strain does not show this: a bone without influence stretches nothing. In some
  files a limb's skin follows bones next to it: of the deaf bones, those are counted whose vertices
  are at least {ELSEWHERE} times as far from them as from the nearest bone.
- *parts*: loose parts of {LEAST_PART} vertices or more on a wrong bone, of all that the file hangs
  on one bone (mean weight of {HANGS} or more). A part is on a wrong bone if ours gives the file's
  bone a mean weight of less than {HELD}.
- *gap*: how far loose parts move away, in the widest pose, from the surface that they touch at
  rest. 95th percentile over pairs of vertices in contact, in % of the size, for the file and for
  ours.
- *L1*: mean over the vertices of the sum of |ours - file|, from 0 to 2.
- *s*: seconds of the whole operator, and of heat.

A file falls short if

- it fails, or vertices stay without weights,
- the strain is above {AS_HEAT} of heat's or {AS_FILE} of the file's,
- more than {100 * MOST_EXTRA:.0f} % of the weight is extra,
- a bone is deaf,
- more than {100 * MOST_WRONG:.0f} % of the parts, and more than one, are on another bone, or
- gaps are wider than the file's by more than {100 * WIDER} % of the size."""
EMPTY = """\
## Bones that the file leaves empty

For files with more than 1 % of our weight on such bones: the bones with the most weight, the
weight that heat gives them, and the bone to which the file gives most of that skin. Some are skin
that the file gives to the bone next to it, such as the other side of the seam of a mirrored
body."""
STRETCHED = """\
## Bones that stretch

In the frames of {name}, {percent:.0f} % of the bones with weight become more than
1.1 times as long or as short. Skin that follows one of them alone stretches with it."""
EMPTY_HEAD = ["file", "bone", "ours %", "heat %", "of the skin that the file gives to", "%"]
MOST_EMPTY = 8  # rows of a file
MANY = 0.5  # of the bones
WORST = """\
## The worst

The files with the highest strain relative to heat or to the file's weights. Each is shown in the
pose in which it is most above both, with the strain by area in that pose. Vertices without weights
are blue."""
HEAD = [
    *("file", "vertices", "deform bones", "poses", "area heat / ours / file"),
    *("p99 heat / ours / file", "extra %", "deaf", "parts", "gap file / ours", "L1"),
    *("s ours / heat", "falls short"),
]

FOLDS = """\
## Folds and sides

*crossing*: area of triangles that pass through others in a pose and not at rest, in %. *crease*:
edges that fold by 60 degrees more than at rest, in % of their length. *asymmetry*: mean difference
to the weights of the other side, from 0 to 2, of rigs with two sides. Each: heat / ours / file."""
FOLDS_HEAD = ["file", "crossing %", "crease %", "asymmetry"]
FOLDS_FORMS = {"crossing": (".1f", 100), "crease": (".2f", 100), "asymmetry": (".3f", 1)}


def files_in(folder):
    """{name: path} of what rig_weights.py opens."""
    kept = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES]
    found = {}
    for path in kept:  # of several with one stem, the later ones by their whole names
        found[path.name if path.stem in found else path.stem] = path
    return found


def files(asked):
    """Those asked for by name, or all. Exits without any."""
    folder = Path(os.environ.get("RIGS") or paths.RIGS)
    found = files_in(folder)
    unknown = set(asked) - set(found)
    if unknown or not found:
        sys.exit(f"bench: no rig {', '.join(sorted(unknown))} in {folder}")
    return {name: path for name, path in found.items() if not asked or name in asked}


def arrays_of(zip_path, name, path):
    """What rig_weights.py makes of a file, unless a run of the same extension has left it; or a
    line on what went wrong."""
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
        " / ".join(shown(judged.p99(way), ".0f") for way in ways),
        f"{100 * judged.extra:.1f}", len(judged.deaf), f"{judged.wrong_parts} of {judged.parts}",
        f"{100 * judged.gap['file']:.1f} / {100 * judged.gap['ours']:.1f}",
        shown(judged.l1, ".2f", 1), f"{judged.seconds:.1f} / {judged.heat_seconds:.1f}",
        "; ".join(falls_short(judged)) or "",
    ]  # fmt: skip


def folds(judged):
    cells = (
        " / ".join(shown(getattr(judged, key)[way], *form) for way in ("heat", "ours", "file"))
        for key, form in FOLDS_FORMS.items()
    )
    return [judged.name, *cells]


def means(rows):
    """A table of ratios over the files where both strains are known."""
    lines = []
    for way, what in (("heat", "heat's"), ("file", "the file's")):
        ratios = np.array([judged.ratio(way) for judged in rows])
        ratios = ratios[np.isfinite(ratios)]
        if len(ratios):
            mean = np.exp(np.log(ratios).mean())
            lines.append([f"of {what}", f"{mean:.2f}", f"{ratios.max():.2f}", len(ratios)])
    return table(["strain by area", "geometric mean", "worst", "files"], lines)


def totals(rows):
    """A sentence on what is counted, over the files with weights."""
    painted = [judged for judged in rows if not np.isnan(judged.l1)]
    if not painted:
        return "No file has weights."
    deaf, asleep = (sum(len(getattr(each, key)) for each in painted) for key in ("deaf", "asleep"))
    wrong, parts, elsewhere = (
        sum(getattr(each, key) for each in painted) for key in ("wrong_parts", "parts", "elsewhere")
    )
    return (
        f"Over the {len(painted)} files with weights: {deaf} deaf bones ({elsewhere} of them with "
        f"skin in the file that is next to other bones); {asleep} bones asleep (a "
        f"tenth of the file's weight or less); {wrong} of {parts} parts on another bone; mean L1 "
        f"{np.mean([judged.l1 for judged in painted]):.2f}."
    )


def reasons(rows):
    """[block]: bones that the file leaves empty, and those that its frames stretch."""
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
    """(Judged of each file, {name: arrays}, lines on what failed)"""
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
    blocks += [table(HEAD, [row(judged) for judged in rows]), *failures, FOLDS]
    blocks += [table(FOLDS_HEAD, map(folds, rows))]
    blocks += [*reasons(rows), WORST]
    pictures = [f"../looks/{name}" for name in drawn]
    write_page(output, "rigs", "Rigs from the wild", *blocks, pictures=pictures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
