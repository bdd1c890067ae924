"""Draws small pictures of the joints that artists examine first, each in its pose with the most
strain. These joints are shoulder, elbow, hip and knee or, if no body is found, the joints with the
most strain.

Legs and arms are identified from the shape of the skeleton (body/body.py). A triangle belongs to
the nearest of these joints, within REACH times the length of the adjacent bones. For a pair of
joints, the worse side is shown. The mesh is posed and its strain computed once per pose, and each
picture is drawn once. The computation takes one processor 0.5 s for 13,000 vertices and 1.3 s for
54,000.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.extent import triangle_areas, triangle_normals
from ..base.progress import Listener, Progress
from ..body.body import find_body
from ..body.chains import lengths_of
from ..body.limbs import Limb
from ..character.problem import Problem
from ..measures.strain_colors import strain_colors
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from .last_lines import percent
from .pictures import (
    camera_around,
    draw,
    posed_strain,
    strain_at_vertices,
    turned_back,
    view_toward,
)

MOST = 4  # pictures
SIDE = 256  # pixels
REACH = 0.5  # share of the mean length of the adjacent bones or parts of a limb
SHOWN = 1.3  # times this length: the region around a joint that a picture shows
TURNS, ABOVE = tuple(range(0, 360, 45)), 12.0  # degrees: camera angles of a picture
LEAST_STRAIN = 0.01  # strain around a joint: smaller values are not visible
LEAST_TRIANGLES = 8  # triangles around a joint: fewer show nothing


@dataclass
class SeenJoint:
    """One joint in its worst pose. strain: the root mean square of the strain around the joint,
    before (None without earlier weights) and now."""

    bone: str
    pose: int  # index in the poses
    mesh: int  # index in the names of the Problem
    vertices: Integers  # of that mesh, around the joint
    strain: tuple[float | None, float]
    pictures: tuple[Integers | None, Integers]  # (SIDE, SIDE, 4) uint8 each

    def words(self) -> str:
        """A text for the user."""
        before, now = self.strain
        stretch = f"stretch {percent(now)} %"
        if before is not None:
            stretch = f"stretch {percent(before)} % before, {percent(now)} % now"
        return f"{self.bone}: {stretch}. Shows this pose. Shift-click: plays the bone's motion"


def worst_poses(
    problem: Problem,
    before: SparseWeights | None,
    after: SparseWeights,
    poses: Poses,
    up: Floats,
    to_world: Floats | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> list[SeenJoint]:
    """Returns at most MOST joints. before: the earlier weights, or None. up (3,): the upward
    direction in the space of the mesh; to_world (3, 3): see view_axes(). Raises araplbs.Cancelled
    when progress (a Listener) stops it."""
    progress = Progress.of(progress)
    points, triangles = (problem.arguments[name] for name in ("vertices", "triangles"))
    if not len(triangles) or not len(poses):
        return []
    groups = joints_of(problem.skeleton, up)
    joints = [joint for group in groups for joint in group]
    if not joints:
        return []
    around = _around(joints, points, triangles)
    area = triangle_areas(points, triangles)
    sizes = np.bincount(around[around >= 0], minlength=len(joints))
    areas = _sums(around, area, len(joints))
    strains_of_joints = np.zeros((len(poses), len(joints)))
    for number in range(len(poses)):
        progress.check("pictures", 0.5 * number / len(poses))
        strain = posed_strain(problem, after, poses[number : number + 1], threads)[1]
        strains_of_joints[number] = _sums(around, area * strain**2, len(joints))
    unseen = strains_of_joints.max(axis=0) <= LEAST_STRAIN**2 * areas
    strains_of_joints[:, unseen | (sizes < LEAST_TRIANGLES)] = 0
    chosen = _chosen(groups, strains_of_joints.max(axis=0))
    pictured = []
    for position, joint in enumerate(chosen):
        progress.check("pictures", 0.5 + 0.5 * position / len(chosen))
        is_near, number = around == joint, int(strains_of_joints[:, joint].argmax())
        sets = [before, after] if before is not None else [after]
        pose = poses[number : number + 1]
        posed = [posed_strain(problem, rows, pose, threads) for rows in sets]
        pictures = _pictures(problem, pose, posed, is_near, to_world)
        strains = [float(np.sqrt((area * s**2)[is_near].sum() / areas[joint])) for _p, s in posed]
        mesh, vertices = _of_one_mesh(problem, np.unique(triangles[is_near]))
        name = problem.skeleton.names[joints[joint].bone]
        (old, new), (was, now) = [None, *pictures][-2:], [None, *strains][-2:]
        pictured.append(SeenJoint(name, number, mesh, vertices, (was, now), (old, new)))
    return pictured


@dataclass(frozen=True)
class Joint:
    bone: int  # that begins there
    place: Floats  # (3,) at rest
    reach: float  # distance of the triangles around it


def joints_of(skeleton: Skeleton, up: Floats) -> list[list[Joint]]:
    """The joints to consider, in groups: for a body [[both shoulders], [both elbows], ...],
    otherwise each joint with its mirror image."""
    body = find_body(skeleton.tree, skeleton.tree.chains(), np.asarray(up, float))
    if body is not None:
        pairs = [body.arms] if body.arms else []
        groups = [
            [_of_limb(limb, place) for limb in pair if len(limb.bones) > place]
            for pair in (*pairs, *body.legs)
            for place in (0, 1)
        ]
        return [group for group in groups if group]
    groups, grouped = [], set()
    for bone in np.flatnonzero(skeleton.deform & (skeleton.parents >= 0)).tolist():
        image = int(skeleton.other_side[bone])
        if bone not in grouped:
            group = [bone, image] if image >= 0 and image != bone else [bone]
            groups.append([_of_bone(skeleton, each) for each in group])
            grouped.update(group)
    return groups


def _of_limb(limb: Limb, place: int) -> Joint:
    """The joint at this place along a limb, found by length, because the bones along an arm may be
    split."""
    lengths = lengths_of(limb.joints)[max(0, place - 1) : place + 1]
    return Joint(limb.bones[place], limb.joints[place], REACH * float(lengths.mean()))


def _of_bone(skeleton: Skeleton, bone: int) -> Joint:
    parent, head = int(skeleton.parents[bone]), skeleton.heads[bone]
    lengths = [np.linalg.norm(skeleton.tails[bone] - head)]
    if parent >= 0:
        lengths.append(np.linalg.norm(head - skeleton.heads[parent]))
    return Joint(bone, head, REACH * float(np.mean(lengths)))


def _around(joints: list[Joint], points: Floats, triangles: Integers) -> Integers:
    """The index of the joint for each triangle, (f,), -1 for none."""
    centers = points[triangles].mean(axis=1)
    indices, distances = np.full(len(centers), -1), np.full(len(centers), np.inf)
    for number, joint in enumerate(joints):
        offsets = np.linalg.norm(centers - joint.place, axis=1)
        closer = (offsets < distances) & (offsets <= joint.reach)
        indices[closer], distances[closer] = number, offsets[closer]
    return indices


def _sums(around: Integers, values: Floats, count: int) -> Floats:
    is_known = around >= 0
    return np.bincount(around[is_known], values[is_known], count).astype(float)


def vertex_strain_of(rest: Floats, triangles: Integers, posed: Floats, threads: int = 0) -> Floats:
    """The strain at each vertex, (n,), of a surface with points `rest` (n, 3) at points `posed`."""
    strain = engine.surface_strain(rest, triangles, posed, threads=threads)
    return strain_at_vertices(rest, triangles, strain)


def _chosen(groups: list[list[Joint]], worst: Floats) -> list[int]:
    """Indices of the joints to show, in the order of the groups. The joint with the most strain
    represents its group. If there are more than MOST groups, the groups with the most strain are
    kept."""
    strongest, begin = [], 0
    for group in groups:
        strongest.append(begin + int(worst[begin : begin + len(group)].argmax()))
        begin += len(group)
    shown = sorted((place for place in strongest if worst[place] > 0), key=lambda p: -worst[p])[
        :MOST
    ]
    return [place for place in strongest if place in shown]


def _pictures(
    problem: Problem,
    pose: Poses,
    posed: list[tuple[Floats, Floats]],
    own: Integers,
    to_world: Floats | None,
) -> list[Integers]:
    """One picture for each item (points, strain) of `posed`, all with the same camera. The camera
    shows the triangles `own` from the side that they face in the last item."""
    points, triangles = (problem.arguments[name] for name in ("vertices", "triangles"))
    points_shown = [turned_back(problem.skeleton, pose, each) for each, _strain in posed]
    weight = (0.01 + posed[-1][1][own])[:, None]
    facing = (triangle_normals(points_shown[-1], triangles[own]) * weight).sum(axis=0)
    axes = view_toward(facing, TURNS, ABOVE, to_world)
    vertices = np.unique(triangles[own])
    middle = points_shown[-1][vertices].mean(axis=0)
    frame = middle + SHOWN * (points_shown[-1][vertices] - middle)
    camera = camera_around([frame], axes, SIDE, SIDE)
    return [
        draw(each, triangles, strain_colors(strain_at_vertices(points, triangles, strain)), camera)
        for each, (_points, strain) in zip(points_shown, posed, strict=True)
    ]


def _of_one_mesh(problem: Problem, vertices: Integers) -> tuple[int, Integers]:
    """Returns (mesh, vertices in the mesh) for the mesh that has most of these vertices of the
    problem, without the images of Mirror modifiers."""
    mesh, own = max(problem.by_mesh(vertices), key=lambda part: len(part[1]))
    return mesh, own if problem.numbers is None else problem.numbers[mesh][own]
