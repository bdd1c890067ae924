"""Repairs findings by computing new weights for their regions. All other weights stay unchanged to
the last bit.

Weights that are not normalized are scaled. Cloth takes the weights of skin that pokes through it.
All other regions are solved like new vertices (features/new_vertices.py), in patches whose other
vertices are locked. Then the weights are checked and measured again. The old weights of a region
are restored if its finding has not improved, if worse findings have appeared, or if the surface
stretches more. This module does not use bpy, so any thread may run it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ...base.arrays import Bools, Floats
from ...base.progress import Listener, Progress
from ...base.refusal import Refused
from ...character.mesh import Mesh
from ...character.patch import cut_patches, patch_links
from ...character.pose_sets import measured_poses
from ...character.problem import Problem
from ...model.edits import Pairs
from ...model.options import Options
from ...model.sparse_weights import SparseWeights, merged
from ...skeleton.poses import Poses
from ...skeleton.skeleton import Skeleton, hanging
from ..check.before_after import visible
from ..check.check import check
from ..check.findings import Finding
from ..check.inspected import usable
from ..check.kinds import KIND_OF
from ..new_vertices import solve_new
from ..transfer.options import TransferOptions
from ..transfer.source import Source
from ..transfer.transfer import transfer
from .costs import COSTLY, MOTION, Measures, affordable, measures_of
from .regions import Regions

SLACK = 1e-6  # smallest improvement of a severity
MUST = {"UNWEIGHTED", "UNNORMALIZED", "INFLUENCES"}  # regardless of cost
WORSE = "The new weights were worse there, so the old ones were kept"
AROUND = 3  # rings around a finding within which no other finding may become worse than it


@dataclass
class Outcome:
    """The outcome of one finding."""

    finding: Finding
    result: str  # REPAIRED; BETTER: improved, but still found; UNCHANGED: the old weights were kept
    severity: float  # current severity
    words: str = ""  # reason for UNCHANGED


@dataclass
class Repaired:
    """weights: SparseWeights of each mesh; changed: (n,) bool, vertices whose weights may have
    changed; findings, measures: those with these weights."""

    weights: list[SparseWeights]
    changed: list[Bools]
    findings: list[Finding]
    outcomes: list[Outcome] = field(default_factory=list)
    measures: Measures = field(default_factory=dict)


Repairs: TypeAlias = "list[tuple[int, Finding, Bools]]"  # (key, finding, region)


@dataclass
class RepairInput:
    """The input of a repair. problem: the complete meshes with all their weights; poses, checking:
    the poses and options for judging findings. skeleton, given, options: the bones, Poses (or None)
    and options for solving weights. refusals: the reason why the weights of a mesh cannot be
    changed, or None. measured: the poses in which a weighting was measured whose measures may not
    become worse; None: repairs of MOTION may cost stretch. actions: the poses of the file."""

    problem: Problem
    meshes: list[Mesh]
    refusals: list[str | None]
    poses: Poses
    checking: Options
    skeleton: Skeleton
    given: Poses | None
    options: Options
    measured: Poses | None = None
    actions: Poses | None = None


def repair(
    source: RepairInput,
    wanted: Callable[[Finding], bool],
    known: list[Finding] | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Repaired:
    """Returns the Repaired. wanted(finding): whether to repair a finding. known: the current
    findings, if the caller has them. Raises araplbs.Cancelled when progress (a Listener) stops
    it."""
    return _Repair(source, threads, progress).run(wanted, known)


class _Repair:
    def __init__(self, source: RepairInput, threads: int, progress: Listener | None) -> None:
        self.source, self.threads = source, threads
        self.progress = Progress.of(progress)
        self.problem, self.meshes = source.problem, source.meshes
        self.options, self.skeleton = source.options, source.skeleton
        self.regions = Regions(
            source.meshes, source.refusals, self.skeleton, self.options.symmetric, threads
        )
        self.old = [mesh.weights for mesh in self.meshes]

    def run(self, wanted: Callable[[Finding], bool], known: list[Finding] | None) -> Repaired:
        findings = self._check(self.old, 0.0, 0.2)
        known_findings = findings if known is None else known
        nothing = self.regions.split(self.regions.nothing())
        repaired = Repaired(self.old, nothing, findings, measures=self._measure(self.old, 0.2))
        outcomes: dict[int, Outcome] = {}
        tried: dict[int, np.ndarray] = {}
        for wider, begin in ((False, 0.2), (True, 0.6)):
            repairs = []
            for k, finding in enumerate(filter(wanted, known_findings)):
                if k in outcomes and (outcomes[k].result != "UNCHANGED" or k not in tried):
                    continue
                try:
                    region = self.regions.region(finding, wider)
                except Refused as reason:
                    outcomes[k] = Outcome(finding, "UNCHANGED", finding.severity, str(reason))
                    continue
                if k not in tried or (region != tried[k]).any():
                    tried[k] = region
                    repairs.append((k, finding, region))
            if repairs:
                repaired = self._accept(repaired, repairs, outcomes, begin)
        repaired.outcomes = [outcomes[k] for k in sorted(outcomes)]
        return repaired

    def _check(self, weights: list[SparseWeights], begin: float, size: float) -> list[Finding]:
        part = self.progress.part(begin, size)
        part.check("check", 0)
        rows = self.problem.join(weights)
        poses, options = self.source.poses, self.source.checking
        return check(self.problem, rows, poses, options, self.threads, part)

    def _measure(self, weights: list[SparseWeights], begin: float) -> Measures:
        """The measures of a Repaired."""
        source, rows = self.source, usable(self.problem.join(weights))
        poses = source.measured or measured_poses(self.problem, source.checking)
        arguments = source.actions, self.threads, self.progress.part(begin, 0)
        return measures_of(self.problem, rows, poses, *arguments)

    def _new_weights(
        self, weights: list[SparseWeights], repairs: list[tuple[Finding, Bools]], begin: float
    ) -> list[SparseWeights]:
        """These SparseWeights of each mesh after repairing the regions of all these findings."""
        weights = list(weights)
        solved, excluded = self.regions.nothing(), [Pairs() for _ in self.meshes]
        for finding, region in repairs:
            parts = self.regions.split(region)
            if finding.kind == "UNNORMALIZED":
                weights = [
                    self._normalized(*columns)
                    for columns in zip(self.meshes, weights, parts, strict=True)
                ]
                continue
            if finding.kind == "INTERSECTION":
                weights = self._worn(finding, weights, parts)
                continue
            solved |= region
            if finding.kind in ("BLEEDING", "OVERREACH"):
                regions = self.regions.split(self.regions.about(finding))
                chain = np.array([finding.bone])
                if finding.kind == "OVERREACH":
                    chain = np.flatnonzero(hanging(self.skeleton.parents)[:, finding.bone])
                for k, members in enumerate(regions):
                    vertices = np.repeat(np.flatnonzero(members), len(chain))
                    bones = np.tile(chain, np.count_nonzero(members))
                    excluded[k] += Pairs(vertices, bones, np.zeros(len(vertices), bool))
        if solved.any():
            return self._solve(weights, solved, excluded, begin)
        return weights

    def _normalized(self, mesh: Mesh, rows: SparseWeights, region: Bools) -> SparseWeights:
        """Scales weights to sum to 1. Locked weights stay, and weights that are not numbers are
        removed."""
        locked = np.zeros(len(self.skeleton.names), bool)
        if mesh.locked_bones is not None:
            locked = mesh.locked_bones
        vertices, stays = rows.vertices, locked[rows.bones]
        strange = region[vertices] & ~stays & ~(np.isfinite(rows.weights) & (rows.weights >= 0))
        rows = rows._replace(weights=np.where(strange, 0, rows.weights))
        held, free = (
            np.bincount(vertices, rows.weights * group, rows.count) for group in (stays, ~stays)
        )
        scale = np.where(region & (free > 0), np.maximum(1 - held, 0) / np.maximum(free, 1e-30), 1)
        return rows._replace(weights=np.where(stays, 1, scale[vertices]) * rows.weights)

    def _worn(
        self, finding: Finding, weights: list[SparseWeights], parts: list[Bools]
    ) -> list[SparseWeights]:
        """Cloth (bool for each mesh) with the weights of the part that poked through it."""
        skin, first = self.meshes[finding.mesh], self.regions.first[finding.mesh]
        part_vertices = np.isin(self.regions.parts, self.regions.parts[self.regions.at(finding)])
        faces = part_vertices[first + skin.triangles].all(1)
        source = Source([replace(skin, triangles=skin.triangles[faces])], self.skeleton)
        options = TransferOptions(
            refine=False, force=True, max_influences=self.options.max_influences
        )
        weights = list(weights)
        for k, (mesh, region) in enumerate(zip(self.meshes, parts, strict=True)):
            if region.any():
                try:
                    (result,) = transfer(source, [mesh], self.skeleton, options, self.threads)
                except Refused:  # the cloth is too far from the skin: this finding stays
                    continue
                weights[k] = merged(weights[k], result.rows, region)
        return weights

    def _solve(
        self, weights: list[SparseWeights], solved: Bools, excluded: list[Pairs], begin: float
    ) -> list[SparseWeights]:
        meshes = [
            replace(
                mesh,
                weights=rows,
                edits=replace(mesh.edits, influences=mesh.edits.influences + never),
            )
            for mesh, rows, never in zip(self.meshes, weights, excluded, strict=True)
        ]
        patches, links = cut_patches(meshes, self.regions.split(solved), self.options.link_parts)
        which = [k for k, patch in enumerate(patches) if patch]
        options = replace(self.options, volume="NONE", start_from="FRESH")
        problem = Problem(
            [patches[k].mesh for k in which],
            self.skeleton,
            self.source.given,
            options.symmetric,
            rigid_parts=options.rigid_parts,
        )
        problem.numbers = [patches[k].vertices for k in which]
        sizes = [len(mesh.vertices) for mesh in meshes]
        linked = patch_links(links, patches, sizes, problem.first)
        problem.arguments["edges"] = np.concatenate([problem.arguments["edges"], linked])
        problem.parameters = self._parameters(problem, which)
        solution = solve_new(problem, options, self.threads, self.progress.part(begin, 0.2))
        weights = list(weights)
        for k, rows in zip(which, problem.split(solution.rows), strict=True):
            patch, old = patches[k], weights[k]
            weights[k] = merged(old, *patch.in_whole(rows, old.count))
        return weights

    def _parameters(self, problem: Problem, meshes: Sequence[int]) -> Floats | None:
        """Positions along bones at the vertices of a problem of patches of these meshes."""
        parameters = self.problem.parameters
        if parameters is None:
            return None
        out = np.empty((problem.first[-1], parameters.shape[1]))
        points, all_points = problem.arguments["vertices"], self.problem.arguments["vertices"]
        for k, mesh in enumerate(meshes):
            begin, end = problem.first[k], problem.first[k + 1]
            vertices = problem.numbers[k][problem.sources[k]]
            sources, images = self.problem.images(mesh, vertices)
            off = np.linalg.norm(all_points[images] - points[begin:end][sources], axis=1)
            order = np.lexsort((off, sources))
            _sources, firsts = np.unique(sources[order], return_index=True)
            out[begin:end] = parameters[images[order][firsts]]
        return out

    def _accept(
        self, state: Repaired, repairs: Repairs, outcomes: dict[int, Outcome], begin: float
    ) -> Repaired:
        """The Repaired after adding these repairs (key in outcomes, finding, region) to the
        Repaired `done`, without repairs that improved nothing."""
        new = self._new_weights(state.weights, [repair[1:] for repair in repairs], begin)
        taken, share = {k for k, _finding, _region in repairs}, 0.1
        failed: dict[int, str] = {}
        while True:
            weights, where = self._merged(state, new, repairs, taken)
            share /= 2
            start = begin + 0.4 - 2 * share
            findings = self._check(weights, start, share) if taken else state.findings
            verdicts = {
                k: self._verdict(state.findings, findings, finding, region)
                for k, finding, region in repairs
            }
            worse = {k: verdicts[k][1] for k in taken if verdicts[k][1]}
            if not worse and any(n(findings) > n(state.findings) for n in (len, visible)):
                worse = self._causes(state.findings, findings, repairs, taken)
            if not worse:
                worse, measures = self._costly(state, new, repairs, taken, start + share)
            if not worse:
                break
            failed |= worse
            taken -= worse.keys()
        for k, finding, _region in repairs:
            severity, reason = verdicts[k][0], failed.get(k, "")
            if not severity:  # a neighboring repair has improved it
                reason = ""
            result = "UNCHANGED" if reason else "BETTER" if severity else "REPAIRED"
            outcomes[k] = Outcome(finding, result, severity, reason)
        changed = [a | b for a, b in zip(state.changed, where, strict=True)]
        return Repaired(weights, changed, findings, measures=measures)

    def _merged(
        self, state: Repaired, new: list[SparseWeights], repairs: Repairs, keys: set[int]
    ) -> tuple[list[SparseWeights], list[Bools]]:
        """(the weights with these repairs, the vertices whose weights are new) of each mesh."""
        taken = (region for k, _finding, region in repairs if k in keys)
        where = self.regions.split(sum(taken, self.regions.nothing()))
        return [merged(*columns) for columns in zip(state.weights, new, where, strict=True)], where

    def _causes(
        self, before: list[Finding], after: list[Finding], repairs: Repairs, taken: set[int]
    ) -> dict[int, str]:
        """{key in `taken`: WORSE} of the repairs next to findings that have become worse; of all
        repairs if there are none next to them."""
        worse = self.regions.nothing()
        for finding in after:
            if finding.severity > self._left(before, finding)[0] + SLACK:
                worse |= self.regions.whole.grow(self.regions.at(finding), AROUND)
        optional = [row for row in repairs if row[0] in taken and row[1].kind not in MUST]
        near = [k for k, _finding, region in optional if (region & worse).any()]
        return dict.fromkeys(near or [row[0] for row in optional], WORSE)

    def _costly(
        self,
        state: Repaired,
        new: list[SparseWeights],
        repairs: Repairs,
        taken: set[int],
        begin: float,
    ) -> tuple[dict[int, str], Measures]:
        """Returns ({key in `taken`: COSTLY} of repairs without which no measure is worse than
        before, the measures with all repairs in `taken`)."""

        def measures_with(keys: set[int]) -> Measures:
            if not keys:
                return state.measures
            return self._measure(self._merged(state, new, repairs, keys)[0], begin)

        free = MUST if self.source.measured is not None else MUST | MOTION
        by_severity = sorted(repairs, key=lambda repair: -repair[1].severity)
        order = [
            k for k, finding, _region in by_severity if k in taken and finding.kind not in free
        ]
        total = measures_with(taken)
        kept = affordable(order, taken - set(order), total, measures_with)
        return dict.fromkeys(taken - kept, COSTLY), total

    def _verdict(
        self, before: list[Finding], after: list[Finding], finding: Finding, region: Bools
    ) -> tuple[float, str]:
        """Returns (current severity of a finding, reason for undoing its repair or "")."""
        severity_before, many = self._left(before, finding)
        now, left = self._left(after, finding)
        if now > severity_before + SLACK:
            return now, WORSE
        if now > severity_before - SLACK and left >= many:
            return now, "The new weights were no better there, so the old ones were kept"
        if finding.kind in MUST:
            return now, ""
        region = region | self.regions.whole.grow(self.regions.at(finding), AROUND)
        worst = self._worst(before, region)
        for kind, severity in self._worst(after, region).items():
            if severity > max(worst.get(kind, 0.0), finding.severity) + SLACK:
                return (
                    now,
                    f"New weights would cause other problems ({KIND_OF[kind].name}), so the old "
                    "weights were kept",
                )
        return now, ""

    def _left(self, findings: list[Finding], finding: Finding) -> tuple[float, int]:
        """Returns (severity, number of vertices) of the findings that still match this one."""
        region = self.regions.at(finding)
        left = [f for f in findings if f.kind == finding.kind and self._meet(f, finding, region)]
        return max((f.severity for f in left), default=0.0), sum(len(f.vertices) for f in left)

    def _worst(self, findings: list[Finding], region: Bools) -> dict[str, float]:
        """The worst findings with vertices in a region (bool), as {kind: severity}."""
        severities: dict[str, float] = {}
        for finding in findings:
            if (self.regions.at(finding) & region).any():
                severities[finding.kind] = max(finding.severity, severities.get(finding.kind, 0.0))
        return severities

    def _meet(self, first: Finding, second: Finding, region: Bools) -> bool:
        """Whether two findings of a kind are at roughly the same place. region: the vertices of the
        second one."""
        if first.mesh != second.mesh:
            return False
        if not len(first.vertices) or not len(second.vertices):
            return first.bone == second.bone
        return bool((self.regions.at(first) & region).any())
