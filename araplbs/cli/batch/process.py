"""Runs a process as a server that receives tasks over a pipe, one after another, until the pipe
closes: Blender with the extension, or `araplbs`.

Tasks are lines of JSON on the server's standard input. Replies are sent on its original standard
output. Nothing else writes to this stream, because all other output of the process is redirected to
standard error before the first task. A reply consists of its length in eight bytes and that many
bytes of JSON, so a name in a reply cannot be mistaken for another reply. A secret key of this
process announces the first reply.

The client side needs only the standard library, because dask_client.py sends this file to machines
that have the add-on only in Blender.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from ...base.child import own_input

LENGTH = 8  # bytes of the length before a reply
LONGEST = 1 << 28  # bytes of a reply
FOUND = 3  # exit code of a completed task, as requested by --if-worse
PATIENCE = 20  # seconds for an orderly exit of a process


class Died(Exception):
    """The process ended in the middle of a task."""


class Withdrawn(Exception):
    """The task is no longer wanted."""


class WorkerProcess:
    """command: the command line that starts the process, up to and including the name of our
    command. name: the process in messages."""

    def __init__(self, command: Sequence[str], name: str = "Blender") -> None:
        self.name = name
        self.key = secrets.token_hex(16)
        self.process = subprocess.Popen(
            [*command, "serve", self.key],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.replies: queue.Queue[dict[str, Any] | None] = queue.Queue()
        # Output lines: since startup, and since the last task.
        self.before: deque[str] = deque(maxlen=20)
        self.printed: deque[str] = deque(maxlen=20)
        self.fault: str | None = None  # of an invalid reply
        self.readers = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_replies, self._read_printed)
        ]
        for reader in self.readers:
            reader.start()

    def _read_replies(self) -> None:
        """Queues replies, and None when there will be no more for any reason."""
        stdout = self.process.stdout
        try:
            while not (line := stdout.readline()).endswith(greeting(self.key)):
                if not line:
                    return
                _keep(line, self.before)
            while reply := read_reply(stdout):
                self.replies.put(reply)
        except Exception as error:
            self.fault = f"{self.name} sent an invalid reply: {error}"
        finally:
            self.replies.put(None)

    def _read_printed(self) -> None:
        for line in self.process.stderr:
            _keep(line, self.printed)

    @property
    def lives(self) -> bool:
        return self.process.poll() is None

    def do(
        self,
        arguments: Sequence[str],
        wanted: Callable[[], bool] = lambda: True,
        timeout: float = 0,
    ) -> dict[str, Any]:
        """Returns {"code", "results"} for a task. If no reply arrives within `timeout` seconds, the
        process is ended and the result is an error; 0 means no limit. Raises Died if the process
        ends by itself. If `wanted` returns false, ends the process and raises Withdrawn."""
        start = time.monotonic()
        try:
            self.process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # the process has ended, which is detected next
        while True:
            try:
                reply = self.replies.get(timeout=0.2)
            except queue.Empty:
                if not wanted():
                    self.end()
                    raise Withdrawn from None
                if timeout and time.monotonic() - start > timeout:
                    self.end()
                    error = f"stopped after {timeout:g} s (--timeout)"
                    return {"code": 1, "results": [{"error": error, "died": True}]}
                continue
            if reply is None:
                raise Died(self._how_it_ended())
            return reply

    def _how_it_ended(self) -> str:
        """Describes how the process ended, and releases the process."""
        if self.fault:
            self.end()
            return self.fault
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()
            return f"{self.name} closed its output in the middle of a file"
        for reader in self.readers:
            reader.join(1)  # another process may hold the pipe
        how = f"exit code {code}"
        if code < 0:
            how = signal.Signals(-code).name
        last = [*self.before, *self.printed][-1:]
        return f"{self.name} ended with {how}" + (f", its last line: {last[0]}" if last else "")

    def end(self) -> None:
        """Ends the process, in order if possible. The file that it was writing is complete or
        missing."""
        if self.lives:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._close()

    def leave(self) -> None:
        """Lets the process end by itself, without another task."""
        self._close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()

    def _close(self) -> None:
        with suppress(OSError):
            self.process.stdin.close()


def _keep(line: bytes, lines: deque[str]) -> None:
    if line.strip():
        lines.append(line.decode("utf-8", "replace").strip())


def greeting(key: str) -> bytes:
    """The bytes before the first reply."""
    return f"araplbs replies {key}\n".encode()


def read_reply(stream: IO[bytes]) -> dict[str, Any] | None:
    """Reads the next reply, or None if the stream ends before it. Raises ValueError for invalid
    data."""
    head = stream.read(LENGTH)
    if not head:
        return None
    size = int.from_bytes(head, "big")
    if len(head) < LENGTH:
        raise ValueError("it is truncated")
    if size > LONGEST:
        raise ValueError(f"it claims to have {size} bytes")
    content = stream.read(size)
    if len(content) < size:
        raise ValueError("it is truncated")
    reply = json.loads(content)
    results = reply.get("results") if isinstance(reply, dict) else None
    if not isinstance(results, list) or not all(isinstance(each, dict) for each in results):
        raise ValueError("it contains no results")
    if type(reply.get("code")) is not int:
        raise ValueError("it contains no exit code")
    return reply


def result_of(reply: dict[str, Any]) -> dict[str, Any]:
    """The entry in a reply for the only file of its task."""
    result = dict(reply["results"][0]) if reply["results"] else {}
    if reply["code"] not in (0, FOUND) and "error" not in result:
        result["error"] = f"exit code {reply['code']}"
    return result


def write_reply(stream: IO[bytes], reply: dict[str, Any]) -> None:
    content = json.dumps(reply).encode()
    stream.write(len(content).to_bytes(LENGTH, "big") + content)
    stream.flush()


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Reserves standard input and output for tasks and replies. The output of other code in Blender
    goes to standard error."""
    sys.stdout.flush()
    replies = os.dup(1)
    os.dup2(2, 1)
    if os.name == "nt":
        import msvcrt

        msvcrt.setmode(replies, os.O_BINARY)  # type: ignore[attr-defined]
    return own_input(), os.fdopen(replies, "wb")


def serve(
    run: Callable[[list[str], list[dict[str, Any]]], int], key: str, end: Callable[[], None]
) -> None:
    """Runs the server side. `run(arguments, results)` processes a task and returns its exit code.
    `end` is called if the pipe closes in the middle of a task, because nobody waits for the task
    anymore."""
    tasks: queue.Queue[bytes | None] = queue.Queue()
    busy, left = threading.Event(), threading.Event()
    lines, replies = _own_pipes()

    def read() -> None:
        for line in lines:
            tasks.put(line)
        tasks.put(None)
        left.set()
        if busy.is_set():
            end()

    replies.write(greeting(key))
    threading.Thread(target=read, daemon=True).start()
    while True:
        while True:  # a wait that signals can interrupt
            try:
                line = tasks.get(timeout=0.5)
                break
            except queue.Empty:
                time.sleep(0)
        if line is None:
            return
        results: list[dict[str, Any]] = []
        busy.set()
        if left.is_set():  # before the task has begun
            end()
        code = run(json.loads(line), results)
        busy.clear()
        try:
            write_reply(replies, {"code": code, "results": results})
        except OSError:  # nobody waits for the task
            return
