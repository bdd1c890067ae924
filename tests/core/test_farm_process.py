"""A process that serves, without Blender: what it prints never counts as a reply, a reply that
makes no sense ends it with a reason, and nobody waits for ever."""

import io
import json
import os
import signal
import sys
import time

import pytest
from paths import ROOT

from araplbs_addon.farm import process
from araplbs_addon.farm.pool import Pool
from araplbs_addon.farm.process import BlenderProcess, Died, read_reply, write_reply

# What stands for Blender. WORK is the body of a function of the arguments of a task, that may add
# to the results; it is called with file descriptors 1 and 2 as Blender's parts find them.
SERVER = """
import os, signal, sys, time
sys.path.insert(0, {root!r})
from araplbs_addon.farm.process import serve
print("Blender 4.5", flush=True)
os.write(1, b"a line without its end")
def run(arguments, results):
{work}
    results.append({{"said": arguments}})
    return 0
serve(run, sys.argv[2], lambda: os._exit(9))
"""

# Lines of WORK that find the pipe of the replies.
PIPE = "replies = sys._getframe(1).f_locals['replies']"


@pytest.fixture
def started():
    """Called with the lines of WORK: the process."""
    found = []

    def start(*work):
        body = "\n".join(f"    {line}" for line in work or ["pass"])
        script = SERVER.format(root=str(ROOT), work=body)
        found.append(BlenderProcess([sys.executable, "-c", script]))
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
    """By whatever part of Blender, before or in the middle of a reply."""
    blender = started(line)
    for number in range(2 if "close" not in line else 1):
        assert blender.do([number]) == {"code": 0, "results": [{"said": [number]}]}


# What is written in place of a reply, straight into its pipe.
TORN = {
    "cut short": "replies.write(bytes(3)); replies.flush(); os._exit(0)",
    "bytes": "replies.write(bytes([255]) * 8); replies.flush(); time.sleep(60)",
    "Expecting": "replies.write((3).to_bytes(8, 'big') + b'{no'); replies.flush(); time.sleep(60)",
    "no results": "replies.write((2).to_bytes(8, 'big') + b'{}'); replies.flush(); time.sleep(60)",
}


@pytest.mark.parametrize("reason", TORN)
def test_torn_reply(reason, started):
    """The process is ended, and what is wrong with the reply is said."""
    blender = started(PIPE, TORN[reason])
    with pytest.raises(Died, match=f"a reply that makes no sense: .*{reason}"):
        blender.do([])
    assert not blender.lives


@pytest.mark.parametrize("line", ["os._exit(7)", "raise ValueError('out of luck')"])
def test_process_that_ends(line, started):
    blender = started(line)
    with pytest.raises(Died, match=r"Blender ended by exit code [17]"):
        blender.do([])
    assert any("out of luck" in each for each in blender.printed) == ("luck" in line)


def test_closed_output(started, monkeypatch):
    """Of a process that goes on without a reply to give."""
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    blender = started(PIPE, "replies.close(); time.sleep(60)")
    with pytest.raises(Died, match="closed its output"):
        blender.do([])
    assert not blender.lives


@pytest.mark.parametrize("stubborn", [False, True])
def test_time_out(stubborn, started, monkeypatch):
    """Whatever it does meanwhile, it is gone after that; the pool goes on with the other files."""
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if stubborn else "pass"
    blender = started(ignore, "time.sleep(600)")
    reply = blender.do([], timeout=1.5)
    assert reply["results"] == [{"error": "given up after 1.5 s (--timeout)", "died": True}]
    assert reply["code"] == 1 and not blender.lives


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_frozen_process(started, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 0.5)
    blender = started()
    os.kill(blender.process.pid, signal.SIGSTOP)
    assert "given up after 1 s" in blender.do([], timeout=1)["results"][0]["error"]
    assert blender.process.returncode == -signal.SIGKILL


def test_pool_goes_on(tmp_path):
    """A file that times out is not tried again, the others are done by other processes."""
    work = "    time.sleep(600 if arguments == ['slow'] else 0)"
    command = [sys.executable, "-c", SERVER.format(root=str(ROOT), work=work)]
    tasks = [
        {"input": name, "output": name, "seconds": 1, "bytes": 1, "timeout": 3, "arguments": [name]}
        for name in ("slow", "a", "b")
    ]
    found = {}
    Pool(command, 1).run(tasks, lambda task, result: found.update({task["input"]: result}), int)
    assert found["slow"]["error"] == "given up after 3 s (--timeout)"
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
    with pytest.raises(ValueError, match="it holds no"):
        read_reply(stream)


@pytest.mark.parametrize("begun", [True, False])
def test_end_of_the_parent(started, tmp_path, begun):
    """Nobody waits for a task any more: the process ends in the middle of it, or before."""
    mark = tmp_path / "begun"
    blender = started(f"open({str(mark)!r}, 'x').close()", "time.sleep(600)")
    blender.process.stdin.write(b"[]\n")
    blender.process.stdin.flush()
    while begun and not mark.exists():
        time.sleep(0.05)
    blender.process.stdin.close()
    assert blender.process.wait(120) == 9
