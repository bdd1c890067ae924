"""A run of tests that hangs is stopped, and its log names the place (tests/watched.py)."""

import signal
import subprocess
import sys

import pytest
import watched
from paths import TESTS
from patience import wait_until

HANGS = "import sys; print('begun', flush=True)\ndef test_it(): sys.stdin.read()\ntest_it()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


def hanging(code, log):
    """A process that has begun to hang."""
    command = [sys.executable, "-X", "faulthandler", "-c", code]
    with log.open("wb") as output:
        process = watched.start(command, output)
    wait_until(lambda: b"begun" in log.read_bytes())
    return process


def run(log, minutes, code):
    command = [
        sys.executable,
        str(TESTS / "watched.py"),
        log,
        str(minutes),
        sys.executable,
        "-c",
        code,
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:  # open: reading it hangs
        return process.wait()


@pytest.fixture
def log(tmp_path):
    return tmp_path / "run.log"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(watched, "LOOK", 0.01)


@pytest.mark.parametrize(("code", "expected"), [("pass", 0), ("raise SystemExit(3)", 3),
    ("import os; os.kill(os.getpid(), 11)", 139)])  # fmt: skip
def test_exit_codes_are_those_of_the_command(log, code, expected):
    assert run(log, 20, f"print('here')\n{code}") == expected
    assert log.read_text() == "here\n" or expected == 139


@pytest.fixture
def stdin(monkeypatch):
    """A standard input on which a process waits forever."""
    real = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: real(*a, **k, stdin=subprocess.PIPE))


def test_where_it_stood(log, stdin):
    process = hanging(HANGS, log)
    assert watched.watch(process, log, 0) == watched.GIVEN_UP
    told = log.read_text()
    assert "Fatal Python error: Aborted" in told and " in test_it" in told
    assert told.endswith("given up: nothing was written here for 0 minutes\n")


def test_what_ignores_the_signal_ends(log, stdin, monkeypatch):
    monkeypatch.setattr(watched, "GRACE", 0.1)
    process = hanging(DEAF + HANGS, log)
    watched.end(process, signal.SIGTERM)
    assert process.returncode == -signal.SIGKILL
