"""--threads and --jobs, which determine how many processors a run uses."""

from __future__ import annotations

import argparse
import os

from .errors import WrongArguments


def add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="0: OMP_NUM_THREADS, or all processors"
    )


def add_jobs(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="process N files at a time, each in its own process"
    )


def check_processors(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for numbers that are too low."""
    if arguments.threads < 0:
        raise WrongArguments(f"--threads is {arguments.threads}: must be 0 or more")
    if arguments.jobs is not None and arguments.jobs < 1:
        raise WrongArguments(f"--jobs is {arguments.jobs}: must be at least 1")


def threads_of_job(threads: int, jobs: int) -> int:
    """The number of threads of each job if `threads` threads are available in total (0: one per
    processor)."""
    return max(1, (threads or _processors()) // jobs)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
