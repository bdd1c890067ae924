"""Reads the poses of an armature's animation, and its current pose.

Frames are evaluated in a separate scene that contains only the armature. No mesh has to be
deformed, and neither the current frame nor the user's pose changes. Actions that the rig does not
play itself are played by a copy of the rig. If the rig played them, Blender would evaluate the
rig's own action again after an undo and overwrite hand-posed values that have no key.
"""

from contextlib import contextmanager, suppress
from functools import partial

import bpy
import numpy as np
from araplbs.base.affine import inverse
from araplbs.base.refusal import Refused
from araplbs.skeleton.poses import BENDY, Poses, frames_in, no_poses, shared_out, some_of
from mathutils import Matrix

from ..data.mesh_shape import values_of
from ..data.references import remove_made
from .copied_rig import copied_rig
from .pose_sources import clips, marked_frames, play_action, pose_assets, weight_of

MOST_FRAMES = 24  # for all actions together: the number of random poses that measure a result
MOVED = 0.02  # entries of all transforms; a pose with less motion does not count


def read_poses(armature, skeleton, which, most, view_layer):
    """Returns at most `most` Poses of the armature's animation.

    which: "NONE"; "ACTIVE" for the frames of the scene as the armature plays them; "MARKERS" for
    the frames of the scene that have a marker; "ALL" for every action that moves bones of this
    armature; "POSE_LIBRARY" for the actions that are pose assets. Raises Refused if there are no
    such poses.
    """
    if which == "NONE":
        return no_poses(skeleton)
    if which in ("ACTIVE", "MARKERS"):
        frames = frames_in(_played_range(armature), most)
        if which == "MARKERS":
            frames = some_of(marked_frames(armature, view_layer.id_data), most)
        if not frames:
            raise Refused(
                "No frame is marked: add markers to the timeline, or to the action of "
                f"'{armature.name}'"
            )
        with stage(armature) as scene:
            return _evaluate(armature, skeleton, scene, frames)
    at_rest = which == "POSE_LIBRARY"
    parts = _assets(armature, most) if at_rest else frames_of_actions(armature, most)
    weights = [weight_of(action) for action, _slot, _frames in parts]
    with played_copy(armature, at_rest) as (copy, scene, play):
        poses = no_poses(skeleton)
        for (action, slot, frames), weight in zip(parts, weights, strict=True):
            play(action, slot)
            part = _evaluate(copy, skeleton, scene, frames).weighted(weight)
            poses = poses.and_more(part)
        return poses


def poses_of_actions(armature, skeleton, view_layer):
    """The Poses of the actions that a file contains for an armature, which are poses that its
    animator will use; None without actions that move bones."""
    if not clips(armature):
        return None
    try:
        poses = read_poses(armature, skeleton, "ALL", MOST_FRAMES, view_layer)
    except Refused:  # such as poses that are not finite
        return None
    moves = np.abs(poses.transforms - np.eye(4)[:3]).max((1, 2, 3), initial=0) > MOVED
    return poses[moves] if moves.any() else None


def frames_of_actions(armature, most):
    """Returns [(action, slot, frames)] for every action that moves the armature's bones, with at
    most `most` frames in total."""
    actions = clips(armature)
    if not actions:
        raise Refused(f"No action in this file moves bones of '{armature.name}'")
    counts = shared_out(most, [action.frame_range for action, _slot in actions])
    return [
        (action, slot, frames_in(action.frame_range, count))
        for (action, slot), count in zip(actions, counts, strict=True)
        if count
    ]


def _assets(armature, most):
    """The poses stored in pose assets."""
    assets = pose_assets(armature)
    if not assets:
        raise Refused(
            f"No pose asset in this file moves bones of '{armature.name}' (assets in other files "
            "must be appended or linked first)"
        )
    return [(action, slot, [frame]) for action, slot, frame in some_of(assets, most)]


def _played_range(armature):
    data = armature.animation_data
    ranges = []
    if data and data.action:
        ranges.append(tuple(data.action.frame_range))
    if data and data.use_nla:
        ranges += [
            (strip.frame_start, strip.frame_end)
            for track in data.nla_tracks
            if not track.mute
            for strip in track.strips
            if not strip.mute
        ]
    if not ranges:
        raise Refused(f"'{armature.name}' has no action: choose poses other than its animation")
    return min(r[0] for r in ranges), max(r[1] for r in ranges)


