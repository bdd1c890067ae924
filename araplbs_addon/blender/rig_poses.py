"""Random poses that a rig can take: its controls turn within their limits and locks, what limbs
reach for is moved, and Blender evaluates constraints and drivers on a copy that nobody sees.
"""

from itertools import chain

import numpy as np

from ..core.extent import size_of
from ..core.poses import Poses
from ..core.rig_poses import moves_something, usable
from .read_poses import PoseReader
from .rig_copy import NotDrivable, driven_copy
from .rig_plan import ControlPlan
from .rig_relations import drives_itself, read_relations

PILOT = 12  # poses that show how far joints turn
LEAST_LEFT = 0.5  # of the poses that must be usable


def rig_poses_in_steps(armature, skeleton, options, warnings):
    """Poses, whole, of at most options.pose_count random poses of the controls; None where no
    constraint or driver moves a deform bone, and, with a line more in `warnings`, where the rig
    cannot be driven. A generator of short steps."""
    if not skeleton.deform.any() or not options.pose_count:
        return None
    relations = read_relations(armature)
    if not drives_itself(relations, skeleton):
        return None
    yield
    try:
        plan = ControlPlan(armature, skeleton, relations, options)
        yield
        return _whole(
            (yield from plan_poses_in_steps(armature, plan, options.pose_count)), skeleton
        )
    except NotDrivable as reason:
        warnings.append(
            f"The rig of '{armature.name}' could not be posed ({reason}): in the random poses "
            "every deform bone turns on its own"
        )
        return None


def plan_poses_in_steps(armature, plan, count):
    """[what a PoseReader reads] of the poses of a ControlPlan, which the first of them ease."""
    read, reader, eased = [], _Reader(armature, plan.skeleton), False
    while len(read) < count:
        with driven_copy(armature, plan) as (copy, view_layer, goes_on):
            while len(read) < count and goes_on():
                plan.pose(copy, len(read))
                view_layer.update()
                read.append(reader.read(copy, view_layer.depsgraph))
                if len(read) == min(PILOT, count) and not eased:
                    eased = True
                    if plan.ease(np.array([transforms for transforms, _joints in read])):
                        read = []
        yield
    return read


def _whole(read, skeleton):
    transforms, joints = (np.array(part) for part in zip(*read, strict=True))
    size = size_of(np.vstack([skeleton.heads[skeleton.deform], skeleton.tails[skeleton.deform]]))
    good = usable(transforms, skeleton, size) & np.isfinite(joints).all(axis=(1, 2, 3))
    if good.sum() < LEAST_LEFT * len(good):
        raise NotDrivable("it tears apart")
    if not moves_something(transforms[good], skeleton, size):
        raise NotDrivable("no control moves a deform bone")
    return Poses(transforms[good], joints[good], whole=True)


class _Reader(PoseReader):
    """The same, of rigs with many more bones than deform."""

    def __init__(self, armature, skeleton):
        super().__init__(armature, skeleton)
        place = {posed.name: i for i, posed in enumerate(armature.pose.bones)}
        self.order = [place[name] for name in skeleton.names]

    def read(self, armature, depsgraph):
        posed = armature.evaluated_get(depsgraph).pose.bones
        poses = np.empty(16 * len(posed), np.float32)
        posed.foreach_get("matrix", poses)
        poses = poses.reshape(-1, 4, 4).swapaxes(1, 2)[self.order].astype(np.float64)
        if self.straighten is None:
            self.straighten = [
                np.linalg.inv(self._joints(posed, i, rest=True)) @ self.to_rest[i]
                for i in self.bendy
            ]
        joints = [
            (poses[i] @ self._joints(posed, i, rest=False) @ straighten)[:, :3]
            for i, straighten in zip(self.bendy, self.straighten, strict=True)
        ]
        return (poses @ self.to_rest)[:, :3], np.concatenate([np.zeros((0, 3, 4)), *joints])

    def _joints(self, posed, i, rest):
        matrix = posed[self.skeleton.names[i]].bbone_segment_matrix
        count = self.skeleton.segments[i] + 1
        rows = chain.from_iterable(matrix(k, rest=rest) for k in range(count))
        flat = np.fromiter(chain.from_iterable(rows), np.float64, 16 * count)
        return flat.reshape(count, 4, 4)
