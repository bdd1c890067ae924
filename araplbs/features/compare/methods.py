"""Defines the compared methods, with one entry of METHODS for each.

A method receives a Work and returns the SparseWeights of all vertices of its problem, or a Posed if
it moves points without weights. A method that cannot run on a mesh raises Refused or an exception
of the engine. The reason then appears in the method's column, and the other methods continue.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...base.arrays import Array, Floats
from ...base.engine import engine
from ...base.progress import Progress, SolverProgress
from ...base.refusal import Refused
from ...disk.presets import AS_PUBLISHED
from ...measures.deformer_preview import DeformerPreview
from ...model.options import Options
from ...model.sparse_weights import SparseWeights, sparse_of
from ...skeleton.poses import Poses
from ...solvers.solve import iterate_to_end

WEIGHTS, DEFORMER, REFERENCE = "weights", "deformer", "reference"

NO_WEIGHTS = "the file has no weights for these bones"


@dataclass
class Work:
    """The input of a method."""

    problem: Any
    options: Options  # for our own weights
    threads: int
    progress: Progress
    given: dict[str, SparseWeights | str | None]  # by identifier, or a reason
    weights_of: Callable[[str], SparseWeights]  # result of another method; raises Refused


@dataclass
class Posed:
    """The result of a method that moves points by itself with pose(poses, progress) -> (p, n, 3).
    rows: the method's weights."""

    pose: Callable[[Poses, Progress], np.ndarray]
    rows: SparseWeights | None = None


@dataclass(frozen=True)
class Method:
    identifier: str
    name: str
    about: str
    make: Callable[[Work], SparseWeights | Posed]
    kind: str = WEIGHTS
    share: float = 1.0  # of the total time
    judging: float = 1.0  # its share of the time for judging all
    most_poses: int = 0  # maximum judged poses of each kind, because it is slow; 0: all


def _given(identifier: str, missing: str) -> Callable[[Work], SparseWeights]:
    def make(work: Work) -> SparseWeights:
        found = work.given.get(identifier)
        if not isinstance(found, SparseWeights):
            raise Refused(found or missing)
        if not len(found.bones):
            raise Refused("it leaves all vertices without weights")
        return found

    return make


def _solved(work: Work, arguments: dict[str, Any]) -> SparseWeights:
    """The SparseWeights of a finished solver."""
    progress = SolverProgress(work.progress)
    solver = engine.Solver(**arguments, threads=work.threads, progress=progress)
    return iterate_to_end(solver, progress)


GEOMETRY = [
    "vertices",
    "triangles",
    "edges",
    "bone_heads",
    "bone_tails",
    "bone_parents",
    "bone_deform",
]


def _automatic(
    method: Literal["nearest", "heat", "boneglow", "biharmonic", "bbw"],
) -> Callable[[Work], SparseWeights]:
    def make(work: Work) -> SparseWeights:
        arguments = {name: work.problem.arguments[name] for name in GEOMETRY}
        rows = engine.baseline_weights(
            **arguments,
            method=method,
            max_influences=work.options.max_influences,
            link_parts=work.options.link_parts,
            threads=work.threads,
            progress=work.progress,
        )
        return SparseWeights(*rows)

    return make


def _published(work: Work) -> SparseWeights:
    table = set(Options.__dataclass_fields__)
    values = {name: value for name, value in AS_PUBLISHED.items() if name in table}
    options = replace(Options(), seed=work.options.seed, **values)
    arguments = {k: v for k, v in work.problem.arguments.items() if k != "symmetry"}
    return _solved(work, {**options.solver_arguments(), **arguments})


def _ours(work: Work) -> SparseWeights:
    return _solved(work, work.problem.solver_arguments(work.options))


def _ours_for_dual(work: Work) -> Posed:
    options = replace(work.options, deformer="DUAL_QUATERNIONS")
    return _dual_quaternions(work, _solved(work, work.problem.solver_arguments(options)))


def _dual_quaternions(work: Work, rows: SparseWeights | None = None) -> Posed:
    return _deformer(work, rows or work.weights_of("OURS"), "DUAL_QUATERNIONS")


def _rotation_centers(work: Work) -> Posed:
    return _deformer(work, work.weights_of("OURS"), "CENTERS")


def _deformer(work: Work, rows: SparseWeights, deformer: str) -> Posed:
    preview = DeformerPreview(work.problem, rows, work.threads, by_modifier=False)
    if deformer == "CENTERS":  # their time is that of the method
        preview.centers(work.progress)

    def pose(poses: Poses, progress: Progress) -> Floats:
        posed = []
        for k in range(len(poses)):
            progress.check("posing", k / len(poses))
            posed.append(preview.posed(poses[k : k + 1], deformer)[0])
        return np.array(posed)

    return Posed(pose, rows)


def _elastic(method: Literal["mixed", "free"]) -> Callable[[Work], Posed]:
    def make(work: Work) -> Posed:
        if work.problem.skeleton.flexible:
            raise Refused("supports only bones that neither bend nor stretch")
        arguments = work.problem.arguments
        start = work.weights_of("OURS")

        def pose(poses: Poses, progress: Progress) -> Floats:
            posed: Any = engine.elastic_poses(
                arguments["vertices"],
                arguments["triangles"],
                poses.transforms,
                arguments["bone_heads"],
                arguments["bone_tails"],
                weights=tuple(start),
                bone_deform=arguments["bone_deform"],
                edges=arguments["edges"],
                method=method,
                threads=work.threads,
                progress=progress,
            )
            return posed

        return Posed(pose)

    return make


