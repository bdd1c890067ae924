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
from gltf_files import bare, plain
from paths import environment
from patience import HANGS


@pytest.fixture
def place(main, tmp_path, monkeypatch):
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


def test_a_process_that_is_killed(main, core, place, monkeypatch, capsys):
    """Its files fail, with a message on how the process ended."""
    (place / "fatal.py").write_text("import os; os.kill(os.getpid(), 9)")
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
    monkeypatch.setattr(core("cli.jobs"), "WORKER", "fatal")
    words = ["-o", "out/", "--jobs", "2", "--json", "r.json", "--report", "reports/"]
    assert main(["weight", "a.glb", "b.glb", *words]) == 1
    said = capsys.readouterr()
    assert said.err.count("its process ended with") == 2 and "2 files: 0 done, 2 failed" in said.out
    results = json.loads((place / "r.json").read_text())["files"]
    assert [each["output"] for each in results] == [str(Path("out", f"{k}.glb")) for k in "ab"]
    rows = json.loads((place / "reports/table.json").read_text())["rows"]
    assert len(rows) == 2 and all("its process ended" in row["error"] for row in rows)


def test_processes_stay(main, core, place, monkeypatch):
    """Two processes do all files."""
    started, before = [], core("cli.batch.process").subprocess.Popen

    def counted(*words, **more):
        started.append(words)
        return before(*words, **more)

    monkeypatch.setattr(core("cli.batch.process").subprocess, "Popen", counted)
    for name in range(6):
        plain().write(place / f"{name}.glb")
    assert main(["check", "*.glb", "--jobs", "2", "-q", "--fail-on", "never"]) == 0
    assert len(started) == 2


def test_missing_files(main, place, capsys):
    """They fail, and all others are processed."""
    for more in ([], ["--jobs", "2"]):
        words = ["-o", "out/", "--json", "r.json", *more]
        assert main(["weight", "a.glb", "missing.glb", "b.glb", *words]) == 1
        said = capsys.readouterr()
        assert "araplbs: missing.glb: no such file" in said.err
        assert "3 files: 2 done, 1 failed" in said.out
        results = json.loads((place / "r.json").read_text())["files"]
        assert [each.get("error") for each in results] == [None, "no such file", None]


def test_resume(main, place, capsys):
    """Files are skipped while input, options and output are the same."""
    words = ["weight", "*.glb", "-o", "out/", "--report", "reports/", "--resume"]

    def done(*more):
        assert main([*words, *more]) == 0
        said = capsys.readouterr().out
        return [name for name in "abc" if f"{name}.glb: saved" in said]

    assert done("--jobs", "2") == ["a", "b", "c"]
    assert (place / "reports/index.html").exists() and (place / "reports/a.glb.0.png").exists()
    rows = json.loads((place / "reports/table.json").read_text())["rows"]
    assert len(rows) == 3 and all(row["surface_strain"] is not None for row in rows)
    assert done() == [] and done("--jobs", "2") == []
    (place / "out/b.glb").unlink()
    plain(weights="<f4").write(place / "c.glb")
    assert done() == ["b", "c"]
    assert done("--max-influences", "3") == ["a", "b", "c"]
    assert main([*words, "-q"]) == 0 and main([*words, "--json", "r.json"]) == 0
    assert "3 files: 0 done, 3 already done, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["in.gltf"], "data.bin"),
        (["in.gltf"], "skin.png"),
        (["bare.glb", "--skeleton", "in.gltf"], "data.bin"),
        (["a.glb", "--parts", "parts.json"], "parts.json"),
    ],
)
def test_resume_sees_the_files_of_a_file(main, place, words, changed):
    (place / "skin.png").write_bytes(b"png")
    plain().write_apart(place / "in.gltf", images=[{"uri": "skin.png"}])
    bare().write(place / "bare.glb")
    (place / "parts.json").write_text('{"parts": []}')
    words = ["weight", *words, "-o", "out.glb", "--report", "r/", "--resume", "-q", "--json"]
    for wanted in (1, 0):
        assert main([*words, "r.json"]) == 0
        assert len(json.loads((place / "r.json").read_text())["files"]) == wanted
    with open(place / changed, "ab") as file:
        file.write(b"    ")
    assert main([*words, "r.json"]) == 0
    assert len(json.loads((place / "r.json").read_text())["files"]) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1", "its JSON "),
        ('{"asset": {"version": "2.0"}, "buffers": [{"uri": 5}]}', "its JSON "),
        ("glTF" + 20 * "\0", "uses glTF version 0"),
    ],
)
def test_a_report_of_a_damaged_file(main, place, capsys, text, reason):
    """The reason is that without a report."""
    (place / "in.gltf").write_text(text)
    for more in ([], ["--report", "r/"]):
        assert main(["weight", "in.gltf", "-o", "out.glb", *more]) == 1
        assert capsys.readouterr().err.startswith(f"araplbs: in.gltf: {reason}")


def test_files_are_named_without_their_buffers(main, core, place, monkeypatch):
    """--resume reads only the JSON of a finished file."""
    words = ["weight", "a.glb", "-o", "out.glb", "--report", "r/", "--resume", "-q"]
    assert main(words) == 0
    monkeypatch.setattr(core("gltf.file.container"), "_read_buffers", lambda *_: 1 / 0)
    assert main(words) == 0


@pytest.mark.skipif(os.name == "nt", reason="the gate needs PYTHONPATH")
def test_timeout(main, place, monkeypatch, capsys):
    """A file that takes too long, here forever, fails, and its process is ended."""
    with Gate() as gate:
        gate.hold_commands(monkeypatch, "serve")
        assert main(["weight", "a.glb", "-o", "out.glb", "--timeout", "0.5"]) == 1
        assert "a.glb: stopped after 0.5 s (--timeout)" in capsys.readouterr().err
    assert not (place / "out.glb").exists()


def test_plan(main, core, place, capsys):
    """Its tasks can run anywhere, and their results are those of the command."""
    words = ["-o", "out/", "--report", "reports/", "--max-influences", "3", "--keep-bones", "*1"]
    assert main(["weight", "*.glb", *words, "--plan"]) == 0
    (place / "plan.jsonl").write_text(capsys.readouterr().out)
    tasks = core("cli.batch.tasks").read_plan("plan.jsonl")
    assert len(tasks) == 3 and not (place / "out").exists()
    assert {task["program"] for task in tasks} == {"araplbs"}
    assert all(0.3 < task["seconds"] < 1 for task in tasks), "a small file"
    results = []
    for task in tasks:
        assert os.path.isabs(task["input"]) and "--keep-bones=*1" in task["arguments"]
        assert core("cli.main").run_task(task["arguments"], results) == 0
    assert main(["weight", "*.glb", "-o", "again/", *words[4:], "-q"]) == 0
    for name in ("a.glb", "b.glb", "c.glb"):
        assert (place / "out" / name).read_bytes() == (place / "again" / name).read_bytes()
    assert core("cli.main").run_task([*tasks[0]["arguments"], "--resume"], results) == 0
    assert results[-1]["skipped"]


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
        gate.hold_commands(monkeypatch, "serve")
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

    argv = ["weight", "a.glb", "-o", "out/", "--jobs", "1", "--threads", "1"]
    with pytest.raises(BrokenPipeError):
        jobs.do_files(plan, core("cli.main").read_command(argv)[1], broken, stop)
    assert len(list((place / "out").iterdir())) < 3


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
