"""Finds better joint positions for a file, and computes new weights with them. A moved joint keeps
its axes, so its node, each of its bind matrices and each curve that animates it change by one
transform."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.progress import Listener
from ..base.refusal import Refused
from ..base.steps import Steps, finish
from ..character.control_bones import leave_out_in_steps
from ..character.mesh import Mesh
from ..character.problem import Problem
from ..features.joints.joints import JointRun, joint_report
from ..features.joints.options import JointOptions
from ..skeleton.skeleton import Skeleton
from ..solvers.weigh import decided_in_steps
from .armature import AXES, Armature
from .character import Character
from .file.accessors import FLOAT, add_accessor, new_accessor, read_floats
from .file.container import Document
from .file.uses import Uses
from .nodes import Nodes
from .work import poses_asked_for
from .write_skin import set_matrices


def improve_joints(
    character: Character,
    options: JointOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> dict[str, Any]:
    """Stores better joints in the document, and new weights if they were optimized. Returns the
    report."""

    def leave_out(meshes: list[Mesh], skeleton: Skeleton) -> Steps[tuple[list[Mesh], Skeleton]]:
        facts = character.facts(skeleton)
        return leave_out_in_steps(meshes, skeleton, threads, facts, lambda _asked: present)

    if not options.optimize_weights:
        options = replace(options, start_from="PRESENT")
    present = character.weights
    decided = decided_in_steps(character.meshes, character.skeleton, options, leave_out, threads)
    meshes, skeleton = finish(decided, progress)
    problem = Problem(
        meshes,
        skeleton,
        poses_asked_for(character, options),
        options.symmetric,
        options.start_from,
        options.rigid_parts,
    )
    if problem.unweighted and not options.optimize_weights:
        raise Refused(
            f"has {problem.unweighted} vertices without weights: also optimize the weights"
        )
    m = len(skeleton.names)
    run = JointRun(problem, meshes, options, np.zeros((m, 2), bool), np.ones(m), threads)
    solution = run.solve(progress)
    report = joint_report(run, solution, character.name) | {"vertices": sum(problem.sizes)}
    steps = (solution.skeleton.heads - skeleton.heads) @ AXES[:3, :3]  # back to glTF axes
    move_joints(character.document, character.nodes, character.armature, steps)
    if solution.weights is not None:
        character.write(solution.problem.split(solution.weights.rows))
    return report


def move_joints(document: Document, nodes: Nodes, armature: Armature, steps: Floats) -> None:
    """Moves the joints (m, 3) at rest, in the space of the armature. Other nodes below them keep
    their positions."""
    places, moves = armature.places, {}
    for bone, node in enumerate(armature.bones):
        up = armature.skeleton.parents[bone]
        above = np.eye(3) if up < 0 else armature.rest[up, :3, :3]
        own = steps[bone] - (0 if up < 0 else steps[up])
        moves[node] = above.T @ own
        for child in nodes.children[node]:
            if child not in places:
                moves[child] = -armature.rest[bone, :3, :3].T @ steps[bone]
    uses = Uses(document)
    for skin in armature.skins:
        bones = [places[joint] for joint in skin.joints]
        rest = armature.rest[bones]
        moved = rest.copy()
        moved[:, :3, 3] += steps[bones]
        skin.to_joint = np.linalg.inv(moved) @ rest @ skin.to_joint
        set_matrices(uses, skin.number, skin.to_joint)
    armature.rest[:, :3, 3] += steps
    least = 1e-9 * max(float(np.abs(armature.rest[:, :3, 3]).max()), 1e-30)
    moves = {node: move for node, move in moves.items() if np.abs(move).max() > least}
    for node, move in moves.items():
        item, local = nodes.items[node], nodes.local(node)
        local[:3, 3] += move
        if "matrix" in item:
            item["matrix"] = local.T.ravel().tolist()
        else:
            item["translation"] = local[:3, 3].tolist()
    _move_curves(document, moves)


def _move_curves(document: Document, moves: dict[int, Floats]) -> None:
    """Moves the translation curves with their nodes. Curves that shared values get separate
    ones."""
    for animation in document.items("animations"):
        samplers = animation.get("samplers", [])
        for channel in animation.get("channels", []):
            target = channel.get("target", {})
            move = moves.get(target.get("node"))
            if move is None or target.get("path") != "translation":
                continue
            sampler = dict(samplers[channel["sampler"]])
            values = read_floats(document, sampler["output"], "VEC3")
            if sampler.get("interpolation") == "CUBICSPLINE":
                values[1::3] += move
            else:
                values += move
            made = new_accessor(document, values, FLOAT, kind="VEC3", target=None)
            sampler["output"] = add_accessor(document, made)
            samplers.append(sampler)
            channel["sampler"] = len(samplers) - 1