METHODS = (
    Method(
        "PRESENT",
        "Weights in the file",
        "the current vertex groups, painted or computed, normalized",
        _given("PRESENT", NO_WEIGHTS),
        share=0.1,
    ),
    Method(
        "BLENDER_HEAT",
        "Blender: Automatic Weights",
        "Blender's own bone heat: Parent > With Automatic Weights, with the largest weights "
        "kept and normalized",
        _given("BLENDER_HEAT", "needs Blender"),
        share=0.1,
    ),
    Method(
        "BLENDER_ENVELOPE",
        "Blender: Envelope Weights",
        "Blender's own weights by distance to the bones: Parent > With Envelope Weights",
        _given("BLENDER_ENVELOPE", "needs Blender"),
        share=0.1,
    ),
    Method(
        "NEAREST",
        "Nearest bone",
        "every vertex follows only its nearest bone: no blending",
        _automatic("nearest"),
        share=0.2,
    ),
    Method(
        "HEAT",
        "Bone heat, our solver",
        "the method of Blender's automatic weights (Baran and Popović 2007), solved by our engine",
        _automatic("heat"),
        share=0.5,
    ),
    Method(
        "BONEGLOW",
        "BoneGlow",
        "bone heat from the light that bones cast on the skin (Wareham and Lasenby 2008)",
        _automatic("boneglow"),
        share=6.0,
    ),
    Method(
        "BIHARMONIC",
        "Biharmonic",
        "the smoothest weights over the surface; negative weights are cut off",
        _automatic("biharmonic"),
        share=2.0,
    ),
    Method(
        "BBW",
        "Bounded biharmonic",
        "the smoothest weights between 0 and 1 over the surface (Jacobson et al. 2011)",
        _automatic("bbw"),
        share=4.0,
    ),
    Method(
        "PUBLISHED",
        "ARAP as published",
        "the method on which Auto-weight is based (Thiery and Eisemann 2018), with any number "
        "of influences",
        _published,
        share=4.0,
    ),
    Method(
        "OURS",
        "Auto-weight (ARAP)",
        "our method: the Auto-weight button with its defaults",
        _ours,
        share=3.0,
    ),
    Method(
        "OURS_DUAL",
        "Auto-weight, Preserve Volume",
        "the weights of Auto-weight under the Armature modifier's Preserve Volume (dual "
        "quaternions, Kavan et al. 2008)",
        _dual_quaternions,
        kind=DEFORMER,
        share=0.1,
    ),
    Method(
        "OURS_FOR_DUAL",
        "Auto-weight for Preserve Volume",
        "weights that were optimized for Preserve Volume and are blended with it",
        _ours_for_dual,
        kind=DEFORMER,
        share=6.0,
    ),
    Method(
        "OURS_CENTERS",
        "Auto-weight, centers of rotation",
        "the weights of Auto-weight in engines that blend about centers (Le and Hodgins 2016)",
        _rotation_centers,
        kind=DEFORMER,
        share=2.0,
    ),
    Method(
        "MIXED",
        "Elastic, mixed elements",
        "no weights: as rigid as possible, with the rotations of few samples (mixed finite "
        "elements)",
        _elastic("mixed"),
        kind=REFERENCE,
        share=0.1,
        judging=15.0,
        most_poses=8,
    ),
    Method(
        "ELASTIC",
        "Elastic surface",
        "no weights: an elastic surface whose bones move as posed, to show how little stretch is "
        "possible",
        _elastic("free"),
        kind=REFERENCE,
        share=0.1,
        judging=15.0,
        most_poses=8,
    ),
)

READ_IN_BLENDER = ("BLENDER_HEAT", "BLENDER_ENVELOPE")


def find_methods(identifiers: Iterable[str] | None = None) -> list[Method]:
    """Finds the entries of METHODS with these identifiers, ignoring case; None selects all entries.
    Raises Refused for an unknown identifier."""
    if identifiers is None:
        return list(METHODS)
    known = {method.identifier: method for method in METHODS}
    wanted = [identifier.upper().replace("-", "_") for identifier in identifiers]
    unknown = [each for each in wanted if each not in known]
    if unknown:
        names = ", ".join(known).lower().replace("_", "-")
        raise Refused(
            f"there is no method {unknown[0].lower().replace('_', '-')}; available: {names}"
        )
    return [method for method in METHODS if method.identifier in wanted]


def as_sparse(weights: Array | tuple[Array, Array, Array]) -> SparseWeights:
    """SparseWeights from rows (start, bones, weights) or an array (n, m)."""
    if isinstance(weights, tuple):
        start, bones, values = (np.asarray(each) for each in weights)
        return SparseWeights(
            start.astype(np.int64), bones.astype(np.int32), values.astype(np.float64)
        )
    return sparse_of(np.asarray(weights, float))
