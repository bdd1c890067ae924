"""Many files in several processes: --jobs, --plan, --resume, --report, and their refusals."""

import importlib.util
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import folder_of, opened, run, save, start
from gate import Gate
from scenes import (
    add_armature,
    add_tube,
    addon,
    assert_good,
    bind,
    new_scene,
    package,
    tube_and_rig,
)

looks_into_compressed_files = pytest.mark.skipif(
    importlib.util.find_spec("zstandard") is None,
    reason="no zstandard in this Blender: the cost of compressed files is that of their size",
)


def test_time_left_is_never_negative():
    """Because of rounding, the seconds of all tasks added in another order can exceed the total."""
    tasks = [{"seconds": seconds} for seconds in (0.3, 0.2, 0.1)]
    progress = package("cli.batch.pool").Progress(tasks, 1)
    progress.start -= 1e17
    for task in reversed(tasks):
        progress(task, {})
    assert progress.line() == "3 of 3 files, 0 failed, about 0 s left"


@pytest.fixture
def three(tmp_path):
    paths = []
    for name in ("a", "b", "c"):
        tube_and_rig()
        paths.append(save(tmp_path / f"{name}.blend", compress=name == "b"))
    return paths


def character(**shape):
    new_scene()
    rig, tube = add_armature(), add_tube(**shape)
    bind(tube, rig)
    return tube, rig


def task(*words, timeout=0):
    return {
        **{"input": "a", "output": "b", "seconds": 1.0, "bytes": 1},
        **{"timeout": timeout, "arguments": list(words)},
    }


def stop():
    """A Stop that no signal triggers."""
    return package("base.stop").Stop()


def weights(path):
    objects = opened(path)
    tube = objects["Tube"]
    return [[(g.group, g.weight) for g in vertex.groups] for vertex in tube.data.vertices]


def test_jobs(three, tmp_path, capfd):
    """The results are bit-identical to those of one process, and one line is printed for all
    files."""
    one, two, report = tmp_path / "one", tmp_path / "two", tmp_path / "report.json"
    assert run("weight", *three, "-o", one, "--seed", 3) == 0
    capfd.readouterr()
    words = ["-o", two, "--seed", 3, "--jobs", 2, "--json", report, "--report", tmp_path / "rep"]
    assert run("weight", *three, *words) == 0
    printed = capfd.readouterr().out
    assert "3 of 3 files, 0 failed, about 0 s left" in printed and "optimization" not in printed
    assert folder_of(two) == ["a.blend", "b.blend", "c.blend"]
    for path in three:
        assert weights(one / path.name) == weights(two / path.name)
    objects = opened(two / "a.blend")
    assert_good(objects["Tube"], objects["Rig"])
    entries = json.loads(report.read_text())["files"]
    assert [entry["input"] for entry in entries] == [str(path) for path in three]
    assert all(entry["armatures"][0]["options"]["seed"] == 3 for entry in entries)
    names = [f"{name}.blend.{end}" for name in "abc" for end in ("0.png", "json")]
    assert folder_of(tmp_path / "rep") == [*names, "index.html", "table.json"]


@pytest.mark.outside
def test_pictures_of_the_worst(three, tmp_path):
    """The page shows one picture for each armature before the table, with the highest strain
    first."""
    folder = tmp_path / "rep"
    assert run("weight", *three, "-o", tmp_path / "out", "--report", folder) == 0
    rows = json.loads((folder / "table.json").read_text())["rows"]
    page = (folder / "index.html").read_text()
    assert len(rows) == 3
    for row in rows:
        assert (folder / row["picture"]).read_bytes().startswith(b"\x89PNG")
    places = [page.index(f"src='{row['picture']}'") for row in rows]
    assert places == sorted(places) and places[-1] < page.index("<table>")
    (folder / rows[0]["picture"]).unlink()
    assert run("merge", folder) == 0, "a picture may be missing"


@pytest.mark.outside
def test_failures_among_jobs(three, tmp_path, capfd):
    """Each failure is named, also on the page, and the others are processed."""
    three[1].write_bytes(three[1].read_bytes()[:1000])
    words = ["-o", tmp_path / "out", "--jobs", 2, "--report", tmp_path / "rep"]
    assert run("weight", *three, tmp_path / "no.blend", *words) == 1
    found = capfd.readouterr()
    assert f"{three[1]}: " in found.err and "no.blend: " in found.err
    assert "2 failed" not in found.out, "a file that is not there is no task"
    assert folder_of(tmp_path / "out") == ["a.blend", "c.blend"]
    rows = json.loads((tmp_path / "rep/table.json").read_text())["rows"]
    assert [("error" in row) for row in rows] == [True, True, False, False]
    page = (tmp_path / "rep/index.html").read_text()
    assert page.count("class=failed") == 2 and "http" not in page and "<script" not in page


