"""weights(): computes skinning weights from arrays in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..base.progress import Listener
from ..base.refusal import Refused
from ..character.mesh import Mesh
from ..character.part import Part
from ..character.part_choices import with_choices
from ..model.edits import Edits
from ..model.options import Options
from ..reports.report import make_report, notes, summary, warnings
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from ..solvers.weigh import Weighed, weigh
from .option_types import GivenOptions
from .options import options_of
from .rows import Rows, rows_of


class Weights(NamedTuple):
    """The result of weights(). rows: the weights as Rows. control_bones: {name: reason} for the
    joints that only control the rig and therefore have no weights. report: all facts about the
    result, in the form that --json writes.

    rows are Rows of n vertices for m joints, and each row sums to 1. The methods raise only
    MemoryError, if a dense array does not fit into memory.
    """

    rows: Rows
    control_bones: dict[str, str]
    report: dict[str, Any]

    def toarray(self) -> Any:
        """Return the weights as a dense array (n, m)."""
        return self.rows.toarray()

    @property
    def lines(self) -> list[str]:
        """Return lines of text for the user. The last one states the result."""
        found = [*notes(self.report), *(f"Warning: {w}" for w in warnings(self.report))]
        return [*found, summary(self.report)]

    @property
    def doubtful_parts(self) -> list[dict[str, Any]]:
        """Return the loose parts that another bone fits about as well, the most doubtful first:
        each with its "vertex", "bone" and "others", one or two other bones. Pass such a part to
        weights(parts=...) with another bone to move it there."""
        return list(self.report["doubtful_parts"])

    def __repr__(self) -> str:
        left = len(self.control_bones)
        return f"Weights({self.rows!r}; {left} control bones left out)"


def weights(
    vertices: Any,
    triangles: Any,
    joints: Any,
    parents: Any,
    *,
    tails: Any = None,
    names: Iterable[object] | None = None,
    deform: Any = None,
    roll_axes: Any = None,
    edges: Any = None,
    rigid: Sequence[Any] = (),
    parts: Sequence[Mapping[str, Any]] = (),
    animation: Any = None,
    start: Any = None,
    only_bones: Sequence[str] = (),
    keep_bones: Sequence[str] = (),
    preset: str | None = None,
    threads: int = 0,
    progress: Listener | None = None,
    **options: Unpack[GivenOptions],
) -> Weights:
    """Compute skinning weights for a character, with all features of Auto-weight in Blender. These
    include symmetry, control bones, loose and rigid parts, and joints without tails.

    vertices (n, 3) and triangles (f, 3): the skin in the rest pose; pass all meshes of a character
        together. Coincident vertices get the same weights, so seams stay closed.
    joints (m, 3): the points where bones begin, in the space of the vertices, in any unit, Z up.
        parents (m,): the parent of each joint, -1 for none.
    tails (m, 3): the ends of the bones, if an artist placed them; by default, bones extend from
        joint to joint. roll_axes (m, 3): the local Z axis of each bone.
    names: joint names, which help to recognize sides, rig generators and controls.
    deform (m,) of bool: False for joints that deform nothing.
    edges (e, 2): edges without triangles. rigid: arrays of vertices, each of which is a part that
        keeps its shape.
    parts: choices of bones for loose parts, as {"vertex": any vertex of the part, "bone": the name
        or number of a joint}. The whole part follows this bone. See Weights.doubtful_parts.
    animation (p, m, 3, 4) or (p, m, 4, 4): additional poses in which the skin should keep its
        shape, as each joint's transform from rest.
    start: initial weights: Weights, Rows, an array (n, m) or a sparse matrix of SciPy.
    only_bones, keep_bones: change only the weights of these joints, or keep those of `start` for
        these. Names, patterns such as "*Hand*", or "LeftArm/" for a joint and all joints below it;
        without `names`, joints are named "joint 0", "joint 1"... All other weights stay the same.
    preset: "unity", "vrchat", "game-4"..., as with --preset; options given explicitly take
        precedence.
    threads: number of threads; 0 uses the number in ARAPLBS_THREADS or OMP_NUM_THREADS, or all
        processors if neither is set.
    progress: called as progress(stage, fraction, energy); if it returns False, araplbs.Cancelled is
    raised.
    options: any option of the panel, by its name in the panel or in the settings: max_influences=4,
        firmness=12.0, crispness=0.004, symmetric=True, loose_parts_follow=True,
        rigid_parts="detected", control_bones="leave_out", bone_directions="automatic",
        initial_weights="heat", random_poses=100, swing and twist (radians), reach_poses, seed...

    Returns Weights, whose rows cover n vertices and m joints. The same input gives the same weights
    for any number of threads.

    Raises ValueError for invalid arrays or options (InputError if the mesh or the skeleton cannot
    be used), TypeError for unknown options, SolverError if solving fails, and Cancelled.
    Source: Thiery & Eisemann, ARAPLBS, 2018, with the changes listed in docs/paper.md.

    >>> vertices, triangles = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2], [0, 2, 3]]
    >>> found = weights(vertices, triangles, [[0, 0, 0], [0, 0, 0.5]], [-1, 0])
    >>> found.rows.shape
    (4, 2)
    """
    skeleton = Skeleton.from_joints(
        joints, parents, tails=tails, names=names, deform=deform, roll_axes=roll_axes
    )
    defaults: dict[str, Any] = {"bone_directions": "JOINTS" if tails is None else "AUTOMATIC"}
    if start is not None:
        defaults["start_from"] = "PRESENT"
    table = options_of(options, defaults, preset=preset)
    meshes = [mesh_of_arrays(vertices, triangles, edges, rigid, start, len(skeleton.names))]
    poses = _poses(animation, len(skeleton.names), table)
    meshes = with_choices(meshes, skeleton, parts)
    if only_bones or keep_bones:
        if start is None:
            raise ValueError("start is missing: only_bones and keep_bones keep weights of it")
        try:
            meshes, skeleton = Part(only_bones, keep_bones).locked(meshes, skeleton, [set()])
        except Refused as error:
            raise ValueError(f"only_bones or keep_bones: {error}") from None
    found = weigh(
        meshes,
        skeleton,
        table,
        poses=poses,
        threads=threads,
        progress=progress,
    )
    return weights_of(found, table)


def weights_of(found: Weighed, options: Options, name: str = "skeleton") -> Weights:
    """Return the Weights of all meshes of a solved problem."""
    problem = found.problem
    report = make_report(problem, found.solution, options, name)
    rows = found.rows[0] if len(found.rows) == 1 else found.solution.rows
    named = Rows(*rows, bone_count=len(problem.skeleton.names))
    return Weights(named, dict(report["control_bones"]), report)


def mesh_of_arrays(
    vertices: Any, triangles: Any, edges: Any, rigid: Sequence[Any], start: Any, bones: int
) -> Mesh:
    """Build a core Mesh from arrays. Raises ValueError."""
    points = np.array(vertices, np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ValueError(f"vertices has shape {points.shape}: expected (n, 3)")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise ValueError(f"vertices[{row}] is {points[row]}: must be finite")
    faces = _indices("triangles", triangles, 3, len(points))
    lines = _indices("edges", [] if edges is None else edges, 2, len(points))
    parts = [_part(k, part, len(points)) for k, part in enumerate(rigid)]
    return Mesh(
        name="mesh",
        vertices=points,
        triangles=faces,
        edges=lines,
        matrix=np.eye(4),
        weights=None if start is None else rows_of("start", start, len(points), bones),
        edits=Edits(rigid=parts),
    )


def _indices(name: str, values: Any, width: int, count: int) -> Any:
    found = np.asarray(values)
    if found.size == 0:
        return np.zeros((0, width), np.int64)
    if found.ndim != 2 or found.shape[1] != width:
        raise ValueError(f"{name} has shape {found.shape}: expected (n, {width})")
    if found.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {found.dtype}: expected integers")
    found = found.astype(np.int64)
    wrong = np.argwhere((found < 0) | (found >= count))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"{name}[{row}, {column}] is {found[row, column]}, but there are {count} vertices"
        )
    return found


def _part(number: int, part: Any, count: int) -> Any:
    found = np.asarray(part)
    if found.dtype == bool and found.shape == (count,):
        return np.flatnonzero(found)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise ValueError(f"rigid[{number}] must contain vertex indices, or a bool for each vertex")
    if found.min() < 0 or found.max() >= count:
        worst = found.min() if found.min() < 0 else found.max()
        raise ValueError(f"rigid[{number}] contains {worst}, but there are {count} vertices")
    return found.astype(np.int64)


def _poses(animation: Any, bones: int, options: Options) -> Poses | None:
    if animation is None:
        return None
    frames = np.array(animation, np.float64)
    if frames.ndim != 4 or frames.shape[1] != bones or frames.shape[2:] not in ((3, 4), (4, 4)):
        raise ValueError(f"animation has shape {frames.shape}: expected (p, {bones}, 3 or 4, 4)")
    if not np.isfinite(frames).all():
        raise ValueError("animation has transforms that are not finite")
    transforms = np.ascontiguousarray(frames[:, :, :3])
    poses = Poses(transforms, np.zeros((len(transforms), 0, 3, 4)))
    return poses.weighted(options.pose_weight)
