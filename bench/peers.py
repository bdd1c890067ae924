"""Runs every available method of weighting on the same characters, and evaluates the results by
measures that no method optimizes.

peers.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

Environment: BENCH_LIMIT=60 (seconds for one method and character), BENCH_REFERENCE=FOLDER (bench.py
--reference): result files of RigNet, NAME_rig.txt (rignet.py). If NAME.obj is next to such a file,
the file is a character of its own, and the other methods are also evaluated on its skeleton.
Otherwise, its joints are bones of the character NAME in ../shared/data, and its vertices are the
vertices of this character.

Each method runs in a process of its own. The result of a method, including a failure, stays in
build/bench/peers and is reused while it is newer than the extension."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import dem_bones
import numpy as np
import rigged
import rignet
import seen
from araplbs.base.refusal import Refused
from core_modules import add_on, rows_of
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page
from roughness import Roughness
from seen_numbers import shown, value, values
from yardstick import Yardstick, normalized, skin

LIMIT = int(os.environ.get("BENCH_LIMIT", "60"))
START = 60  # seconds more for processes: Blender starts, the extension is installed
FOLDER = BUILD / "peers"
IN_BLENDER = ("heat", "envelope", "default", rigged.PUBLISHED)
WAYS = {
    "heat": "Blender heat", "envelope": "Blender envelope", "igl": "libigl BBW",
    "dem_bones": "Dem Bones", "reference": "RigNet", "artist": "artist", "nearest": "nearest bone",
    "boneglow": "BoneGlow", "our_heat": "our heat", "bbw": "our BBW", "biharmonic": "biharmonic",
    "default": "ours", rigged.PUBLISHED: "as published",
}  # fmt: skip
ON_GIVEN = ("heat", "igl", "our_heat", "bbw", "default")  # on skeletons that files bring
BASE = "default"
LIKENESS = {"precision": "precision", "recall": "recall", "cut_l1": "l1"}


@dataclass
class Measure:
    key: str
    kind: str  # of poses
    head: str  # of a column
    form: str = ".2f"
    unit: str = ""
    painted: bool = False  # only where the artist's weights owe nothing to bone heat
    geometric: bool = False

    def values(self, rows, way):
        """The values of the measure in the rows, NaN where it is missing; a gained volume counts as
        a lost one. Lower values are better."""
        rows = [row for row in rows if row["painted"] or not self.painted]
        return np.abs(values(rows, way, self.kind, self.key))

    def shown(self, number):
        return shown(number, self.form, 100 if self.unit == "%" else 1)

    def beside(self, rows, way):
        """A cell of a table of means, over the characters on which both methods succeed: the ratio
        of geometric means, otherwise both means."""
        pairs = np.stack([self.values(rows, each) for each in (way, BASE)], 1)
        pairs = pairs[np.isfinite(pairs).all(1)]
        if not len(pairs):
            return "-"
        if self.geometric:
            own, base = np.log(np.maximum(pairs, 1e-12)).mean(0)
            return f"{np.exp(own - base):.2f}"
        return " / ".join(map(self.shown, pairs.mean(0)))


STRAIN = [
    Measure("area", "random", "area", ".1f", "%", geometric=True),
    Measure("area", "animation", "area, animation", ".1f", "%", geometric=True),
    Measure("p99", "random", "p99", ".0f", "%", geometric=True),
    Measure("p99", "animation", "p99, animation", ".0f", "%", geometric=True),
    Measure("drift", "random", "drift"),
    Measure("drift", "animation", "drift, animation"),
    Measure("volume", "random", "volume %", ".1f", "%"),
    Measure("volume", "animation", "volume %, animation", ".1f", "%"),
]
OTHERS = [
    Measure("l1", "random", "L1", painted=True),
    Measure("precision", "random", "precision", ".0f", "%", painted=True),
    Measure("recall", "random", "recall", ".0f", "%", painted=True),
    Measure("cut_l1", "random", "L1 by the protocol", painted=True),
    Measure("influences", "random", "influences"),
    Measure("rough", "random", "bi-Laplacian", ".3g", geometric=True),
    Measure("seconds", "random", "s", ".2f", "s"),
]
NOTE = f"""\
`bench/yardstick.py` evaluates all methods in 24 random poses (every bone swings by up to 60
and twists by up to 10 degrees) and in up to 24 frames of the animation. No method optimizes these
measures directly. *Blender envelope* uses the envelopes stored in the armature of the file. *libigl
BBW* denotes bounded biharmonic weights on tetrahedra inside the mesh, with vertices on the bones,
if TetGen can fill the mesh. *Dem Bones* needs a sequence. It receives the bone transforms and the
animation, posed with the artist's weights, and finds weights that reproduce this animation. Because
*Dem Bones* sees the result of the artist's weights, its similarity to these weights proves little.
*Nearest bone*, *BoneGlow*, *our heat*, *our BBW* (on the surface) and *biharmonic* (without bounds)
are methods of `araplbs.baseline_weights`. None of these methods limits the number of influences.
*Ours* is the operator with default settings and at most 4 influences. *As published* is the preset
*As published (2018 paper)*. Each method runs in its own process, with a limit of {LIMIT} s per
character. **Times are approximate**, because other programs on the machine slow all methods down,
and the delay counts toward the limit.

