"""With --jobs, araplbs gives the same files, results and exit codes as without; this file also
tests presets."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from gate import Gate
from gltf_files import plain
from paths import environment
from patience import HANGS


@pytest.fixture
def main(core):
    return core("cli.main").main


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    for name in ("a.glb", "b.glb", "c.glb"):
        plain().write(tmp_path / name)
    return tmp_path


def of_process(*words, **more):
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "araplbs", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **more,
    )


def test_the_same_bits_and_report(main, place, capsys):
    assert main(["weight", "*.glb", "-o", "one/", "--json", "one.json"]) == 0
    one = capsys.readouterr().out
    words = ["-o", "two/", "--jobs", "2", "--json", "two.json", "--report", "page.html"]
    assert main(["weight", "?.glb", *words]) == 0
    two = capsys.readouterr().out
    for name in "abc":
        assert f"{name}.glb: saved" in one and f"{name}.glb: saved {Path('two', name)}.glb" in two
    for name in ("a.glb", "b.glb", "c.glb"):
        assert (place / "one" / name).read_bytes() == (place / "two" / name).read_bytes()
    files = [json.loads((place / f"{n}.json").read_text())["files"] for n in ("one", "two")]
    assert [each["input"] for each in files[1]] == ["a.glb", "b.glb", "c.glb"]
    assert (
        files[0][0]["characters"][0]["energy_after"]
        == (files[1][0]["characters"][0]["energy_after"])
    )
    assert "data:image/png" in (place / "page.html").read_text("utf-8")


def test_a_bad_file_among_good_ones(main, place, capsys):
    (place / "b.glb").write_bytes(b"glTF" + bytes(100))
    assert main(["weight", "*.glb", "-o", "out/", "--jobs", "3", "--json", "-"]) == 1
    said = capsys.readouterr()
    found = json.loads(said.out)["files"]
    assert ["error" in each for each in found] == [False, True, False]
    assert said.err.count("araplbs: b.glb: ") == 1
    assert sorted(path.name for path in (place / "out").iterdir()) == ["a.glb", "c.glb"]


def test_findings_of_jobs(main, place):
    """The exit code is the worst file's code."""
    assert main(["weight", "a.glb", "-o", "good.glb"]) == 0
    alone = main(["check", "a.glb", "--fail-on", "low", "-q"])
    assert main(["check", "good.glb", "a.glb", "--jobs", "2", "--fail-on", "low", "-q"]) == alone


def test_a_process_that_is_killed(core, place, monkeypatch):
    """Only its own file fails, with a message on how the process ended."""
    jobs, errors = core("cli.jobs"), core("cli.errors")
    (place / "fatal.py").write_text("import os; os.kill(os.getpid(), 9)")
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    monkeypatch.setattr(jobs, "WORKER", "fatal")
    files = place / "a.glb", place / "out.glb"
    lines, done = jobs._one(["weight"], files, 1, lambda: None)
    assert lines == [] and done.code == errors.FAILED
    assert "its process ended with exit code" in done.result["error"]
    assert done.result["output"] == str(place / "out.glb")


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_stopped(place):
    """All processes end, and no temporary file remains."""
    many = [f"{k}.glb" for k in range(40)]
    for name in many:
        plain().write(place / name)
    process = of_process("weight", *many, "-o", "out/", "--jobs", "2", cwd=place)
    for line in process.stdout:  # the first file is there
        if "saved" in line:
            break
    process.send_signal(signal.SIGTERM)
    _out, errors = process.communicate(timeout=HANGS)
    assert process.returncode == 143 and "stopped by SIGTERM" in errors
    made = [path.name for path in (place / "out").iterdir()]
    assert 0 < len(made) < 40 and not [name for name in made if name.startswith(".")]


def test_parent_is_killed(place, monkeypatch):
    """The processes end, although nobody can tell them to, and write nothing."""
    with Gate() as gate:
        gate.hold_commands(monkeypatch)
        words = ["weight", "a.glb", "b.glb", "-o", "out/", "--jobs", "2"]
        process = subprocess.Popen([sys.executable, "-P", "-m", "araplbs", *words], cwd=place)
        workers = [gate.arrived(process) for _ in range(2)]
        process.kill()
        process.wait()
        for each in workers:
            each.wait_until_gone()
    assert not (place / "out").exists() or not list((place / "out").iterdir())


def test_broken_report_ends_the_processes(core, place, monkeypatch):
    """No file is begun or finished after an error in the main process."""
    jobs, stop = core("cli.jobs"), core("base.stop").Stop()
    plan = [(place / name, place / "out" / name) for name in ("a.glb", "b.glb", "c.glb")]

    def broken(_line):
        raise BrokenPipeError

    argv = ["weight", "a.glb", "-o", "out/"]
    with pytest.raises(BrokenPipeError):
        jobs.do_files(argv, plan, 1, 1, broken, stop)
    assert [path.name for path in (place / "out").iterdir()] == ["a.glb"]


@pytest.mark.parametrize("jobs", ["0", "-2"])
def test_wrong_jobs(main, place, capsys, jobs):
    assert main(["weight", "a.glb", "-o", "out.glb", f"--jobs={jobs}"]) == 2
    assert f"--jobs is {jobs}: must be at least 1" in capsys.readouterr().err


def options_of(main, *words):
    assert main(["weight", "a.glb", "-o", "out.glb", "--json", "r.json", "-q", *words]) == 0
    with open("r.json") as file:
        return json.load(file)["files"][0]["characters"][0]["options"]


def test_presets(main, place, capsys):
    assert options_of(main, "--preset", "game-8")["max_influences"] == 8
    assert options_of(main, "--preset", "Game 8", "--max-influences", "3")["max_influences"] == 3
    published = options_of(main, "--preset", "as-published")
    assert published["paper_constraints"] is True and published["bone_spring_stiffness"] == 0
    assert main(["weight", "a.glb", "-o", "out.glb", "--preset", "nintendo"]) == 2
    said = capsys.readouterr().err
    assert "there is no preset named nintendo: as-published, crisp, film, game-4" in said
