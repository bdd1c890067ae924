"""A serving process without Blender: its output never counts as a reply, an invalid reply ends it
with a reason, and nobody waits forever."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest
from araplbs.base.stop import Stop
from araplbs.cli.batch import process
from araplbs.cli.batch.pool import Pool
from araplbs.cli.batch.process import Died, WorkerProcess, read_reply, write_reply
from gate import Gate
from paths import ROOT

# What stands for Blender. WORK is the body of a function of the arguments of a task, that may add
# to the results; it is called with file descriptors 1 and 2 as Blender's parts find them.
SERVER = """
import os, signal, sys, threading
hang = threading.Event().wait
sys.path.insert(0, {root!r})
from araplbs.cli.batch.process import serve
print("Blender 4.5", flush=True)
os.write(1, b"a line without its end")
def run(arguments, results):
{work}
    results.append({{"said": arguments}})
    return 0
serve(run, sys.argv[2], lambda: os._exit(9))
"""

# Lines of WORK that access the pipe of the replies.
PIPE = "replies = sys._getframe(1).f_locals['replies']"


@pytest.fixture
def started():
    """Called with the lines of WORK; returns the process."""
    found = []

    def start(*work):
        body = "\n".join(f"    {line}" for line in work or ["pass"])
        script = SERVER.format(root=str(ROOT), work=body)
        found.append(WorkerProcess([sys.executable, "-c", script]))
        return found[-1]

    yield start
    for each in found:
        if each.lives:
            each.process.kill()
        each.process.wait()


def test_tasks_one_after_the_other(started):
    blender = started()
    for words in (["weight", "a"], ["weight", "\udcff\u2028\n"], []):
        assert blender.do(words) == {"code": 0, "results": [{"said": words}]}
    blender.leave()
    assert blender.process.returncode == 0
    assert blender.before[0] == "Blender 4.5"


PRINTED = [
    r'print("\x1earaplbs 1", flush=True)',
    r'print("\x1earaplbs " + "{\"code\": 0, \"results\": []}", flush=True)',
    r'os.write(1, (40).to_bytes(8, "big") + b"{\"code\": 0, \"results\": [{\"forged\": 1}]}")',
    r'os.write(2, b"araplbs replies \n\x00\x00\x00\x00\x00\x00\x00\x02{}")',
    r'sys.stdout.write("no end of a line"); sys.stdout.flush()',
    r'os.write(1, b"\xff\xfe\x00" * 100000)',
    r'os.system("echo printed by another")',
    r"os.close(1)",
    r"assert not sys.stdin.read() and not os.read(0, 1)",
]


@pytest.mark.parametrize("line", PRINTED)
def test_what_is_printed_is_no_reply(line, started):
    """Any part of Blender can print, before or in the middle of a reply."""
    blender = started(line)
    for number in range(2 if "close" not in line else 1):
        assert blender.do([number]) == {"code": 0, "results": [{"said": [number]}]}


# Bytes in place of a reply, straight into its pipe.
TORN = {
    "truncated": "replies.write(bytes(3)); replies.flush(); os._exit(0)",
    "bytes": "replies.write(bytes([255]) * 8); replies.flush(); hang()",
    "Expecting": "replies.write((3).to_bytes(8, 'big') + b'{no'); replies.flush(); hang()",
    "no results": "replies.write((2).to_bytes(8, 'big') + b'{}'); replies.flush(); hang()",
}


@pytest.mark.parametrize("reason", TORN)
def test_torn_reply(reason, started):
    """The process is ended, and the fault of the reply is stated."""
    blender = started(PIPE, TORN[reason])
    with pytest.raises(Died, match=f"an invalid reply: .*{reason}"):
        blender.do([])
    assert not blender.lives


@pytest.mark.parametrize("line", ["os._exit(7)", "raise ValueError('out of luck')"])
def test_process_that_ends(line, started):
    blender = started(line)
    with pytest.raises(Died, match=r"Blender ended with exit code [17]"):
        blender.do([])
    assert any("out of luck" in each for each in blender.printed) == ("luck" in line)


def test_closed_output(started, monkeypatch):
    """The output of a process that continues without being able to reply."""
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    blender = started(PIPE, "replies.close(); hang()")
    with pytest.raises(Died, match="closed its output"):
        blender.do([])
    assert not blender.lives


@pytest.mark.parametrize("stubborn", [False, True])
def test_time_out(stubborn, started, monkeypatch):
    """After this time, the process is ended during any work. The pool continues with the other
    files."""
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if stubborn else "pass"
    blender = started(ignore, "hang()")
    reply = blender.do([], timeout=0.5)
    assert reply["results"] == [{"error": "stopped after 0.5 s (--timeout)", "died": True}]
    assert reply["code"] == 1 and not blender.lives


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_frozen_process(started, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    blender = started()
    os.kill(blender.process.pid, signal.SIGSTOP)
    assert "stopped after 0.5 s" in blender.do([], timeout=0.5)["results"][0]["error"]
    assert blender.process.returncode == -signal.SIGKILL


def task(name, timeout=0):
    return {
        **{"input": name, "output": name, "seconds": 1, "bytes": 1},
        **{"timeout": timeout, "arguments": [name]},
    }


def test_pool_goes_on():
    """A file that times out is not tried again, and other processes work on the other files."""
    work = "    arguments == ['slow'] and hang()"
    command = [sys.executable, "-c", SERVER.format(root=str(ROOT), work=work)]
    tasks = [task(name, 0.5 if name == "slow" else 0) for name in ("slow", "a", "b")]
    found = {}
    Pool(command, 1).run(tasks, lambda task, result: found.update({task["input"]: result}), Stop())
    assert found["slow"]["error"] == "stopped after 0.5 s (--timeout)"
    assert [found[name]["said"] for name in "ab"] == [["a"], ["b"]]


def test_replies_of_any_length():
    stream = io.BytesIO()
    replies = [{"code": n, "results": [{"text": "é\x1e\n" * n}]} for n in (0, 1, 70000)]
    for reply in replies:
        write_reply(stream, reply)
    stream.seek(0)
    assert [read_reply(stream) for _ in replies] == replies and read_reply(stream) is None


@pytest.mark.parametrize(
    "reply",
    [7, [], {}, {"code": 0}, {"code": "0", "results": []}, {"code": 0, "results": [7]}],
)
def test_replies_that_make_no_sense(reply):
    stream, content = io.BytesIO(), json.dumps(reply).encode()
    stream.write(len(content).to_bytes(8, "big") + content)
    stream.seek(0)
    with pytest.raises(ValueError, match="it contains no"):
        read_reply(stream)


@pytest.mark.parametrize("begun", [True, False])
def test_end_of_the_parent(started, begun):
    """Nobody waits for a task anymore, so the process ends in the middle of the task or before
    it."""
    with Gate() as gate:
        blender = started(gate.wait)
        blender.process.stdin.write(b"[]\n")
        blender.process.stdin.flush()
        if begun:
            gate.arrived()
        blender.process.stdin.close()
        assert blender.process.wait() == 9


# A process with a pool of two; last it prints how those have ended that it has started.
POOL = """
import sys
sys.path.insert(0, {root!r})
from araplbs.base.stop import Stop, Stopped
from araplbs.cli.batch import pool, process
started = []
class Kept(process.WorkerProcess):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        started.append(self.process)
pool.WorkerProcess, process.PATIENCE = Kept, {patience}
try:
    with Stop() as stop:
        pool.Pool([sys.executable, "-c", {server!r}], 2).run({tasks!r}, lambda *_: None, stop)
except Stopped:
    print("stopped,", [each.poll() for each in started])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("moment", ["at work", "when all is done"])
def test_stopped_pool(moment):
    """A signal to the first process first ends the others, including those that are about to
    exit."""
    with Gate() as gate:
        work, last = ("pass", gate.wait) if moment == "when all is done" else (gate.wait, "")
        server = SERVER.format(root=str(ROOT), work=f"    {work}") + last
        # Who is about to leave does not, until patience ends.
        patience = 0.1 if last else process.PATIENCE
        script = POOL.format(
            root=str(ROOT), server=server, tasks=[task("a"), task("b")], patience=patience
        )
        first = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        others = [gate.arrived(first) for _ in range(2)]
        first.send_signal(signal.SIGTERM)
        printed, _errors = first.communicate()
        assert printed == f"stopped, {[-signal.SIGTERM] * 2}\n"
        for other in others:
            other.wait_until_gone()
