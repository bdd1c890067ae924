"""Finds bones that only mark the end of a chain, and bones that begin there but are children of the
root.

In rigs with inverse kinematics, a foot is often a child of the root, and the leg reaches for the
foot. An animator never separates the two bones. Random poses would separate them, because each bone
turns on its own, and the skin of the ankle would be torn by as much as a leg's length. In random
poses, the foot is therefore a child of the last bone of the leg.
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import Bools, Integers
from .bone_names import is_control_name, is_end_bone
from .skeleton import Skeleton, hanging

NEAR = 0.15  # share of the last bone's length; a bone this close to the chain's end begins there


def marked_ends(skeleton: Skeleton) -> list[str]:
    """Names of excluded bones that mark the end of a chain, such as the tip of a finger: without
    children, and named for it or beginning where their parent ends."""
    is_parent = np.isin(np.arange(len(skeleton.names)), skeleton.parents)
    ends = []
    for bone in np.flatnonzero(skeleton.left_out & ~is_parent & (skeleton.parents >= 0)).tolist():
        name, parent = skeleton.names[bone], skeleton.parents[bone]
        end = skeleton.tails[parent]
        length = np.linalg.norm(end - skeleton.heads[parent])
        is_near = np.linalg.norm(end - skeleton.heads[bone]) < NEAR * length
        if is_end_bone(name) or (is_near and not is_control_name(name)):
            ends.append(name)
    return ends


def hung_on_ends(skeleton: Skeleton, parents: Integers) -> Integers:
    """Parents in random poses, (m,). parents: solver_parents of the skeleton.

    A root, or a child of a root, that begins at the end of a chain becomes a child of this end. A
    bone with a mirror image is moved only if the image meets this condition, too."""
    ends = _ends_at_heads(skeleton, parents)
    opposites = skeleton.other_side
    is_joined = ends >= 0
    is_joined &= is_joined[opposites] & (opposites[ends] == ends[opposites])
    result = parents.copy()
    for bone in np.flatnonzero(is_joined).tolist():
        if not _is_below(result, int(ends[bone]), bone):
            result[bone] = ends[bone]
    return result


def _ends_at_heads(skeleton: Skeleton, parents: Integers) -> Integers:
    """For each bone, the last bone of the chain that ends at its head, (m,), or -1."""
    deform, ends = skeleton.deform, np.full(len(parents), -1)
    candidates = np.flatnonzero(_ends(skeleton, parents))
    if not len(candidates):
        return ends
    lengths = np.linalg.norm(skeleton.tails[candidates] - skeleton.heads[candidates], axis=1)
    is_root = (parents < 0) | (parents[parents] < 0)
    parents_or_self = np.where(parents < 0, np.arange(len(parents)), parents)
    descendants = hanging(parents)
    for bone in np.flatnonzero(deform & is_root).tolist():
        distances = np.linalg.norm(skeleton.tails[candidates] - skeleton.heads[bone], axis=1)
        to_parent = np.linalg.norm(skeleton.tails[parents_or_self[bone]] - skeleton.heads[bone])
        is_near = (distances < NEAR * lengths) & (distances < to_parent)
        is_near &= ~descendants[candidates, bone]
        if is_near.any():
            ends[bone] = candidates[is_near][np.argmin(distances[is_near])]
    return ends


def _ends(skeleton: Skeleton, parents: Integers) -> Bools:
    """Returns (m,) bool: deform bones without children whose parent is not a root."""
    is_parent = np.isin(np.arange(len(parents)), parents[skeleton.deform])
    in_chain = (parents >= 0) & (parents[parents] >= 0)
    has_control_name = np.array([is_control_name(name) for name in skeleton.names], bool)
    return skeleton.deform & ~is_parent & in_chain & ~has_control_name


def _is_below(parents: Integers, bone: int, above: int) -> bool:
    """Whether a bone is a descendant of another, or the same bone."""
    while bone >= 0 and bone != above:
        bone = int(parents[bone])
    return bone == above
