"""A window test that hangs is ended, whether the window still has turns or is blocked. A test that
works is not ended, however long it takes."""

import hashlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from paths import TESTS
from patience import HANGS

sys.path.append(str(TESTS / "window"))
from guard import IDLE, NOISE, Quiet

BLOCKED = """
import threading
from guard import Watchdog

def stuck():
    threading.Event().wait()

dog = Watchdog({pictures!r}, {seconds})
dog.beat()
{then}
dog.end()
"""


@contextmanager
def thread(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()


def ticking():
    """A Quiet whose clock advances by one second at each query."""
    return Quiet(itertools.count().__next__)


def test_a_thread_that_waits_for_ever():
    gate = threading.Event()
    with thread(gate.wait):
        quiet = ticking()
        assert any(quiet.is_hung() for _ in range(2 * IDLE))
        gate.set()


def test_a_thread_at_work():
    """On a crowded machine, the thread gets a fiftieth of the processor time that counts as work in
    each second."""
    looks, done = 3 * IDLE, threading.Semaphore(0)

    def work():
        for look in range(looks):
            while time.thread_time() < look * NOISE / 50:
                hashlib.sha256(bytes(100_000)).digest()
            done.release()

    with thread(work):
        quiet = ticking()
        for _ in range(looks):
            done.acquire()
            assert not quiet.is_hung()


@pytest.mark.parametrize("then, seconds", [("stuck()", 1), ("", HANGS)], ids=["blocked", "good"])
def test_a_window_that_is_blocked(tmp_path, then, seconds):
    script = BLOCKED.format(pictures=str(tmp_path), seconds=seconds, then=then)
    paths = os.pathsep.join((str(TESTS), str(TESTS / "window")))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (-signal.SIGKILL if then else 0), done.stderr
    assert ("Timeout (" in done.stderr and "in stuck" in done.stderr) == bool(then)
