"""The poses in which a problem is solved and measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..base.arrays import Integers
from ..model.options import Options
from ..skeleton.chain_ends import hung_on_ends
from ..skeleton.poses import Poses, sample
from ..skeleton.twist_bones import twisted

if TYPE_CHECKING:
    from .problem import Problem


# The options that define the poses.
POSE_OPTIONS = (
    *("pose_count", "swing", "twist", "limb_twist", "reach_poses", "seed"),
    *("use_joint_limits", "symmetric", "bone_directions"),
    *("through_rig", "animation", "animation_frames"),
)
MEASURED = 24  # sufficient for visible measures, which change by one percent with more poses


def pose_set(problem: Problem, options: Options, parents: Integers | None = None) -> Poses:
    """The Poses that a solver of this problem uses. parents: as in sample()."""
    arguments, given = problem.arguments, None
    if "poses" in arguments:
        whole = "pose_count" in arguments
        given = Poses(
            arguments["poses"],
            arguments.get("segment_poses"),
            whole,
            arguments.get("pose_weights"),
        )
    return with_random(problem, options, given, parents)


def pose_options(options: Options) -> Options:
    """The options, limited to those that determine the poses."""
    return type(options)(**{name: getattr(options, name) for name in POSE_OPTIONS})


def checked_poses(problem: Problem, options: Options) -> Poses:
    """The Poses in which current weights are judged. They differ from pose_set() in one respect. A
    child of the root that begins at the end of a chain stays there, because no weights can help
    once poses separate the bone from the chain."""
    skeleton = problem.skeleton
    return pose_set(problem, options, hung_on_ends(skeleton, skeleton.solver_parents))


def measured_poses(problem: Problem, options: Options) -> Poses:
    """The Poses in which a result is measured, as in pose_set() but with fewer random ones."""
    return pose_set(problem, replace(options, pose_count=min(options.pose_count, MEASURED)))


def with_random(
    problem: Problem, options: Options, given: Poses | None, parents: Integers | None = None
) -> Poses:
    """The Poses that a solver would use in addition to these given ones, or None. parents: as in
    sample()."""
    if given is not None and given.whole:
        return given
    sampled, _bends = sample(problem.skeleton, options, problem.arguments.get("symmetry"), parents)
    sampled = twisted(sampled, problem.twist_bones, problem.skeleton)
    more = Poses(sampled, None)
    return given.and_more(more) if given is not None and len(given) else more
