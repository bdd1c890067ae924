"""A Blender that serves: it takes tasks over a pipe, one after the other, until the pipe ends.

This side of the pipe. It needs the standard library alone: dask_client.py sends this file to
machines that have no add-on but in Blender.
"""

import json
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress

MARK = "\x1earaplbs "  # before a reply: Blender prints what it likes between them
PATIENCE = 20  # seconds for a process to end in order


class Died(Exception):
    """The process has ended in the middle of a task."""


class Withdrawn(Exception):
    """The task is not wanted any more."""


class BlenderProcess:
    """command: what starts Blender, up to and with the name of our command."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(
            [*command, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            bufsize=1,
            env=environment,
        )
        self.replies, self.printed = queue.Queue(), deque(maxlen=20)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            _before, mark, reply = line.partition(MARK)
            if mark:
                self.replies.put(json.loads(reply))
            else:
                self.printed.append(line.rstrip())
        self.replies.put(None)

    @property
    def lives(self):
        return self.process.poll() is None

    def do(self, arguments, wanted=lambda: True):
        """{"code", "results"} of a task. Raises Died, Withdrawn when `wanted` says no more, and
        then the process is gone."""
        try:
            self.process.stdin.write(json.dumps(arguments) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, as is found next
        while True:
            try:
                reply = self.replies.get(timeout=0.2)
            except queue.Empty:
                if not wanted():
                    self.end()
                    raise Withdrawn from None
                continue
            if reply is None:
                raise Died(self._how_it_ended())
            return reply

    def _how_it_ended(self):
        code = self.process.wait()
        how = f"exit code {code}"
        if code < 0:
            how = signal.Signals(-code).name
        last = next((line for line in reversed(self.printed) if line.strip()), "")
        return f"Blender ended by {how}" + (f", its last line: {last}" if last else "")

    def end(self):
        """Ends the process, in order if it can; what it was writing is whole or not there."""
        if self.lives:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._close()

    def leave(self):
        """Lets it end by itself, without a task to do."""
        self._close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()

    def _close(self):
        with suppress(OSError):
            self.process.stdin.close()


def serve(run, lines, end):
    """The other side: `run(arguments, results)` does a task and gives its exit code; `end` is
    called when the pipe ends in the middle of one, since nobody waits for it then."""
    tasks, busy = queue.Queue(), threading.Event()

    def read():
        for line in lines:
            tasks.put(line)
        tasks.put(None)
        if busy.is_set():
            end()

    threading.Thread(target=read, daemon=True).start()
    while True:
        while True:  # a wait that signals can end
            try:
                line = tasks.get(timeout=0.5)
                break
            except queue.Empty:
                time.sleep(0)
        if line is None:
            return
        results = []
        busy.set()
        code = run(json.loads(line), results)
        busy.clear()
        try:
            print(f"{MARK}{json.dumps({'code': code, 'results': results})}", flush=True)
        except OSError:  # nobody waits for it
            return
