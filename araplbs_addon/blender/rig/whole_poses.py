"""The poses that options ask for, in addition to the random ones that the solver makes of rigid
bones."""

from araplbs.skeleton.symmetry import symmetry_plane

from ..poses.flexible_bones import random_poses_in_steps
from ..poses.read_poses import read_poses
from .rig_poses import rig_poses_in_steps


def given_poses_in_steps(armature, skeleton, options, view_layer, warnings=None):
    """Poses of the animation and, of bones that do more than turn or that a rig moves, the random
    ones too; a generator of short steps (those of animations are not). Failures are added to the
    list `warnings`. Raises Refused if there is no animation."""
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