- *area*: surface strain in %, root mean square by area.
- *p99*: 99th percentile of the strain over the triangles.
- *drift*: distance by which limbs drift from their bones, in limb radii.
- *volume*: volume change of closed meshes, in %.
- *L1*: mean distance to the artist's weights, 0 to 2.
- *precision*, *recall* of influences and *L1 by the protocol* ignore weights below 0.001. In the
  evaluated weights, these measures also ignore weights below 0.35 times the largest weight of the
  vertex (`araplbs/measures/likeness.py`), so the artist's own small influences count as missed.
- *bi-Laplacian*: the energy that biharmonic weights minimize, on the surface.

A method that leaves vertices of triangles without weights has failed (-). Two characters are listed
in the tables but excluded from the means: fox_soup is a set of unconnected triangles, and the rig
of human_game_engine does not fit its mesh."""
GIVEN_NOTE = """\
The meshes, skeletons and weights come from the files in the folder `--reference`, with joints
converted to bones. The page in docs/bench uses the first files in RigNet's repository
(`quick_start/*_ori.obj` and `*_ori_rig.txt`). These files contain skeletons and weights predicted
by RigNet, but no artist's weights for comparison. The other methods use RigNet's skeleton."""


@dataclass
class Character:
    """The problem to be weighted."""

    name: str
    path: Path  # of its arrays
    source: object  # for seen_weights.py
    reference: np.ndarray | None = None

    @cached_property
    def arrays(self):
        with np.load(self.path, allow_pickle=True) as file:
            return dict(file)

    @cached_property
    def yardstick(self):
        return Yardstick(self.arrays)

    @cached_property
    def roughness(self):
        return Roughness(self.yardstick.vertices, self.yardstick.triangles)

    def judge(self, weights, seconds):
        """{kind of poses: {measure: value}}, or a line that states why it failed."""
        found = self.yardstick.judge(weights)
        unweighted = found["random"]["unweighted"]
        if unweighted:
            of = len(np.unique(self.yardstick.triangles))
            return f"leaves {unweighted:,} of {of:,} vertices without weights"
        rows, artist = self.yardstick.rows(weights), self.yardstick.artist
        more = {"rough": self.roughness(rows)}
        if artist is not None:
            more |= likeness_to(artist, rows)
        found = {kind: {**measures, **more} for kind, measures in found.items()}
        return {**found, "seconds": seconds}


def likeness_to(artist, weights):
    """{measure: value} by the protocol of the papers, for (n, m) weights."""
    found = add_on("measures.likeness").likeness(rows_of(weights), rows_of(artist))
    return {name: found[key] if found else np.nan for name, key in LIKENESS.items()}


def from_blender(zip_path, character, way):
    result = FOLDER / f"{character.name}.{way}.npz"
    error = run_in_blender(
        "seen_weights.py", zip_path, character.source, character.path, result, way,
        limit=LIMIT + START,
    )  # fmt: skip
    if error:
        return f"longer than {LIMIT} s" if error.startswith("longer") else error
    with np.load(result) as file:
        return file[way], float(file[f"seconds.{way}"]), f"Blender {file['version']}"


def from_outside(character, way):
    result = FOLDER / f"{character.name}.{way}.npz"
    command = [sys.executable, Path(__file__).with_name("peer_one.py"), way, character.path, result]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"longer than {LIMIT} s"
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return lines[-1] if lines else f"ended with {done.returncode}"
    with np.load(result) as file:
        return file["weights"], float(file["seconds"]), str(file["version"])


def from_sequence(character):
    """Weights of Dem Bones for the animation, as posed with the artist's weights."""
    arrays = character.arrays
    if character.yardstick.artist is None or not arrays.get("anim", np.zeros(0)).size:
        return "no animation"
    deform = np.flatnonzero(arrays["bone_deform"])
    artist = normalized(arrays["W"][:, deform].astype(float))
    known = artist.sum(1) > 0.5
    place = np.cumsum(known) - 1
    vertices, transforms = arrays["V"].astype(float)[known], arrays["anim"][:, deform, :3]
    problem = {
        "vertices": vertices, "triangles": place[arrays["F"][known[arrays["F"]].all(1)]],
        "frames": np.stack([skin(vertices, artist[known], pose) for pose in transforms]),
        "transforms": transforms.astype(float),
    }  # fmt: skip
    found = dem_bones.weigh(BUILD, character.name, problem, LIMIT)
    if isinstance(found, str):
        return found
    weights = np.zeros(arrays["W"].shape)
    weights[np.ix_(known, deform)] = found[0]
    return weights, *found[1:]


