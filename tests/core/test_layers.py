"""The rooms of csrc/: a file includes only what is in its own room or in one below."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from paths import CSRC

# From the ground up.
ROOMS = [
    "base",
    "linalg",
    "weights",
    "mesh",
    "transfer",
    "rig",
    "initial",
    "energy",
    "supports",
    "solver",
    "joints",
    "measures",
    "elastic",
    "bake",
    "python",
]
PUBLIC = ("arap.h", "settings.def")  # the second is a part of the first
FILES = sorted(f for f in CSRC.rglob("*") if f.suffix in {".c", ".h", ".def"})
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def floor(file):
    """Number of the room of a file, by its path in csrc/."""
    return -1 if str(file) in PUBLIC else ROOMS.index(Path(file).parts[0])


def wrong_includes(file, text):
    """What a file in csrc/ must not include: files above it, and paths that name no room.

    The public header is for all, and includes none of them."""
    for name in INCLUDE.findall(text):
        if name == PUBLIC[1] or (name == PUBLIC[0] and str(file) not in PUBLIC):
            continue
        if not (CSRC / name).is_file() or len(Path(name).parts) != 2 or floor(name) > floor(file):
            yield f"{file} includes {name}"


def test_every_room_has_its_floor():
    assert {f.relative_to(CSRC).parts[0] for f in FILES} == {*ROOMS, *PUBLIC}


def test_no_file_includes_a_file_above_it():
    wrong = [w for f in FILES for w in wrong_includes(f.relative_to(CSRC), f.read_text())]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["solver/solver.h", "mesh.h", "rig/no_such.h"])
def test_the_search_finds_them(name):
    assert list(
        wrong_includes(Path("mesh/mesh.c"), f'#include "base/context.h"\n#include "{name}"\n')
    )


def test_the_public_header_stands_alone(tmp_path):
    """It needs no other file of ours, and every type in it is said there or opaque."""
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    for name in PUBLIC:
        shutil.copyfile(CSRC / name, tmp_path / name)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]
    subprocess.run([compiler, *flags, tmp_path / PUBLIC[0]], check=True)
