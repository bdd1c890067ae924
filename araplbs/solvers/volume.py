"""Computes weights with a volume. The weights are solved on tets in which the vertices of the
surface are embedded."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, Bools, Integers, found_in
from ..base.engine import engine
from ..base.progress import Listener, SolverProgress
from ..base.refusal import Refused
from ..character.mesh import Mesh
from ..character.pose_sets import pose_set
from ..character.problem import Problem
from ..measures.energy import energy
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from .follow_host import mixed
from .solve import Solution, check, initial_rows, iterate_to_end, report_deformation
from .tet_mesh import TetMesh, fill, read_tets

LEAST_WEIGHT = 0.001  # smaller surface weights are dropped, as in the solver
ELSEWHERE = 0.1  # share of the size; a surface mostly farther away does not match the tets


@dataclass
class Source:
    """The source of the tets: a file, or the inside of the meshes."""

    path: str = ""  # empty: the inside
    matrix: np.ndarray | None = None  # (4, 4) from the space of the file to armature space

    def make(self, problem: Problem, cancelled: Callable[[], bool]) -> TetMesh:
        """Creates the TetMesh of a Problem."""
        if self.path:
            mesh = read_tets(self.path)
            if self.matrix is not None:
                mesh.vertices = mesh.vertices @ self.matrix[:3, :3].T + self.matrix[:3, 3]
            return mesh
        parts = [
            self._fill(problem, name, first, last, cancelled)
            for name, first, last in zip(
                problem.names, problem.first[:-1], problem.first[1:], strict=True
            )
        ]
        starts = np.cumsum([0] + [len(part.vertices) for part in parts])
        tets = [part.tets + start for part, start in zip(parts, starts[:-1], strict=True)]
        return TetMesh(
            np.concatenate([part.vertices for part in parts]),
            np.concatenate(tets).astype(np.int32),
        )

    def _fill(
        self, problem: Problem, name: str, first: int, last: int, cancelled: Callable[[], bool]
    ) -> TetMesh:
        arguments, skeleton = problem.arguments, problem.skeleton
        triangles = arguments["triangles"]
        own = (triangles[:, 0] >= first) & (triangles[:, 0] < last)
        return fill(
            name,
            arguments["vertices"][first:last],
            triangles[own] - first,
            skeleton.heads[skeleton.deform],
            skeleton.tails[skeleton.deform],
            cancelled,
        )


def refuse_meshes(meshes: Sequence[Mesh], options: Options) -> None:
    """Raises Refused for meshes that do not support the volume that the options request."""
    for mesh in meshes:
        if mesh.has_locks:
            raise Refused(
                f"'{mesh.name}' keeps some of its weights (locked groups, or a selection in Weight "
                "Paint mode), which a volume does not support: set Volume to Surface Only, or "
                "unlock them"
            )
        if mesh.edits.rigid and options.rigid_parts != "OFF":
            raise Refused(
                f"'{mesh.name}' has rigid parts, which a volume does not support: set Volume to "
                "Surface Only, or Rigid Parts to Off"
            )
    if options.volume == "FILE" and options.tet_space == "OBJECT" and len(meshes) > 1:
        raise Refused(
            f"A file in object space belongs to one mesh, not to {len(meshes)}: select one "
            "mesh, or provide a file in armature space"
        )


class Embedding:
    """The vertices of a problem embedded in the tets of a TetMesh."""

    def __init__(self, problem: Problem, mesh: TetMesh, threads: int = 0) -> None:
        vertices = problem.arguments["vertices"]
        tets, self.coordinates, self.distances = engine.embed(
            mesh.vertices, mesh.tets, vertices, threads=threads
        )
        self.corners = mesh.tets[tets]  # (p, 4)
        self.bones = len(problem.skeleton.names)
        self.size = problem.surface.size
        if np.median(self.distances) > ELSEWHERE * self.size:
            raise Refused(
                "Most of the mesh lies far outside the tetrahedra: are they in the other space "
                "(object or armature)?"
            )

    @property
    def nodes(self) -> Integers:
        """The corner with the largest weight for each vertex, (p,)."""
        return self.corners[np.arange(len(self.corners)), self.coordinates.argmax(1)]

    def _spare(self, vertices: Integers, keep: Bools) -> Bools:
        """The mask of entries to keep, extended by all entries of vertices that would otherwise
        have none."""
        left = np.bincount(vertices[keep], minlength=len(self.corners))
        return keep | (left[vertices] == 0)

    def transfer(self, rows: SparseWeights, excluded: tuple[Any, Any], most: int) -> SparseWeights:
        """The SparseWeights of the surface, with at most `most` bones per vertex (0: unlimited), no
        weight below LEAST_WEIGHT, no weight for the excluded pairs (vertices, bones), and sum 1."""
        rows = mixed(rows, self.corners, self.coordinates)
        left_out = np.asarray(excluded[0], np.int64) * self.bones + np.asarray(excluded[1])
        keys = rows.vertices * self.bones + rows.bones
        rows = rows.of(self._spare(rows.vertices, ~np.isin(keys, left_out)))
        rows = rows.of(self._spare(rows.vertices, rows.weights >= LEAST_WEIGHT))
        return rows.cut_down(most).normalized()


def edits_of_nodes(problem: Problem, nodes: Integers) -> dict[str, Any]:
    """The edits of a problem as arguments for its volume. Each edit is assigned to the node of its
    vertex. If a node has several edits for a bone, their pinned weights are averaged, an influence
    is allowed if one edit allows it, and the largest smoothness is used."""
    m = len(problem.skeleton.names)

    def join(name: str) -> tuple[Integers, Integers, Integers, list[Array]]:
        vertices, bones, *values = map(np.asarray, problem.arguments[name])
        keys = nodes[vertices.astype(np.int64)].astype(np.int64) * m + bones.astype(np.int64)
        keys, place = np.unique(keys, return_inverse=True)
        return (keys // m).astype(np.int32), (keys % m).astype(np.int32), place.ravel(), values

    vertices, bones, place, (pinned,) = join("constraints")
    mean = np.bincount(place, pinned, len(bones)) / np.bincount(place, minlength=len(bones))
    edits: dict[str, tuple[Any, ...]] = {"constraints": (vertices, bones, mean)}
    vertices, bones, place, (allowed,) = join("influences")
    edits["influences"] = vertices, bones, np.bincount(place, allowed, len(bones)) > 0
    edits["released"] = join("released")[:2]
    vertices, strengths = problem.arguments["smoothed"]
    edits["smoothed"] = nodes[np.asarray(vertices, np.int64)], strengths
    return edits


def pinned_error(problem: Problem, rows: SparseWeights) -> float | None:
    """The maximum difference between these weights and the pinned ones; None if no weights are
    pinned."""
    vertices, bones, pinned = map(np.asarray, problem.arguments["constraints"])
    if not len(pinned):
        return None
    m = len(problem.skeleton.names)
    keys, wanted = rows.vertices * m + rows.bones, vertices.astype(np.int64) * m + bones
    entries, known = found_in(wanted, keys)
    weights = np.where(known, rows.weights[entries], 0)
    return float(np.abs(weights - pinned).max())


def volume_arguments(problem: Problem, mesh: TetMesh, nodes: Integers) -> dict[str, Any]:
    """The solver input for a volume in place of the surface. The volume blends linearly along
    bones."""
    return {
        **edits_of_nodes(problem, nodes),
        "parameters": None,
        "vertices": mesh.vertices,
        "triangles": None,
        "edges": None,
        "tets": mesh.tets,
    }


def solve_volume(
    problem: Problem,
    options: Options,
    source: Source,
    threads: int = 0,
    progress: Listener | None = None,
) -> Solution:
    """The Solution of a Problem by solving on tets. In the report, energies refer to the surface.
    Vertices, symmetry and parts refer to the tets. Raises the same exceptions as solve(), and
    Refused."""
    start = time.perf_counter()
    progress = SolverProgress(progress)
    mesh = source.make(problem, lambda: not progress("tets", 0))
    embedding = Embedding(problem, mesh, threads)
    own = volume_arguments(problem, mesh, embedding.nodes)
    solver = problem.solver(options, threads, progress, **own)
    found = iterate_to_end(solver, progress)
    vertices, bones, allowed = problem.arguments["influences"]
    left_out = ~np.asarray(allowed, bool)
    excluded = (np.asarray(vertices)[left_out], np.asarray(bones)[left_out])
    rows = embedding.transfer(found, excluded, options.max_influences)
    check(problem, rows, options.max_influences)
    report = surface_report(problem, options, solver, mesh, embedding, rows, threads, progress)
    return Solution(rows, report, time.perf_counter() - start)


def surface_report(
    problem: Problem,
    options: Options,
    solver: "engine.Solver",
    mesh: TetMesh,
    embedding: Embedding,
    rows: SparseWeights,
    threads: int,
    progress: Listener | None,
) -> dict[str, Any]:
    """The solver's report, in which entries about the volume are replaced by entries about the
    surface."""
    before = embedding.transfer(initial_rows(solver), ([], []), 0)
    poses = pose_set(problem, options)
    influences = np.diff(rows.start)
    used = np.bincount(rows.bones, minlength=len(problem.skeleton.names)) > 0
    points = problem.arguments["vertices"]
    report = solver.report
    parts = [
        {**part, "vertex": int(np.argmin(((points - mesh.vertices[part["vertex"]]) ** 2).sum(1)))}
        for part in report["unseen_parts"]
    ]
    return {
        **report,
        **report_deformation(problem, options, lambda: before, rows, threads, progress),
        "unseen_parts": parts,
        "energy_before": energy(problem, before, poses, threads=threads),
        "energy_after": energy(problem, rows, poses, threads=threads),
        "most_influences": int(influences.max()),
        "mean_influences": float(influences.mean()),
        "idle_bones": np.flatnonzero(problem.skeleton.deform & ~used).tolist(),
        "volume": {
            "vertices": len(mesh.vertices),
            "tets": len(mesh.tets),
            "energy": report["energy_after"],
            "farthest": float(embedding.distances.max() / embedding.size),
            "pinned_error": pinned_error(problem, rows),
        },
    }
