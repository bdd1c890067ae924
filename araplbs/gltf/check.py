"""Checks the weights of a character in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.progress import Listener
from ..base.steps import Steps, finish
from ..character.control_bones import leave_out_in_steps
from ..character.mesh import Mesh
from ..character.pose_sets import checked_poses
from ..character.problem import Problem
from ..features.check.check import CHECK_POSES, check
from ..features.check.findings import as_json, health
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.skeleton import Skeleton
from ..solvers.weigh import decided_in_steps
from .character import Character
from .work import poses_asked_for

OF_FORMAT = {"SPLIT_EDGES"}  # in glTF, every seam of textures or normals splits edges


def problem_as_it_is(
    character: Character,
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
    also: Sequence[SparseWeights] = (),
) -> tuple[Problem, SparseWeights]:
    """Returns (the Problem, its weights in the file). Joints that only control the rig are excluded
    unless they have weights, in the file or in the SparseWeights `also`."""
    used = np.zeros(len(character.skeleton.names), bool)
    for rows in [*character.weights, *also]:
        used[rows.bones] = True

    def leave_out(meshes: list[Mesh], skeleton: Skeleton) -> Steps[tuple[list[Mesh], Skeleton]]:
        facts = character.facts(skeleton)
        found = yield from leave_out_in_steps(meshes, skeleton, threads, facts)
        control = np.where(used, 0, found[1].control)
        return meshes, replace(skeleton, control=control, deform=skeleton.deform & (control == 0))

    meshes, skeleton = character.meshes, character.skeleton
    decided = decided_in_steps(meshes, skeleton, options, leave_out, threads)
    meshes, skeleton = finish(decided, progress)
    problem = Problem(
        meshes, skeleton, poses_asked_for(character, options), options.symmetric, rigid_parts="OFF"
    )
    return problem, problem.present(meshes)


def check_character(
    character: Character, options: Options, threads: int = 0, progress: Listener | None = None
) -> tuple[Problem, dict[str, Any]]:
    """Returns (the Problem, report), with faults in the weights of the file."""
    options = replace(options, rigid_parts="OFF", pose_count=CHECK_POSES)
    problem, rows = problem_as_it_is(character, options, threads, progress)
    findings = check(problem, rows, checked_poses(problem, options), options, threads, progress)
    findings = [finding for finding in findings if finding.kind not in OF_FORMAT]
    return problem, {
        "armature": character.name,
        "objects": list(problem.names),
        "vertices": sum(problem.sizes),
        "health": health(findings),
        "findings": as_json(findings, problem),
    }
