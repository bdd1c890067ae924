"""Python exits cleanly while daemon threads are at work, each time in a process of its own."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from patience import HANGS

# A process takes seconds to start under wine, and with sanitizers (tools/asan.sh --quick).
SLOW = os.name == "nt" or "ARAPLBS_FAULT_STRIDE" in os.environ
TIMES = 2 if SLOW and not os.environ.get("ARAPLBS_TEST_ALL") else 8
BEGIN = """
import atexit, os, sys, threading, time
sys.path[:0] = {path!r}
LATER = []
atexit.register(lambda: [work() for work in LATER])  # runs after the function of the module
import araplbs, shapes

MESH, BONES = shapes.tube(40, 100, 0.3, caps=True), shapes.chain(20)
COUNT, THREADS = {count}, {threads}

def solve(progress):
    araplbs.Solver(*MESH, *BONES, threads=THREADS, progress=progress).solve()

def in_threads(work):
    "Run work(begun) in threads, each until it has called begun()."
    begun = [threading.Event() for _ in range(COUNT)]
    for one in begun:
        threading.Thread(target=work, args=(one.set,), daemon=True).start()
    for one in begun:
        one.wait()
"""


def end(code, count=1, threads=4):
    """The output of a program that ends after `code`. A program that does not end fails by
    itself."""
    begin = BEGIN.format(path=sys.path, count=count, threads=threads)
    program = [sys.executable, "-c", begin + textwrap.dedent(code)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(program, **pipes, start_new_session=True) as process:
        try:
            said, complaint = process.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            if sys.platform != "win32":
                os.killpg(process.pid, signal.SIGKILL)  # with what it has forked
            process.kill()
            raise
    assert process.returncode == 0, (process.returncode, complaint)
    assert complaint == ""
    return said


AT_WORK = """
    def work(begun):
        while True:
            solve(lambda *_: begun())
    in_threads(work)
"""


@pytest.mark.parametrize("count, threads", [(4, 4), (1, 4), (4, 1)])
def test_in_the_midst_of_solves(count, threads):
    for _ in range(TIMES):
        end(AT_WORK, count, threads)


def test_in_a_progress_function_that_does_not_come_back():
    end(
        """
        def wait_for_ever(begun):
            begun()
            while True:
                time.sleep(0.001)
        in_threads(lambda begun: solve(lambda *_: wait_for_ever(begun)))
        """,
        count=4,
    )


def test_threads_end_by_themselves():
    """The threads end without a message, their last lines run, and other threads can wait for
    them."""
    said = end(
        """
        def work(begun):
            try:
                solve(lambda *_: begun())
            except BaseException as error:
                os.write(1, type(error).__name__.encode() + b" ")
                raise
        in_threads(work)
        threads = [one for one in threading.enumerate() if one.daemon]
        LATER.append(lambda: [one.join() for one in threads])
        """,
        count=3,
    )
    assert said.split() == ["SystemExit"] * 3


def test_work_of_the_main_thread_at_exit():
    said = end(
        """
        heard = []
        LATER.append(lambda: (solve(lambda *_: heard.append(1)), os.write(1, b"solved")))
        """
        + AT_WORK
    )
    assert said == "solved"


def test_frames_that_are_read_one_by_one():
    end(
        """
        class Frames:
            def __init__(self, begun):
                self.begun = begun
            def __len__(self):
                return 1000
            def __getitem__(self, index):
                self.begun()
                return MESH[0]
        def work(begun):
            while True:
                araplbs.bake(MESH[0], Frames(begun), new_bones=4, threads=THREADS)
        in_threads(work)
        """,
        count=2,
    )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="without fork")
def test_a_process_that_was_forked_in_the_midst():
    """A forked process has none of its parent's threads and does not wait for them."""
    said = end(
        """
        import warnings
        warnings.simplefilter("ignore")  # of threads and fork
        def work(begun):
            while True:
                solve(lambda *_: begun())
        in_threads(work)
        child = os.fork()
        if not child:
            sys.exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        count=2,
    )
    assert said.split() == ["7"]
