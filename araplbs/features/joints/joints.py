"""Optimizes the joint positions of a skeleton together with the weights, using a JointSolver. This
module does not use bpy, so any thread may run it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats
from ...base.engine import engine
from ...base.extent import size_of
from ...base.progress import Listener, Progress, SolverProgress
from ...base.refusal import Refused
from ...character.mesh import Mesh
from ...character.pose_sets import pose_set
from ...character.problem import Problem
from ...measures.deformation import bones_of, in_words, measured_report
from ...model.sparse_weights import SparseWeights, all_entries
from ...skeleton.poses import Poses, spread
from ...skeleton.skeleton import Skeleton
from ...solvers.solve import Solution, solve
from .misplaced import Start, better_start, carried, shifted_start
from .moved_joints import ends_of, moved_bones, moved_skeleton, pinned_ends
from .options import JointOptions

SHOWN_POSES = 8  # poses in which the stretch of a frame is measured
PATIENCE = 0.1  # seconds between checks whether a finished run is kept or cancelled

# Arguments of a Solver that a JointSolver also takes.
SHARED = (
    *("vertices", "triangles", "edges", "poses", "pose_weights", "symmetry"),
    *("bone_heads", "bone_tails", "bone_parents", "bone_roll_axes", "bone_deform", "bone_limits"),
)


@dataclass(frozen=True, eq=False)
class JointFrame:
    """An intermediate result: a complete skeleton that could be kept."""

    number: int  # frame number
    skeleton: Skeleton
    iterations: int
    energies: tuple[float, ...]  # relative: of the first weights, old joints and each later frame
    done: bool
    seconds: float  # since the start
    largest_move: float  # share of the diagonal of the meshes' bounding box
    strains: tuple[float, ...] = ()  # stretch with the first joints, and with the current ones

    curve = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return (f"farthest move {100 * self.largest_move:.2f} %",)


@dataclass
class JointSolution:
    skeleton: Skeleton  # with the new joints
    weights: Solution | None  # None: they stay
    problem: Problem  # report of the weights on the new joints
    report: dict[str, Any]  # the solver's, and energies
    seconds: float


class JointRun:
    """One search for better joint positions.

    frame: the latest JointFrame, None before the first one; the solving thread sets it immediately.
    waiting: whether the run has converged and waits for keep(). pinned: (m, 2) bool, ends that must
    not move. start: the starting point of the search if the current weights contradict some joints,
    otherwise None.
    """

    waiting = False
    frame: JointFrame | None = None
    _first_strain: float | None = None

    def __init__(
        self,
        problem: Problem,
        meshes: Sequence[Mesh],
        options: JointOptions,
        locks: Bools,
        factors: Floats,
        threads: int = 0,
    ) -> None:
        """locks (m, 2): whether heads and tails are locked; factors (m,): the stiffness factors of
        the bones."""
        self.problem, self.options = problem, options
        self._meshes, self._threads = meshes, threads
        self.pinned, self._factors = pinned_ends(problem.skeleton, locks), factors
        self.start = self._better_start()
        if self.start and self.start.shifted:
            self.pinned = np.ones_like(self.pinned)
        self._kept = threading.Event()
        self._diagonal = size_of(
            *(problem.arguments[name] for name in ("vertices", "triangles", "edges"))
        )
        if not self._diagonal > 0:
            raise Refused("All vertices are at the same point: there is no shape to keep")

    def _better_start(self) -> Start | None:
        if any(mesh.weights is None for mesh in self._meshes):
            return None
        skeleton, points = self.problem.skeleton, self.problem.arguments["vertices"]
        present, limits = self.problem.present(self._meshes), (self.pinned, self.options.max_shift)
        shifted = shifted_start(skeleton, self.problem.limb_shifts(), *limits)
        return shifted or better_start(skeleton, points, present, *limits)

    def keep(self) -> None:
        """Requests to continue with the joints of the latest frame, whether converged or not."""
        self._kept.set()

    @property
    def kept(self) -> bool:
        return self._kept.is_set()

    def solve(self, progress: Listener | None = None, wait: bool = False) -> JointSolution:
        """Returns the JointSolution. progress: as for solve.solve(). wait: whether to wait for
        keep() after convergence.

        Raises araplbs.Cancelled when progress returns False, araplbs.SolverError if there is no
        solution, and ValueError for input that the solver rejects.
        """
        start = time.perf_counter()
        whole = Progress.of(progress)
        progress = SolverProgress(whole)
        solver = self._make(progress)
        energies: list[float] = []
        first = SparseWeights(*solver.sparse_weights)
        if self.start:  # these are for joints other than the previous ones
            first = self.problem.present(self._meshes)
        while not solver.done and not (self.kept and self.frame):
            solver.iterate(1)
            if len(solver.energies):
                energies = energies or [float(solver.energies[0])]
                energies.append(float(solver.energy))
                progress.iterated(energies[-1])
                self._publish(solver, energies, start)
            elif not self.start:
                first = SparseWeights(*solver.sparse_weights)
        if not self.frame:  # everything is locked, or there was no gain
            energies = [float(solver.energy)] * 2
            self._publish(solver, energies, start)
        self.waiting = wait
        while wait and not self.kept:
            whole.check("converged", 1.0, energies[-1])
            self._kept.wait(PATIENCE)
        return self._conclude(solver, energies, first, start, whole)

    def _make(self, progress: Progress) -> "engine.JointSolver":
        arguments = {k: v for k, v in self.problem.arguments.items() if k in SHARED}
        if self.problem.arguments.get("start_from_weights"):
            arguments["weights"] = self.problem.arguments["weights"]
        if self.start:
            skeleton = self.start.skeleton
            arguments["bone_heads"], arguments["bone_tails"] = skeleton.heads, skeleton.tails
            if "poses" in arguments:
                poses = carried(arguments["poses"], self.problem.skeleton, skeleton)
                arguments["poses"] = poses
        factors = self._factors[:, None]
        joint_stiffness = np.repeat(self.options.joint_stiffness * factors, 2, axis=1)
        return engine.JointSolver(
            **self.options.engine_arguments("JointSolver"),
            **arguments,
            pinned=self.pinned,
            joint_stiffness=joint_stiffness,
            progress=progress,
            threads=self._threads,
        )

    def _publish(self, solver: "engine.JointSolver", energies: list[float], start: float) -> None:
        skeleton = moved_skeleton(self.problem.skeleton, solver.heads, solver.tails)
        strain = self._strain(solver, skeleton)
        self._first_strain = strain if self._first_strain is None else self._first_strain
        self.frame = JointFrame(
            number=self.frame.number + 1 if self.frame else 0,
            skeleton=skeleton,
            iterations=solver.report["iterations"],
            energies=tuple(energies),
            done=solver.done,
            seconds=time.perf_counter() - start,
            largest_move=self._moves(skeleton)[0],
            strains=(self._first_strain, strain),
        )

    def _strain(self, solver: "engine.JointSolver", skeleton: Skeleton) -> float:
        """The Surface Strain in some of the poses, with the current joints and weights."""
        few = spread(len(solver.poses), SHOWN_POSES)
        arguments = self.problem.arguments
        begin, bones, weights = solver.sparse_weights
        rows, poses = (begin, bones, weights), solver.poses[few]
        found = engine.deformation(
            arguments["vertices"],
            arguments["triangles"],
            rows,
            poses,
            **bones_of(skeleton),
            threads=self._threads,
        )
        return float(found["area"])

    def _moves(self, skeleton: Skeleton) -> tuple[float, float]:
        """Returns (largest, mean) displacement of the joints of deform bones, as shares of the
        diagonal."""
        before = self.problem.skeleton
        far = np.linalg.norm(ends_of(skeleton) - ends_of(before), axis=1)
        far = far[np.repeat(before.deform, 2)]
        return float(far.max()) / self._diagonal, float(far.mean()) / self._diagonal

    def _conclude(
        self,
        solver: "engine.JointSolver",
        energies: list[float],
        first: SparseWeights,
        start: float,
        progress: Progress,
    ) -> JointSolution:
        """Continues solving the weights on the new joints, with the locks, edits and options of an
        ordinary weighting. The poses are the same, and the current influences stay, because another
        selection among them would only remove more. Bones with pinned weights are added. first: the
        SparseWeights before any joint moved."""
        skeleton, weights = self.frame.skeleton, None
        given = self.problem.arguments.get("pose_weights")
        if given is not None:  # the solver has the random poses first
            given = np.concatenate([np.ones(len(solver.poses) - len(given)), given])
        poses = Poses(solver.poses, None, whole=True, weights=given)
        problem = Problem(self._meshes, skeleton, poses, self.options.symmetric)
        if self.options.optimize_weights:
            problem.start_from(_with_locked(problem, SparseWeights(*solver.sparse_weights)))
            pinned = len(problem.arguments["constraints"][0])
            options = self.options if pinned else replace(self.options, expansion_rounds=0)
            weights = solve(problem, options, self._threads, progress)
            # The joints have no springs of sections, so these are disabled here too.
            found = weights.report["energy_after"] - weights.report["section_energy"]
            energies = [*energies, found]
        report = {
            **solver.report,
            "deformation": {
                "before": self._measure(self.problem, first),
                "after": self._measure(problem, weights.rows if weights else first),
            },
            "energy_before": energies[0],
            "energy_after": energies[-1],
            "largest_move": self._moves(skeleton)[0],
            "mean_move": self._moves(skeleton)[1],
        }
        return JointSolution(skeleton, weights, problem, report, time.perf_counter() - start)

    def _measure(self, problem: Problem, rows: SparseWeights) -> dict[str, Any]:
        poses = pose_set(problem, self.options)
        return measured_report(problem, rows, poses, threads=self._threads)


def _with_locked(problem: Problem, rows: SparseWeights) -> SparseWeights:
    """These weights with their locked entries restored."""
    if "locked_bones" not in problem.arguments:
        return rows
    present = problem.arguments["weights"]
    free, kept = rows.of(~problem.locked_entries(rows)), present.of(problem.locked_entries(present))
    return all_entries(rows.count, free.columns, kept.columns)


def joint_report(run: JointRun, solution: JointSolution, armature: str) -> dict[str, Any]:
    """The report, as a JSON-compatible dictionary."""
    before, after = run.problem.skeleton.as_drawn, solution.skeleton.as_drawn
    moved = moved_bones(before, after)
    skeleton_report = solution.report
    return {
        "armature": armature,
        **{
            key: skeleton_report[key]
            for key in (
                *("joints", "pinned_joints", "symmetric_joints", "poses", "iterations"),
                *("deformation", "energy_before", "energy_after", "largest_move", "mean_move"),
            )
        },
        "bones": len(before.names),
        "moved_bones": [n for n, moves in zip(before.names, moved, strict=True) if moves],
        "misplaced_joints": [before.names[bone] for bone in run.start.bones] if run.start else [],
        "seconds": solution.seconds,
        "options": run.options.as_dict(),
    }


def joint_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    return (
        f"{len(report['moved_bones'])} of {report['bones']} bones moved by "
        f"{100 * report['mean_move']:.2f} % of the character's size on average and by at "
        f"most {100 * report['largest_move']:.2f} %: {in_words(report['deformation'])} "
        f"in {report['seconds']:.1f} s"
    )
