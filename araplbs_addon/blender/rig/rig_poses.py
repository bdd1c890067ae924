"""Provides the poses that the options request, in addition to the solver's own random poses of
rigid bones.

Random poses are limited to poses that the rig can reach. The controls turn within their limits and
locks, the targets of limbs move, and Blender evaluates constraints and drivers on a hidden copy.
"""

import numpy as np
from araplbs.base.affine import inverse
from araplbs.skeleton.rig_relations import drives_itself
from araplbs.skeleton.symmetry import symmetry_plane

from ..poses.flexible_bones import random_poses_in_steps
from ..poses.read_poses import PoseReader, read_poses
from .rig_copy import NotDrivable, driven_copy
from .rig_plan import RigPlan
from .rig_relations import is_plain, read_relations

PILOT = 8  # poses that show how far the joints turn


def given_poses_in_steps(armature, skeleton, options, view_layer, warnings=None):
    """Returns the poses of the animation and, if bones do more than turn or a rig moves them, also
    the random poses. This is a generator of short steps, except for animation steps. Failures are
    added to the list `warnings`. Raises Refused if there is no animation."""
    poses = read_poses(armature, skeleton, options.animation, options.animation_frames, view_layer)
    poses = poses.weighted(options.pose_weight)
    yield
    random = None
    if options.through_rig:
        lines = [] if warnings is None else warnings
        random = yield from rig_poses_in_steps(armature, skeleton, options, lines)
    if random is None and skeleton.flexible:
        symmetry = symmetry_plane(skeleton) if options.symmetric else None
        random = yield from random_poses_in_steps(armature, skeleton, options, symmetry)
    return poses if random is None else random.and_more(poses)


def rig_poses_in_steps(armature, skeleton, options, warnings):
    """The complete Poses (whole=True) of options.pose_count random poses of the controls. None if
    no constraint or driver moves a deform bone. Also None, with an additional line in `warnings`,
    if the rig cannot be driven. This is a generator of short steps.

    If the weights are the same on both sides, a mirrored pose is as good as a new one, so every
    second pose is the mirror image of the previous pose.
    """
    if not skeleton.deform.any() or not options.pose_count or is_plain(armature):
        return None
    relations = read_relations(armature)
    if not drives_itself(relations, skeleton):
        return None
    yield
    symmetry = symmetry_plane(skeleton) if options.symmetric else None
    which = range(0, options.pose_count, 1 if symmetry is None else 2)
    try:
        plan = RigPlan(armature, skeleton, relations, options)
        yield
        read = yield from plan_poses_in_steps(armature, plan, which)
        found = plan.whole_poses(*read, which, symmetry)
        if found is None:
            raise NotDrivable("no control moves a deform bone")
        return found
    except NotDrivable as reason:
        warnings.append(
            f"The rig of '{armature.name}' could not be posed ({reason}): in the random poses, "
            "every deform bone rotates independently"
        )
        return None


def plan_poses_in_steps(armature, plan, which):
    """Returns (transforms, segments) of these poses of a RigPlan. The results of the first poses
    may change the plan."""
    pilot, read, reader = which[:PILOT], {}, RigReader(armature, plan.skeleton)
    yield from _read_in_steps(armature, plan, pilot, reader, read)
    if plan.take_in_further(pilot, *_together(read)):
        read.clear()
        yield from _read_in_steps(armature, plan, pilot, reader, read)
    if plan.ease(_together(read)[0]):
        read.clear()
    yield from _read_in_steps(armature, plan, which, reader, read)
    return _together(read)


def _together(read):
    return tuple(np.array(part) for part in zip(*read.values(), strict=True))


def _read_in_steps(armature, plan, which, reader, read):
    """Adds the results of a PoseReader for those of these poses that have not been read yet."""
    work, played = [k for k in which if k not in read], []

    def prepare(copy, made):
        frames = plan.frames(copy, work)
        played[:] = [frames] if frames else []
        made += [frames.play()] if frames else []

    while work:
        with driven_copy(armature, plan, prepare) as (copy, view_layer, goes_on):
            while work and goes_on():
                k = work.pop(0)
                if played:
                    played[0].show(k, view_layer)
                else:
                    plan.pose(copy, k)
                    view_layer.update()
                read[k] = reader.read(copy, view_layer.depsgraph)
        yield


class RigReader(PoseReader):
    """Reads the poses of rigs with many more bones than deform bones."""

    def __init__(self, armature, skeleton):
        super().__init__(armature, skeleton)
        self.bendy = np.array(self.bendy, int)
        place = {posed.name: i for i, posed in enumerate(armature.pose.bones)}
        self.order = [place[name] for name in skeleton.names]

    def read_bones(self, armature, depsgraph):
        """(m, 4, 4) matrices of all bones in armature space."""
        posed = armature.evaluated_get(depsgraph).pose.bones
        poses = np.empty(16 * len(posed), np.float32)
        posed.foreach_get("matrix", poses)
        return poses.reshape(-1, 4, 4).swapaxes(1, 2)[self.order].astype(np.float64)

    def read(self, armature, depsgraph):
        posed = armature.evaluated_get(depsgraph).pose.bones
        poses = self.read_bones(armature, depsgraph)
        if self.straighten is None:
            self.owners = np.repeat(self.bendy, self.skeleton.segments[self.bendy] + 1)
            rest = self._all_joints(posed, rest=True)
            self.straighten = inverse(rest) @ self.to_rest[self.owners]
        joints = poses[self.owners] @ self._all_joints(posed, rest=False) @ self.straighten
        return (poses @ self.to_rest)[:, :3], joints[:, :3]

    def _all_joints(self, posed, rest):
        """(j, 4, 4) matrices of all joints."""
        flat = []
        for i in self.bendy:
            matrix = posed[self.skeleton.names[i]].bbone_segment_matrix
            for k in range(self.skeleton.segments[i] + 1):
                for row in matrix(k, rest=rest)[:]:  # reading single numbers is slower
                    flat += row[:]
        return np.array(flat, np.float64).reshape(-1, 4, 4)
