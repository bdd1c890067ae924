"""A plan on Dask, with a scheduler and three workers as processes, under adverse conditions. All
files are processed, none is incomplete, the weights are bit-identical to those of a single process,
and no output is written twice."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from conftest import CHARACTERS, farm
from gate import Gate
from paths import TESTS
from patience import HANGS, wait_until

sys.path.append(str(TESTS / "package"))
from gltf_files import plain

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals and mounts are those of POSIX"),
]


class Cluster:
    """A cluster on tcp://127.0.0.1 with a port of its own. Each process leads a group, so it can be
    frozen or killed together with its Blender, like a machine."""

    def __init__(self, folder, workers=3, gate=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder, self.workers = folder, []
        self.held = gate.environment("serve") if gate else {}
        self.start_scheduler()
        for i in range(workers):
            self.start_worker(f"worker{i}")

    def _start(self, name, *words):
        environment = os.environ | {
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s",
            **self.held,
        }
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
                cwd=self.folder,
            )

    def start_scheduler(self):
        self.scheduler = self._start(
            "scheduler",
            "distributed.cli.dask_scheduler",
            *("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"),
        )

    def start_worker(self, name):
        self.workers.append(
            self._start(
                name,
                "distributed.cli.dask_worker",
                self.address,
                *("--nthreads", "1", "--name", name, "--no-dashboard", "--no-nanny"),
                *("--resources", "MEMORY=2e9", "--local-directory", str(self.folder)),
            )
        )

    def end(self):
        for process in [*self.workers, self.scheduler]:
            for number in (signal.SIGCONT, signal.SIGKILL):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Cluster(folder)
    yield found
    found.end()


@pytest.fixture
def gate():
    """A gate at which each Blender waits when it begins a file."""
    with Gate() as found:
        yield found


@pytest.fixture
def held(tmp_path, gate):
    """A cluster of Blenders that wait at the gate."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Cluster(folder, gate=gate)
    yield found
    found.end()


class Watch:
    """Records the files at a path over time; a file that is written again counts as another one."""

    def __init__(self, folder):
        self.folder, self.seen, self.over = folder, {}, False
        self.thread = threading.Thread(target=wait_until, args=(self._look,), daemon=True)
        self.thread.start()

    def _look(self):
        if self.folder.exists():
            for entry in os.scandir(self.folder):
                if entry.name.endswith(".blend") and not entry.name.startswith("."):
                    self.seen.setdefault(entry.name, set()).add(entry.inode())
        return self.over

    def end(self):
        self.over = True
        self.thread.join()
        self._look()
        return {name: len(found) for name, found in self.seen.items()}


