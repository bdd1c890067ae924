"""Every method on one character, judged in poses that none of them was optimized in. No bpy: any
thread may do it, and scripts without Blender (case_of_arrays)."""

import math
import time
from dataclasses import dataclass, field

import numpy as np

from .armature_modifier import orthonormal_axes
from .body_parts import body_parts, nearest_bones, part_of_triangles, strongest_bones
from .compare_methods import (
    REFERENCE,
    WEIGHTS,
    Posed,
    Work,
    as_sparse,
    find_methods,
    pose_linearly,
)
from .deformation import as_report, bones_of, joints_of
from .extent import size_of
from .likeness import likeness
from .native_module import araplbs, engine_errors
from .options import Options, OptionTable, option, option_of
from .pictures import strain_at_vertices
from .poses import Poses, sample
from .problem import Mesh, Problem, Skeleton
from .refusal import Refused
from .sparse_weights import SparseWeights, join_sparse_weights

JUDGE_SEED = 20_180_101  # of the poses to judge in, unless the methods have this one
RANDOM, ANIMATION = "random", "animation"
LEAST_SHOWN = 1e-3  # smaller weights are no influence
SHOWN = (1, 4, 7, 9, 12)  # random poses in pictures; with an animation so many fewer as it has
SHOWN_FRAMES = (0.3, 0.7)  # of the frames
METHODS_SHARE, JUDGE_SHARE = 0.5, 0.5  # of the time of compare()


@dataclass(frozen=True)
class CompareOptions(OptionTable):
    max_influences: int = option_of(Options, "max_influences")
    judged_poses: int = option(
        24,
        "Judged Poses",
        "Number of random poses to judge in. No method was optimized in them",
        least=1,
        most=1000,
        soft_most=100,
    )
    judged_frames: int = option(
        24,
        "Judged Frames",
        "Most frames of the armature's actions to judge in, evenly spread over all there are",
        least=0,
        most=1000,
        soft_most=100,
    )
    seed: int = option_of(Options, "seed")


@dataclass
class Case:
    """A character, and the poses to judge in.

    present: its own weights, or None; given: {identifier of a method: SparseWeights of the problem
    or why there are none} and their seconds, read beforehand; poses: {RANDOM or ANIMATION: Poses}.
    to_world (3, 3): rotation to a space where the character stands along Z and looks along -Y.
    """

    name: str
    problem: Problem
    poses: dict[str, Poses]
    present: SparseWeights | None = None
    given: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)
    to_world: np.ndarray | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """What a method came to: a reason, or all the rest."""

    identifier: str
    name: str
    about: str
    kind: str
    reason: str | None = None
    seconds: float | None = None
    rows: SparseWeights | None = None
    measures: dict = field(default_factory=dict)  # {kind of poses: as_report() and "parts"}
    poses: dict = field(default_factory=dict)  # {kind of poses: how many it was judged in}
    likeness: dict | None = None  # to the weights in the file
    to_reference: float | None = None  # root mean square distance in the pictures, of the size
    influences: float | None = None  # per vertex, of at least LEAST_SHOWN
    most_influences: int | None = None
    unweighted: int = 0  # vertices
    shown: np.ndarray | None = None  # (views, n, 3) where the vertices are in the pictures
    strain: np.ndarray | None = None  # (views, n) there; the first: at rest, of all random poses

    def as_dict(self):
        kept = (
            *("identifier", "name", "about", "kind", "reason", "seconds", "measures", "poses"),
            *("likeness", "to_reference", "influences", "most_influences", "unweighted"),
        )
        return {name: getattr(self, name) for name in kept}


@dataclass
class View:
    """A column of pictures. pose: None for the rest pose."""

    name: str
    kind: str | None = None
    index: int = 0
    pose: Poses | None = None


