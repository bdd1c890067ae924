"""Draws the bones of a joint session over the view: the current bones dashed, the new ones solid,
with a cross at each locked joint."""

import gpu
import numpy as np
from araplbs.base.affine import moved
from araplbs.features.joints.ghost_lines import EDGES, corners, crosses, dashed, ways
from araplbs.features.joints.moved_joints import moved_bones

from ...operators.drawing import draw_lines

OLD, NEW, WAY = (0.9, 0.9, 0.9, 0.7), (0.2, 0.8, 1.0, 1.0), (1.0, 0.25, 0.75, 1.0)
LOCKED = (1.0, 0.2, 0.15, 1.0)


def draw(session):
    """Draws in scene space, in the current pose of the armature."""
    task, frame = session.task, session.frame
    armature = task.armature.get()
    before, after = task.run.problem.skeleton, frame.skeleton
    shown = np.flatnonzero(moved_bones(before, after) | before.deform)
    shown = np.array([i for i in shown if not armature.data.bones[int(i)].hide], int)
    if not len(shown):
        return
    posed = _posed(armature, shown)
    old, new = (corners(s, shown, posed) for s in (before, after))
    matrix = np.array(armature.matrix_world)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    for points, color, width in (
        (dashed(old[:, EDGES].reshape(-1, 2, 3)), OLD, 1.0),
        (new[:, EDGES].reshape(-1, 2, 3), NEW, 1.8),
        (ways(old, new), WAY, 3.0),
        (crosses(old, task.run.pinned[shown]), LOCKED, 2.5),
    ):
        if len(points):
            draw_lines(moved(points.reshape(-1, 3), matrix), color, width)
    gpu.state.blend_set("NONE")


def _posed(armature, shown):
    """The transforms (k, 4, 4) from rest to the current pose."""
    if armature.data.pose_position == "REST":
        return np.repeat(np.eye(4)[None], len(shown), axis=0)
    bones, poses = armature.data.bones, armature.pose.bones
    return np.array(
        [poses[i].matrix @ bones[i].matrix_local.inverted_safe() for i in shown.tolist()]
    )
