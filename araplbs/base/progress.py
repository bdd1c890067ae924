"""Reports the progress of work to the caller, who can cancel the work."""

from collections.abc import Callable

from .engine import engine

# Called as (stage, fraction of the whole, relative energy or None, which the engine omits); returns
# False to stop the work.
Listener = Callable[..., bool | None]

# Shares of the time, as measured on characters of 3,000 to 50,000 vertices: the share before the
# iterations, and the share of the remaining time for one iteration (their number is not known in
# advance).
INITIAL_SHARE = 0.25
ITERATION_SHARE = 0.2

# The stages of a solver before its first iteration, in order.
STAGES = {
    "mesh": 0,
    "links between parts": 1,
    "visibility": 2,
    "heat weights": 3,
    "biharmonic weights": 3,
    "assembly": 4,
}
LAST_STAGE = 5


class Progress:
    """The progress of a task, as fractions from 0 to 1 that never decrease.

    Calling a Progress returns False if the work should stop, as the engine's functions expect. The
    method check() raises araplbs.Cancelled instead.
    """

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener
        self._reached = 0.0

    @classmethod
    def of(cls, listener: Listener | None) -> "Progress":
        return listener if isinstance(listener, Progress) else Progress(listener)

    def __call__(self, stage: str, fraction: float, energy: float | None = None) -> bool:
        self._reached = max(self._reached, min(fraction, 1.0))
        if self._listener is None:
            return True
        return self._listener(stage, self._reached, energy) is not False

    def check(self, stage: str, fraction: float, energy: float | None = None) -> None:
        if not self(stage, fraction, energy):
            raise engine.Cancelled(f"stopped: {stage}")

    def part(
        self, begin: float, size: float, stage: str | None = None, energies: bool = False
    ) -> "Progress":
        """The progress of a part of this work. stage: the name to show instead of the stages that
        the part reports. energies: whether the energies of the part are also those of the whole."""
        return Progress(
            lambda own, fraction, energy: self(
                stage or own, begin + size * fraction, energy if energies else None
            )
        )


class SolverProgress(Progress):
    """The progress of a solver, whose number of iterations is not known in advance. No energy is
    reported before the first one."""

    def __init__(self, listener: Listener | None = None) -> None:
        super().__init__(listener)
        self._begin, self._size = 0.0, INITIAL_SHARE
        self._energy: float | None = None

    def __call__(self, stage: str, fraction: float, energy: float | None = None) -> bool:
        if self._energy is None:  # each of the first stages counts up from 0
            fraction = (STAGES.get(stage, LAST_STAGE) + fraction) / (LAST_STAGE + 1)
        return super().__call__(stage, self._begin + self._size * fraction, self._energy)

    def iterated(self, energy: float) -> None:
        """Records that another iteration begins."""
        self._begin += self._size
        self._size = ITERATION_SHARE * (1 - self._begin)
        self._energy = energy
