"""A small character on which methods are compared."""

import numpy as np
from araplbs.features.compare.arrays import case_of_arrays
from araplbs.features.compare.options import CompareOptions
from shapes import chain, rotation, tube

OPTIONS = CompareOptions(judged_poses=5, judged_frames=4)


def painted(vertices, bones):
    """Weights as an artist would paint them: rigid except for a seam at each joint."""
    height = vertices[:, 2, None] - bones.heads[None, :, 2]
    length = bones.tails[0, 2] - bones.heads[0, 2]
    weights = np.clip(1.2 - np.abs(height / length - 0.5) * 1.4, 0, 1)
    return weights / weights.sum(1, keepdims=True)


def bent(bones, frames=6):
    """(frames, m, 4, 4): the last bone bends about X."""
    result = np.tile(np.eye(4), (frames, len(bones), 1, 1))
    for pose, angle in zip(result, np.linspace(0, 1.2, frames), strict=True):
        turn = rotation([1, 0, 0], angle)
        pose[-1, :3] = np.column_stack([turn, bones.heads[-1] - turn @ bones.heads[-1]])
    return result


def tube_case(options=OPTIONS, weights=True, animation=True, **more):
    vertices, triangles = tube(10, 25, caps=True)
    bones = chain(3)
    return case_of_arrays(
        vertices,
        triangles,
        *bones,
        bone_names=["hip", "knee", "foot"],
        bone_roll_axes=bones.roll_axes,
        weights=painted(vertices, bones) if weights else None,
        animation=bent(bones) if animation else None,
        name="Tube <1>",
        options=options,
        **more,
    )