@dataclass
class Comparison:
    case: Case
    options: CompareOptions
    outcomes: list[Outcome]
    parts: list  # [(name, bones)]
    views: list[View]
    seconds: float

    @property
    def done(self):
        return [outcome for outcome in self.outcomes if outcome.reason is None]

    @property
    def failed(self):
        return [outcome for outcome in self.outcomes if outcome.reason is not None]

    def find(self, identifier):
        return next((each for each in self.done if each.identifier == identifier), None)

    def as_dict(self):
        problem = self.case.problem
        names = problem.skeleton.names
        return {
            "character": self.case.name,
            "objects": problem.names,
            "vertices": len(problem.arguments["vertices"]),
            "triangles": len(problem.arguments["triangles"]),
            "bones": int(problem.skeleton.deform.sum()),
            "poses": {kind: len(poses) for kind, poses in self.case.poses.items()},
            "options": self.options.as_dict(),
            "engine": araplbs.__version__,
            "seconds": self.seconds,
            "notes": self.case.notes,
            "parts": {name: [names[b] for b in bones] for name, bones in self.parts},
            "methods": [outcome.as_dict() for outcome in self.outcomes],
        }


class _Told:
    """The progress of the whole; raises where it says to stop."""

    def __init__(self, progress):
        self.progress, self.reached = progress, 0.0

    def __call__(self, stage, fraction):
        self.reached = max(self.reached, min(fraction, 1.0))  # stages begin at 0
        if self.progress and self.progress(stage, self.reached, None) is False:
            raise araplbs.Cancelled("the comparison was cancelled")
        return True

    def part(self, stage, begin, size):
        return lambda fraction: self(stage, begin + size * fraction)


def compare(case, options=None, threads=0, progress=None, methods=None):
    """The Comparison of methods (identifiers, default all) on a Case.

    progress(stage, fraction, None): return False to stop, which raises araplbs.Cancelled.
    """
    start = time.perf_counter()
    options, told = options or CompareOptions(), _Told(progress)
    methods, told_of = find_methods(methods), {}
    total, begin = sum(method.share for method in methods), 0.0
    for method in methods:
        size = METHODS_SHARE * method.share / total
        told_of[method.identifier] = told.part(method.name, begin, size)
        begin += size
    made, found = {}, []
    for method in methods:
        outcome = Outcome(method.identifier, method.name, method.about, method.kind)
        result = _make(case, options, threads, told_of, method, made, outcome)
        found.append((method, outcome, result))
    judge = _Judge(case, threads)
    good = [entry for entry in found if entry[2] is not None]
    total, begin = sum(method.judging for method, *_rest in good), METHODS_SHARE
    for method, outcome, result in good:
        size = JUDGE_SHARE * method.judging / total
        start_of_one = time.perf_counter()
        try:
            judge(method, outcome, result, told.part(method.name, begin, size))
        except _failures() as reason:
            outcome.reason = str(reason)
        if method.kind == REFERENCE:  # which does all of its work here
            outcome.seconds = time.perf_counter() - start_of_one
        begin += size
    outcomes = [outcome for _method, outcome, _result in found]
    _tell_distances(outcomes, case.problem.arguments["vertices"])
    return Comparison(
        case, options, outcomes, judge.parts, judge.views, time.perf_counter() - start
    )


def _tell_distances(outcomes, points):
    """How far all are from the best reference there is, the last one in the registry."""
    references = [o for o in outcomes if o.kind == REFERENCE and o.reason is None]
    if not references:
        return
    size = max(size_of(points), 1e-300)
    for outcome in outcomes:
        if outcome.reason is None and outcome is not references[-1]:
            apart = (outcome.shown[1:] - references[-1].shown[1:]).astype(float)
            outcome.to_reference = float(np.sqrt((apart**2).sum(axis=-1).mean()) / size)


def _failures():
    return (Refused, ValueError, MemoryError, *engine_errors("SolverError"))


def _make(case, options, threads, told_of, method, made, outcome):
    """SparseWeights or a Posed, None where outcome has a reason. made: {identifier: (result or
    None, seconds, reason)} of those that were made already."""

    def weights_of(identifier):
        (other,) = find_methods([identifier])
        rows, _seconds, reason = run(other)
        if reason:
            raise Refused(f"{other.name}: {reason}")
        return rows

    def run(method):
        if method.identifier not in made:
            told = told_of.get(method.identifier) or told_of[outcome.identifier]
            told(0.0)
            work = Work(
                case.problem,
                Options(max_influences=options.max_influences, seed=options.seed),
                threads,
                told,
                {"PRESENT": case.present, **case.given},
                weights_of,
            )
            if method.kind != WEIGHTS:
                weights_of("OURS")  # whose time is not its own
            start, result, reason = time.perf_counter(), None, None
            try:
                result = method.make(work)
            except _failures() as error:
                reason = str(error)
            seconds = case.seconds.get(method.identifier, time.perf_counter() - start)
            made[method.identifier] = result, seconds, reason
        return made[method.identifier]

    try:
        result, seconds, outcome.reason = run(method)
    except Refused as reason:  # of what it builds on
        outcome.reason = str(reason)
        return None
    outcome.seconds = None if method.identifier == "PRESENT" else seconds
    return result


