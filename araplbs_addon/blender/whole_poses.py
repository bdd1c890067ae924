"""The poses that options ask for, beside the random ones that the solver makes of rigid bones."""

from ..core.symmetry import symmetry_plane
from .flexible_bones import random_poses_in_steps
from .read_poses import read_poses


def given_poses_in_steps(armature, skeleton, options, view_layer):
    """Poses of the animation and, of bones that do more than turn, the random ones too; a generator
    of short steps (those of animations are not). Raises Refused where there is no animation."""
    poses = read_poses(armature, skeleton, options.animation, options.animation_frames, view_layer)
    yield
    if skeleton.flexible:
        symmetry = symmetry_plane(skeleton) if options.symmetric else None
        random = yield from random_poses_in_steps(armature, skeleton, options, symmetry)
        poses = random.and_more(poses)
    return poses
