"""Evaluates characters whose weights we did not prepare: NVIDIA's SOMA, and rigs predicted by
networks, as the networks' authors publish them with their code.

outside.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

SOMA is ../shared/data/soma.npz. The other characters are files of the repositories in SETS, in
../shared/outside or in the folder that the environment variable OUTSIDE names (`make bench
PART=outside OUTSIDE=folder`), each under its own name, as git clone leaves it. Missing files are
skipped, and the page says so. The heat weights, our weights and the file's weights are evaluated in
the random poses of yardstick.py, because no file has an animation."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paths
import rignet
from beyond_strain import BeyondStrain
from in_blender import BUILD, run_in_blender
from problems import DATA
from results import say, table, write_page
from seen_numbers import shown, value, values
from yardstick import Yardstick

FOLDER = BUILD / "outside"
LIMIT = 900  # seconds for one character
BLENDER_WAYS = ("heat", "default")
WAYS = ("heat", "file", "default")  # in a cell
SOMA = "soma"
FORMS = {
    "area": (".1f", 100), "p99": (".0f", 100), "drift": (".2f", 1), "volume": (".1f", 100),
    "l1": (".2f", 1), "deaf": (".0f", 1), "wrong": (".0f", 1), "crossing": (".1f", 100),
    "crease": (".2f", 100), "below": (".1f", 100), "through": (".1f", 100),
}  # fmt: skip
HEADS = {
    "area": "area %", "p99": "p99 %", "volume": "volume %", "l1": "L1", "wrong": "parts",
    "crossing": "crossing %", "crease": "crease %", "below": "below %", "through": "through %",
}  # fmt: skip
NOTE = """\
Each cell lists Blender's bone heat / the weights of the file / our default weights, in 24
random poses (every bone swings by up to 60 and twists by up to 10 degrees). [seen.md](seen.md)
explains all columns. The weights in the file determine which skin belongs to a bone. A dash (-)
means that heat leaves vertices without weights. In the column *volume*, a dash can also mean
that the mesh is open."""


@dataclass
class Source:
    """A repository, and its files that contain characters."""

    title: str
    address: str
    weights: str  # the authors
    rigs: str  # pattern of the files in the repository
    obj: str  # the ending that replaces the ending of the rig's file name
    end: str
    name: str  # name of a character: the file's stem, or one of its folders

    @property
    def folder(self):
        return self.address.rsplit("/", 1)[-1]

    def characters(self, root):
        """{name: (file of the rig, file of the mesh)}"""
        found = {}
        for rig in sorted((root / self.folder).glob(self.rigs)):
            name = self.name.format(stem=rig.stem, above=rig.parent.parent.name)
            obj = rig.with_name(rig.name.removesuffix(self.end) + self.obj)
            found[name.removesuffix("_ori_rig")[:20]] = rig, obj
        return found


SETS = (
    Source(
        "Puppeteer", "https://github.com/Seed3D/Puppeteer", "the network's",
        "animation/inputs/*/objs/rig.txt", "mesh.obj", "rig.txt", "puppeteer_{above}",
    ),
    Source(
        "Articulation-XL", "https://github.com/Seed3D/Puppeteer", "an artist's",
        "skeleton/data_utils/examples/*.txt", ".obj", ".txt", "articulation_{stem}",
    ),
    Source(
        "RigNet", "https://github.com/zhan-xu/RigNet", "RigNet's, on its own bones",
        "quick_start/*_ori_rig.txt", "_ori.obj", "_ori_rig.txt", "rignet_{stem}",
    ),
)  # fmt: skip


def soma():
    """Arrays of NVIDIA's character, or None."""
    path = DATA / f"{SOMA}.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=True) as file:
        return dict(file)


def known(root):
    """({name: arrays or the files of rig and mesh}, sentences about missing files)"""
    found, absent = {}, []
    arrays = soma()
    if arrays:
        found[SOMA] = "NVIDIA's", arrays
    else:
        absent.append(f"SOMA is left out: {DATA.name} has no {SOMA}.npz.")
    for source in SETS:
        characters = source.characters(root)
        found |= {name: (source.weights, files) for name, files in characters.items()}
        if not characters:
            absent.append(
                f"{source.title} is left out: {root.name} has no {source.folder} with "
                f"{source.rigs} (git clone {source.address})."
            )
    return found, absent