@pytest.mark.outside
def test_only_what_is_new_is_done(three, tmp_path, capfd):
    """Only files with another input, other options, or a changed output are processed."""
    out, reports = tmp_path / "out", tmp_path / "rep"

    def done(*more):
        before = {path.name: path.stat().st_ino for path in out.glob("*.blend")}
        words = ["-o", out, "--report", reports, "--resume", *more]
        assert run("weight", *three, *words) == 0
        now = {path.name: path.stat().st_ino for path in out.glob("*.blend")}
        return sorted(name[0] for name in now if now[name] != before.get(name))

    assert done() == ["a", "b", "c"]
    assert done() == [] and "3 of 3 files were already done" in capfd.readouterr().out
    assert done("--threads", 1) == [], "threads do not change weights"
    assert done("--timeout", 100) == [], "nor does a limit"
    for path in three:
        os.utime(path, (0, 4e9))
    assert done() == [], "times are those of copies and clocks"
    character(rings=7)
    save(three[1])
    assert done() == ["b"]
    (out / "c.blend").unlink()
    assert done("--jobs", 1) == ["c"]
    (reports / "a.blend.json").write_text("")
    assert done() == ["a"]
    assert done("--seed", 5) == ["a", "b", "c"]
    assert done("--seed", 5, "--no-symmetric") == ["a", "b", "c"]


