"""--jobs: processes several files at a time, in processes that stay for further files.

A process that crashes, or that the system kills, affects only its own file, which another process
tries once more. Each process receives its tasks over a pipe (batch/process.py), and ends with the
main process: the system closes the pipe when the main process ends for any reason. A process that
works then ends as after SIGTERM, so it writes no more outputs. Work that does not react within
PATIENCE seconds is cut off.
"""

from __future__ import annotations

import argparse
import base64
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from ..base.child import PATIENCE
from ..base.stop import Stop
from .batch.pool import run_jobs
from .batch.process import serve
from .batch.tasks import Plan, Task
from .command import Done
from .errors import FAILED

WORKER = "araplbs"  # the module that a process runs


def do_files(
    plan: Plan, arguments: argparse.Namespace, say: Callable[[str], None], stop: Stop
) -> list[Done]:
    """Processes the files of a plan, and returns the results in its order."""

    def say_lines(_task: Task, result: dict[str, Any]) -> None:
        for line in result.get("said", ()):
            say(line)

    # -P, because the current directory may contain an unrelated folder named araplbs
    command = [sys.executable, "-P", "-m", WORKER]
    name = "its process"
    results = run_jobs(plan, arguments, command, stop, lambda _tasks: say_lines, name, str)
    return [_done(result) for result in results]


def _done(result: dict[str, Any]) -> Done:
    """The result that run_task() has sent from another process."""
    own = ("said", "pictures", "used", "code")
    said = {name: result.pop(name) for name in own if name in result}
    code = FAILED if "error" in result else said["code"]
    pictures = [each and base64.b64decode(each) for each in said.get("pictures", ())]
    return Done(result, code, pictures, said.get("used", []))


def serve_tasks(key: str) -> int:
    """Runs in a process of --jobs or of a farm until its pipe closes. key: see serve()."""
    from .main import run_task

    if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:  # inherited
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def end() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(PATIENCE)
        os._exit(128 + signal.SIGTERM)

    serve(run_task, key, end)
    return 0
