"""Transfers weights from some meshes to others on the same armature. This module contains the
options, the work and the report, and does not use bpy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.arrays import Bools, Floats
from ...base.engine import engine
from ...base.extent import triangle_sides
from ...base.progress import Listener, Progress, SolverProgress
from ...base.refusal import Refused
from ...base.sentence import Sentence, joined
from ...character.mesh import Mesh, places_of
from ...character.problem import Problem, plain_geometry
from ...model.edits import Pairs
from ...model.sparse_weights import SparseWeights, dense_of, sparse_of
from ...reports.report import names_in_line
from ...skeleton.skeleton import Skeleton
from ...solvers.solve import iterate_to_end
from .clearance import Guard
from .options import NEAR, TransferOptions
from .source import Source

# Share of the size of the source: matched vertices within this distance that face the same
# direction keep the source's weights in a refinement.
KEPT = 0.02
# Shares of a mesh's vertices. If fewer match, the transfer must be confirmed: of a mesh that has
# weights to lose, and of any mesh.
FEW, LEAST = 0.5, 0.1
VISIBLE = 0.01  # of a vertex's weight
NOTHING = 1e-3  # share of the change that the source's weights would make
MATCHING = 0.3  # share of the time for matching; the rest is for refining
ROUNDS = 3  # rounds of refining, each with fewer vertices that end below the skin

# Additional options for the refinement: the matched vertices hold a garment in place, not the bones
# inside it.
REFINING = {"coarsen_given": True, "tolerance": 5e-3}


@dataclass
class Transferred:
    """The result for one mesh: rows of all deform bones, and the source of each vertex's
    weights."""

    rows: SparseWeights
    matched: np.ndarray  # (n,) bool
    refined: np.ndarray  # (n,) bool


class FewMatch(Refused):
    """Too few vertices of a target match the source. doubt: the reason, without the remedy."""

    def __init__(self, doubt: Sentence) -> None:
        super().__init__(joined([doubt, Sentence("or use Force")], ", "))
        self.doubt = doubt


def transfer(
    source: Source,
    meshes: Sequence[Mesh],
    skeleton: Skeleton,
    options: TransferOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> list[Transferred]:
    """Returns the Transferred of each Mesh. The meshes have all their weights.

    Raises Refused if nothing matches, FewMatch if most of a mesh matches nothing and the options do
    not force the transfer, and araplbs.Cancelled when progress (a Listener) stops it.
    """
    progress, share = Progress.of(progress), 1 / max(len(meshes), 1)
    found = []
    for k, mesh in enumerate(meshes):
        part = progress.part(MATCHING * k * share, MATCHING * share)
        found.append(_matched(source, mesh, options, threads, part))
        if not options.force:
            _refuse_few(source, mesh, found[-1][1])
    rest = (1 - MATCHING) * share
    return [
        _transfer_to(
            source, mesh, skeleton, options, each, threads,
            progress.part(MATCHING + k * rest, rest),
        )
        for k, (mesh, each) in enumerate(zip(meshes, found, strict=True))
    ]  # fmt: skip


def _refuse_few(source: Source, mesh: Mesh, matched: Bools) -> None:
    has_weights = mesh.weights is not None and 2 * (mesh.weights.sums() > 0).sum() > len(matched)
    if matched.sum() >= (FEW if has_weights else LEAST) * len(matched):
        return
    loss = "Its weights would be mostly filled in"
    if has_weights:
        loss = "Its weights would be replaced, and mostly filled in"
    raise FewMatch(
        Sentence(
            "Only {matched} of {count} vertices of '{name}' match {sources}. {loss}. Check the "
            "direction, and the position of the meshes",
            matched=f"{matched.sum():,}",
            count=f"{len(matched):,}",
            name=mesh.name,
            sources=source.label,
            loss=Sentence(loss),
        )
    )


def _matched(
    source: Source, mesh: Mesh, options: TransferOptions, threads: int, progress: Progress
) -> tuple[Any, Bools, Floats, Floats]:
    """The result of araplbs.transfer_weights."""
    vertices, triangles, edges = plain_geometry([mesh]).values()
    try:
        return engine.transfer_weights(
            source.vertices,
            source.triangles,
            tuple(source.rows),
            vertices,
            triangles,
            target_edges=edges,
            max_influences=options.max_influences,
            threads=threads,
            progress=progress,
            **options.engine_arguments("match_surfaces"),
            near=NEAR,
        )
    except ValueError as error:
        raise Refused(f"'{mesh.name}' cannot take weights from {source.label}: {error}") from None


def _transfer_to(
    source: Source,
    mesh: Mesh,
    skeleton: Skeleton,
    options: TransferOptions,
    found: tuple[Any, Bools, Floats, Floats],
    threads: int,
    progress: Progress,
) -> Transferred:
    rows, matched, distances, angles = found
    vertices, m = mesh.points, len(skeleton.names)
    kept = np.zeros(m, bool) if mesh.locked_bones is None else mesh.locked_bones
    present, given = dense_of(mesh.weights, m), dense_of(SparseWeights(*rows), m)
    new = _beside_kept(given, present, kept, mesh)
    _refuse_without_room(mesh, skeleton, given, present, new)
    near = distances <= KEPT * source.size
    held = matched & near & (angles <= options.angle)
    looked_at = near & ~held & options.refine  # alone, such vertices would stick out
    guard = Guard(source, skeleton, vertices, looked_at, options.max_influences, threads)

    def lift() -> bool:
        """Permanently gives the skin's weights to vertices that end below the skin. Returns whether
        there are any."""
        fallen, rows = guard.fallen(new)
        new[fallen] = _beside_kept(rows, present[fallen], kept, None)
        held[fallen] = True
        return len(fallen) > 0

    lift()
    refined = np.zeros(len(vertices), bool)
    for number in range(ROUNDS if options.refine else 0):
        if held.all():
            break
        begin = 1 - 0.25**number  # share of the time; the first round is the longest
        part = progress.part(begin, 0.75 * (1 - begin))
        fresh = _refine(mesh, new, matched, held, skeleton, options, threads, part)
        new = np.where(held[:, None], new, fresh)
        fell = lift()
        refined = ~held
        if not fell:
            break
    mixed = options.mix < 1 and (present.sum(1) > 0)
    if np.any(mixed):
        before = present / np.maximum(present.sum(1, keepdims=True), 1e-30)
        share = np.where(mixed, options.mix, 1.0)[:, None]
        new = share * new + (1 - share) * np.where(kept, present, before)
        new = _beside_kept(new, present, kept, mesh)
    result = sparse_of(new)
    result = result.cut_down(options.max_influences, kept[result.bones])
    return Transferred(result, matched, refined)


def _beside_kept(new: Floats, present: Floats, kept: Bools, mesh: Mesh | None) -> Floats:
    """New weights (n, m), with sum 1, in which the bones `kept` retain their current weights. If a
    vertex has new weights only for kept bones, its weights for the other bones come from its
    neighbors in the mesh."""
    if not kept.any():
        return new
    stays = np.where(kept, present, 0)
    free = np.where(kept, 0, new)
    rest = np.clip(1 - stays.sum(1, keepdims=True), 0, 1)
    if mesh is not None:
        free = _spread(free, mesh)
    sums = free.sum(1, keepdims=True)
    return stays + np.where(sums > 0, free / np.where(sums > 0, sums, 1) * rest, 0)


def _refuse_without_room(
    mesh: Mesh, skeleton: Skeleton, given: Floats, present: Floats, new: Floats
) -> None:
    """Raises Refused if the source gives other weights to the written bones, but nothing changes
    because the kept bones leave no room. Names the kept bones that would have to give way."""
    if mesh.locked_bones is None:
        return
    free, kept = skeleton.deform & ~mesh.locked_bones, mesh.locked_bones & skeleton.deform
    wanted, changed = (np.abs(each - present)[:, free].sum(1) for each in (given, new))
    if wanted.max(initial=0) < VISIBLE or changed.sum() > NOTHING * wanted.sum():
        return
    gain = np.maximum(given - present, 0)[:, free].sum(1)
    giving = (gain[:, None] * present).sum(0) * kept
    most = np.argsort(-giving, kind="stable")[: np.count_nonzero(giving)]
    names = [
        names_in_line([skeleton.names[b] for b in each]) for each in (np.flatnonzero(free), most)
    ]
    raise Refused(
        f"'{mesh.name}': nothing changes, because the weights of the other bones stay and leave no "
        f"room for {names[0]}. Also select or unlock the bones that should give weight: {names[1]}"
    )


def _spread(weights: Floats, mesh: Mesh) -> Floats:
    """Weights (n, m) in which vertices without weights take the mean of weighted neighbors, ring by
    ring. Vertices at one place have the same neighbors."""
    pairs = np.concatenate([triangle_sides(mesh.triangles), mesh.edges]).astype(int)
    place = places_of(mesh.vertices)
    i, j = place[np.concatenate([pairs, pairs[:, ::-1]])].T
    found = np.zeros_like(weights)
    np.add.at(found, place, weights)
    while True:
        has = found.sum(1) > 0
        use = ~has[i] & has[j]
        if not use.any():
            return np.where(weights.sum(1, keepdims=True) > 0, weights, found[place])
        np.add.at(found, i[use], found[j[use]])
        fed = np.unique(i[use])
        found[fed] /= found[fed].sum(1, keepdims=True)


def _refine(
    mesh: Mesh,
    weights: Floats,
    matched: Bools,
    locked: Bools,
    skeleton: Skeleton,
    options: TransferOptions,
    threads: int,
    progress: Progress,
) -> Floats:
    """Weights (n, m) from an optimization that starts from the given ones. Matched vertices are
    drawn to the given weights. Locked vertices keep them."""
    rows, kept = sparse_of(weights), mesh.locked_bones
    wishes = (matched & ~locked)[rows.vertices]
    if kept is not None:
        wishes &= ~kept[rows.bones]
    own = mesh.edits
    pairs = Pairs(rows.vertices[wishes], rows.bones[wishes], rows.weights[wishes])
    edits = replace(own, constraints=own.constraints + pairs)
    locks = locked | mesh.vertex_locks
    meant = replace(mesh, weights=rows, edits=edits, locked_vertices=locks)
    problem = Problem([meant], skeleton, start="PRESENT")
    progress = SolverProgress(progress)
    solver = problem.solver(options.refining(), threads, progress, **REFINING)
    (refined,) = problem.split(iterate_to_end(solver, progress))
    return dense_of(refined, len(skeleton.names))


def transfer_report(
    source: Source,
    meshes: Sequence[Mesh],
    done: Sequence[Transferred],
    options: TransferOptions,
    armature: str,
    written: Sequence[dict[str, Any]],
    started: float,
) -> dict[str, Any]:
    """The report for programs. matched, filled, refined: numbers of vertices. Filled vertices are
    out of reach of the source."""
    return {
        "armature": armature,
        "sources": source.names,
        "objects": [
            {
                "name": mesh.name,
                "vertices": len(mesh.vertices),
                "matched": int(each.matched.sum()),
                "filled": int((~each.matched).sum()),
                "refined": int(each.refined.sum()),
                **facts,
            }
            for mesh, each, facts in zip(meshes, done, written, strict=True)
        ],
        "seconds": time.perf_counter() - started,
        "options": options.as_dict(),
    }


def transfer_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    objects = report["objects"]
    count, matched, filled, refined = (
        sum(each[key] for each in objects) for key in ("vertices", "matched", "filled", "refined")
    )
    where = f" of {len(objects)} meshes" if len(objects) > 1 else ""
    return (
        f"{count:,} vertices{where}: {matched:,} match {names_in_line(report['sources'])}, "
        f"{filled:,} filled in, {refined:,} refined in {report['seconds']:.1f} s"
    )


def transfer_warnings(report: dict[str, Any]) -> list[str]:
    """Lines about places that a rigger should check."""
    return [line for each in report["objects"] for line in few_match(each, LEAST)]


def few_match(mesh: dict[str, Any], least: float) -> list[str]:
    """The line about a mesh of a report if less than this share of its vertices match."""
    count, matched = mesh["vertices"], mesh["matched"]
    line = (
        f"only {matched} of {count} vertices of '{mesh['name']}' match: is it in position on the "
        "source? Distance and Angle set which vertices match"
    )
    return [line] if matched < least * count else []