def _evaluate(armature, skeleton, scene, frames):
    reader, read = PoseReader(armature, skeleton), []
    for frame in frames:
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=frame - whole)
        read.append(reader.read(armature, scene.view_layers[0].depsgraph))
    poses = Poses(*(np.array(part) for part in zip(*read, strict=True)))
    if not (np.isfinite(poses.transforms).all() and np.isfinite(poses.joints).all()):
        raise Refused(f"'{armature.name}' has non-finite poses in its animation")
    return poses


def present_pose(armature, skeleton, depsgraph):
    """The Poses that contain only the current pose of an armature."""
    transforms, joints = PoseReader(armature, skeleton).read(armature, depsgraph)
    return Poses(transforms[None], joints[None])


def _matrices(bones, name):
    """The matrices (m, 4, 4) of these bones."""
    found = values_of(bones, name, np.float32, 16)
    return found.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)


class PoseReader:
    """Reads evaluated poses of an armature, or of copies of it, relative to its rest pose."""

    def __init__(self, armature, skeleton):
        self.name, self.skeleton = armature.name, skeleton
        self.to_rest = inverse(_matrices(armature.data.bones, "matrix_local"))
        self.bendy = [i for i, kind in enumerate(skeleton.kinds) if kind == BENDY]
        self.owners = np.repeat(self.bendy, skeleton.segments[self.bendy] + 1).astype(int)
        self.order = None  # the place of each bone among the pose bones, which copies share
        self.straighten = None  # inverse rest matrices of the joints of bendy bones

    def read(self, armature, depsgraph):
        """Returns the transforms with which the Armature modifier deforms, pose x inverse rest: (m,
        3, 4) of all bones, and (j, 3, 4) of the joints of bendy bones."""
        posed = armature.evaluated_get(depsgraph).pose.bones
        poses = self._in_order(posed)
        bent = self._joints(posed, rest=False)
        if self.straighten is None:
            rest = self._joints(posed, rest=True)
            self.straighten = inverse(rest) @ self.to_rest[self.owners]
        joints = poses[self.owners] @ bent @ self.straighten
        return (poses @ self.to_rest)[:, :3], joints[:, :3]

    def read_bones(self, armature, depsgraph):
        """(m, 4, 4) matrices of all bones in armature space."""
        return self._in_order(armature.evaluated_get(depsgraph).pose.bones)

    def _in_order(self, posed):
        if self.order is None:
            place = {name: i for i, name in enumerate(posed.keys())}
            self.order = [place[name] for name in self.skeleton.names]
        return _matrices(posed, "matrix")[self.order]

    def _joints(self, posed, rest):
        """(j, 4, 4) matrices of all joints."""
        flat = []
        try:
            for i in self.bendy:
                matrix = posed[self.skeleton.names[i]].bbone_segment_matrix
                for k in range(self.skeleton.segments[i] + 1):
                    for row in matrix(k, rest=rest)[:]:  # reading single numbers is slower
                        flat += row[:]
        except RuntimeError:  # the object is not evaluated
            raise Refused(
                f"'{self.name}' is disabled or hidden: its bendy bones cannot be read"
            ) from None
        return np.array(flat, np.float64).reshape(-1, 4, 4)


@contextmanager
def stage(armature, *others):
    """Yields a scene that contains only the armature, in Pose Position, and the other objects."""
    hidden, position = armature.hide_viewport, armature.data.pose_position
    if hidden and armature.library:
        raise Refused(f"'{armature.name}' is linked and disabled in viewports: it has no pose")
    scene = bpy.data.scenes.new("Auto-weight")
    try:
        if hidden:
            armature.hide_viewport = False
        for ob in (armature, *others):
            scene.collection.objects.link(ob)
        if position != "POSE":
            armature.data.pose_position = "POSE"
        yield scene
    finally:
        remove_made(scene)
        with suppress(ReferenceError):
            if armature.data.pose_position != position:
                armature.data.pose_position = position
            if hidden:
                armature.hide_viewport = True


@contextmanager
def played_copy(armature, at_rest):
    """Yields (a copy of the rig, the scene that contains it, play(action, slot)), which makes the
    copy play only this action. Bones without a key keep the rig's current pose or, with at_rest,
    are at rest."""
    made = []
    try:
        copy, helpers = copied_rig(armature, made)
        data = copy.animation_data or copy.animation_data_create()
        for posed in copy.pose.bones if at_rest else ():
            posed.matrix_basis = Matrix()
        with stage(copy, *helpers) as scene:
            yield copy, scene, partial(play_action, data)
    finally:
        remove_made(*made)
