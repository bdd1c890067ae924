"""Problems stored in files: solving them again gives bit-identical results, and a file with any
other content is refused with one sentence."""

import io
import json
import os
import random
import subprocess
import sys

import araplbs
import numpy as np
import pytest
from araplbs import replay
from paths import TESTS
from shapes import chain, solved, tube


@pytest.fixture
def problem():
    vertices, triangles = tube(8, 25, caps=True)
    heads, tails, parents = chain(4)
    return {
        "vertices": vertices,
        "triangles": triangles,
        "bone_heads": heads,
        "bone_tails": tails,
        "bone_parents": parents,
        "max_influences": np.int64(3),
        "pose_count": 12,
        "bone_deform": np.array([True, True, True, True]),
        "constraints": ([120, 121], np.array([3, 3]), [1.0, 1.0]),
        "symmetry": None,
        "precision": "double",
        "threads": 7,
        "progress": print,
    }


def test_the_same_weights_to_the_last_bit(problem, tmp_path, capsys):
    path, out = tmp_path / "problem.npz", tmp_path / "weights.npz"
    replay.save(path, problem, {"volume": "NONE"})
    mine = {k: v for k, v in problem.items() if k not in ("threads", "progress")}
    solver = solved(araplbs.Solver(**mine, threads=1))
    assert replay.main([str(path), "--threads", "1", "--output", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"{len(problem['vertices'])} vertices, {len(problem['triangles'])} triangles" in said
    assert "4 bones" in said and "volume: NONE" in said and ", 0 bad" in said
    with np.load(out) as found:
        for name, right in zip(("start", "bone", "weight"), solver.sparse_weights, strict=True):
            np.testing.assert_array_equal(found[name], right)


def test_what_is_kept(problem, tmp_path):
    path = tmp_path / "problem.npz"
    replay.save(path, problem)
    arguments, about = replay.load(path)
    assert arguments.keys() == problem.keys() - {"threads", "progress"}
    assert about == {"version": araplbs.__version__}
    for name, value in arguments.items():
        assert type(value) is not list
        if isinstance(problem[name], np.ndarray):
            np.testing.assert_array_equal(value, problem[name])
            assert value.dtype == problem[name].dtype
    assert arguments["max_influences"] == 3 and arguments["symmetry"] is None
    with pytest.raises(TypeError, match="cannot contain function"):
        replay.save(tmp_path / "x.npz", {"vertices": lambda: 0})


def test_a_problem_that_is_refused_is_said(problem, tmp_path, capsys):
    path = tmp_path / "problem.npz"
    replay.save(path, problem | {"triangles": np.array([[0, 1, 10_000]])})
    assert replay.main([str(path)]) == 1
    assert "10000" in capsys.readouterr().out


def test_python_m(problem, tmp_path):
    """The program runs as `python -m araplbs.replay`; test_examples.py explains why the folders are
    set in code."""
    path = tmp_path / "problem.npz"
    replay.save(path, problem)
    code = (
        f"import runpy, sys; sys.path[:0] = {[*filter(None, sys.path)]!r}; "
        "runpy.run_module('araplbs.replay', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "solved in" in done.stdout, done.stderr


def head_of(**changes):
    head = {"format": replay.FORMAT, "version": "1", "arguments": {}} | changes
    return np.frombuffer(json.dumps(head).encode(), np.uint8)


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


NO_NUMBERS = {"vertices": None, "triangles": 5, "bone_heads": "text"}
GOOD = {name: {"array": "table"} for name in NO_NUMBERS}


def with_table(**changes):
    arguments = {k: v for k, v in (GOOD | changes).items() if v != "gone"}
    return npz(problem=head_of(arguments=arguments), table=np.zeros((3, 3)))


@pytest.mark.parametrize(
    "content, pattern",
    [
        (b"", "not a problem file: it is damaged"),
        (b"text", "not a problem file: it is damaged"),
        (b"PK\x03\x04 cut off", "not a problem file: it is damaged"),
        (npz(other=np.zeros(3)), "not a problem file: KeyError"),
        (npz(problem=np.zeros(3)), "its 'problem' is not text"),
        (npz(problem=np.frombuffer(b"{", np.uint8)), "not a problem file: JSONDecodeError"),
        (npz(problem=np.frombuffer(b"[1]", np.uint8)), "its 'format' was not written"),
        (npz(problem=np.frombuffer(b"[" * 10**6, np.uint8)), "nested too deep"),
        (npz(problem=head_of(format="araplbs problem 9")), "of another version: araplbs problem 9"),
        (npz(problem=head_of(format=5)), "its 'format' was not written"),
        (npz(problem=head_of(arguments={"vertices": {"array": "gone"}})), "KeyError.*gone"),
        (
            npz(problem=head_of(arguments={"vertices": {"dict": 5}})),
            "not a problem file: Attribute",
        ),
        (npz(problem=head_of(arguments=[])), "its 'arguments' was not written"),
        (npz(problem=head_of(about=[1])), "its 'about' was not written"),
        (with_table(threads=4), "it contains the argument 'threads'"),
        (with_table(progress="x"), "it contains the argument 'progress'"),
        *((with_table(**{k: v}), f"its '{k}' is not a table") for k, v in NO_NUMBERS.items()),
        *((with_table(**{k: "gone"}), f"its '{k}' is not a table") for k in NO_NUMBERS),
        (npz(problem=np.array([print], dtype=object)), "not a problem file"),  # never unpickled
    ],
    ids=range(23),
)
def test_other_files(content, pattern, tmp_path, capsys):
    path = tmp_path / "problem.npz"
    path.write_bytes(content)
    with pytest.raises(replay.NoProblem, match=pattern):
        replay.load(path)
    assert replay.main([str(path)]) == 2
    assert "araplbs: " in capsys.readouterr().err


def test_flipped_bits_and_cuts(problem, tmp_path, capsys):
    """The result is a message or the same problem, never a traceback."""
    path, draw = tmp_path / "problem.npz", random.Random(5)
    replay.save(path, problem | {"iterations": 1, "pose_count": 2})
    good, refused = path.read_bytes(), 0
    for number in range(300):
        content = bytearray(good)
        for _ in range(draw.randrange(1, 4)):
            content[draw.randrange(len(good))] ^= 1 << draw.randrange(8)
        path.write_bytes(content if number % 3 else content[: draw.randrange(len(good))])
        refused += replay.main([str(path), "--threads", "1"]) == 2
    assert refused > 250
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_fifo_or_device_is_not_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero", "/dev/null"):
        assert replay.main([str(path)]) == 2
        assert "is not a regular file" in capsys.readouterr().err
    assert replay.main([str(tmp_path)]) == 2


def test_nothing_of_a_stranger_reaches_the_terminal_raw(problem, tmp_path, capsys):
    path, evil = tmp_path / "problem.npz", "\x1b]0;owned\x07\x1b[2J\r\n\u202e\x9b31m"
    replay.save(path, problem, {evil: evil, "long": "x" * 10_000})
    assert replay.main([str(path)]) == 0
    replay.save(path, problem | {evil: 1})
    assert replay.main([str(path)]) == 1
    path.write_bytes(npz(problem=head_of(format=evil)))
    assert replay.main([str(path)]) == 2
    said = "".join(capsys.readouterr())
    assert "\\x1b]0;owned\\x07" in said and "xxx..." in said
    assert all(c == "\n" or c.isprintable() for c in said)
    assert max(map(len, said.splitlines())) < 600


def foreign(path, _source):
    path.write_bytes(b"mine")


def foreign_arrays(path, _source):
    np.savez(path, start=np.zeros(3))


def another_problem(path, source):
    path.write_bytes(source.read_bytes())


def the_input(path, source):
    os.link(source, path)


def link_to_input(path, source):
    path.symlink_to(source)


def link_to_nowhere(path, _source):
    path.symlink_to(path.with_name("none") / "x.npz")


def folder(path, _source):
    path.mkdir()


def fifo(path, _source):
    os.mkfifo(path)


def device(path, _source):
    path.symlink_to("/dev/null")


def write_protected(path, _source):
    path.touch()
    path.chmod(0o444)


def in_no_folder(path, _source):
    path.parent.rmdir()


def below_a_file(path, _source):
    path.parent.rmdir()
    path.parent.write_text("mine")


def snapshot(place):
    return {p: os.path.islink(p) or (p.is_file() and p.read_bytes()) for p in place.rglob("*")}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize(
    "thing",
    [
        *(foreign, foreign_arrays, another_problem, the_input, link_to_input, link_to_nowhere),
        *(folder, fifo, device, write_protected, in_no_folder, below_a_file),
    ],
)
def test_output_replaces_nothing_of_others(thing, problem, tmp_path, capsys, monkeypatch):
    """The output is checked before the solve, by the same rule as the outputs of Blender's
    commands."""
    from araplbs.base.refusal import Refused
    from araplbs.disk.outputs import Kind, refuse_foreign

    source, path = tmp_path / "problem.npz", tmp_path / "out" / "weights.npz"
    replay.save(source, problem)
    path.parent.mkdir()
    thing(path, source)
    before = snapshot(tmp_path)
    monkeypatch.setattr(replay, "solve", lambda *_: pytest.fail("it was solved"))
    assert replay.main([str(source), "--output", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("araplbs: ") and "weights.npz" in said
    assert snapshot(tmp_path) == before
    if thing is not in_no_folder:  # commands make folders
        with pytest.raises(Refused):
            refuse_foreign(path, Kind("weights", "", replay.MARK))


def test_output_is_written_whole_or_not_at_all(problem, tmp_path, monkeypatch, capsys):
    source, path = tmp_path / "problem.npz", tmp_path / "weights.npz"
    replay.save(source, problem)
    path.touch()  # an empty file holds nothing
    for _ in range(2):
        assert replay.main([str(source), "--output", str(path)]) == 0
    weights = path.read_bytes()

    def fail(*_arguments, **_arrays):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(replay.os, "fsync", fail)
        assert replay.main([str(source), "--output", str(path)]) == 1
    assert "No space left" in capsys.readouterr().err
    assert path.read_bytes() == weights
    assert sorted(p.name for p in tmp_path.iterdir()) == ["problem.npz", "weights.npz"]


def test_what_comes_while_it_solves_stays(problem, tmp_path, monkeypatch, capsys):
    source, path = tmp_path / "problem.npz", tmp_path / "weights.npz"
    replay.save(source, problem)
    solve = replay.solve

    def meanwhile(*arguments):
        path.write_text("theirs")
        return solve(*arguments)

    monkeypatch.setattr(replay, "solve", meanwhile)
    assert replay.main([str(source), "--output", str(path)]) == 1
    assert path.read_text() == "theirs" and "already exists" in capsys.readouterr().err


def test_no_file(tmp_path, capsys):
    assert replay.main([str(tmp_path / "none.npz")]) == 2
    assert "none.npz" in capsys.readouterr().err


def test_the_text_leaves_names_and_folders_out():
    from araplbs.base import faults
    from araplbs.base.refusal import Refused
    from araplbs.model.options import Options
    from araplbs.reports.problem_report import TITLE, report_text, without_folder

    assert without_folder("/home/anna/a b/x.py, line 3", ()) == "  .../x.py, line 3"
    assert without_folder(r"C:\Users\anna\x.py, line 3", ()) == "  .../x.py, line 3"
    assert "anna" not in without_folder("/home/anna.blend/anna.py, line 3, in anna", ["anna"])
    faults.sentence("Auto-weight", Refused("'Anna' is in Edit mode"))
    options = Options(bone_spring_stiffness=3.0, tet_file="/home/anna/secret.msh")
    text = report_text(["Blender: 4.5"], ["Mesh: 8 vertices"], options, "none")
    assert text.startswith(TITLE)
    assert "Auto-weight: '...' is in Edit mode" in text and "bone_spring_stiffness: 3.0" in text
    assert "tet_file: ..." in text and araplbs.linear_algebra in text
    assert "anna" not in text.lower() and "secret" not in text


NAMES = [
    "Anna",
    "Anna's arm",
    'the "b"',
    "a\nb",
    "e",
    "Rig",
    "ärm\x1b[2J",
    "back\\slash",
    "'",
    "''",
]


@pytest.mark.parametrize("name", [*NAMES, "'quoted'", "x' is in 'y"])
@pytest.mark.parametrize("known", [True, False])
def test_names_in_sentences(name, known):
    """Names are removed as they occur in sentences and in Python. Unknown names are quoted."""
    from araplbs.reports.problem_report import without_names

    names = [*NAMES, "'quoted'", "x' is in 'y"] if known else ()
    hidden = "'...' is in Edit mode"
    for text in (f"'{name}' is in Edit mode", f"{name!r} is in Edit mode"):
        assert without_names(text, names) == hidden
        assert without_names(" ".join(text.split()), names) == hidden
    two = without_names(f"'{name}' takes nothing from 'Other's' here", names)
    assert two.startswith("'...'") and two.endswith("'...' here")
    cut = without_names(f"Vertices of '{name}"[:14], names)
    assert cut in ("Vertices of '...'", "Vertices of '", "Vertices of ...")
    if known and name.strip("'"):
        assert without_names(f"Hidden: {name}, {name}", names) == "Hidden: ..., ..."


def test_paths_in_sentences():
    from araplbs.reports.problem_report import without_names

    for path in ("/home/anna/x y.blend", r"C:\Users\anna\x.blend", "//anna/x.blend"):
        assert without_names(f"{path}: not there") == "...: not there"
    assert without_names("1/2 of all and/or none") == "1/2 of all and/or none"


def test_faults_are_remembered_with_their_places(capsys):
    from araplbs.base import faults

    for number in range(5):
        try:
            raise ZeroDivisionError(f"number {number}")
        except ZeroDivisionError as error:
            faults.sentence("Checking", error)
    kept = faults.last_errors()
    assert len(kept) == 3
    from araplbs.reports.problem_report import UNKNOWN, error_line

    said = error_line(kept[-1])
    assert "number 4" in said and str(TESTS) not in said
    assert "test_replay.py" in said and "in test_faults_are" in said

    def gone():
        raise ReferenceError("no file is open")

    faults.know_names(gone)
    try:
        faults.sentence("Checking", ValueError("Anna"))
    finally:
        faults.know_names(None)
    assert error_line(faults.last_errors()[-1]) == UNKNOWN
