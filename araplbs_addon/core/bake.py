"""Weights whose linear blending comes nearest to frames of a deformed mesh. No bpy: any thread may
compute it."""

import time
from dataclasses import dataclass

import numpy as np

from .error_map import FULL_SCALE, colors
from .native_module import araplbs
from .options import Options, OptionTable, option, option_of
from .report import names_in_line
from .sparse_weights import SparseWeights

SHOWN_ERROR = 0.02  # of the size of the mesh: shown in the last color


@dataclass(frozen=True)
class BakeOptions(OptionTable):
    """Of baking."""

    poses: str = option(
        "RANDOM",
        "Frames From",
        "Where the deformed mesh is looked at",
        choices=(
            ("RANDOM", "Random Poses", "A hidden copy in random poses of the armature"),
            (
                "SCENE",
                "Scene Frames",
                "Frames of the scene, from start to end: for caches, cloth and animation",
            ),
        ),
    )
    frames: int = option(
        60,
        "Frames",
        "Number of random poses, or most frames of the scene, evenly spread over it",
        least=1,
        most=10000,
        soft_most=500,
    )
    max_influences: int = option(
        4,
        "Max Influences",
        "Most bones that may move one vertex, 0 for no limit. The weights are the best ones with "
        "this limit",
        least=0,
        most=32,
        soft_most=16,
    )
    smoothness: float = option(
        1e-4,
        "Smoothness",
        "How much the weights of neighbors are drawn to each other, where that costs little error",
        least=0.0,
        most=1.0,
        decimals=5,
    )
    only_present: bool = option(
        False,
        "Only Present Bones",
        "Vertices are moved by bones that move them now, and by no others",
    )
    turn_off: bool = option(
        False,
        "Turn Off Modifiers",
        "Turn off what was baked: all modifiers that deform beside the Armature modifier, and "
        "its Preserve Volume",
    )
    show_error: bool = option(
        False,
        "Error Colors",
        "Keep the error of every vertex as the color attribute 'Bake Error': red is 2 % of the "
        "size of the mesh",
    )
    swing: float = option_of(Options, "swing")
    twist: float = option_of(Options, "twist")
    reach_poses: float = option_of(Options, "reach_poses")
    seed: int = option_of(Options, "seed")
    use_joint_limits: bool = option_of(Options, "use_joint_limits")

    @property
    def pose_count(self):
        """Of random poses, as Options call it."""
        return self.frames


@dataclass
class BakeProblem:
    """One mesh of n vertices and the k deforming bones of its armature, in armature space."""

    name: str
    vertices: np.ndarray  # (n, 3) at rest
    triangles: np.ndarray
    edges: np.ndarray
    bones: np.ndarray  # (k,) their places among all bones
    weights: SparseWeights  # present ones, of all bones
    locked_bones: np.ndarray | None  # of all bones
    locked_vertices: np.ndarray | None
    frames: list = None  # p arrays (n, 3)
    transforms: np.ndarray = None  # (p, k, 3, 4)


@dataclass
class Baked:
    """rows: SparseWeights of all bones. before, after: {"rms", "max"} as shares of the size."""

    rows: SparseWeights
    before: dict
    after: dict
    vertex_error: np.ndarray  # (n,) share of the size
    frames: int
    seconds: float


def bake(problem, options, threads=0, progress=None):
    """Baked; progress(stage, fraction, None) returns False to stop."""
    start = time.perf_counter()
    place = np.full(
        max(int(problem.bones.max()), int(problem.weights.bones.max(initial=0))) + 1, -1
    )
    place[problem.bones] = np.arange(len(problem.bones))
    weights = problem.weights._replace(bones=place[problem.weights.bones].astype(np.int32))

    def part(begin, end):
        def tell(stage, fraction):
            return progress(stage, begin + fraction * (end - begin), None)

        return tell if progress else None

    common = {"weights": tuple(weights), "threads": threads}
    target = problem.vertices, problem.frames, problem.transforms
    before = araplbs.bake(*target, **common, iterations=0, progress=part(0, 0.2))
    candidates = None
    if options.only_present:
        candidates = np.zeros((weights.count, len(problem.bones)), bool)
        candidates[weights.vertices, weights.bones] = weights.weights > 0
        candidates[~candidates.any(axis=1)] = True
    locked = problem.locked_bones
    after = araplbs.bake(
        *target,
        **common,
        triangles=problem.triangles,
        edges=problem.edges,
        locked_vertices=problem.locked_vertices,
        locked_bones=None if locked is None else locked[problem.bones],
        candidates=candidates,
        max_influences=options.max_influences,
        smoothness=options.smoothness,
        progress=part(0.2, 1),
    )
    starts, bones, values = after["weights"]
    return Baked(
        rows=SparseWeights(starts, problem.bones[bones].astype(np.int32), values),
        before=_shares(before),
        after=_shares(after),
        vertex_error=after["vertex_error"] / after["size"],
        frames=len(problem.frames),
        seconds=time.perf_counter() - start,
    )


def _shares(result):
    return {key: float(result[key] / result["size"]) for key in ("rms", "max")}


def error_colors(baked):
    """(n, 4) colors of the error of the vertices."""
    return colors(baked.vertex_error / SHOWN_ERROR * FULL_SCALE)


def bake_report(armature, problems, solutions, written):
    """What was done, for programs: errors are shares of the size of each mesh, its diagonal."""
    return {
        "armature": armature,
        "objects": [
            {
                "name": problem.name,
                "vertices": len(problem.vertices),
                "frames": baked.frames,
                "error_before": baked.before,
                "error_after": baked.after,
                "seconds": baked.seconds,
                **done,
            }
            for problem, baked, done in zip(problems, solutions, written, strict=True)
        ],
    }


def bake_summary(report):
    """One line for people."""
    parts = []
    for ob in report["objects"]:
        before, after = ob["error_before"], ob["error_after"]
        parts.append(
            f"'{ob['name']}': {ob['frames']} frames, error {100 * after['rms']:.3f} % of the size "
            f"(was {100 * before['rms']:.3f} %), at most {100 * after['max']:.2f} % "
            f"(was {100 * before['max']:.2f} %)"
        )
    return f"Baked {names_in_line(parts)}"
