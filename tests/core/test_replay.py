"""Problems kept in files: solved again to the same bits, and whatever else a file holds is one
sentence."""

import io
import json
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
    with pytest.raises(TypeError, match="takes no function"):
        replay.save(tmp_path / "x.npz", {"vertices": lambda: 0})


def test_a_problem_that_is_refused_is_said(problem, tmp_path, capsys):
    path = tmp_path / "problem.npz"
    replay.save(path, problem | {"triangles": np.array([[0, 1, 10_000]])})
    assert replay.main([str(path)]) == 1
    assert "10000" in capsys.readouterr().out


def test_python_m(problem, tmp_path):
    """As `python -m araplbs.replay`. Folders in words: see test_examples.py."""
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


def test_a_file_that_0_2_0_wrote(capsys):
    """On another system: by Report a Problem, in Blender 4.2 on Linux. Its pinned weights hold."""
    path = TESTS / "blender/kept/problem_0_2_0.npz"
    assert replay.main([str(path), "--threads", "1"]) == 0
    said = capsys.readouterr().out
    assert "192 vertices" in said and "3 bones" in said and ", 0 bad" in said
    arguments, about = replay.load(path)
    assert about["version"] == "0.2.0" and arguments["max_influences"] == 3
    solver, _seconds = replay.solve(arguments, threads=1)
    np.testing.assert_allclose(solver.weights[[3, 4, 5, 6], 2], [0.25, 0.25, 0, 0], atol=2e-3)
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-5)


def head_of(**changes):
    head = {"format": replay.FORMAT, "version": "1", "arguments": {}} | changes
    return np.frombuffer(json.dumps(head).encode(), np.uint8)


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize(
    "content, pattern",
    [
        (b"", "no problem file"),
        (b"text", "no problem file"),
        (b"PK\x03\x04 cut off", "no problem file"),
        (npz(other=np.zeros(3)), "no problem file"),
        (npz(problem=np.frombuffer(b"{", np.uint8)), "no problem file"),
        (npz(problem=head_of(format="araplbs problem 9")), "of another version: araplbs problem 9"),
        (npz(problem=head_of(arguments={"vertices": {"array": "gone"}})), "no problem file"),
        (npz(problem=head_of(arguments=[])), "no problem file"),
        (npz(problem=np.array([print], dtype=object)), "no problem file"),  # never unpickled
    ],
    ids=range(9),
)
def test_other_files(content, pattern, tmp_path, capsys):
    path = tmp_path / "problem.npz"
    path.write_bytes(content)
    with pytest.raises(replay.NoProblem, match=pattern):
        replay.load(path)
    assert replay.main([str(path)]) == 2
    assert "araplbs: " in capsys.readouterr().err


def test_no_file(tmp_path, capsys):
    assert replay.main([str(tmp_path / "none.npz")]) == 2
    assert "none.npz" in capsys.readouterr().err


def test_the_text_leaves_names_and_folders_out():
    from araplbs_addon.core.base import faults
    from araplbs_addon.core.base.refusal import Refused
    from araplbs_addon.core.character.options import Options
    from araplbs_addon.core.reports.problem_report import TITLE, report_text, without_names

    assert without_names("'Anna' is in Edit mode") == "'...' is in Edit mode"
    assert without_names("/home/anna/a b/x.py, line 3") == ".../x.py, line 3"
    assert without_names(r"C:\Users\anna\x.py, line 3") == ".../x.py, line 3"
    faults.sentence("Auto-weight", Refused("'Anna' is in Edit mode"))
    options = Options(truss=3.0, tet_file="/home/anna/secret.msh")
    text = report_text(["Blender: 4.5"], ["Mesh: 8 vertices"], options, "none")
    assert text.startswith(TITLE)
    assert "Auto-weight: '...' is in Edit mode" in text and "truss: 3.0" in text
    assert "tet_file: .../secret.msh" in text and araplbs.linear_algebra in text
    assert "anna" not in text.lower()


def test_faults_are_remembered_with_their_places(capsys):
    from araplbs_addon.core.base import faults

    for number in range(5):
        try:
            raise ZeroDivisionError(f"number {number}")
        except ZeroDivisionError as error:
            faults.sentence("Checking", error)
    kept = faults.last_errors()
    assert len(kept) == 3 and "number 4" in kept[-1]
    assert "test_replay.py" in kept[-1] and "in test_faults_are" in kept[-1]