def arrays_of(what):
    """Arrays of a character of known(); its weights are "W"."""
    if isinstance(what, dict):
        return what
    arrays = rignet.model_of(*what)
    return {**arrays, "W": arrays.pop("reference")}


def made(zip_path, name, arrays):
    """{way: weights}, computed in Blender, or a line that states what went wrong."""
    result, model = FOLDER / f"{name}.npz", FOLDER / f"{name}.model.npz"
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not result.exists() or result.stat().st_mtime < zip_path.stat().st_mtime:
        kept = ("V", "F", "bone_names", "bone_head", "bone_tail", "bone_parent", "bone_deform")
        np.savez_compressed(model, **{key: arrays[key] for key in kept})
        error = run_in_blender(
            "seen_weights.py", zip_path, "model", model, result, *BLENDER_WAYS, limit=LIMIT
        )
        if error:
            return error
    with np.load(result) as file:
        return {way: file[way] for way in BLENDER_WAYS}


def measure(zip_path, name, weights, what):
    """{"name", "weights", "vertices", "bones", "ways": {way: measures}} or a line."""
    arrays = arrays_of(what)
    found = made(zip_path, name, arrays)
    if isinstance(found, str):
        return f"{name}: {found}"
    yardstick = Yardstick(arrays)
    beyond, ways = BeyondStrain(yardstick), {}
    for way, each in {**found, "file": arrays["W"]}.items():
        judged = yardstick.judge(each)["random"]
        ways[way] = {"random": {**judged, **beyond.judge(each)["random"]}}
    return {
        "name": name, "weights": weights, "vertices": len(arrays["V"]),
        "bones": int(np.count_nonzero(arrays["bone_deform"])), "ways": ways,
    }  # fmt: skip


def cells(row, keys):
    for key in keys:
        cell = " / ".join(shown(value(row, way, "random", key), *FORMS[key]) for way in WAYS)
        yield cell + (f" of {row['ways']['file']['random']['parts']}" if key == "wrong" else "")


def table_of(rows, keys):
    head = ["character", "weights", "vertices", "bones"]
    lines = [
        [row["name"], row["weights"], f"{row['vertices']:,}", row["bones"], *cells(row, keys)]
        for row in rows
    ]
    return table([*head, *(HEADS.get(key, key) for key in keys)], lines)


def means(rows):
    """Ratios of strain (geometric means) and arithmetic means of the other measures, ours against
    another method, over the characters on which both are known."""
    lines = []
    for way, label in (("heat", "Blender's heat"), ("file", "the file's")):
        line = []
        for key in FORMS:
            pairs = np.stack([values(rows, each, "random", key) for each in ("default", way)], 1)
            pairs = pairs[np.isfinite(pairs).all(1)]
            if not len(pairs):
                line.append("-")
            elif key in ("area", "p99"):
                line.append(f"{np.exp(np.log(pairs[:, 0] / pairs[:, 1]).mean()):.2f} times")
            elif key in ("deaf", "wrong"):
                line.append(" / ".join(f"{sum(each):.0f}" for each in pairs.T))
            else:
                line.append(" / ".join(shown(each, *FORMS[key]) for each in pairs.mean(0)))
        counted = np.isfinite(values(rows, way, "random", "area")).sum()
        lines.append([label, counted, *line])
    head = ["ours / those of", "characters", *(HEADS.get(key, key) for key in FORMS)]
    return table(head, lines)


def main(zip_path, output, *asked):
    root = Path(os.environ.get("OUTSIDE") or paths.SHARED / "outside")
    characters, absent = known(root)
    unknown = set(asked) - set(characters)
    if unknown:
        sys.exit(f"bench: no character {', '.join(sorted(unknown))}; there are {list(characters)}")
    rows = []
    for name, (weights, what) in characters.items():
        if asked and name not in asked:
            continue
        row = measure(Path(zip_path), name, weights, what)
        if isinstance(row, str):
            absent.append(row)
            say(row)
            continue
        rows.append(row)
        say(name, *cells(row, FORMS))
    for sentence in absent:
        say(sentence)
    if not rows:
        say("bench: nothing for the part outside; its page stays")
        return 0
    blocks = [NOTE, means(rows), table_of(rows, ("area", "p99", "drift", "volume", "l1"))]
    blocks += [table_of(rows, ("deaf", "wrong", "crossing", "crease", "below", "through")), *absent]
    write_page(Path(output), "outside", "Unprepared characters", *blocks, rows=rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