class _Judge:
    """What all methods are judged by."""

    def __init__(self, case, threads):
        self.case, self.problem, self.threads = case, case.problem, threads
        arguments, skeleton = case.problem.arguments, case.problem.skeleton
        self.points, self.triangles = arguments["vertices"], arguments["triangles"]
        self.seen = araplbs.Deformation(
            self.points, self.triangles, **bones_of(skeleton), threads=threads
        )
        nearest = nearest_bones(self.points, skeleton.heads, skeleton.tails, skeleton.deform)
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
        a, b, c = self.points[self.triangles].swapaxes(0, 1)
        self.area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
        self.views = _views(case)

    def __call__(self, method, outcome, result, told):
        rows = result if isinstance(result, SparseWeights) else result.rows
        outcome.rows = rows
        if rows is not None:
            counts = np.bincount(rows.vertices[rows.weights >= LEAST_SHOWN], minlength=rows.count)
            outcome.influences, outcome.most_influences = float(counts.mean()), int(counts.max())
            outcome.unweighted = int((rows.sums() <= 0).sum())
        if method.kind == WEIGHTS and self.case.present is not None:
            present = self.own(self.case.present)
            outcome.likeness = likeness(self.own(rows), present)
        total = len(self.case.poses) + 1
        at_rest = None
        for k, (kind, poses) in enumerate(self.case.poses.items()):
            if method.most_poses:
                poses = poses[spread(len(poses), method.most_poses)]
            part = _part_of(told, k / total, 1 / total)
            measures = self.measures(result, poses, part)
            outcome.poses[kind] = len(poses)
            outcome.measures[kind] = self.report(measures)
            at_rest = measures["vertex_strain"] if at_rest is None else at_rest
        self.show(outcome, result, at_rest, _part_of(told, 1 - 1 / total, 1 / total))

    def own(self, rows):
        """Those of the vertices that are no images of others."""
        return join_sparse_weights(self.problem.split(rows))

    def measures(self, result, poses, told):
        skeleton = self.problem.skeleton
        self.seen.clear()
        if isinstance(result, Posed):
            joints = joints_of(skeleton, poses)
            self.seen.add(result.pose(poses, told), poses.transforms, **joints)
        else:
            self.seen.skin(
                tuple(result),
                poses.transforms,
                **joints_of(skeleton, poses),
                parameters=self.problem.parameters,
                progress=lambda _stage, fraction: told(fraction),
            )
        return self.seen.measures(per_triangle=True, per_vertex=True)

    def report(self, measures):
        """core.deformation.as_report(), and the same of the body parts that have triangles."""
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

    def show(self, outcome, result, at_rest, told):
        shown, strain = [self.points], [at_rest]
        views = self.views[1:]
        if isinstance(result, Posed):
            posed = result.pose(_joined([view.pose for view in views]), told)
        else:
            posed = [pose_linearly(self.problem, result, view.pose)[0] for view in views]
        told(1.0)
        for view, points in zip(views, posed, strict=True):
            each = araplbs.surface_strain(
                self.points, self.triangles, points, threads=self.threads
            )
            shown.append(_turned_back(self.problem.skeleton, view, points))
            strain.append(strain_at_vertices(self.points, self.triangles, each))
        outcome.shown = np.array(shown, np.float32)
        outcome.strain = np.array(strain, np.float32)


def _joined(parts):
    joints = [part.joints for part in parts]
    has_joints = all(each is not None for each in joints)
    return Poses(
        np.concatenate([part.transforms for part in parts]),
        np.concatenate(joints) if has_joints else None,
    )


def _part_of(told, begin, size):
    return lambda fraction: told(begin + size * fraction)


