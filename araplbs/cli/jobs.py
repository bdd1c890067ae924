"""--jobs: processes several files at a time, each in a separate process.

A process that crashes, or that the system kills, affects only its own file. Each child process
receives the arguments of the parent and the name of its file, returns its result over a pipe, and
ends with the parent.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from ..base import child
from ..base.printed import complain
from ..base.stop import Stop, Stopped
from .command import Done, Job
from .errors import FAILED
from .processors import threads_of_job

POLL = 0.2  # seconds between checks for signals
WORKER = "araplbs.cli.jobs"  # the module that a child process runs


def do_files(
    argv: list[str],
    plan: Sequence[tuple[Path, Path | None]],
    jobs: int,
    threads: int,
    say: Callable[[str], None],
    stop: Stop,
) -> list[Done]:
    """Processes the files of a plan, in order."""
    each = threads_of_job(threads, jobs)
    found: dict[int, Done] = {}
    ended = threading.Event()

    def check() -> None:
        if ended.is_set():
            raise CancelledError

    def do(number: int) -> tuple[int, list[str], Done]:
        return number, *_one(argv, plan[number], each, check)

    with ThreadPoolExecutor(jobs) as pool:  # when it is left, no child process is
        left = {pool.submit(do, number) for number in range(len(plan))}
        try:
            while left:
                done, left = wait(left, POLL, FIRST_COMPLETED)
                stop.check()
                for future in done:
                    number, lines, found[number] = future.result()
                    for line in lines:
                        say(line)
                    if "error" in found[number].result:
                        complain(f"araplbs: {plan[number][0]}: {found[number].result['error']}")
        except BaseException:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[number] for number in range(len(plan))]


def _one(
    argv: list[str],
    files: tuple[Path, Path | None],
    threads: int,
    check: Callable[[], object],
) -> tuple[list[str], Done]:
    """Returns (lines for the user, Done) for one file."""
    source, target = files
    task = {
        "argv": argv,
        "source": str(source),
        "target": None if target is None else str(target),
        "threads": threads,
    }
    code, said, errors = child.run([WORKER], check, [json.dumps(task)])
    try:
        answer = json.loads(said)
        pictures = [None if each is None else base64.b64decode(each) for each in answer["pictures"]]
        found = Done(answer["result"], answer["code"], pictures, answer["used"])
        return answer["lines"], found
    except (ValueError, KeyError):
        last = errors.strip().splitlines()[-1:]
        reason = f"its process ended with exit code {code}"
        result: dict[str, Any] = {"input": str(source), "error": ": ".join([reason, *last])}
        return [], Done(result | ({} if target is None else {"output": str(target)}), FAILED)


def serve(task: dict[str, Any]) -> None:
    """Runs in the child process: writes only the answer to standard output."""
    from .main import do_file, read_command

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    command, arguments, options = read_command(task["argv"])
    arguments.threads = task["threads"]
    lines: list[str] = []
    target = None if task["target"] is None else Path(task["target"])
    with Stop() as stop:

        def progress(*_said: object) -> bool:
            stop.check()
            return True

        try:
            job = Job(Path(task["source"]), target, options, arguments, lines.append, progress)
            done = do_file(command, job)
        except Stopped as end:
            sys.exit(128 + end.number)
    pictures = [None if each is None else base64.b64encode(each).decode() for each in done.pictures]
    answer = {
        "lines": lines,
        "result": done.result,
        "code": done.code,
        "pictures": pictures,
        "used": done.used,
    }
    answers.write(json.dumps(answer))
    answers.close()


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
