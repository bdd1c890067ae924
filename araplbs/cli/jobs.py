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
from ..base.printed import complain
from ..base.refusal import Refused
from ..base.stop import Stop
from .batch.pool import Pool, free_memory
from .batch.process import serve
from .batch.reports import write_report
from .batch.tasks import Plan, Task, make_task, reason_of, report_folder
from .command import Done
from .errors import FAILED
from .processors import threads_of_job

WORKER = "araplbs"  # the module that a process runs


def do_files(
    plan: Plan, arguments: argparse.Namespace, say: Callable[[str], None], stop: Stop
) -> list[Done]:
    """Processes the files of a plan, and returns the results in its order."""
    jobs = arguments.jobs or 1
    threads = threads_of_job(arguments.threads, jobs)
    of_job = argparse.Namespace(**vars(arguments) | {"threads": threads})
    found: dict[int, Done] = {}
    tasks: list[Task] = []

    def finished(task: Task, result: dict[str, Any]) -> None:
        number = task["number"]
        for line in result.pop("said", ()):
            say(line)
        pictures = [each and base64.b64decode(each) for each in result.pop("pictures", ())]
        code = FAILED if "error" in result else result.pop("code")
        result.pop("code", None)
        found[number] = Done(named(number) | result, code, pictures, result.pop("used", []))
        if "error" in result:
            failed(number, result.pop("died", False))

    def named(number: int) -> dict[str, Any]:
        source, target = plan[number]
        return {"input": str(source)} | ({} if target is None else {"output": str(target)})

    def failed(number: int, unreported: bool) -> None:
        result = found[number].result
        result.pop("died", None)
        complain(f"araplbs: {result['input']}: {result['error']}")
        if unreported and report_folder(arguments):
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                complain(f"araplbs: {result['input']}: its report: {error}")

    for number, (source, target) in enumerate(plan):
        try:
            tasks.append(make_task(source, target, of_job, str) | {"number": number})
        except (Refused, OSError) as error:
            found[number] = Done(named(number) | {"error": reason_of(error)}, FAILED)
            failed(number, True)
    # -P, because the current directory may contain an unrelated folder named araplbs
    command = [sys.executable, "-P", "-m", WORKER]
    if tasks:
        Pool(command, jobs, free_memory(), "its process").run(tasks, finished, stop)
    return [found[number] for number in range(len(plan))]


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
