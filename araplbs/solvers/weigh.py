"""Computes the weights of a character from only its meshes and skeleton. The module makes all
decisions of Auto-weight in order and then runs the solver. Blender's button, the command for files
and the function for arrays all use this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..base.engine import engine
from ..base.progress import Listener
from ..base.steps import Steps, finish
from ..character.coincident_bones import part_doubles
from ..character.control_bones import leave_out_in_steps
from ..character.directions import read_directions_in_steps
from ..character.mesh import Mesh
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.bone_facts import BoneFacts
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from .solve import Solution, solve

# A chain of so many takes 2 s and 200 MB, which grow with the square of the number.
MOST_JOINTS = 4000

LeaveOut: TypeAlias = Callable[[list[Mesh], Skeleton], Steps[tuple[list[Mesh], Skeleton]]]


def decided_in_steps(
    meshes: list[Mesh], skeleton: Skeleton, options: Options, leave_out: LeaveOut, threads: int = 0
) -> Steps[tuple[list[Mesh], Skeleton]]:
    """Returns the (meshes, skeleton) to solve, with bone directions and without bones that only
    control the rig, as a generator of short steps. leave_out: excludes control bones by facts about
    the bones."""
    directions = options.bone_directions
    skeleton = yield from read_directions_in_steps(meshes, skeleton, directions, threads)
    return (yield from without_controls_in_steps(meshes, skeleton, options, leave_out, threads))


def without_controls_in_steps(
    meshes: list[Mesh], skeleton: Skeleton, options: Options, leave_out: LeaveOut, threads: int = 0
) -> Steps[tuple[list[Mesh], Skeleton]]:
    """The second half of decided_in_steps(), for a skeleton with known bone directions. The
    directions are read again if bones are excluded, unless they come from the tails."""
    if options.control_bones == "LEAVE_OUT":
        meshes, skeleton = yield from leave_out(meshes, skeleton)
        if skeleton.directions != "TAILS" and skeleton.left_out.any():
            skeleton = yield from read_directions_in_steps(
                meshes, skeleton, options.bone_directions, threads
            )
    return meshes, skeleton


@dataclass
class Weighed:
    """rows: the SparseWeights of each mesh."""

    problem: Problem
    solution: Solution
    rows: list[SparseWeights] = field(default_factory=list)

    @property
    def skeleton(self) -> Skeleton:
        return self.problem.skeleton


def weigh(
    meshes: list[Mesh],
    skeleton: Skeleton,
    options: Options,
    *,
    facts_of: Callable[[Skeleton], BoneFacts] | None = None,
    poses: Poses | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Weighed:
    """Computes the weights of these Meshes, which share one skeleton.

    facts_of: provides further facts about the bones. Existing weights of the meshes are evidence
    for bones that an artist has painted. These weights are used as initial weights only if the
    options request it. Raises Refused, ValueError and araplbs.Cancelled.
    """
    count = int(skeleton.deform.sum())
    if count > MOST_JOINTS:
        raise engine.InputError(f"{count} joints deform: at most {MOST_JOINTS} are possible")
    present: Sequence[SparseWeights | None] = [mesh.weights for mesh in meshes]

    def leave_out(meshes: list[Mesh], skeleton: Skeleton) -> Steps[tuple[list[Mesh], Skeleton]]:
        facts = facts_of(skeleton) if facts_of else None
        return leave_out_in_steps(meshes, skeleton, threads, facts, lambda _asked: present)

    decided = decided_in_steps(meshes, skeleton, options, leave_out, threads)
    meshes, skeleton = finish(decided, progress)
    meshes = part_doubles(meshes, skeleton)
    problem = Problem(
        meshes, skeleton, poses, options.symmetric, options.start_from, options.rigid_parts
    )
    solution = solve(problem, options, threads, progress, later=options.start_from != "PRESENT")
    return Weighed(problem, solution, problem.split(solution.rows))
