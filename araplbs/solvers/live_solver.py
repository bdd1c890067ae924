"""A solver that keeps converging in its own thread and can be steered while it runs. The thread
makes no callbacks, so its owner must poll it."""

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..base.engine import engine
from ..base.progress import Listener
from ..base.worker import Worker
from ..character.pose_sets import measured_poses
from ..character.problem import Problem
from ..character.rigid_parts import rigid_bones
from ..measures.deformation import measure
from ..measures.energy import minimized_energy
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from .solve import check, report_deformation

MEASURING_SHARE = 0.1  # maximum share of the time for measuring the strain of frames


class Ties(NamedTuple):
    """Ties of vertices to bones, with one entry for each bone spring and, with the constraints of
    the paper, for each attach row."""

    vertices: np.ndarray  # (k,) of the problem
    bones: np.ndarray  # (k,)
    held: np.ndarray  # (k,) remaining share of the tie's strength
    released: np.ndarray  # (k,) bool


@dataclass(frozen=True)
class Frame:
    """An intermediate result: a complete set of weights that could be kept."""

    number: int  # frame number, never decreases
    rows: SparseWeights  # of all vertices of the problem
    iterations: int
    energies: tuple[float, ...]  # relative, of this frame's weights and of all earlier ones
    done: bool  # nothing is left to do before the next edit
    seconds: float  # of work
    report: dict[str, Any] = field(repr=False)
    ties: Ties = field(repr=False)
    asked: int  # number of edits and restarts that the frame reflects
    # Surface Strain over the poses, for the first frame and for the latest measured frame; None if
    # there is no surface.
    strains: tuple[float | None, float | None]
    curve: tuple[float, ...]  # Surface Strain of all measured frames, in order

    remarks = ()  # further facts for the user


