"""Counts the untrue statements of the Result box over characters, riggers' files and files from
public repositories.

truth.py ZIP OUTPUT_FOLDER [NAME...]     (called by bench.py)

The files are the characters of ../shared/data, the rigs of ../shared/rigs and, if the environment
variable WILD names a folder, the files listed in ../shared/wild/sources.tsv."""

import os
import sys
from pathlib import Path

import numpy as np
import paths
import rigs
import wild
from in_blender import BUILD, run_in_blender
from results import say, table, write_page
from statements import KINDS, statements

FOLDER = BUILD / "truth"
LIMIT = 1800  # seconds for one file
NOTE = """\
The Result box after one press of Auto-weight on an unchanged file, and after one on the same meshes
without weights. Each sentence is checked against tools that know nothing of our energy: strain,
creases and crossings on the frames of the file's own actions ([rigs.md](rigs.md) explains them),
how far a turned bone takes the skin that the file gives it, and the weights of the file. If the
box has numbers of the file's actions, those of random poses are checked in random poses. Poses that
tear the surface apart with the other weights as well (strain above 60 %) are left out, and so are
random poses where the box has posed the controls of the rig. A direction (less, more) counts as
untrue only if the other measure says the opposite by more than 5 %, for the number of problems if
all measures say so by more than 10 %. *Silence* is not a sentence: it is untrue if the box names no
bone that has lost its skin, or no part that comes off."""


def files(asked):
    """{name: path}"""
    found = {path.stem: path for path in sorted((paths.SHARED / "data").glob("*.blend"))}
    found |= rigs.files_in(paths.RIGS) if paths.RIGS.is_dir() else {}
    folder = os.environ.get("WILD")
    found |= wild.known(Path(folder) if folder else None, wild.sources())[0]
    unknown = set(asked) - set(found)
    if unknown:
        sys.exit(f"bench: no file {', '.join(sorted(unknown))}")
    return {name: path for name, path in found.items() if not asked or name in asked}


def arrays_of(zip_path, name, path):
    """The arrays that truth_in_blender.py makes from a file, unless a run of the same extension has
    stored them; or a line that states what went wrong."""
    result = FOLDER / f"{name}.npz"
    FOLDER.mkdir(parents=True, exist_ok=True)
    newest = max(each.stat().st_mtime for each in (zip_path, path))
    if not result.exists() or result.stat().st_mtime < newest:
        error = run_in_blender("truth_in_blender.py", zip_path, path, result, limit=LIMIT)
        if error:
            return error
    with np.load(result) as file:
        return dict(file)


def counts(found):
    """A line for each kind: the number of statements, how many are untrue, and in how many
    files."""
    lines = []
    for kind, what in KINDS.items():
        own = [(name, each) for name, several in found.items() for each in several
               if each.kind == kind]  # fmt: skip
        untrue = [(name, each) for name, each in own if not each.so]
        lines.append([what, len(own), len(untrue), len({name for name, _each in untrue})])
    every = [each for several in found.values() for each in several]
    files_untrue = sum(any(not each.so for each in several) for several in found.values())
    return [*lines, ["all", len(every), sum(not each.so for each in every), files_untrue]]


def main(zip_path, output, *asked):
    found, failures = {}, []
    for name, path in files(asked).items():
        arrays = arrays_of(Path(zip_path), name, path)
        if isinstance(arrays, str):
            failures.append(f"{name}: {arrays}")
            say(failures[-1])
            continue
        found[name], _judged = statements(name, arrays)
        untrue = [each for each in found[name] if not each.so]
        say(name, f"{len(found[name])} statements, {len(untrue)} untrue",
            *(f"\n   {each.says}: {each.why}" for each in untrue))  # fmt: skip
    head = ["the box says", "times", "untrue", "files"]
    untrue = [[name, each.says, each.why] for name, several in found.items() for each in several
              if not each.so]  # fmt: skip
    blocks = [NOTE, table(head, counts(found)), "## Untrue"]
    blocks += [table(["file", "the box says", "but"], untrue)] if untrue else ["None."]
    write_page(Path(output), "truth", "What the Result box says", *blocks, *failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
