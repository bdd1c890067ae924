"""A file in csrc/ includes only files in its own folder or in a folder below, and files call each
other in cycles only if this is necessary."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from paths import CSRC, ROOT

# From the ground up.
ROOMS = [
    "base",
    "linalg",
    "weights",
    "mesh",
    "transfer",
    "rig",
    "control",
    "initial",
    "energy",
    "edits",
    "supports",
    "springs",
    "solver",
    "joints",
    "measures",
    "elastic",
    "extras",
    "bake",
    "python",
]
PUBLIC = ("arap.h", "settings.def", "report.def")  # the others are parts of the first
# Files that need each other: a solver owns a solver for its coarse level.
CIRCLES = [{"solver/creation.c", "solver/levels.c", "solver/solver.c"}]
MADE = {"python/engine_docs.h"}  # by the build, of the stubs
FILES = sorted(f for f in CSRC.rglob("*") if f.suffix in {".c", ".h", ".def"})
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
DEFINITION = re.compile(r"^(?!static|else)\w[\w *]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)

FUNCTION = re.compile(
    r"^(?!static|else|typedef|return)\w[\w *]*?\b(\w+)\(([^;{}]*?)\)[\w\s()]*[;{]", re.MULTILINE
)


def floor(file):
    """The number of a file's folder, from its path in csrc/."""
    return -1 if str(file) in PUBLIC else ROOMS.index(Path(file).parts[0])


def wrong_includes(file, text):
    """Files that a file in csrc/ must not include: files above it, and paths that name no room.

    The public header is for all files, and includes none of ours."""
    for name in INCLUDE.findall(text):
        if name in PUBLIC[1:] or (name == PUBLIC[0] and str(file) not in PUBLIC):
            continue
        there = (CSRC / name).is_file() or name in MADE
        if not there or len(Path(name).parts) != 2 or floor(name) > floor(file):
            yield f"{file} includes {name}"


def uses(texts):
    """For each C file with its text in `texts`: the files whose functions it names."""
    texts = {name: COMMENT_OR_TEXT.sub(" ", text) for name, text in texts.items()}
    home = {f: name for name, text in texts.items() for f in DEFINITION.findall(text)}
    return {
        name: {home[word] for word in re.findall(r"\w+", text) if word in home} - {name}
        for name, text in texts.items()
    }


def circles(graph):
    """Sets of nodes that lead to each other."""
    reached = {}
    for node in graph:
        reached[node], waiting = set(), [node]
        while waiting:
            new = graph[waiting.pop()] - reached[node]
            reached[node] |= new
            waiting += new
    found = {
        frozenset(other for other in there if node in reached[other])
        for node, there in reached.items()
        if node in there
    }
    return sorted(map(set, found), key=sorted)


def test_files_call_each_other_in_one_direction():
    sources = {
        f.relative_to(CSRC).as_posix(): f.read_text("utf-8") for f in FILES if f.suffix == ".c"
    }
    graph = uses(sources)
    assert len(graph) > 150 and sum(map(len, graph.values())) > 800  # it reads C at all
    assert circles(graph) == CIRCLES


def test_circles_are_found():
    texts = {
        "a.c": "int *arap_a(int x,\n            int y) {\n    return arap_b();\n}\n",
        "b.c": "/* int arap_c(void) { */\nint arap_b(void) {\n    return arap_c(1);\n}\n",
        "c.c": "static int own(void) {\n}\nstruct s arap_c(int x) {\n    return t[arap_a];\n}\n",
        "d.c": "int arap_d(void) {\n    return arap_a(1, 2) + own();\n}\n",
    }
    assert circles(uses(texts)) == [{"a.c", "b.c", "c.c"}]


def other_names(texts):
    """Functions whose parameters have several names, as in a header and in its source."""
    names = {}
    for text in texts:
        for name, parameters in FUNCTION.findall(COMMENT_OR_TEXT.sub(" ", text)):
            last = tuple(re.findall(r"(\w+)\)?(?:\[[^]]*\])*\s*(?:,|$)", parameters))
            names.setdefault(name, set()).add(last)
    return sorted(name for name, lists in names.items() if len(lists) > 1)


def test_header_and_source_name_parameters_alike():
    assert other_names(f.read_text("utf-8") for f in FILES) == []


def test_other_names_are_found():
    header = (
        "/* x */\nint *arap_a(double (*p)[3],\n            int count);\nint arap_b(int x[3]);\n"
    )
    source = "int *arap_a(double (*p)[3], int n) {\n}\nint arap_b(int x[3]) {\n}\n"
    assert other_names([header, source]) == ["arap_a"]


def test_every_room_has_its_floor():
    assert {f.relative_to(CSRC).parts[0] for f in FILES} == {*ROOMS, *PUBLIC}


def test_every_room_says_what_belongs_there():
    """csrc/README.md describes the folders from the top down, and ARCHITECTURE.md lists them."""
    said = re.findall(r"^\*\*(\w+)/\*\* ", (CSRC / "README.md").read_text("utf-8"), re.M)
    assert said == ROOMS[::-1]
    picture = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("```")[1]
    picture = picture.partition("csrc/\n")[2].splitlines()
    assert [line[65:].partition("/")[0] for line in picture] == ROOMS[::-1]


def test_no_file_includes_a_file_above_it():
    wrong = [w for f in FILES for w in wrong_includes(f.relative_to(CSRC), f.read_text())]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["solver/solver.h", "mesh.h", "rig/no_such.h"])
def test_the_search_finds_them(name):
    assert list(
        wrong_includes(Path("mesh/mesh.c"), f'#include "base/context.h"\n#include "{name}"\n')
    )


def test_the_public_header_stands_alone(tmp_path):
    """The public header needs no other file of ours, and every type in it is defined there or
    opaque."""
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    for name in PUBLIC:
        shutil.copyfile(CSRC / name, tmp_path / name)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]
    subprocess.run([compiler, *flags, tmp_path / PUBLIC[0]], check=True)


def test_only_the_mesh_room_crosses_triangles():
    """Other folders call arap_cross_face or arap_face_between, which look up the corners of a
    face."""
    crossing = [
        file.relative_to(CSRC).as_posix()
        for file in FILES
        if "arap_cross_triangle(" in COMMENT_OR_TEXT.sub("", file.read_text(encoding="utf-8"))
    ]
    assert crossing == [
        f"mesh/{name}" for name in ("nearest.c", "nearest.h", "sight.c", "touching.c")
    ]
