"""Computes the bones of a skeleton after their joints have moved, and lists the moved bones."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ...base.arrays import Bools, Floats
from ...base.extent import size_of
from ...skeleton.skeleton import Skeleton

SAME_PLACE = 1e-5  # share of the skeleton's size: ends of bones within this distance coincide
LEAST_MOVE = 1e-7  # share of the skeleton's size: smaller displacements are ignored
LEAST_SHARE = 0.5  # minimum length kept by a bone that follows a joint at one end only


def ends_of(skeleton: Skeleton) -> Floats:
    """The head and tail of each bone in sequence, (2 m, 3)."""
    return np.stack([skeleton.heads, skeleton.tails], axis=1).reshape(-1, 3)


def near_joints(skeleton: Skeleton) -> float:
    """The distance below which ends coincide."""
    return SAME_PLACE * size_of(ends_of(skeleton))


def _together(skeleton: Skeleton, ends: Floats) -> Iterator[Bools]:
    """For each bone end, a bool array that marks the ends at the same position."""
    near = near_joints(skeleton)
    for end in ends_of(skeleton):
        yield np.linalg.norm(ends - end, axis=1) <= near


def _ends_at(skeleton: Skeleton, joints: Floats) -> Bools:
    """Returns (m, 2) bool: the ends of bones at one of these joints (k, 3)."""
    found = [bool(same.any()) for same in _together(skeleton, joints)]
    return np.array(found).reshape(-1, 2)


def at_same_places(skeleton: Skeleton, heads: ArrayLike, tails: ArrayLike) -> bool:
    """Whether the skeleton's bones are at these positions, up to the rounding in Edit mode."""
    here, drawn = np.stack([heads, tails], axis=1).reshape(-1, 3), skeleton.as_drawn
    return bool(np.abs(here - ends_of(drawn)).max() <= near_joints(drawn))


def pinned_ends(skeleton: Skeleton, locks: Bools) -> Bools:
    """Returns (m, 2) bool: the ends that must not move because the end itself or a coincident one
    is locked. locks: (m, 2)."""
    return _ends_at(skeleton, ends_of(skeleton)[locks.reshape(-1)])


def moved_skeleton(skeleton: Skeleton, heads: Floats, tails: Floats) -> Skeleton:
    """The Skeleton with its deform bones at the new positions (m, 3), and with all other bones
    adapted to them.

    An end of another bone at the old position of a joint moves with the joint. If the head of a
    bone moves and its tail is at no joint, the bone and the bones connected to it are translated
    without other changes. A bone that would otherwise become too short is treated in the same way.

    In a skeleton that was read from joints, only the heads are joints. Its drawn tails keep their
    direction or, if the direction was correct, turn with the bone.
    """
    if skeleton.directions == "TAILS":
        return _moved(skeleton, np.repeat(skeleton.deform, 2), heads, tails)
    drawn, deform = skeleton.as_drawn, skeleton.deform
    only_heads = np.column_stack([deform, np.zeros_like(deform)]).reshape(-1)
    moved = _moved(drawn, only_heads, heads, drawn.tails)
    if skeleton.directions == "LENGTHS":
        turned = _turned_tails(skeleton, moved.heads, tails)
        axes = _kept_axes(moved.roll_axes, turned - moved.heads)
        moved = replace(moved, tails=turned, drawn_tails=turned, roll_axes=axes)
    read = skeleton.tails + (moved.heads - skeleton.heads)
    read[deform] = tails[deform]
    return replace(
        skeleton,
        heads=moved.heads,
        tails=read,
        drawn_tails=moved.tails,
        roll_axes=moved.roll_axes,
    )


def _moved(skeleton: Skeleton, given: Bools, heads: Floats, tails: Floats) -> Skeleton:
    """Like moved_skeleton(), for a Skeleton with its drawn tails. given: (2 m,) ends with new
    positions."""
    m = len(skeleton.names)
    old = ends_of(skeleton)
    new = np.stack([heads, tails], axis=1).reshape(-1, 3)
    joints = np.flatnonzero(given)
    result, moves = np.where(given[:, None], new, old), given.copy()
    for end, same in enumerate(_together(skeleton, old[joints])):
        if given[end] or not same.any():
            continue
        joint = joints[np.argmax(same)]
        result[end] = new[joint] + (old[end] - old[joint])
        moves[end] = True
    for bone in np.flatnonzero(~given[1::2]).tolist():  # parents come first
        head, tail, parent = 2 * bone, 2 * bone + 1, skeleton.parents[bone]
        if not moves[head] and parent >= 0 and np.array_equal(old[head], old[2 * parent + 1]):
            result[head], moves[head] = result[2 * parent + 1], moves[2 * parent + 1]
        along = old[tail] - old[head]
        length = np.linalg.norm(result[tail] - result[head])
        if (moves[head] and not moves[tail]) or length < LEAST_SHARE * np.linalg.norm(along):
            result[tail], moves[tail] = old[tail] + (result[head] - old[head]), True
    ends = result.reshape(m, 2, 3)
    axes = _kept_axes(skeleton.roll_axes, ends[:, 1] - ends[:, 0])
    tails = ends[:, 1].copy()
    return replace(
        skeleton, heads=ends[:, 0].copy(), tails=tails, drawn_tails=tails, roll_axes=axes
    )


def _turned_tails(skeleton: Skeleton, heads: Floats, tails: Floats) -> Floats:
    """Drawn tails (m, 3) for a skeleton whose tails have correct directions and incorrect lengths.
    Bones that pointed at a joint point at it again. The tails of all others follow their heads.
    heads, tails: the ends that were found."""
    drawn = skeleton.drawn_tails - skeleton.heads
    result = heads + drawn
    at_joint = _ends_at(skeleton, skeleton.heads[skeleton.deform])[:, 1]
    length = np.linalg.norm(drawn, axis=1)
    for bone in np.flatnonzero(at_joint & skeleton.deform).tolist():
        along = tails[bone] - heads[bone]
        result[bone] = heads[bone] + along * length[bone] / max(np.linalg.norm(along), 1e-30)
    return result


def _kept_axes(axes: Floats, along: Floats) -> Floats:
    """Unit vectors across the bones, (m, 3), as close as possible to the previous ones."""
    along = along / np.maximum(np.linalg.norm(along, axis=1), 1e-30)[:, None]
    across = axes - (axes * along).sum(axis=1)[:, None] * along
    length = np.linalg.norm(across, axis=1)[:, None]
    return np.where(length > 1e-6, across / np.maximum(length, 1e-30), axes)


def moved_bones(before: Skeleton, after: Skeleton) -> Bools:
    """Returns (m,) bool: bones whose ends differ in another Skeleton, within the precision of a
    file."""
    least = LEAST_MOVE * size_of(ends_of(before))
    far = np.abs(ends_of(after) - ends_of(before)).max(axis=1) > least
    return far.reshape(-1, 2).any(axis=1)


def only_heads_of(skeleton: Skeleton, bones: Bools) -> Bools:
    """Returns (m, 2) bool: the bone ends that follow the heads of these bones (m,)."""
    return _ends_at(skeleton, skeleton.heads[bones])
