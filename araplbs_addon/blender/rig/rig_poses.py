"""Provides the poses that the options request, in addition to the solver's own random poses of
rigid bones.

Random poses are limited to poses that the rig can reach. The controls turn within their limits and
locks, the targets of limbs move, and Blender evaluates constraints and drivers on a hidden copy.
"""

import numpy as np
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
    the random poses. The function is a generator of short steps, except for animation steps.
    Failures are added to the list `warnings`. Raises Refused if there is no animation."""
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
    if the rig cannot be driven. The function is a generator of short steps.

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
    pilot, read, reader = which[:PILOT], {}, PoseReader(armature, plan.skeleton)
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
