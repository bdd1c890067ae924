"""Runs a plan on many machines with Dask distributed. Dask schedules and retries the tasks and
monitors its workers. This file contains the code that runs on a worker, and prints the progress on
this machine.

A worker needs Dask and a Blender with the extension, or the package araplbs for glTF files, and
must access the files under the same paths. A worker keeps a process for each of its threads
(process.py), which ends with the worker.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any

from ..base.printed import complain
from ..base.refusal import Refused
from ..cli.batch import process
from ..cli.batch.pool import Finished, Progress
from ..cli.batch.tasks import Task

LOST = 3  # times a task may lose its worker or its Blender process before the task fails


def _load() -> Any:
    try:
        import cloudpickle
        import distributed
    except ImportError as error:
        raise Refused(
            f"the farm needs the package distributed in this Python ({error}): "
            "pip install distributed"
        ) from None
    cloudpickle.register_pickle_by_value(process)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return distributed


class _Sent:
    """A function that is sent with its code, not by its name."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> tuple[Any, ...]:
        import cloudpickle

        return cloudpickle.loads, (cloudpickle.dumps(self.function),)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)


def on_worker(task: Task, command: list[str], kind: Any) -> dict[str, Any]:
    """Runs on a worker and returns the reply of a process and the worker's host. Raises
    process.Died if the process did not survive the task; Dask then assigns the task to a worker
    again. command: starts the process; if it is empty, the worker's own Python runs araplbs. `kind`
    is the class WorkerProcess, which is sent with the call."""
    import os
    import socket
    import sys

    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    idle = worker.__dict__.setdefault("araplbs_idle", [])

    def wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state in ("executing", "long-running")

    words = list(task["arguments"])
    if not any(word.startswith("--threads=") for word in words):
        words.append(f"--threads={max(1, (os.cpu_count() or 1) // worker.state.nthreads)}")
    command = command or [sys.executable, "-P", "-m", "araplbs"]
    name = "Blender" if task.get("program", "blender") == "blender" else "araplbs"
    place = {"host": socket.gethostname(), "worker": worker.name}
    try:
        process_here = idle.pop()
        if (process_here.command, process_here.lives) != (command, True):
            process_here.end()
            process_here = None
    except IndexError:
        process_here = None
    if process_here is None:
        try:
            process_here = kind(command, name=name)
        except OSError as error:
            return place | {"error": f"{name} cannot be started on {place['host']}: {error}"}
        process_here.command = command
    reply = process_here.do(words, wanted, task["timeout"])
    idle.append(process_here)
    return place | reply


def _end_idle(dask_worker: Any) -> None:
    idle = dask_worker.__dict__.get("araplbs_idle", [])
    while idle:
        idle.pop().leave()


class Farm:
    """A plan on the workers of a scheduler."""

    def __init__(self, address: str, commands: Mapping[str, str], patience: float) -> None:
        """commands: the command line that starts each program of tasks."""
        self.address, self.patience = address, patience
        self.commands = {name: shlex.split(command) for name, command in commands.items()}
        self.distributed = _load()
        self.client: Any = None

    def _connect(self) -> None:
        """Returns a new client. Raises Refused if no scheduler answers."""
        if self.client:
            self.client.close(timeout=1)
        end = time.monotonic() + self.patience
        while True:
            try:
                left = max(1, end - time.monotonic())
                self.client = self.distributed.Client(self.address, timeout=left)
                return
            except ValueError as error:
                raise Refused(f"the scheduler's address {self.address!r}: {error}") from None
            except OSError as error:
                if time.monotonic() >= end:
                    raise Refused(
                        f"the scheduler {self.address} did not respond within {self.patience:g} "
                        f"s ({type(error).__name__})"
                    ) from None
                time.sleep(0.5)

    def _resources(self, task: Task, kinds: Sequence[dict[str, Any]]) -> dict[str, float]:
        """The resources that a task requires from a worker: memory, if the workers have declared
        how much they have."""
        declared = [kind["MEMORY"] for kind in kinds if "MEMORY" in kind]
        return {"MEMORY": min(task["bytes"], max(declared))} if declared else {}

    def run(
        self, tasks: Sequence[Task], finished: Finished, say: Callable[[str], None] = print
    ) -> None:
        """Calls finished(task, result) for each result as it arrives. Results are {"error"?,
        "host"}."""
        tasks = sorted(tasks, key=lambda task: -task["seconds"])
        for task in tasks:  # if a task runs twice, the second run finds the first one's output
            if _has_report(task) and "--resume" not in task["arguments"]:
                task["arguments"].append("--resume")
        left = dict(enumerate(tasks))
        try:
            self._connect()
            while left:
                try:
                    self._run_once(left, finished, say)
                except (CancelledError, self.distributed.CancelledError, OSError, TimeoutError):
                    say("the scheduler has lost the tasks: connecting again")
                    self._connect()
        finally:
            if self.client:
                self._leave(left)

    def _run_once(
        self, left: dict[int, Task], finished: Finished, say: Callable[[str], None]
    ) -> None:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            say("waiting: there is no worker yet")
            try:
                self.client.wait_for_workers(1, timeout=self.patience)
            except TimeoutError:
                raise Refused(
                    f"the scheduler {self.address} has no worker after {self.patience:g} s"
                ) from None
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        kinds = [worker.get("resources") or {} for worker in workers]
        if not any("MEMORY" in kind for kind in kinds):
            say("no worker reports its MEMORY, so each processes one file per thread")
        futures = {}
        for number, task in left.items():
            future = self.client.submit(
                _Sent(on_worker),
                task,
                self.commands[task.get("program", "blender")],
                _Sent(process.WorkerProcess),
                key=f"araplbs-{number}-{time.time_ns():x}",
                resources=self._resources(task, kinds),
                retries=LOST,
                priority=-number,
                pure=False,
            )
            futures[future] = number
        self.futures = list(futures)
        for future in self.distributed.as_completed(list(futures)):
            number = futures[future]
            result = self._result(future)
            finished(left.pop(number), result)

    def _result(self, future: Any) -> dict[str, Any]:
        if future.status in ("cancelled", "lost"):
            raise CancelledError
        error = future.exception()
        if error is not None:
            return {"error": str(error) or type(error).__name__}
        reply = future.result()
        if "error" in reply:
            return reply
        return {"host": reply["host"], "worker": reply["worker"]} | process.result_of(reply)

    def _leave(self, left: dict[int, Task]) -> None:
        try:
            if left:  # stops running tasks; Blender ends in order
                self.client.cancel(self.futures)
            else:
                self.client.run(_Sent(_end_idle), on_error="ignore")
        except Exception as error:
            complain(f"araplbs: {type(error).__name__} at the end: {error}")
        self.client.close(timeout=5)


def _has_report(task: Task) -> bool:
    return any(word.startswith("--report=") for word in task["arguments"])


def run_plan(
    tasks: Sequence[Task], address: str, commands: Mapping[str, str], patience: float
) -> int:
    """Returns the exit code. commands: see Farm."""
    farm = Farm(address, commands, patience)
    progress = Progress(tasks, 1)
    failures = 0

    def finished(task: Task, result: dict[str, Any]) -> None:
        nonlocal failures
        if "error" in result:
            failures += 1
            complain(f"araplbs: {task['input']}: {result['error']}")
        progress(task, result)

    farm.run(tasks, finished)
    return 1 if failures else 0