def weigh(zip_path, character, way):
    """(weights, seconds, version), or a line that states what went wrong."""
    if way == "artist":
        artist = character.yardstick.artist
        return "no artist" if artist is None else (character.arrays["W"], None, None)
    if way == "reference":
        given = character.reference
        return "no file" if given is None else (given, None, None)
    if way in IN_BLENDER:
        return from_blender(zip_path, character, way)
    return from_sequence(character) if way == "dem_bones" else from_outside(character, way)


def measure(zip_path, character, way):
    """{"found": {kind: measures}, "version"} or {"failed": reason}."""
    file = FOLDER / f"{character.name}.{way}.json"
    newest = max(each.stat().st_mtime for each in (zip_path, character.path))
    if way != "reference" and file.exists() and file.stat().st_mtime > newest:
        return json.loads(file.read_text())
    weights = weigh(zip_path, character, way)
    found = weights if isinstance(weights, str) else character.judge(*weights[:2])
    failed = isinstance(found, str)
    result = {"failed": found} if failed else {"found": found, "version": weights[2]}
    file.write_text(json.dumps(result))
    say(character.name, WAYS[way], result.get("failed", ""))
    return result


def row_of(zip_path, character, ways):
    measured = {way: measure(zip_path, character, way) for way in ways}
    return {
        "name": character.name,
        "painted": rigged.is_painted(character.arrays),
        "ways": {way: each["found"] for way, each in measured.items() if "found" in each},
        "failed": {way: each["failed"] for way, each in measured.items() if "failed" in each},
        "versions": {each.get("version") for each in measured.values()} - {None},
    }


def known_characters(folder, asked):
    """The characters of ../shared/data, with the weights of the files for them."""
    files = rignet.files_in(folder) if folder else {}
    for name in rigged.names(asked, left_out=()):
        path = DATA / f"{name}.npz"
        character = Character(name, path, path.with_suffix(".blend"))
        if name in files and not (folder / f"{name}.obj").exists():
            bones = list(map(str, character.arrays["bone_names"]))
            count = len(character.arrays["V"])
            character.reference = rignet.weights_for(files[name], bones, count)
        yield character


def given_characters(folder):
    """The characters of files with a mesh next to them."""
    for name, rig in rignet.files_in(folder).items():
        mesh = folder / f"{name}.obj"
        if not mesh.exists():
            continue
        arrays = rignet.model_of(rig, mesh)
        path = FOLDER / f"{name}.model.npz"
        text = arrays.pop("reference")
        if not path.exists() or path.stat().st_mtime < mesh.stat().st_mtime:
            np.savez(path, **arrays)
        yield Character(name, path, "model", text)


def cells(row, ways, keys, kind):
    """The measures of a character for each method; one cell contains all measures of a method."""
    for way in ways:
        there = kind in row["ways"].get(way, {})
        numbers = (measure.shown(value(row, way, kind, measure.key)) for measure in keys)
        yield " / ".join(numbers) if there else "-"