def spread(count, most):
    """Indices of at most so many of `count`, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))


def _views(case):
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


def _turned_back(skeleton, view, posed):
    """Posed points as seen from the bone that the whole body hangs on: where that turns in a random
    pose, the body would lie on its side."""
    if view.kind != RANDOM:
        return posed
    root = _body_root(skeleton)
    transform = view.pose.transforms[0, root]
    return np.linalg.solve(transform[:, :3], (posed - transform[:, 3]).T).T


def _body_root(skeleton):
    """The deforming bone that most deforming bones hang on, itself one of them."""
    count = np.zeros(len(skeleton.names), int)
    for bone in np.flatnonzero(skeleton.deform):
        while bone >= 0:
            count[bone] += 1
            bone = skeleton.parents[bone]
    return int(np.argmax(np.where(skeleton.deform, count, 0)))


def judged_poses(skeleton, options):
    """Random Poses of rigid bones to judge in, of CompareOptions; not those of the seed that
    methods are optimized with."""
    table = Options(pose_count=options.judged_poses, seed=judge_seed(options))
    return Poses(sample(skeleton, table, None)[0], None)


def judge_seed(options):
    return JUDGE_SEED + (options.seed == JUDGE_SEED)


def case_of_arrays(
    vertices,
    triangles,
    bone_heads,
    bone_tails,
    bone_parents,
    *,
    name="character",
    bone_names=None,
    bone_deform=None,
    bone_roll_axes=None,
    edges=None,
    weights=None,
    animation=None,
    to_world=None,
    options=None,
):
    """A Case without Blender: vertices (n, 3), triangles (f, 3), bone_heads and bone_tails (m, 3),
    bone_parents (m,) with -1 for roots, all in one space; bone_roll_axes (m, 3) local Z.

    weights: those that the others are compared with, (n, m) or rows (start, bones, weights).
    animation (p, m, 3, 4) or (p, m, 4, 4): poses to judge in beside random ones. options:
    CompareOptions. Raises ValueError for arrays that do not fit each other.
    """
    options = options or CompareOptions()
    heads, tails = np.asarray(bone_heads, float), np.asarray(bone_tails, float)
    m = len(heads)
    rolls = np.full((m, 3), np.nan) if bone_roll_axes is None else np.asarray(bone_roll_axes)
    deform = np.ones(m, bool) if bone_deform is None else np.asarray(bone_deform, bool)
    names = [f"bone {b}" for b in range(m)] if bone_names is None else list(map(str, bone_names))
    parents = np.asarray(bone_parents, np.int32)
    for what, each in (
        ("bone_tails", tails),
        ("bone_parents", parents),
        ("bone_names", names),
        ("bone_deform", deform),
        ("bone_roll_axes", rolls),
    ):
        if len(each) != m:
            raise ValueError(f"{what} has {len(each)} rows: there are {m} bones")
    skeleton = Skeleton(
        names,
        heads,
        tails,
        parents,
        _with_rolls(heads, tails, rolls),
        deform,
        np.full((m, 3, 2), np.nan),
        np.arange(m),
    )
    edges = np.zeros((0, 2), np.int64) if edges is None else np.asarray(edges)
    points = np.ascontiguousarray(vertices, float)
    mesh = Mesh(name, points, np.asarray(triangles), edges, np.eye(4))
    present = None if weights is None else as_sparse(weights)
    if present is not None and present.count != len(points):
        raise ValueError(f"weights has {present.count} rows: there are {len(points)} vertices")
    poses = {RANDOM: judged_poses(skeleton, options)}
    if animation is not None and len(animation) and options.judged_frames:
        frames = np.asarray(animation, float)
        if frames.ndim != 4 or frames.shape[1] != m or frames.shape[2:] not in ((3, 4), (4, 4)):
            raise ValueError(f"animation has the shape {frames.shape}: must be (p, {m}, 3 or 4, 4)")
        frames = frames[spread(len(frames), options.judged_frames), :, :3]
        poses[ANIMATION] = Poses(np.ascontiguousarray(frames), None)
    problem = Problem([mesh], skeleton, symmetric=Options().symmetric)
    return Case(name, problem, poses, present, to_world=to_world)


def _with_rolls(heads, tails, rolls):
    """Some axis across the bone where none is known."""
    known = np.isfinite(rolls).all(axis=1)
    return np.where(known[:, None], rolls, _across(tails - heads))


def _across(along):
    axis = np.eye(3)[np.abs(along).argmin(axis=1)]
    return orthonormal_axes(along, axis)[:, :, 2]
