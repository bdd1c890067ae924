"""Random poses of an armature with bendy or stretchable bones, as Blender itself bends them.

How a bendy bone curves hangs on its segments, easing, handles and neighbours, what a scaled bone
does to others on what they inherit. So the random transforms are given to a copy of the armature,
without constraints, drivers and animation, in a scene of its own, and what Blender makes of them is
read back.
"""

from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..core.poses import BENDY, Poses, sample
from .read_poses import PoseReader, stage

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
    with _bare_copy(armature, skeleton) as copy, stage(copy) as scene:
        bones = [(copy.pose.bones[n], copy.data.bones[n]) for n in names]
        reader = PoseReader(copy, skeleton)
        for turned, bent in zip(transforms, bends, strict=True):
            targets = [_matrix(t) @ r for t, r in zip(turned, rest, strict=True)]
            for i, (posed, bone) in enumerate(bones):
                up = skeleton.parents[i]
                above = {}
                if up >= 0:
                    above = {"parent_matrix": targets[up], "parent_matrix_local": rest[up]}
                own = bone.convert_local_to_pose(targets[i], rest[i], invert=True, **above)
                if skeleton.own_stretch[i]:
                    own = own @ _stretch(bent[i, 3], skeleton.volume[i])
                posed.matrix_basis = own
                if skeleton.kinds[i] == BENDY:
                    _curve(posed, bone, rest[i].to_3x3().transposed() @ Vector(bent[i, :3]))
            view_layer = scene.view_layers[0]
            view_layer.update()
            read.append(reader.read(view_layer.depsgraph))
            yield
    each = [np.array(part) for part in zip(*read, strict=True)]
    return Poses(*each, whole=True)


def _matrix(transform):
    return Matrix([*transform.tolist(), (0, 0, 0, 1)])


def _stretch(factor, keeps_volume):
    across = factor**-0.5 if keeps_volume else 1.0
    return Matrix.Diagonal((across, factor, across, 1))


def _curve(posed, bone, turn):
    """Bend by this rotation vector, in the bone's axes, from head to tail: half of it to each side
    of the chord, and the part about the bone as roll of the tail."""
    handle = HANDLE * bone.length
    posed.bbone_curveinx = posed.bbone_curveoutx = handle * np.tan(turn.z / 2)
    posed.bbone_curveinz = posed.bbone_curveoutz = -handle * np.tan(turn.x / 2)
    posed.bbone_rollout = turn.y


@contextmanager
def _bare_copy(armature, skeleton):
    """A copy of the object and its data that nothing moves. What stretches by itself does not
    inherit scale: random stretches would add up along a chain as constraints never let them."""
    copy = armature.copy()
    data = copy.data = armature.data.copy()
    try:
        data.animation_data_clear()
        for bone, own in zip(data.bones, skeleton.own_stretch, strict=True):
            if own and bone.parent:
                bone.inherit_scale = "NONE"
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
        bpy.data.armatures.remove(data)
