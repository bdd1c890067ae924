"""Draws the bones of a joint session over the view: the present ones dashed, the new ones solid,
with a cross at each locked joint."""

import gpu
import numpy as np
from araplbs.features.joints.moved_joints import moved_bones
from gpu_extras.batch import batch_for_shader

OLD, NEW, WAY = (0.9, 0.9, 0.9, 0.7), (0.2, 0.8, 1.0, 1.0), (1.0, 0.25, 0.75, 1.0)
WIDTH = 0.1  # of an octahedron, as a share of its length, and where it is widest
DASHES = 9  # on each edge
LOCKED, CROSS = (1.0, 0.2, 0.15, 1.0), 0.12  # its arms, as a share of the bone's length
LEAST_WAY = 0.005  # share of a bone's length that is worth a line

# Edges between head, tail and the four corners around.
EDGES = np.array(
    [(0, k) for k in range(2, 6)]
    + [(1, k) for k in range(2, 6)]
    + [(k, 2 + (k - 1) % 4) for k in range(2, 6)]
)


def draw(session):
    """In the space of the scene, in the pose that the armature is in."""
    task, frame = session.task, session.frame
    armature = task.armature.get()
    before, after = task.run.problem.skeleton, frame.skeleton
    shown = np.flatnonzero(moved_bones(before, after) | before.deform)
    shown = np.array([i for i in shown if not armature.data.bones[int(i)].hide], int)
    if not len(shown):
        return
    posed = _posed(armature, shown)
    old, new = (_corners(s, shown, posed) for s in (before, after))
    matrix = np.array(armature.matrix_world)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    for points, color, width in (
        (_dashed(old[:, EDGES].reshape(-1, 2, 3)), OLD, 1.0),
        (new[:, EDGES].reshape(-1, 2, 3), NEW, 1.8),
        (_ways(old, new), WAY, 3.0),
        (_crosses(old, task.run.pinned[shown]), LOCKED, 2.5),
    ):
        _draw_lines(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3], color, width)
    gpu.state.blend_set("NONE")


def _posed(armature, shown):
    """(k, 4, 4) from rest to the present pose."""
    if armature.data.pose_position == "REST":
        return np.repeat(np.eye(4)[None], len(shown), axis=0)
    bones, poses = armature.data.bones, armature.pose.bones
    return np.array(
        [poses[i].matrix @ bones[i].matrix_local.inverted_safe() for i in shown.tolist()]
    )


def _corners(skeleton, shown, posed):
    """(k, 6, 3) head, tail and the four corners of each octahedron."""
    heads, tails, z = (a[shown] for a in (skeleton.heads, skeleton.tails, skeleton.roll_axes))
    along = tails - heads
    length = np.linalg.norm(along, axis=1, keepdims=True)
    z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12) * WIDTH * length
    x = np.cross(along / np.maximum(length, 1e-12), z)
    ring = heads + WIDTH * along
    points = np.stack([heads, tails, ring + x, ring + z, ring - x, ring - z], axis=1)
    return points @ posed[:, :3, :3].transpose(0, 2, 1) + posed[:, None, :3, 3]


def _dashed(lines):
    """(n, 2, 3) cut into dashes."""
    at = (np.arange(2 * DASHES) / (2 * DASHES - 1)).reshape(DASHES, 2)[None, :, :, None]
    return (lines[:, None, :1] * (1 - at) + lines[:, None, 1:] * at).reshape(-1, 2, 3)


def _ways(old, new):
    """Lines from old to new ends that have moved enough to be seen."""
    ends = np.stack([old[:, :2], new[:, :2]], axis=2)
    far = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
    length = np.linalg.norm(old[:, 1] - old[:, 0], axis=1)[:, None]
    return ends[far > LEAST_WAY * length]


def _crosses(old, pinned):
    """Three lines at each of the pinned (k, 2) ends."""
    length = np.linalg.norm(old[:, 1] - old[:, 0], axis=1)
    arms = CROSS * np.stack([length, length], axis=1)[pinned]
    signs = np.stack([-np.eye(3), np.eye(3)], axis=1)  # (axis, side, 3)
    return old[:, :2][pinned][:, None, None] + arms[:, None, None, None] * signs


def _draw_lines(points, color, width):
    if not len(points):
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINES", {"pos": points.astype(np.float32)})
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", color)
    batch.draw(shader)