def characters_table(rows, ways, keys, kind):
    head = ["character", *(WAYS[way] for way in ways)]
    known = [row for row in rows if kind in row["ways"].get(BASE, {})]
    lines = ([row["name"] + (" +" if row["painted"] else ""), *cells(row, ways, keys, kind)]
             for row in known)  # fmt: skip
    return table(head, lines)


def means_table(rows, ways, measures):
    head = ["way", "characters", *(measure.head for measure in measures)]
    return table(
        head,
        (
            [WAYS[way], sum(way in row["ways"] for row in rows),
             *(measure.beside(rows, way) for measure in measures)]
            for way in ways
        ),
    )  # fmt: skip


def failures(rows, ways):
    """A line for each method that failed on some character."""
    for way in ways:
        reasons = {}
        for row in rows:
            if way in row["failed"]:
                reasons.setdefault(row["failed"][way], []).append(row["name"])
        if reasons:
            told = (f"{', '.join(names)} ({why.rstrip('.')})" for why, names in reasons.items())
            yield f"- {WAYS[way]}: {'; '.join(told)}."


def section(rows, ways, kinds):
    """Blocks of the page on some characters."""
    judged = [row for row in rows if row["name"] not in rigged.LEFT_OUT]
    by_head = {m.head: m for m in STRAIN + OTHERS}
    pick = lambda *heads: [by_head[head] for head in heads]  # noqa: E731
    blocks = [
        "The tables list *area*, *p99* and *bi-Laplacian* as geometric means relative to ours, "
        "and the other measures as arithmetic means next to ours. A ratio below 1 means that the "
        "method is better. Each mean covers the characters that the method can weight.",
        means_table(judged, ways, [m for m in STRAIN if m.kind in kinds]),
        means_table(judged, ways, OTHERS),
    ]  # fmt: skip
    for kind in kinds:
        name = "random poses" if kind == "random" else "animations"
        blocks += [f"The cells list *area* / *p99* in %, in {name}.",
                   characters_table(rows, ways, pick("area", "p99"), kind),
                   f"Each cell gives *drift* / *volume* (in %) in {name}.",
                   characters_table(rows, ways, pick("drift", "volume %"), kind)]  # fmt: skip
    if "artist" in ways:
        keys = pick("L1", "precision", "recall")
        blocks += ["The cells list *L1* / *precision* / *recall* in %; "
                   "painted weights are marked +.",
                   characters_table(rows, ways, keys, "random")]  # fmt: skip
    keys = pick("influences", "bi-Laplacian", "s")
    blocks += ["*Influences* / *bi-Laplacian* / *s*.",
               characters_table(rows, ways, keys, "random")]  # fmt: skip
    failed = list(failures(rows, ways))
    return blocks + (["Failed:", "\n".join(failed)] if failed else [])


def main(zip_path, output, *asked):
    zip_path, output = Path(zip_path), Path(output)
    folder = os.environ.get("BENCH_REFERENCE")
    folder = Path(folder) if folder else None
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        known = list(known_characters(folder, asked))
        given = list(given_characters(folder)) if folder else []
    except Refused as error:
        sys.exit(f"bench: {error}")
    with_files = any(character.reference is not None for character in known)
    ways = [way for way in WAYS if way != "reference" or with_files]
    rows = [row_of(zip_path, character, ways) for character in known]
    versions = sorted(set().union(*(row["versions"] for row in rows)))
    blocks = [NOTE, "Versions: " + "; ".join(versions) + ".", *section(rows, ways, seen.KINDS)]
    if given:
        chosen = ["reference", *(way for way in ways if way in ON_GIVEN)]
        more = [row_of(zip_path, character, chosen) for character in given]
        blocks += ["## RigNet's files", GIVEN_NOTE, *section(more, chosen, ("random",))]
    drawn = [row for row in rows if row["name"] not in rigged.LEFT_OUT]
    picture = seen.draw(drawn, output, "peers.png", ways, WAYS)
    write_page(output, "peers", "All methods compared", *blocks, pictures=[picture])


if __name__ == "__main__":
    main(*sys.argv[1:])
