"""Runs the benchmark or some of its parts, and links the pages of the parts.

bench.py ZIP [--part "PART PART..."] [--reference FOLDER] [CHARACTER...]    (of tools/bench.sh)

A part that runs on all characters is written to docs/bench, and the pages of the other parts stay
unchanged. A part that runs on some characters is written to build/bench/some instead.
Environment variables that name folders: $RIGS for "rigs", instead of ../shared/rigs; $WILD for
"wild", with the files of ../shared/wild/sources.tsv; $OUTSIDE for "outside", with repositories
(outside.py). $BEFORE: results of an earlier engine for "wild" (wild.py). --reference: result files
that the part "peers" also evaluates (peers.py)."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from in_blender import BUILD, ROOT

DOCS = ROOT / "docs/bench"
PARTS = {
    "seen": "strain, drift, volume and likeness, compared with bone heat and with the artists' "
    "weights",
    "rigs": "unmodified production rigs, compared with bone heat and with their own weights",
    "wild": "files from public repositories, exactly as imported, compared in the same way",
    "outside": "unprepared characters: NVIDIA's SOMA and rigs predicted by networks",
    "predicted": "rigs predicted by networks, weighted with `araplbs weight --from`",
    "looks": "pictures of characters posed with bone heat, the artists' weights and ours",
    "heat": "time and memory, compared with Blender's automatic weights",
    "peers": "every available method on the same tasks",
    "joints": "joint optimization together with weights, starting from displaced joints",
    "paper": "experiments of the 2018 paper, in its energy and in the measures of other pages",
    "twist": "limbs that twist: strain without and with random poses that twist limbs, and with "
    "twist bones",
    "spines": "rigid and bendy bones, stretchable-twistable bones and spines, with pictures",
    "deformers": "linear blending, dual quaternions and centers of rotation, with weights "
    "optimized for each",
    "check": "what Check Weights finds in artists' weights, bone heat and ours, and its run time",
    "worst": "time and memory by number of vertices, bones and parts, and by options",
    "heard": "the longest delay until Esc takes effect, for each function",
}
WITHOUT_CHARACTERS = {"heard", "spines", "worst"}
FILES = {"twist": "twist_limbs"}
HEADER = """\
# Benchmark

`make bench` writes these pages. `make bench PART="seen heat"` rewrites only the pages *seen*
and *heat*. `make bench CHARACTERS="knight mage"` runs these two characters only and writes to
`build/bench/some`. Each page names the machine and the engine version that produced it.
`tools/bench_pages.py` lists the pages that an older engine produced.
"""


def run(part, zip_path, names):
    """Runs a part in a process of its own and returns its exit code."""
    if names and part in WITHOUT_CHARACTERS:
        return 0
    output, script = BUILD / "some" if names else DOCS, FILES.get(part, part)
    BUILD.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [sys.executable, ROOT / f"bench/{script}.py", zip_path, output, *names],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False,
        cwd=BUILD,  # TetGen leaves files in its working directory
    ).returncode  # fmt: skip


def write_index():
    """Writes docs/bench/README.md: the parts that have a page."""
    pages = [(part, what) for part, what in PARTS.items() if (DOCS / f"{part}.md").exists()]
    lines = [f"- [{page}]({page}.md): {what}" for page, what in pages]
    text = "\n".join([HEADER, *lines]) + "\n"
    DOCS.mkdir(parents=True, exist_ok=True)
    (DOCS / "README.md").write_text(text)


def asked_parts(words):
    """The parts that these words name, in the same order."""
    parts = words.split()
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        raise argparse.ArgumentTypeError(f"no {' '.join(unknown)}; there are {', '.join(PARTS)}")
    return parts


def main():
    parser = argparse.ArgumentParser(prog="bench.py")
    parser.add_argument("zip", type=Path)
    parser.add_argument("--part", metavar="PART", type=asked_parts, default=list(PARTS))
    parser.add_argument("--reference", type=Path, metavar="FOLDER")
    parser.add_argument("characters", nargs="*")
    asked = parser.parse_intermixed_args()
    if asked.reference:
        os.environ["BENCH_REFERENCE"] = str(asked.reference.resolve())
    for name in ("RIGS", "OUTSIDE", "WILD", "BEFORE"):
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).resolve())
    failed = [part for part in asked.part if run(part, asked.zip.resolve(), asked.characters)]
    if not asked.characters:
        write_index()
    if failed:
        sys.exit(f"bench: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
