"""--jobs: runs tasks in processes on this machine, which stay for further tasks. The longest tasks
start first, and a task starts only if there is enough memory for it."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...base.printed import complain
from ...base.refusal import Refused
from ...base.stop import Stop
from ...disk.files import placed
from .process import Died, Withdrawn, WorkerProcess, result_of
from .reports import write_report
from .tasks import Plan, Task, make_task, reason_of, report_folder

Finished = Callable[[Task, dict[str, Any]], None]
ATTEMPTS = 2  # a file that ends two processes is not retried


def threads_of_job(threads: int, jobs: int) -> int:
    """The number of threads of each job if `threads` threads are available in total (0: one per
    processor)."""
    if not threads and hasattr(os, "sched_getaffinity"):
        threads = len(os.sched_getaffinity(0))
    return max(1, (threads or os.cpu_count() or 1) // jobs)


def free_memory() -> int | None:
    """Available memory in bytes; None if unknown."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
    except (AttributeError, OSError, ValueError):
        return None


class Pool:
    """The tasks of a plan, distributed over `jobs` processes. `finished(task, result)` is called in
    the thread that calls run()."""

    def __init__(
        self,
        command: Sequence[str],
        jobs: int,
        memory: int | None = None,
        name: str = "Blender",
    ) -> None:
        self.command, self.jobs, self.memory, self.name = command, jobs, memory, name
        self.pending: list[Task] = []
        self.running: dict[int, Task] = {}
        self.changed = threading.Condition()
        self.done: queue.Queue[tuple[Task, dict[str, Any]]] = queue.Queue()
        self.ending = False

    def run(self, tasks: Sequence[Task], finished: Finished, stop: Stop) -> None:
        """Processes all tasks. stop: a Stop. A signal takes effect between two checks of the tasks
        and ends all processes immediately. No process is left when this method returns or raises
        Stopped."""
        stop.hold()
        try:
            self._run(tasks, finished, stop.check)
        finally:
            stop.held = False
        stop.check()

    def _run(self, tasks: Sequence[Task], finished: Finished, check: Callable[[], None]) -> None:
        self.pending = sorted(tasks, key=lambda task: -task["seconds"])
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self.jobs, len(tasks)))
        ]
        for thread in threads:
            thread.start()
        left = len(tasks)
        try:
            while left:
                check()
                try:
                    task, result = self.done.get(timeout=0.2)
                except queue.Empty:
                    continue
                left -= 1
                finished(task, result)
        finally:
            with self.changed:
                self.ending = True
                self.changed.notify_all()
            for thread in threads:
                thread.join()

    def _take(self) -> Task | None:
        """The next task that fits into memory; None if there are no more."""
        with self.changed:
            while True:
                if self.ending or not (self.pending or self.running):
                    return None
                used = sum(task["bytes"] for task in self.running.values())
                for task in self.pending:
                    fits = self.memory is None or used + task["bytes"] <= self.memory
                    if fits or not self.running:
                        self.pending.remove(task)
                        self.running[threading.get_ident()] = task
                        return task
                self.changed.wait()

    def _give_back(self, task: Task | None = None) -> None:
        with self.changed:
            del self.running[threading.get_ident()]
            if task:
                self.pending.insert(0, task)
            self.changed.notify_all()

    def _work(self) -> None:
        process = None
        while task := self._take():
            result, again = None, None
            try:
                if process is None or not process.lives:
                    process = WorkerProcess(self.command, name=self.name)
                result = result_of(
                    process.do(task["arguments"], lambda: not self.ending, task["timeout"])
                )
            except Withdrawn:
                return
            except Died as error:
                task["attempts"] = task.get("attempts", 0) + 1
                if task["attempts"] < ATTEMPTS:
                    again = task
                else:
                    result = {"error": f"{error} ({ATTEMPTS} times)", "died": True}
            except OSError as error:
                result = {"error": f"{self.name} cannot be started: {error}", "died": True}
            except Exception as error:  # run() waits for every task
                result = {"error": f"{type(error).__name__}: {error}", "died": True}
            if result is not None:
                self.done.put((task, result))
            self._give_back(again)
        if process:
            process.leave()


def run_jobs(
    plan: Plan,
    arguments: argparse.Namespace,
    command: Sequence[str],
    stop: Stop,
    arrived: Callable[[Sequence[Task]], Finished],
    name: str = "Blender",
    place: Callable[[str | Path], Any] = placed,
) -> list[dict[str, Any]]:
    """Runs --jobs, writes the reports of files that no process could finish, and returns the
    results in the order of the plan. arrived: returns, for the tasks, the function that is called
    with each result. command, name: see WorkerProcess. place: see make_task()."""
    jobs = arguments.jobs or 1
    threads = threads_of_job(arguments.threads, jobs)
    of_job = argparse.Namespace(**vars(arguments) | {"threads": threads})
    results: dict[int, dict[str, Any]] = {}
    tasks: list[Task] = []

    def add(number: int, result: dict[str, Any], unreported: bool) -> None:
        source, target = plan[number]
        names = {"input": str(place(source))}
        if target is not None:
            names["output"] = str(place(target))
        results[number] = result = names | result
        if "error" not in result:
            return
        complain(f"araplbs: {result['input']}: {result['error']}")
        if unreported and report_folder(arguments):
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                complain(f"araplbs: {result['input']}: its report: {error}")

    def finished(task: Task, result: dict[str, Any]) -> None:
        add(task["number"], result, result.pop("died", False))
        on_result(task, result)

    for number, (source, target) in enumerate(plan):
        try:
            tasks.append(make_task(source, target, of_job, place) | {"number": number})
        except (Refused, OSError) as error:
            add(number, {"error": reason_of(error)}, True)
    on_result = arrived(tasks)
    if tasks:
        Pool(command, jobs, free_memory(), name).run(tasks, finished, stop)
    return [results[number] for number in range(len(plan))]


class Progress:
    """A line about all files: overwritten in a terminal, otherwise one new line per file."""

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        self.files, self.jobs = len(tasks), jobs
        self.seconds = sum(task["seconds"] for task in tasks)
        self.done = self.failed = 0
        self.cost, self.start = 0.0, time.monotonic()

    def __call__(self, task: Task, result: dict[str, Any]) -> None:
        self.done += 1
        self.failed += "error" in result
        self.cost += task["seconds"]
        terminal = sys.stdout.isatty()
        print(f"{self.line():<79}" if terminal else self.line(), end="\r" if terminal else "\n")
        if terminal and self.done == self.files:
            print()
        sys.stdout.flush()

    def line(self) -> str:
        left = max(0.0, self.seconds - self.cost)  # a sum of the same numbers in another order
        seconds = left * (time.monotonic() - self.start) / self.cost
        return (
            f"{self.done} of {self.files} files, {self.failed} failed, "
            f"about {in_words(seconds)} left"
        )


def in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
