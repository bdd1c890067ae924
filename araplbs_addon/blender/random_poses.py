"""Random poses of an armature with bendy bones, as Blender itself bends them.

How a bendy bone curves hangs on its segments, easing, handles and neighbours. So the random
transforms are given to a copy of the armature, without constraints, drivers and animation, in a
scene of its own, and what Blender makes of them is read back.
"""

from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..core.poses import BENDY, Poses, sample
from .read_poses import evaluated_pose, stage

HANDLE = 0.390464  # length of a handle, as a share of the bone's, at an easing of 1
NEUTRAL = {
    "rotation_mode": "QUATERNION",
    "bbone_curveinx": 0.0,
    "bbone_curveinz": 0.0,
    "bbone_curveoutx": 0.0,
    "bbone_curveoutz": 0.0,
    "bbone_rollin": 0.0,
    "bbone_rollout": 0.0,
    "bbone_easein": 0.0,
    "bbone_easeout": 0.0,
    "bbone_scalein": (1.0, 1.0, 1.0),
    "bbone_scaleout": (1.0, 1.0, 1.0),
}


def random_poses_in_steps(armature, skeleton, options, mirror):
    """Poses, whole, of options.pose_count random poses; a generator of short steps."""
    transforms, bends = sample(skeleton, options, mirror)
    rest = [bone.matrix_local.copy() for bone in armature.data.bones]
    names = skeleton.names
    read = []
    with _bare_copy(armature) as copy, stage(copy) as scene:
        bones = [(copy.pose.bones[n], copy.data.bones[n]) for n in names]
        for turned, bent in zip(transforms, bends, strict=True):
            targets = [_matrix(t) @ r for t, r in zip(turned, rest, strict=True)]
            for i, (posed, bone) in enumerate(bones):
                up = skeleton.parents[i]
                above = {}
                if up >= 0:
                    above = {"parent_matrix": targets[up], "parent_matrix_local": rest[up]}
                posed.matrix_basis = bone.convert_local_to_pose(
                    targets[i], rest[i], invert=True, **above
                )
                if skeleton.kinds[i] == BENDY:
                    _curve(posed, bone, rest[i].to_3x3().transposed() @ Vector(bent[i, :3]))
            view_layer = scene.view_layers[0]
            view_layer.update()
            read.append(evaluated_pose(copy, skeleton, view_layer.depsgraph))
            yield
    each = [np.array(part) for part in zip(*read, strict=True)]
    return Poses(*each, whole=True)


def _matrix(transform):
    return Matrix([*transform.tolist(), (0, 0, 0, 1)])


def _curve(posed, bone, turn):
    """Bend by this rotation vector, in the bone's axes, from head to tail: half of it to each side
    of the chord, and the part about the bone as roll of the tail."""
    handle = HANDLE * bone.length
    posed.bbone_curveinx = posed.bbone_curveoutx = handle * np.tan(turn.z / 2)
    posed.bbone_curveinz = posed.bbone_curveoutz = -handle * np.tan(turn.x / 2)
    posed.bbone_rollout = turn.y


@contextmanager
def _bare_copy(armature):
    """A copy of the object that nothing moves; the armature's data is shared."""
    copy = armature.copy()
    try:
        copy.animation_data_clear()
        copy.parent = None
        copy.constraints.clear()
        for posed in copy.pose.bones:
            while posed.constraints:
                posed.constraints.remove(posed.constraints[0])
            for name, value in NEUTRAL.items():
                setattr(posed, name, value)
        yield copy
    finally:
        bpy.data.objects.remove(copy)