def start(plan, cluster, blender, *more):
    words = farm("run", plan, "--scheduler", cluster.address, "--blender", blender.command, *more)
    return subprocess.Popen(
        ["env", "--default-signal=INT", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(client, code=0):
    printed, errors = client.communicate(timeout=HANGS)
    assert client.returncode == code, (printed, errors)
    return printed, errors


def assert_all_done(out, watch, blender, reference):
    """All files are complete, written once, and bit-identical."""
    assert watch.end() == {f"{name}.blend": 1 for name in CHARACTERS}
    assert sorted(os.listdir(out)) == sorted(f"{name}.blend" for name in CHARACTERS)
    assert blender.weights(sorted(out.glob("*.blend"))) == reference


def blenders_of(process):
    """Processes in the group of a worker, except the worker."""
    done = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True)
    pairs = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    return [pid for pid, group in pairs if group == process.pid and pid != process.pid]


def let_two_go(gate, client, reports):
    """Two files are processed, with their reports, and more remain."""
    for _ in range(2):
        gate.arrived(client).let_go()
    wait_until(lambda: len(list(reports.glob("*.blend.json"))) == 2, "no report")


def test_all(plan, cluster, blender, reference, tmp_path):
    out = tmp_path / "out"
    watch = Watch(out)
    printed, _errors = finish(start(plan(out), cluster, blender))
    assert f"{len(CHARACTERS)} of {len(CHARACTERS)} files, 0 failed" in printed
    assert_all_done(out, watch, blender, reference)
    wait_until(lambda: not any(map(blenders_of, cluster.workers)), "idle Blenders stay")
    done = blender.run("merge", tmp_path / "reports")
    assert done.returncode == 0 and "6 rows" in done.stdout
    table = json.loads((tmp_path / "reports/table.json").read_text())
    strains = [row["surface_strain"] for row in table["rows"]]
    assert strains == sorted(strains, reverse=True)


def test_gltf_files(cluster, tmp_path, monkeypatch):
    """The workers need no Blender. A second run skips what is done."""
    monkeypatch.chdir(tmp_path)
    araplbs = [sys.executable, "-m", "araplbs", "weight"]
    for name in "abcdef":
        plain().write(tmp_path / f"{name}.glb")
    words = ["*.glb", "-o", "out/", "--report", "reports/", "--plan"]
    done = subprocess.run([*araplbs, *words], capture_output=True, text=True, check=True)
    (tmp_path / "plan.jsonl").write_text(done.stdout)
    watch = ("run", "plan.jsonl", "--scheduler", cluster.address)
    for _ in range(2):
        done = subprocess.run(farm(*watch), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "6 of 6 files, 0 failed" in done.stdout
    subprocess.run([*araplbs, "*.glb", "-o", "here/", "-q"], check=True)
    for name in "abcdef":
        one, other = (tmp_path / folder / f"{name}.glb" for folder in ("out", "here"))
        assert one.read_bytes() == other.read_bytes()
    assert subprocess.run(farm("merge", "reports"), check=False).returncode == 0
    assert len(json.loads((tmp_path / "reports/table.json").read_text())["rows"]) == 6


def test_killed_worker(plan, held, gate, blender, reference, tmp_path):
    """The killed worker's Blender ends with it, and another worker processes the file."""
    out = tmp_path / "out"
    watch = Watch(out)
    client = start(plan(out), held, blender)
    gate.arrived(client)
    killed = next(each for each in held.workers if blenders_of(each))
    left = blenders_of(killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in left), "Blender stays")
    gate.open()
    finish(client)
    assert_all_done(out, watch, blender, reference)


def test_frozen_worker(plan, held, gate, blender, reference, tmp_path):
    """A frozen worker is like a machine that stands still: other workers process its file. When the
    worker continues, it does not write this file again."""
    out = tmp_path / "out"
    watch = Watch(out)
    client = start(plan(out), held, blender)
    gate.arrived(client)
    frozen = next(each for each in held.workers if blenders_of(each))
    os.killpg(frozen.pid, signal.SIGSTOP)
    gate.open()
    finish(client)
    os.killpg(frozen.pid, signal.SIGCONT)
    wait_until(lambda: not blenders_of(frozen), "its Blender stays")  # and could still write
    assert_all_done(out, watch, blender, reference)


def test_scheduler_restarts(plan, held, gate, blender, reference, tmp_path):
    """The workers are restarted with the scheduler, as a service would do; the client submits the
    remaining tasks."""
    out = tmp_path / "out"
    watch = Watch(out)
    client = start(plan(out), held, blender)
    let_two_go(gate, client, tmp_path / "reports")
    gate.arrived(client)
    os.killpg(held.scheduler.pid, signal.SIGKILL)
    held.scheduler.wait()
    gate.open()
    held.start_scheduler()
    for number, worker in enumerate(list(held.workers)):
        worker.wait()  # without its scheduler it ends
        held.start_worker(f"again{number}")
    printed, _errors = finish(client)
    assert "the scheduler has lost the tasks" in printed
    assert_all_done(out, watch, blender, reference)


def test_canceled(plan, held, gate, blender, reference, tmp_path):
    """Ctrl-C withdraws running tasks from the workers, and the next run processes the rest."""
    out = tmp_path / "out"
    path = plan(out)
    watch = Watch(out)
    client = start(path, held, blender)
    let_two_go(gate, client, tmp_path / "reports")
    waiting = gate.arrived(client)
    client.send_signal(signal.SIGINT)
    _printed, errors = finish(client, 130)
    assert "stopped" in errors
    waiting.wait_until_gone()
    wait_until(lambda: not any(map(blenders_of, held.workers)), "Blenders stay")
    assert not [name for name in os.listdir(out) if name.startswith(".")]
    assert len(os.listdir(out)) < len(CHARACTERS)
    gate.open()
    finish(start(path, held, blender))
    assert_all_done(out, watch, blender, reference)


def test_full_disk(plan, cluster, blender, reference, tmp_path):
    """Files for which there is no space fail by name and leave nothing. With more space, the rest
    is processed."""
    out = tmp_path / "out"
    out.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(out)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        path = plan(out)
        watch = Watch(out)
        _printed, errors = finish(start(path, cluster, blender), 1)
        assert "could not be saved" in errors and "free there" in errors
        done = set(os.listdir(out))
        assert len(done) < len(CHARACTERS) and not [name for name in done if name[0] == "."]
        subprocess.run(["mount", "-o", "remount,size=20m", str(out)], check=True)
        finish(start(path, cluster, blender))
        assert_all_done(out, watch, blender, reference)
    finally:
        subprocess.run(["umount", str(out)], check=True)


def test_no_worker(plan, blender, tmp_path):
    empty = Cluster(tmp_path, workers=0)
    try:
        client = start(plan(tmp_path / "out"), empty, blender, "--patience", "5")
        printed, errors = finish(client, 1)
    finally:
        empty.end()
    assert "waiting: there is no worker yet" in printed
    assert f"the scheduler {empty.address} has no worker after 5 s" in errors


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("/no/blender", "Blender cannot be started on"),
        ("/bin/false", "Blender ended with exit code 1"),
    ],
)
def test_no_blender(command, sentence, plan, cluster, blender, tmp_path):
    """Every file fails by name."""
    client = start(plan(tmp_path / "out"), cluster, blender, "--blender", command)
    _printed, errors = finish(client, 1)
    assert errors.count(sentence) == len(CHARACTERS)
    assert not (tmp_path / "out").exists()