class LiveSolver(Worker):
    """A Worker that solves a Problem until it is cancelled, and waits after finishing.

    frame: the latest Frame, None before the first one; the thread sets it immediately. at_rest:
    whether the initial weights are the result of a weighting (converged_cache.py), so nothing
    changes before an edit.
    """

    def __init__(
        self, problem: Problem, options: Options, threads: int = 0, at_rest: bool = False
    ) -> None:
        self.frame: Frame | None = None
        self._problem, self._options, self._threads = problem, options, threads
        self._concluding, self._wake = threading.Event(), threading.Event()
        # Guarded by the lock: the latest requests that the thread has not taken yet, and their
        # number.
        self._edits: dict[str, Any] | None = None
        self._restart: tuple[Problem, Options] | None = None
        self._at_rest = at_rest
        self._asked = 0
        self._start_rows: SparseWeights | None = None  # the weights of the first frame
        self._poses: Poses | None = None  # of all problems
        self._measuring = self._idle = 0.0  # seconds
        self._curve: tuple[float, ...] = ()
        self._lock = threading.Lock()
        self._start = time.perf_counter()
        super().__init__(self._solve)

    def edit(self, arguments: dict[str, Any]) -> None:
        """Sets the arguments of Solver.edit, replacing the previous ones."""
        with self._lock:
            self._edits = arguments
            self._asked += 1
        self._wake.set()

    def restart(self, problem: Problem, options: Options | None = None) -> None:
        """Continues with another problem on the same vertices, or with other options, from the
        weights of the latest frame."""
        with self._lock:
            _problem, before = self._restart or (None, self._options)
            self._restart = problem, options or before
            self._edits = None
            self._asked += 1
        self._wake.set()

    def conclude(self) -> None:
        """Requests a last frame that satisfies all limits. The solver then stops."""
        self._concluding.set()
        self._wake.set()

    def cancel(self) -> None:
        super().cancel()
        self._wake.set()

    @property
    def waiting(self) -> bool:
        """Whether all requested work is done and included in the latest frame."""
        frame = self.frame
        with self._lock:
            return frame is not None and frame.done and frame.asked == self._asked

    def _solve(self, _progress: Listener) -> None:
        with suppress(engine.Cancelled):
            solver = self._make(self._problem, 0)
            while not self.cancelled and not self._concluding.is_set():
                solver = self._step(solver)
            if not self.cancelled:
                self._conclude()

    def _make(
        self, problem: Problem, asked: int, weights: SparseWeights | None = None
    ) -> "engine.Solver":
        given = {} if weights is None else {"weights": weights, "start_from_weights": True}
        solver = problem.solver(self._options, self._threads, self.progress, **given)
        self._problem = problem
        self._publish(solver, asked)
        return solver

    def _step(self, solver: "engine.Solver") -> "engine.Solver":
        with self._lock:
            edits, restart, asked = self._edits, self._restart, self._asked
            self._edits = self._restart = None
        if restart is not None:
            self._at_rest = False
            problem, self._options = restart
            solver = self._make(problem, asked, self.frame.rows)
        if edits is not None:
            self._at_rest = False
            solver.edit(**edits)
        if not solver.done and not self._at_rest:
            solver.iterate(1)
            self._publish(solver, asked)
            return solver
        self.stage = "done"
        start = time.perf_counter()
        self._wake.wait()
        self._wake.clear()
        self._idle += time.perf_counter() - start
        return solver

    def _conclude(self) -> None:
        """Computes the last frame. Before the last stage, a frame's weights can have too many
        influences and need not be symmetric. The report describes the weights after limiting."""
        frame, problem, most = self.frame, self._problem, self._options.max_influences
        report = {**frame.report, "energy_before": frame.energies[0]}
        rows = frame.rows
        if not frame.done:
            locked = problem.locked_entries(rows)
            rows = rows.cut_down(most, locked)
            counts = np.bincount(rows.vertices[~problem.locked_entries(rows)], minlength=rows.count)
            report.update(
                energy_after=minimized_energy(problem, self._options, rows, self._threads),
                most_influences=int(counts.max()),
                mean_influences=float(counts.mean()),
                symmetric_vertices=0,
            )
            check(problem, rows, most)
        before = self._start_rows
        report.update(
            report_deformation(
                problem, self._options, lambda: before, rows, self._threads, self.progress
            )
        )
        strains = (frame.strains[0], report["deformation"]["after"]["surface_strain"])
        self.frame = replace(
            frame, number=frame.number + 1, rows=rows, report=report, strains=strains, done=True
        )

    def _publish(self, solver: "engine.Solver", asked: int) -> None:
        rows, done = SparseWeights(*solver.sparse_weights), solver.done or self._at_rest
        check(self._problem, rows, self._options.max_influences if done else 0)
        report = solver.report
        if done:
            report["rigid_bones"] = rigid_bones(solver.rigid_parts, rows)
        number = self.frame.number + 1 if self.frame else 0
        if self.frame is None:
            self._start_rows = rows
        strains = self._strains(rows, done)
        self.frame = Frame(
            number=number,
            rows=rows,
            iterations=report["iterations"],
            energies=(*(self.frame.energies if self.frame else ()), report["energy_after"]),
            done=done,
            seconds=self._worked(),
            report=report,
            ties=self._ties(solver),
            asked=asked,
            strains=strains,
            curve=self._curve,
        )

    def _ties(self, solver: "engine.Solver") -> Ties:
        """The current Ties. If they are unchanged, the arrays of the last frame are reused."""
        ties = Ties(*solver.bone_springs)
        if self._options.paper_constraints:
            rows = [row for row in solver.constraint_rows if row["kind"] == "attach"]
            columns = [[row[name] for row in rows] for name in ("vertex", "bone", "released")]
            vertices, bones, released = (np.array(column, int) for column in columns)
            more = vertices, bones, np.ones(len(rows)), released.astype(bool)
            ties = Ties(*(np.concatenate(pair) for pair in zip(ties, more, strict=True)))
        last = self.frame.ties if self.frame else None
        same = last and all(map(np.array_equal, ties, last))
        return last if same else ties

    def _worked(self) -> float:
        """Seconds since the start, without the time spent waiting for edits."""
        return time.perf_counter() - self._start - self._idle

    def _strains(self, rows: SparseWeights, done: bool) -> tuple[float | None, float | None]:
        """The strains of a frame with these weights, measured for the first frame, for the last
        frame, and when time permits."""
        start = time.perf_counter()
        strains = self.frame.strains if self.frame else None
        if strains and not done and self._measuring > MEASURING_SHARE * self._worked():
            return strains
        self._poses = self._poses or measured_poses(self._problem, self._options)
        found = measure(self._problem, rows, self._poses, threads=self._threads)["area"]
        self._measuring += time.perf_counter() - start
        found = found if np.isfinite(found) else None
        if found is not None:
            self._curve = (*self._curve, found)
        return strains[0] if strains else found, found