@pytest.mark.outside
def test_resume_looks_at_the_output(three, tmp_path):
    """An output that is truncated or has been painted in counts as changed."""
    out = tmp_path / "out"
    words = ["weight", *three, "-o", out, "--report", tmp_path / "rep", "--resume"]
    assert run(*words) == 0
    whole = {path.name: path.read_bytes() for path in out.glob("*.blend")}
    (out / "a.blend").write_bytes(whole["a.blend"][:5000])
    changed = bytearray(whole["b.blend"])
    changed[len(changed) // 2] ^= 1
    (out / "b.blend").write_bytes(changed)
    kept = (out / "c.blend").stat().st_ino
    assert run(*words) == 0
    assert (out / "c.blend").stat().st_ino == kept
    assert (out / "b.blend").read_bytes() != changed
    assert weights(out / "a.blend") == weights(out / "b.blend") == weights(out / "c.blend")


@pytest.mark.parametrize(
    ("name", "command", "option"),
    [("tets", "weight", "tet_file"), ("kept weights", "restore", "file")],
)
def test_resume_looks_at_other_files(tmp_path, name, command, option):
    """Files named by options are compared with their state when the output was made."""
    tasks = package("cli.batch.tasks")
    source, other = tmp_path / "in.blend", tmp_path / "other"
    source.write_bytes(b"BLENDER")
    other.write_text("some")
    for path in (str(other), "//other"):
        arguments = SimpleNamespace(command=command, **{option: path})
        assert Path(tasks.files_read(source, arguments)[name]) == other
        found = tasks.contents_read(source, arguments)
        assert found[name] == package("disk.files").content_mark(other)
        assert found[name]["bytes"] == 4 and len(found[name]["sha256"]) == 64
    arguments = SimpleNamespace(command="keep", **{option: str(tmp_path / "not there yet")})
    assert list(tasks.contents_read(source, arguments)) == ["input"]


@pytest.mark.outside
def test_resume_over_inputs(three, tmp_path):
    """An output that is its own input counts as done until somebody saves it again."""
    words = ["weight", three[0], "--in-place", "--report", tmp_path / "rep", "--resume"]
    inodes = []
    for _ in range(2):
        assert run(*words) == 0
        inodes.append(three[0].stat().st_ino)
    assert inodes[0] == inodes[1]
    opened(three[0])
    save(three[0])
    assert run(*words) == 0 and three[0].stat().st_ino != inodes[0]


@pytest.mark.outside
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_stopped_between_file_and_report(three, tmp_path, monkeypatch, capfd):
    """If the file is in place but its report is missing, the report is written, so the file is not
    processed again."""
    files, out = package("blender.files"), tmp_path / "out"
    write = files.write_report

    def stopped(*arguments):
        os.kill(os.getpid(), signal.SIGTERM)
        write(*arguments)

    words = ["weight", *three, "-o", out, "--report", tmp_path / "rep", "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr(files, "write_report", stopped)
        assert run(*words) == 143
    assert folder_of(out) == ["a.blend"]
    assert folder_of(tmp_path / "rep") == ["a.blend.0.png", "a.blend.json"]
    capfd.readouterr()
    assert run(*words) == 0
    assert "1 of 3 files were already done" in capfd.readouterr().out
    assert len(folder_of(out)) == 3


@looks_into_compressed_files
def test_plan(three, tmp_path, capfd):
    """The tasks of a plan are run by number, with the same options."""
    big = tmp_path / "d.blend"
    character(rings=60, sides=20)
    save(big)
    capfd.readouterr()
    words = ["-o", tmp_path / "out", "--report", tmp_path / "rep", "--swing", 30, "--no-symmetric"]
    assert run("weight", *three, big, *words, "--plan") == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert not (tmp_path / "out").exists() and not (tmp_path / "rep").exists()
    tasks = [json.loads(line) for line in lines]
    assert tasks[0]["input"] == str(big) and len(tasks) == 4
    costs = [task["seconds"] for task in tasks]
    assert costs == sorted(costs, reverse=True)
    plan = tmp_path / "plan.jsonl"
    plan.write_text("Blender says something\n" + "\n".join(lines))
    assert run("task", plan, 1) == 0
    assert folder_of(tmp_path / "out") == ["d.blend"]
    assert folder_of(tmp_path / "rep") == ["d.blend.0.png", "d.blend.json"]
    report = json.loads((tmp_path / "rep/d.blend.json").read_text())["files"][0]
    options = report["armatures"][0]["options"]
    assert round(options["swing"], 5) == 0.5236 and not options["symmetric"]
    assert run("merge", tmp_path / "rep") == 0
    assert "index.html" in folder_of(tmp_path / "rep")


@looks_into_compressed_files
def test_counts(tmp_path):
    """The numbers of vertices and bones are correct for the file, compressed or not."""
    count = package("disk.blend_file").count
    for compress in (False, True):
        tube, rig = character(rings=7, sides=5)
        expected = len(tube.data.vertices), len(rig.data.bones)
        assert count(save(tmp_path / "x.blend", compress)) == expected
    (tmp_path / "y.blend").write_bytes((tmp_path / "x.blend").read_bytes()[:300])
    with pytest.raises(Exception):  # noqa: B017 - of zstandard, or ours
        count(tmp_path / "y.blend")


@pytest.mark.parametrize("compress", [False, True])
def test_whole(compress, tmp_path):
    """A file that is truncated at any position, or lacks a part, counts as incomplete."""
    is_whole = package("disk.blend_file").is_whole
    character(rings=60, sides=40)
    content = save(tmp_path / "x.blend", compress).read_bytes()
    torn = tmp_path / "torn.blend"
    assert is_whole(tmp_path / "x.blend")
    size = len(content)
    for end in (0, 3, 8, 12, 100, size // 2, size - 100, size - 1):
        torn.write_bytes(content[:end])
        assert not is_whole(torn), end
    for begin in (size // 3, size - 2000):
        # The removed part is not a whole number of blocks, because the rest could then be a file.
        torn.write_bytes(content[:begin] + content[begin + 1001 :])
        assert not is_whole(torn), begin


@pytest.mark.outside
def test_jobs_take_what_one_process_takes(tmp_path):
    """Files with other extensions than .blend, and names that are not UTF-8."""
    names = ["a.BLEND", "b.blend1", "c.old", "d"]
    if os.name != "nt":
        names.append(os.fsdecode(b"\xff\xfe.blend"))
    character(rings=5, sides=4)
    content = save(tmp_path / "in.blend").read_bytes()
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_bytes(content)
    for k, more in enumerate(([], ["--jobs", 2])):
        out, reports = tmp_path / f"out{k}", tmp_path / f"reports{k}"
        words = ["-o", out, "--report", reports, "--json", tmp_path / f"{k}.json", *more]
        assert run("weight", *paths, *words) == 0
        assert sorted(os.listdir(out)) == sorted(names)
        rows = json.loads((reports / "table.json").read_text())["rows"]
        assert sorted(os.path.basename(row["file"]) for row in rows) == sorted(names)
        assert len(json.loads((tmp_path / f"{k}.json").read_text())["files"]) == len(names)
        assert (reports / "index.html").read_bytes().decode("utf-8")
        assert run("weight", *paths, *words, "--resume") == 0
    assert run("weight", paths[3], "-o", tmp_path / "other") == 2, "no name of a .blend file"


@pytest.mark.outside
def test_refusal_of_a_task(tmp_path):
    """If the other process refuses a file, its reason is the reason for the failure."""
    character(rings=5, sides=4)
    path = save(tmp_path / "in.blend")
    (tmp_path / "out.blend").write_text("MINE")
    found = []
    words = ["weight", str(path), f"--output={tmp_path / 'out.blend'}"]
    bad = ["weight", str(path), "--no-such-option"]
    pool = package("cli.batch.pool").Pool(addon("blender.data.restart").command("araplbs"), 1)
    pool.run([task(*words), task(*bad)], lambda _t, r: found.append(r["error"]), stop())
    assert "out.blend' already exists and is not a .blend file" in found[0]
    assert found[1].startswith("unrecognized arguments: --no-such-option")


def test_memory_limits_what_runs(tmp_path):
    """Tasks wait for memory, but one always runs."""
    pool = package("cli.batch.pool").Pool(["false"], 3, memory=100)
    sizes = [70, 60, 500, 20]
    pool.pending = [{"bytes": size} for size in sizes]
    assert pool._take()["bytes"] == 70
    pool.running = {1: pool.running.popitem()[1]}
    assert pool._take()["bytes"] == 20, "60 and 500 do not fit beside 70"
    pool.running = {}
    pool.pending.pop(0)
    assert pool._take()["bytes"] == 500


@pytest.mark.outside
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_killed_child(tmp_path):
    """If a Blender process is killed in the middle of a file, another one processes the file
    again."""
    character(rings=150, sides=60)
    path = save(tmp_path / "in.blend")
    pool_module = package("cli.batch.pool")
    killed, started = [], pool_module.WorkerProcess
    command = addon("blender.data.restart").command("araplbs")

    class Killed(started):
        def do(self, *arguments):
            if not killed:
                killed.append(self.process.pid)
                self.process.send_signal(signal.SIGKILL)
            return super().do(*arguments)

    found = []
    words = ["weight", str(path), f"--output={tmp_path / 'out.blend'}"]
    pool_module.WorkerProcess = Killed
    try:
        pool_module.Pool(command, 1).run([task(*words)], lambda _t, r: found.append(r), stop())
    finally:
        pool_module.WorkerProcess = started
    assert killed and "error" not in found[0], found
    assert folder_of(tmp_path) == ["in.blend", "out.blend"]


@pytest.mark.outside
@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_stopped_jobs(tmp_path):
    """A signal to the first process ends everything in order. Nothing is incomplete, and nothing
    remains."""
    paths = []
    for name in ("a", "b"):
        character()
        paths.append(save(tmp_path / f"{name}.blend"))
    out = tmp_path / "out"
    with Gate() as gate:
        process = start("weight", *paths, "-o", f"{out}/", "--jobs", 2, held=(gate, "serve"))
        others = [gate.arrived(process) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        _printed, errors = process.communicate()
        assert process.returncode == 143 and "stopped by SIGTERM" in errors
        for other in others:
            other.wait_until_gone()
    assert not out.exists() or not folder_of(out)


def test_plan_with_missing_file(three, tmp_path, capfd):
    missing = tmp_path / "missing.blend"
    assert run("weight", three[0], missing, "-o", tmp_path / "out", "--plan") == 1
    found = capfd.readouterr()
    assert "missing.blend" in found.err
    assert [line[0] for line in found.out.splitlines() if line[:1] == "{"] == ["{"]


def test_tasks_of_a_plan_by_number(three, tmp_path, capfd):
    """test_farm_reports.py tests plans that somebody has edited."""
    plan = tmp_path / "plan.jsonl"
    plan.write_text("")
    assert run("task", plan, 1) == 1
    assert "there is no task in the plan" in capfd.readouterr().err
    assert run("weight", *three, "-o", tmp_path / "out", "--plan") == 0
    plan.write_text(capfd.readouterr().out)
    for number in (0, 4):
        assert run("task", plan, number) == 2
        assert f"there is no task {number}: the plan has 3" in capfd.readouterr().err
    three[0].unlink()
    codes = [run("task", plan, number) for number in (1, 2, 3)]
    assert sorted(codes) == [0, 0, 2] and "a.blend" in capfd.readouterr().err
    assert run("merge", tmp_path / "nowhere") == 2
