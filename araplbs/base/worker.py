"""A thread that works while the window stays alive. It never touches Blender's data."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .steps import Steps, T, is_at_once

if TYPE_CHECKING:
    from .progress import Listener

PATIENCE = 0.01  # seconds between two looks at whether it has ended


class Worker:
    """Calls work(progress) in a thread; progress is that of solve.py, for the engine too.

    stage, fraction, energy: the latest progress. first_energy: the first reported.
    result: the value that the work has returned. error: the exception that ended it, if one did.
    Plain attributes: each is set at once by the thread, and read by others.
    """

    energy: float | None
    first_energy: float | None
    error: BaseException | None
    result: Any

    def __init__(self, work: Callable[[Listener], Any]) -> None:
        self.stage, self.fraction, self.energy = "start", 0.0, None
        self.result = self.error = self.first_energy = None
        self._cancelled = threading.Event()
        # A daemon, so that quitting Blender need not wait for it.
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Listener], Any]) -> None:
        try:
            self.result = work(self.progress)
        except BaseException as error:
            self.error = error

    def progress(self, stage: str, fraction: float, energy: float | None = None) -> bool:
        """To be called by the work; False: stop."""
        self.first_energy = self.first_energy or energy
        self.stage, self.fraction, self.energy = stage, fraction, energy
        return not self.cancelled

    def cancel(self) -> None:
        """Ask to stop; the work ends between two steps of the solver."""
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
    """The result of work(progress), done by a Worker, as a generator of short steps; if nobody
    waits for turns, the caller does it."""
    if is_at_once():
        return work(lambda *_progress: True)
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
