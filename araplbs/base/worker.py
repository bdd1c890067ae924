"""A thread that works while the window stays responsive. The thread never accesses Blender's
data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .progress import Listener
from .steps import Steps, T, heard, is_at_once

PATIENCE = 0.01  # seconds between two checks whether the thread has ended


class Worker:
    """Calls work(progress) in a thread. The argument progress has the form used in solve.py and in
    the engine.

    stage, fraction, energy: the latest progress. first_energy: the first reported energy. result:
    the return value of the work. error: the exception that ended it, if any. All of these are plain
    attributes, which the thread sets atomically and others read.
    """

    energy: float | None
    first_energy: float | None
    error: BaseException | None
    result: Any

    def __init__(self, work: Callable[[Listener], Any]) -> None:
        self.stage, self.fraction, self.energy = "start", 0.0, None
        self.result = self.error = self.first_energy = None
        self._cancelled = threading.Event()
        # A daemon, so Blender can quit without waiting for it.
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Listener], Any]) -> None:
        try:
            self.result = work(self.progress)
        except BaseException as error:
            self.error = error

    def progress(self, stage: str, fraction: float, energy: float | None = None) -> bool:
        """The work calls this to report its progress. It should stop if the result is False."""
        self.first_energy = self.first_energy or energy
        self.stage, self.fraction, self.energy = stage, fraction, energy
        return not self.cancelled

    def cancel(self) -> None:
        """Requests cancellation. The work ends between two steps of the solver."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)


def work_in_steps(work: Callable[[Listener], T]) -> Steps[T]:
    """The result of work(progress), run by a Worker, as a generator of short steps. If nobody waits
    between steps, the work runs on the calling thread."""
    if is_at_once():
        return work(heard())
    worker = Worker(work)
    try:
        while worker.running:
            worker.join(PATIENCE)
            yield
    finally:
        worker.cancel()
    if worker.error:
        raise worker.error
    return worker.result
