"""Computes weights with which linear blending best approximates the frames of a deformed mesh. This
module does not use bpy, so any thread may run it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.engine import engine
from ..base.option_table import OptionTable, option, option_of, setting
from ..base.progress import Listener, Progress
from ..base.refusal import Refused
from ..measures.strain_colors import share_colors
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..reports.report import names_in_line
from ..skeleton.poses import BENDY
from ..skeleton.skeleton import Skeleton

SHOWN_ERROR = 0.02  # error at the end of the color scale, as a share of the mesh size


@dataclass(frozen=True)
class BakeOptions(OptionTable):
    """The options of baking."""

    poses: str = option(
        "RANDOM",
        "Frames From",
        "Poses or frames in which the deformed mesh is sampled",
        choices=(
            ("RANDOM", "Random Poses", "Random poses of the armature, applied to a hidden copy"),
            (
                "SCENE",
                "Scene Frames",
                "Scene frames from start to end: for caches, cloth and animation",
            ),
            ("ALL", "All Actions", "Frames of every action that moves bones of the armature"),
        ),
    )
    frames: int = option(
        60,
        "Frames",
        "Number of random poses, or maximum number of evenly spaced frames of the scene "
        "or of all actions",
        min=1,
        max=10000,
        soft_max=500,
    )
    max_influences: int = setting(
        "BAKE",
        "max_influences",
        "Max Influences",
        "Maximum number of bones that move a vertex; 0 for no limit. The weights are optimized "
        "for this limit",
        max=32,
        soft_max=16,
    )
    new_bones: int = setting(
        "BAKE",
        "new_bones",
        "New Bones",
        "Number of bones added for each mesh whose motion its own bones cannot reproduce, with "
        "keys in these frames. For caches, cloth and muscles",
        max=1000,
        soft_max=50,
    )
    smoothness: float = setting(
        "BAKE",
        "smoothness",
        "Smoothness",
        "How strongly the weights of neighboring vertices are pulled toward each other, "
        "as long as this adds little error",
        max=1.0,
        decimals=5,
        default=1e-4,
    )
    only_present: bool = option(
        False,
        "Only Current Bones",
        "Only bones that currently move a vertex may move it afterwards",
    )
    turn_off: bool = option(
        False,
        "Turn Off Modifiers",
        "Turn off the baked modifiers: all deforming modifiers except the Armature modifier, "
        "whose Preserve Volume is also turned off",
    )
    show_error: bool = option(
        False,
        "Error Colors",
        "Store the error of every vertex in the color attribute 'Bake Error'. Red is 2 % of the "
        "mesh size",
    )
    swing: float = option_of(Options, "swing")
    twist: float = option_of(Options, "twist")
    limb_twist: float = option_of(Options, "limb_twist")
    reach_poses: float = option_of(Options, "reach_poses")
    seed: int = option_of(Options, "seed")
    use_joint_limits: bool = option_of(Options, "use_joint_limits")

    @property
    def pose_count(self) -> int:
        """The number of random poses, under its name in Options."""
        return self.frames


@dataclass
class BakeProblem:
    """One mesh of n vertices and the k deform bones among the m bones of its armature, in armature
    space."""

    name: str
    vertices: np.ndarray  # (n, 3) at rest
    triangles: np.ndarray
    edges: np.ndarray
    bones: np.ndarray  # (k,) the indices of the deform bones among all bones
    bone_count: int  # m
    weights: SparseWeights  # current weights, of all bones
    locked_bones: np.ndarray | None  # of all bones
    locked_vertices: np.ndarray | None
    frames: Any = None  # sequence of p arrays (n, 3)
    transforms: np.ndarray = None  # (p, k, 3, 4)


@dataclass
class Baked:
    """rows: SparseWeights of the m bones of the armature, followed by the new bones. before, after:
    the errors {"rms", "max"} as shares of the mesh size."""

    rows: SparseWeights
    before: dict[str, float]
    after: dict[str, float]
    vertex_error: np.ndarray  # (n,) share of the size
    new_centers: np.ndarray  # (new bones, 3) center of the part that each bone moves, at rest
    new_transforms: np.ndarray  # (p, new bones, 3, 4) rigid
    size: float
    frames: int
    seconds: float


def refuse_bones(armature: str, skeleton: Skeleton, new_bones: int = 0) -> None:
    """Raises Refused if linear blending of plain bones is not possible."""
    bendy = [
        name
        for name, kind, deforms in zip(skeleton.names, skeleton.kinds, skeleton.deform, strict=True)
        if kind == BENDY and deforms
    ]
    if bendy:
        raise Refused(
            f"'{armature}' has bendy bones ({names_in_line(bendy)}): convert them to plain "
            "bones first (Bendy Bones to Bones)"
        )
    if skeleton.deform.sum() + new_bones < 2:
        raise Refused(
            f"'{armature}' has only one deform bone, which gets all the weight: baking "
            "needs 2 or more"
        )


def bake(
    problem: BakeProblem, options: BakeOptions, threads: int = 0, progress: Listener | None = None
) -> Baked:
    """Computes the Baked weights. Raises araplbs.Cancelled when progress (a Listener) stops it."""
    start, progress = time.perf_counter(), Progress.of(progress)
    given, m = len(problem.bones), problem.bone_count
    place = np.full(m, -1)
    place[problem.bones] = np.arange(given)
    weights = problem.weights._replace(bones=place[problem.weights.bones].astype(np.int32))

    common: dict[str, Any] = {"weights": tuple(weights), "threads": threads}
    target = problem.vertices, problem.frames, problem.transforms
    before = engine.bake(*target, **common, iterations=0, progress=progress.part(0, 0.2))
    candidates = None
    if options.only_present:
        candidates = np.zeros((weights.count, given), bool)
        candidates[weights.vertices, weights.bones] = weights.weights > 0
        candidates[~candidates.any(axis=1)] = True
    locked = problem.locked_bones
    after = engine.bake(
        *target,
        **common,
        triangles=problem.triangles,
        edges=problem.edges,
        locked_vertices=problem.locked_vertices,
        locked_bones=None if locked is None else locked[problem.bones],
        candidates=candidates,
        max_influences=options.max_influences,
        new_bones=options.new_bones,
        smoothness=options.smoothness,
        progress=progress.part(0.2, 0.8),
    )
    starts, bones, values = after["weights"]
    number = np.concatenate([problem.bones, m + np.arange(options.new_bones)])
    return Baked(
        rows=SparseWeights(starts, number[bones].astype(np.int32), values),
        before=_shares(before),
        after=_shares(after),
        vertex_error=after["vertex_error"] / after["size"],
        new_centers=after["centers"][given:],
        new_transforms=after["transforms"][:, given:],
        size=float(after["size"]),
        frames=len(problem.frames),
        seconds=time.perf_counter() - start,
    )


def _shares(result: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(result[key] / result["size"]) for key in ("rms", "max")}


def error_colors(baked: Baked) -> Floats:
    """Colors (n, 4) for the errors of the vertices."""
    return share_colors(baked.vertex_error / SHOWN_ERROR)


def bake_report(
    armature: str,
    problems: Sequence[BakeProblem],
    solutions: Sequence[Baked],
    new_names: Sequence[list[str]],
    written: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """The report for programs. Errors are shares of each mesh's diagonal. new_names: the names of
    the new bones of each mesh."""
    return {
        "armature": armature,
        "objects": [
            {
                "name": problem.name,
                "vertices": len(problem.vertices),
                "frames": baked.frames,
                "error_before": baked.before,
                "error_after": baked.after,
                "new_bones": names,
                "seconds": baked.seconds,
                **done,
            }
            for problem, baked, names, done in zip(
                problems, solutions, new_names, written, strict=True
            )
        ],
    }


def bake_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    parts = []
    for ob in report["objects"]:
        before, after = ob["error_before"], ob["error_after"]
        new = f"{len(ob['new_bones'])} new bones, " if ob["new_bones"] else ""
        parts.append(
            f"'{ob['name']}': {ob['frames']} frames, {new}error {100 * after['rms']:.3f} % of the "
            f"mesh size (was {100 * before['rms']:.3f} %), at most {100 * after['max']:.2f} % "
            f"(was {100 * before['max']:.2f} %)"
        )
    return f"Baked {names_in_line(parts)}"
