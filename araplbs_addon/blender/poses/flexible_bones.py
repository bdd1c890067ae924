"""Reads how bendy and stretchable bones move in random poses, as evaluated by Blender itself.

The curve of a bendy bone depends on its segments, easing, handles and neighbors. The effect of a
scaled bone on its children depends on their Inherit Scale setting. Therefore, a copy of the
armature without constraints, drivers and animation receives random transforms in a separate scene,
and the result is read back from Blender. The copy is recreated for each step because the user may
save the file or undo between steps.
"""

import time
from contextlib import contextmanager

import numpy as np
from araplbs.base.steps import is_at_once
from araplbs.skeleton.poses import BENDY, Poses, sample
from mathutils import Matrix, Vector

from ..data.bones import local_to_pose
from ..data.object_targets import constraints_of
from ..data.references import remove_made
from .read_poses import PoseReader, stage

STEP = 0.03  # seconds of work on a copy, longer if creating the copy is slow
POINTS = 1024  # processed between two checks of the time
HANDLE = 0.390464  # handle length as a fraction of the bone length at an easing of 1
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
BENT = [name for name in NEUTRAL if name != "rotation_mode"]


def random_poses_in_steps(armature, skeleton, options, symmetry):
    """The complete Poses (whole=True) of options.pose_count random poses, as a generator of short
    steps."""
    transforms, bends = sample(skeleton, options, symmetry)
    rest = [bone.matrix_local.copy() for bone in armature.data.bones]
    reader, read = PoseReader(armature, skeleton), []
    while len(read) < len(transforms):
        with bare_copy(armature, skeleton) as (copy, view_layer, goes_on):
            while len(read) < len(transforms) and goes_on():
                pose_copy(copy, skeleton, rest, transforms[len(read)], bends[len(read)])
                view_layer.update()
                read.append(reader.read(copy, view_layer.depsgraph))
        yield
    each = [np.array(part) for part in zip(*read, strict=True)]
    return Poses(*each, whole=True)


def curved_parameters_in_steps(armature, skeleton, vertices):
    """The positions (n, m) of vertices (n, 3) along the bendy bones that map vertices along their
    curve, NaN for all other bones; None if there are no such bones. The function is a generator of
    short steps."""
    bones = armature.data.bones
    curved = [
        i
        for i, kind in enumerate(skeleton.kinds)
        if kind == BENDY and bones[i].bbone_mapping_mode == "CURVED"
    ]
    if not curved:
        return None
    parameters = np.full((len(vertices), len(skeleton.names)), np.nan)
    points = vertices.astype(np.float32)
    work = [(i, begin) for i in curved for begin in range(0, len(points), POINTS)]
    while work:
        with bare_copy(armature, skeleton) as (copy, view_layer, goes_on):
            posed = copy.evaluated_get(view_layer.depsgraph).pose.bones
            while work and goes_on():
                i, begin = work.pop()
                locate = posed[i].bbone_segment_index
                found = [sum(locate(point)) for point in points[begin : begin + POINTS]]
                parameters[begin : begin + POINTS, i] = np.array(found) / skeleton.segments[i]
        yield
    return np.clip(parameters, 0, 1)


def pose_copy(copy, skeleton, rest, transforms, bends):
    targets = [_matrix(t) @ r for t, r in zip(transforms, rest, strict=True)]
    for i, (posed, bone) in enumerate(zip(copy.pose.bones, copy.data.bones, strict=True)):
        basis = local_to_pose(bone, targets[i], targets[skeleton.parents[i]], invert=True)
        posed.matrix_basis = flex(posed, basis, skeleton, i, rest[i], bends[i])


def flex(posed, own, skeleton, i, rest, bend):
    """Bends bone i, if it is bendy, by this row of sample(). Returns the bone's matrix `own`
    relative to its parent, stretched if the bone is stretchable."""
    if skeleton.kinds[i] == BENDY:
        _curve(posed, posed.bone, rest.to_3x3().transposed() @ Vector(bend[:3]))
    if skeleton.own_stretch[i]:
        own = own @ _stretch(bend[3], skeleton.volume[i])
    return own


def _matrix(transform):
    return Matrix([*transform.tolist(), (0, 0, 0, 1)])


def _stretch(factor, keeps_volume):
    across = factor**-0.5 if keeps_volume else 1.0
    return Matrix.Diagonal((across, factor, across, 1))


def _curve(posed, bone, turn):
    """Bends a bone from head to tail by this rotation vector, which is given in the bone's axes.
    Half of the rotation applies to each end of the chord, and the component about the bone becomes
    the roll of the tail."""
    handle = HANDLE * bone.length
    posed.bbone_curveinx = posed.bbone_curveoutx = handle * np.tan(turn.z / 2)
    posed.bbone_curveinz = posed.bbone_curveoutz = -handle * np.tan(turn.x / 2)
    posed.bbone_rollout = turn.y


@contextmanager
def bare_copy(armature, skeleton):
    """Yields (a copy of the object and its data that nothing moves, evaluated alone; its view
    layer; a function that returns whether time is left).

    A bone that stretches by itself does not inherit scale. Otherwise random stretches would
    accumulate along a chain, which constraints never allow.
    """
    start = time.perf_counter()
    copy = armature.copy()
    data = copy.data = armature.data.copy()
    try:
        copy.hide_viewport = False
        copy.animation_data_clear()
        data.animation_data_clear()
        copy.parent = None
        copy.constraints.clear()
        for bone, own in zip(data.bones, skeleton.own_stretch, strict=True):
            if own and bone.parent:
                bone.inherit_scale = "NONE"
        for posed in copy.pose.bones:
            for constraint in constraints_of(posed):
                posed.constraints.remove(constraint)
            for name, value in NEUTRAL.items():
                setattr(posed, name, value)
            posed.matrix_basis = Matrix()
        with stage(copy) as scene:
            view_layer = scene.view_layers[0]
            view_layer.update()
            now = time.perf_counter()
            end = now + max(STEP, 2 * (now - start))
            yield copy, view_layer, lambda: is_at_once() or time.perf_counter() < end
    finally:
        remove_made(copy, data)
