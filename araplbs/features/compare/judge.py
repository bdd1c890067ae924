"""Judges compared methods: defines a case and its poses, measures the results by body part, and
collects the points to draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.arrays import Floats
from ...base.engine import engine
from ...base.extent import triangle_areas
from ...base.progress import Progress
from ...character.problem import Problem
from ...measures.armature_modifier import pose_linearly
from ...measures.deformation import as_report, deformation_of, joints_of, skin
from ...measures.likeness import likeness
from ...model.options import Options
from ...model.sparse_weights import SparseWeights, join_sparse_weights
from ...reports.pictures import strain_at_vertices, turned_back
from ...skeleton.body_parts import body_parts, part_of_triangles, strongest_bones
from ...skeleton.bone_distances import nearest_bones
from ...skeleton.poses import Poses, sample, spread
from ...skeleton.skeleton import Skeleton
from .methods import WEIGHTS, Posed

if TYPE_CHECKING:
    from .methods import Method
    from .options import CompareOptions

JUDGE_SEED = 20_180_101  # seed of the poses for judging, unless the methods already use this seed
RANDOM, ANIMATION = "random", "animation"
LEAST_SHOWN = 1e-3  # smaller weights are not counted as influences
SHOWN = (1, 4, 7, 9, 12)  # random poses in pictures, minus the number of animation poses
SAME = {"l1": 0.0, "precision": 1.0, "recall": 1.0}  # likeness of the current weights
SHOWN_FRAMES = (0.3, 0.7)  # positions, as shares of the frames


@dataclass
class Case:
    """A character and the poses in which it is judged.

    present: its own weights, or None; given: {identifier of a method: SparseWeights of the problem
    or the reason why it is missing} and their seconds, read in advance; poses: {RANDOM or
    ANIMATION: Poses}. to_world (3, 3): rotation to a space where the character stands along Z and
    looks along -Y.
    """

    name: str
    problem: Problem
    poses: dict[str, Poses]
    present: SparseWeights | None = None
    given: dict[str, SparseWeights | str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    to_world: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)
    present_is_ours: bool = False  # Auto-weight created the current weights


@dataclass
class Outcome:
    """The outcome of a method: its results, or the reason why it is missing."""

    identifier: str
    name: str
    about: str
    kind: str
    reason: str | None = None
    seconds: float | None = None
    rows: SparseWeights | None = None
    measures: dict[str, dict[str, Any]] = field(default_factory=dict)  # as_report() and "parts"
    poses: dict[str, int] = field(default_factory=dict)  # number of judged poses; both by kind
    likeness: dict[str, Any] | None = None  # to the weights in the file
    to_reference: float | None = None  # root mean square distance in the pictures, of the size
    influences: float | None = None  # per vertex, of at least LEAST_SHOWN
    most_influences: int | None = None
    unweighted: int = 0  # vertices
    shown: np.ndarray | None = None  # (views, n, 3) positions of the vertices in the pictures
    strain: np.ndarray | None = None  # (views, n) there; the first: at rest, of all random poses

    def as_dict(self) -> dict[str, Any]:
        kept = (
            *("identifier", "name", "about", "kind", "reason", "seconds", "measures", "poses"),
            *("likeness", "to_reference", "influences", "most_influences", "unweighted"),
        )
        return {name: getattr(self, name) for name in kept}


def best_of(outcomes: Iterable[Outcome], kind: str, key: str = "surface_strain") -> Outcome | None:
    """The Outcome with the lowest value of a measure in poses of a kind, None without values."""
    known = [outcome for outcome in outcomes if outcome.measures[kind][key] is not None]
    return min(known, key=lambda outcome: outcome.measures[kind][key], default=None)


@dataclass
class View:
    """A column of pictures. pose: None for the rest pose."""

    name: str
    kind: str | None = None
    index: int = 0
    pose: Poses | None = None


class Judge:
    """The judge shared by all methods."""

    def __init__(self, case: Case, threads: int) -> None:
        self.case, self.problem, self.threads = case, case.problem, threads
        arguments, skeleton = case.problem.arguments, case.problem.skeleton
        self.points, self.triangles = arguments["vertices"], arguments["triangles"]
        self.seen = deformation_of(case.problem, threads)
        nearest = nearest_bones(self.points, skeleton)
        bones = nearest if case.present is None else strongest_bones(case.present, nearest)
        self.parts = body_parts(
            skeleton.names,
            skeleton.heads,
            skeleton.tails,
            skeleton.parents,
            bones[self.triangles[:, 0]],
            skeleton.deform,
        )
        self.part = part_of_triangles(self.triangles, self.parts, bones, len(skeleton.names))
        self.area = triangle_areas(self.points, self.triangles)
        self.views = _views(case)

    def __call__(
        self, method: Method, outcome: Outcome, result: SparseWeights | Posed, progress: Progress
    ) -> None:
        rows = result if isinstance(result, SparseWeights) else result.rows
        outcome.rows = rows
        if rows is not None:
            counts = np.bincount(rows.vertices[rows.weights >= LEAST_SHOWN], minlength=rows.count)
            outcome.influences, outcome.most_influences = float(counts.mean()), int(counts.max())
            outcome.unweighted = int((rows.sums() <= 0).sum())
        if method.kind == WEIGHTS and self.case.present is not None:
            outcome.likeness = self.likeness(rows)
        total = len(self.case.poses) + 1
        at_rest = None
        for k, (kind, poses) in enumerate(self.case.poses.items()):
            if method.most_poses:
                poses = poses[spread(len(poses), method.most_poses)]
            measures = self.measures(result, poses, progress.part(k / total, 1 / total))
            outcome.poses[kind] = len(poses)
            outcome.measures[kind] = self.report(measures)
            at_rest = measures["vertex_strain"] if at_rest is None else at_rest
        self.show(outcome, result, at_rest, progress.part(1 - 1 / total, 1 / total))

    def likeness(self, rows: SparseWeights) -> dict[str, Any] | None:
        present = self.case.present
        return dict(SAME) if rows is present else likeness(self.own(rows), self.own(present))

    def own(self, rows: SparseWeights) -> SparseWeights:
        """The values of the vertices, without images of others."""
        return join_sparse_weights(self.problem.split(rows))

    def measures(
        self, result: SparseWeights | Posed, poses: Poses, progress: Progress
    ) -> dict[str, Any]:
        if isinstance(result, Posed):
            joints = joints_of(self.problem.skeleton, poses)
            self.seen.clear()
            self.seen.add(result.pose(poses, progress), poses.transforms, **joints)
        else:
            skin(self.seen, self.problem, result, poses, progress)
        return self.seen.measures(per_triangle=True, per_vertex=True)

    def report(self, measures: dict[str, Any]) -> dict[str, Any]:
        """Returns deformation.as_report(), and the same for the body parts that have triangles."""
        drift, strain = measures["bone_drift"], measures["triangle_strain"]
        parts = {}
        for k, (name, bones) in enumerate(self.parts):
            of_part = self.part == k
            if not self.area[of_part].any():
                continue
            squares = (self.area * strain**2)[of_part].sum() / self.area[of_part].sum()
            known = drift[bones][np.isfinite(drift[bones])]
            parts[name] = {
                "surface_strain": math.sqrt(squares),
                "surface_strain_p99": float(np.percentile(strain[of_part], 99)),
                "limb_drift": float(known.mean()) if len(known) else None,
                "triangles": int(of_part.sum()),
            }
        return {**as_report(self.problem.skeleton, measures), "parts": parts}

    def show(
        self, outcome: Outcome, result: SparseWeights | Posed, at_rest: Floats, progress: Progress
    ) -> None:
        shown, strain = [self.points], [at_rest]
        views = self.views[1:]
        if isinstance(result, Posed):
            posed = list(result.pose(_joined([view.pose for view in views]), progress))
        else:
            posed = [pose_linearly(self.problem, result, view.pose)[0] for view in views]
        progress.check("pictures", 1.0)
        for view, points in zip(views, posed, strict=True):
            each = engine.surface_strain(self.points, self.triangles, points, threads=self.threads)
            if view.kind == RANDOM:
                points = turned_back(self.problem.skeleton, view.pose, points)
            shown.append(points)
            strain.append(strain_at_vertices(self.points, self.triangles, each))
        outcome.shown = np.array(shown, np.float32)
        outcome.strain = np.array(strain, np.float32)


def _joined(parts: Sequence[Poses]) -> Poses:
    joints = [part.joints for part in parts]
    has_joints = all(each is not None for each in joints)
    return Poses(
        np.concatenate([part.transforms for part in parts]),
        np.concatenate(joints) if has_joints else None,
    )


def _views(case: Case) -> list[View]:
    views = [View("Rest, mean strain")]
    random, animation = case.poses[RANDOM], case.poses.get(ANIMATION)
    frames = []
    if animation is not None:
        frames = sorted({round(share * (len(animation) - 1)) for share in SHOWN_FRAMES})
    shown = SHOWN[: len(SHOWN) - len(frames)]
    chosen = [(RANDOM, k) for k in sorted({min(k, len(random) - 1) for k in shown})]
    chosen += [(ANIMATION, k) for k in frames]
    for kind, k in chosen:
        name = f"Random {k + 1}" if kind == RANDOM else f"Animation {k + 1}"
        views.append(View(name, kind, k, case.poses[kind][k : k + 1]))
    return views


def judged_poses(skeleton: Skeleton, options: CompareOptions) -> Poses:
    """Random Poses of rigid bones for judging, according to CompareOptions. They use another seed
    than the optimization of the methods."""
    table = Options(pose_count=options.judged_poses, seed=judge_seed(options))
    return Poses(sample(skeleton, table, None)[0], None)


def judge_seed(options: CompareOptions) -> int:
    return JUDGE_SEED + (options.seed == JUDGE_SEED)
