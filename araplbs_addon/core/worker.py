"""A thread that solves while the window stays alive. It never touches Blender's data."""

import threading


class Worker:
    """Calls work(progress) in a thread; progress is that of solve.py.

    stage, fraction, energy: the latest progress. first_energy: the first that was told.
    error: the exception that ended the work, if one did. Plain attributes: each is set at once and
    read by one other thread.
    """

    def __init__(self, work):
        self.stage, self.fraction, self.energy = "start", 0.0, None
        self.error = self.first_energy = None
        self._cancelled = threading.Event()
        # A daemon, so that quitting Blender need not wait for it.
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work):
        try:
            work(self._progress)
        except BaseException as error:
            self.error = error

    def _progress(self, stage, fraction, energy):
        self.first_energy = self.first_energy or energy
        self.stage, self.fraction, self.energy = stage, fraction, energy
        return not self._cancelled.is_set()

    def cancel(self):
        """Ask to stop; the work ends between two steps of the solver."""
        self._cancelled.set()

    @property
    def running(self):
        return self._thread.is_alive()

    def join(self, timeout=None):
        self._thread.join(timeout)
