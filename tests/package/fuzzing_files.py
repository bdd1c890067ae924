"""Random faults in .glb, .gltf, .obj and rig .txt files, as input of the command araplbs.

Each command either refuses its input with a sentence and writes nothing, or writes a file that any
reader of JSON reads, and araplbs as well. The input stays as it is.

`python tests/package/fuzzing_files.py SECONDS [FIRST_SEED]` and `=SEED`, as for fuzzing.py."""

import contextlib
import copy
import io
import json
import sys
import tempfile
from pathlib import Path

import araplbs
import fuzzing
import numpy as np
from fuzzing import promise
from gltf_files import of_several_parts, plain
from rig_files import obj_text, predicted, rig_text

ODD = [
    *(None, -1, 0, 1, 2, 7, 99, 1e300, float("nan"), "x", [], {}, True, [1], [0, 0, 0], -0.5),
    *("POSITION", 5126, 5121, 5123, 1 << 31, 1 << 63, "VEC3", "SCALAR", {"a": 1}, [[]]),
]
# What some readers of JSON take and others do not.
ODD_EXTRAS = ["\ud800", "a\udfffb", float("inf"), float("nan"), "\0", 10**400, {"": {"a": []}}]
WORDS = [
    *("", "-1", "0", "99999999999999999999", "nan", "inf", "1e400", "1e38", "/", "1/2/3", "//"),
    *("\0", "é", "joint1", "joints", "skin", "hier", "root", "f", "v", "0x10", "1_000", "٣"),
]
COMMANDS = (
    ("weight", "--random-poses", 4, "--iterations", 2),
    ("repair", "--random-poses", 4, "--iterations", 2),
    ("quantize", "--bits", 8),
    ("quantize", "--bits", 16),
    ("check", "--fail-on", "never"),
)
BUG = "a bug in the program"  # araplbs/base/faults.py


def entries_of(value, place=()):
    if place:
        yield place
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from entries_of(value[key], (*place, key))


def spoil(glb, random):
    """Removes entries of the JSON or gives them odd values, or removes bytes of the buffer."""
    for _change in range(random.integers(1, 4)):
        entries = list(entries_of(glb.json))
        place = entries[random.integers(len(entries))]
        inside = glb.json
        for key in place[:-1]:
            inside = inside[key]
        if random.random() < 0.3:
            del inside[place[-1]]
        else:
            inside[place[-1]] = copy.deepcopy(ODD[random.integers(len(ODD))])
    if random.random() < 0.2:
        for at in random.integers(len(glb.blob), size=20):
            glb.blob[at] = random.integers(256)


def spoiled_text(rng, text):
    """Without some lines, with lines twice, and with odd words."""
    lines = text.split("\n")
    for _change in range(rng.integers(1, 5)):
        at, draw = int(rng.integers(len(lines))), rng.random()
        words = lines[at].split(" ")
        if draw < 0.2 and len(lines) > 1:
            del lines[at]
        elif draw < 0.4:
            lines.insert(at, lines[int(rng.integers(len(lines)))])
        else:
            words[int(rng.integers(len(words)))] = WORDS[int(rng.integers(len(WORDS)))]
            lines[at] = " ".join(words)
    return "\n".join(lines)


def make_model(rng, folder):
    """The arguments of the input, a .glb or .gltf file, and whether it has no fault. Raises what a
    spoiled table raises when it is written."""
    several = rng.random() < 0.5
    glb = of_several_parts() if several else plain(weights=str(rng.choice(["u1", "<u2", "<f4"])))
    if rng.random() < 0.2:
        glb.json["extras"] = {"odd": ODD_EXTRAS[int(rng.integers(len(ODD_EXTRAS)))]}
        glb.json["nodes"][0]["name"] = str(rng.choice(["a", "é", "\ud800x", "", "a/b", "\n"]))
    if whole := rng.random() < 0.3:
        glb.json.pop("extras", None)
        glb.json["nodes"][0]["name"] = "a"
    else:
        spoil(glb, rng)
    return [glb.write(folder / f"in.{rng.choice(['glb', 'gltf'])}")], whole


def make_text(rng, folder):
    """The arguments of the input, a mesh and a rig, and whether they have no fault."""
    mesh, rig = obj_text(), rig_text(predicted() if rng.random() < 0.7 else None)
    mesh, rig = (
        (mesh, spoiled_text(rng, rig)) if rng.random() < 0.6 else (spoiled_text(rng, mesh), rig)
    )
    (folder / "in.obj").write_text(mesh, "utf-8")
    (folder / "rig.txt").write_text(rig, "utf-8")
    return [folder / "in.obj", "--from", folder / "rig.txt"], False


def read_strictly(path):
    """The JSON of a file, as other programs read it."""

    def never(word):
        raise ValueError(f"{word} is not JSON")

    content = path.read_bytes()
    if content[:4] == b"glTF":
        content = content[20 : 20 + int.from_bytes(content[12:16], "little")]
    return json.loads(content.decode("utf-8"), parse_constant=never)


def check_output(path):
    try:
        read_strictly(path)
        read = araplbs.load_gltf(path)
    except Exception as error:
        raise fuzzing.Broken(f"{path.name} cannot be read: {error}") from error
    for each in read.characters:
        rows = each.weights
        promise(np.isfinite(rows.weights).all() and (rows.weights >= 0).all(), "weights", each)


def run(seed):
    """The outcome, "command: written"; raises Broken if a guarantee is broken."""
    rng = np.random.default_rng([seed, 79])
    command = COMMANDS[int(rng.integers(len(COMMANDS)))]
    make = make_text if command[0] == "weight" and rng.random() < 0.5 else make_model
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            inputs, whole = make(rng, folder)
        except (TypeError, KeyError, IndexError, OverflowError, UnicodeEncodeError):
            return "not made: its table cannot be written"
        before = contents(folder)
        target = folder / f"out.{rng.choice(['glb', 'gltf'])}"
        output = [] if command[0] == "check" else ["-o", target]
        words = [command[0], *inputs, *output, "--quiet", *command[1:]]
        code, said = call(*words)
        made = contents(folder)
        promise(BUG not in said and "Traceback" not in said, said)
        promise(code == 0 or (code in (1, 2, 3) and said and not whole), "code", code, said)
        promise({name: made[name] for name in before} == before, "an input changed")
        if code or not output:
            promise(made.keys() == before.keys(), "written although refused:", *made)
            return f"{command[0]}: {said}"
        check_output(target)
        return f"{command[0]}: written"


def call(*words):
    """(exit code, what the command says)."""
    from araplbs.cli.main import main

    with contextlib.redirect_stderr(io.StringIO()) as said, np.errstate(all="ignore"):
        code = main([str(word) for word in words])
    return code, said.getvalue()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


if __name__ == "__main__":
    sys.exit(fuzzing.main(*sys.argv[1:], run=run))
