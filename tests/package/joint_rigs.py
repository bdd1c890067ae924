"""Creates meshes and skeletons for tests that move joints."""

import araplbs
import numpy as np
import shapes

ARM, BONES = shapes.tube(12, 25, 0.25, 3.0), shapes.chain(3, 3.0)
FREE = {
    "joint_stiffness": 1e-3,
    "tangential": 0.0,
    "max_shift": 1e5,
    "min_length": 0.0,
    "tolerance": 0,
}
PLANE = ((0, 0, 0), (1, 0, 0))


def solver(bones=BONES, mesh=ARM, **settings):
    return araplbs.JointSolver(*mesh, *bones, **{**bones.more, "pose_count": 12, **settings})


def moved(bones, joint, by):
    """A chain with one of its joints displaced."""
    joints = np.concatenate([bones.heads, bones.tails[-1:]])
    joints[joint] += by
    return bones.but(heads=joints[:-1], tails=joints[1:])


def two_trees():
    """A trunk with two branches, one of them behind a gap, and a second tree, with a tube for
    each."""
    heads = np.array([[0, 0, 0], [0, 0, 1], [0.1, 0, 1.1], [1.0, 0, 0], [1.0, 0, 1]], float)
    tails = np.array([[0, 0, 1], [0, 0, 2], [0.8, 0, 1.5], [1.0, 0, 1], [1.1, 0, 2]], float)
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 0, -1, 3]))
    one = shapes.tube(5, 7, 0.3)
    return bones, shapes.join(one, (one[0] + [1.0, 0, 0], one[1]))


def chained(bones, poses, heads, up, segments):
    """The transforms with the heads moved and the linear parts kept: joints stay connected, and
    each tree, whose roots have `up` -1, stays at the mean of its segments."""
    shift, tree = np.zeros((len(poses), len(bones), 3)), np.arange(len(bones))
    for d in range(len(bones)):
        if up[d] >= 0:
            a, b = poses[:, up[d], :, :3], poses[:, d, :, :3]
            shift[:, d] = shift[:, up[d]] + (a - b) @ (heads[d] - bones.heads[d])
            tree[d] = tree[up[d]]
    for root in set(tree):
        own = tree == root
        shift[:, own] -= np.average(shift[:, own], axis=1, weights=segments[own])[:, None]
    out = poses.copy()
    out[..., 3] += shift
    return out
