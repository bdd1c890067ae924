"""Computes the energy of given weights with the engine."""

from typing import Any

from ..base.engine import engine
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses


def minimized_energy(
    problem: Problem, options: Options, rows: SparseWeights, threads: int = 0
) -> float:
    """The energy from which a solver of this problem starts with these weights. As in the first
    frame of a session, all springs have their full strength, and all poses are included."""
    given: dict[str, Any] = {"weights": tuple(rows), "start_from_weights": True, "fine_poses": 1}
    return problem.solver(options, threads, **given).energy


def energy(problem: Problem, rows: SparseWeights, poses: Poses, **options: Any) -> float:
    """Computes araplbs.energy, the energy of the surface alone, for a problem with these
    weights."""
    arguments, skeleton = problem.arguments, problem.skeleton
    if skeleton.flexible:
        options = {
            **options,
            **skeleton.kind_arguments,
            "bone_heads": skeleton.heads,
            "bone_tails": skeleton.tails,
            "segment_poses": poses.joints,
            "parameters": problem.parameters,
        }
    return engine.energy(
        arguments["vertices"],
        arguments["triangles"],
        tuple(rows),
        poses.transforms,
        edges=arguments["edges"],
        **poses.weight_arguments,
        **options,
    )
