"""Computes the visible measures of weights over poses: Surface Strain, Limb Drift and Volume
Change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..base.engine import engine
from ..base.progress import Listener, Progress
from ..base.sentence import Sentence, joined
from ..character.problem import Problem
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton

# Keys of a report, as in araplbs.deformation.
NUMBERS = {
    "surface_strain": "area",
    "surface_strain_by_face": "face",
    "surface_strain_p99": "p99",
    "limb_drift": "drift",
    "worst_limb_drift": "worst_drift",
    "volume_change": "volume",
}


def bones_of(skeleton: Skeleton) -> dict[str, Any]:
    """The arguments with which araplbs.Deformation receives the bones."""
    bones: dict[str, Any] = {
        "bone_heads": skeleton.heads,
        "bone_tails": skeleton.tails,
        "bone_deform": skeleton.deform,
    }
    if skeleton.flexible:
        bones.update(bone_kinds=skeleton.kinds, bone_segments=skeleton.segments)
    return bones


def joints_of(skeleton: Skeleton, poses: Poses) -> dict[str, Any]:
    """The arguments for these Poses, apart from bone transforms."""
    return {"segment_poses": poses.joints} if skeleton.flexible else {}


def deformation_of(problem: Problem, threads: int = 0) -> engine.Deformation:
    """The araplbs.Deformation of a Problem, without poses."""
    arguments, bones = problem.arguments, bones_of(problem.skeleton)
    return engine.Deformation(
        arguments["vertices"], arguments["triangles"], **bones, threads=threads
    )


def skin(
    seen: engine.Deformation,
    problem: Problem,
    rows: SparseWeights,
    poses: Poses,
    progress: Callable[..., bool] | None = None,
) -> None:
    """Replaces the poses of an araplbs.Deformation by these Poses with these SparseWeights."""
    seen.clear()
    seen.skin(
        tuple(rows),
        poses.transforms,
        **joints_of(problem.skeleton, poses),
        parameters=problem.parameters,
        progress=progress,
    )


def measure(problem: Problem, rows: SparseWeights, poses: Poses, **more: Any) -> dict[str, Any]:
    """Computes araplbs.deformation for a Problem with these SparseWeights, blended linearly, over
    Poses."""
    arguments, skeleton = problem.arguments, problem.skeleton
    return engine.deformation(
        arguments["vertices"],
        arguments["triangles"],
        tuple(rows),
        poses.transforms,
        **bones_of(skeleton),
        **joints_of(skeleton, poses),
        parameters=problem.parameters,
        **more,
    )


def as_report(skeleton: Skeleton, measures: Mapping[str, Any]) -> dict[str, Any]:
    """The measures as a JSON-compatible dictionary. Drift is given in limb radii, and all other
    values are shares. Values that cannot be measured, such as the volume of an open mesh, are
    None."""
    numbers = {name: _number(measures[key]) for name, key in NUMBERS.items()}
    drift, worst = measures["bone_drift"], None
    if measures["limbs"]:
        worst = skeleton.names[max(range(len(drift)), key=lambda b: _number(drift[b]) or 0.0)]
    return {
        **numbers,
        "worst_limb": worst,
        "limbs": measures["limbs"],
        "closed_parts": measures["closed_parts"],
    }


def measured_report(
    problem: Problem, rows: SparseWeights, poses: Poses, **more: Any
) -> dict[str, Any]:
    """Applies as_report() to measure()."""
    return as_report(problem.skeleton, measure(problem, rows, poses, **more))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


class Compared(dict[str, Any]):
    """A dictionary {"before", "after"} in which "before" is measured on first access."""

    def __init__(self, after: dict[str, Any], measure_before: Callable[[], dict[str, Any]]) -> None:
        super().__init__(after=after)
        self._measure_before: Callable[[], dict[str, Any]] | None = measure_before

    def __missing__(self, key: str) -> dict[str, Any]:
        if key != "before" or not self._measure_before:
            raise KeyError(key)
        found = self[key] = self._measure_before()
        self._measure_before = None  # releases all data that it references
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in this or another process, has both values, because measuring needs all data."""
        return dict, ({"before": self["before"], **self},)


def compare(
    problem: Problem,
    before: Callable[[], SparseWeights],
    after: SparseWeights,
    poses: Poses,
    threads: int = 0,
    progress: Listener | None = None,
    later: bool = False,
) -> dict[str, Any]:
    """Returns {"before", "after"}: as_report() of two SparseWeights over these Poses. later:
    `before` is a function, and its result is measured on first access."""
    if later:
        return Compared(
            measured_report(problem, after, poses, threads=threads, progress=progress),
            lambda: measured_report(problem, before(), poses, threads=threads),
        )
    progress = Progress.of(progress)
    progress.check("deformation", 0)
    seen = deformation_of(problem, threads)

    def part(rows: SparseWeights, begin: float) -> dict[str, Any]:
        progress.check("deformation", begin)
        skin(seen, problem, rows, poses, progress.part(begin, 0.5))
        return as_report(problem.skeleton, seen.measures())

    return {"before": part(before(), 0.0), "after": part(after, 0.5)}


def in_percent(share: float) -> str:
    """A share as a percentage."""
    return f"{100 * share:.1f} %"


def in_words(found: Mapping[str, Any], seen: bool = True) -> Sentence:
    """The result of compare() in a few words: "stretch 21.3 % -> 14.2 % (worst 1 %: 55 %), limb
    drift 0.12, volume -3.1 %". seen: whether the user has seen the earlier state; otherwise, it is
    omitted."""
    after = found["after"]
    if after["surface_strain"] is None:
        return Sentence("no surface to stretch")
    words = [
        Sentence(
            "stretch {first}{surface_strain} (worst 1 %: {surface_strain_p99} %)",
            first=f"{in_percent(found['before']['surface_strain'])} -> " if seen else "",
            surface_strain=in_percent(after["surface_strain"]),
            surface_strain_p99=f"{100 * after['surface_strain_p99']:.0f}",
        )
    ]
    if after["limb_drift"] is not None:
        words.append(Sentence("limb drift {limb_drift}", limb_drift=f"{after['limb_drift']:.2f}"))
    if after["volume_change"] is not None:
        change = f"{100 * after['volume_change']:+.1f}"
        words.append(Sentence("volume {volume_change} %", volume_change=change))
    return joined(words, ", ")
