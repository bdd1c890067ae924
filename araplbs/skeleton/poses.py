"""Provides poses in the form that the solver takes, including bones that do more than rotate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from ..base.arrays import Array, Floats, Integers
from ..base.engine import engine
from ..model.options import Options

if TYPE_CHECKING:
    from .skeleton import Skeleton

RIGID: Final = "rigid"
BENDY: Final = "bendy"
STB: Final = "stb"
BoneKind: TypeAlias = Literal["rigid", "bendy", "stb"]

# How a joint is posed in the random poses of a rig:
BY_CONTROLS: Final = "controls"
FURTHER: Final = "hidden_controls"
BONE_BY_BONE: Final = "bone_by_bone"
WAYS: Final = BY_CONTROLS, FURTHER, BONE_BY_BONE

# For random poses:
CURVE_SHARE = 0.5  # bend of a bendy bone from head to tail, as a share of the swing
STRETCHES = 0.7, 1.5  # length of a stretchable bone, relative to its rest length


@dataclass(frozen=True)
class Poses:
    """Transforms from rest in armature space, for p poses of m bones.

    joints: transforms of the joints of all bendy bones, bone by bone. whole: whether the random
    poses are included, so the solver need not generate its own. weights: the weight of each pose.
    posed_by: for a rig, {one of WAYS: names of bones posed in this way}.
    """

    transforms: np.ndarray  # (p, m, 3, 4)
    joints: np.ndarray | None  # (p, j, 3, 4); None: there are no bendy bones
    whole: bool = False
    weights: np.ndarray | None = None  # (p,); None: equal weights
    posed_by: dict[str, list[str]] | None = None

    def __len__(self) -> int:
        return len(self.transforms)

    def __getitem__(self, which: slice | Array) -> Poses:
        """Returns the Poses of a slice."""
        joints = None if self.joints is None else self.joints[which]
        weights = None if self.weights is None else self.weights[which]
        return Poses(self.transforms[which], joints, self.whole, weights, self.posed_by)

    @property
    def key(self) -> bytes:
        """A key that is equal for equal poses."""
        return self.transforms.tobytes() + self.joints.tobytes()

    @property
    def all_weights(self) -> Floats:
        """The weight of each pose, (p,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def weight_arguments(self) -> dict[str, Any]:
        """The argument that passes the pose weights to the engine's functions."""
        return {} if self.weights is None else {"pose_weights": self.weights}

    def weighted(self, factor: float) -> Poses:
        """These poses, with weights multiplied by `factor`."""
        return self if factor == 1 else replace(self, weights=factor * self.all_weights)

    def and_more(self, more: Poses) -> Poses:
        """These Poses, then others. The joints of bendy bones are left out if one of them lacks
        them."""
        is_plain = self.weights is None and more.weights is None
        is_rigid = self.joints is None or more.joints is None
        return Poses(
            np.concatenate([self.transforms, more.transforms]),
            None if is_rigid else np.concatenate([self.joints, more.joints]),
            self.whole or more.whole,
            None if is_plain else np.concatenate([self.all_weights, more.all_weights]),
            self.posed_by or more.posed_by,
        )


def no_poses(skeleton: Skeleton) -> Poses:
    return Poses(
        np.zeros((0, len(skeleton.names), 3, 4)), np.zeros((0, skeleton.joint_count, 3, 4))
    )


def sample(
    skeleton: Skeleton,
    options: Options,
    symmetry: tuple[Integers, Floats, Floats] | None,
    parents: Integers | None = None,
) -> tuple[Floats, Floats | None]:
    """Returns (transforms (p, m, 3, 4), bends (p, m, 4)) of random poses: the poses that the solver
    generates for rigid bones, with the bending of each bendy bone from head to tail and the length
    of each stretchable bone; None without such bones. parents: (m,), replacing the solver's
    parents."""
    arguments: dict[str, Any] = {
        "bone_roll_axes": skeleton.roll_axes,
        "bone_deform": skeleton.deform,
        "bone_limits": skeleton.limits,
        "symmetry": symmetry,
        "seed": options.seed,
        "swing": options.swing,
        "twist": options.twist,
        "reach_poses": options.reach_poses,
        **skeleton.twist_arguments(options),
    }
    if parents is None:
        parents = skeleton.solver_parents
    place = skeleton.heads, skeleton.tails, parents, options.pose_count
    transforms = engine.sample_poses(*place, **arguments)
    if not skeleton.flexible:
        return transforms, None
    ranges = arguments.pop("bone_ranges", np.full((len(skeleton.names), 4, 2), np.nan))
    bendy = np.array([kind == BENDY for kind in skeleton.kinds])
    ranges[:, 2] = np.array([-1, 1]) * CURVE_SHARE * options.swing * bendy[:, None]
    ranges[skeleton.own_stretch, 3] = STRETCHES
    stretching = zip(skeleton.kinds, skeleton.own_stretch, strict=True)
    _poses, bends = engine.sample_poses(
        *place,
        **arguments,
        bone_kinds=[STB if kind == RIGID and own else kind for kind, own in stretching],
        bone_segments=skeleton.segments,
        bone_ranges=ranges,
    )
    return transforms, bends


def spread(count: int, most: int) -> Integers:
    """At most `most` indices out of `count`, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))


def some_of(items: Sequence[Any], most: int) -> list[Any]:
    """At most `most` of these items, evenly spread."""
    return [items[k] for k in spread(len(items), most)]


def frames_in(frame_range: Sequence[float], most: int) -> list[int]:
    """At most `most` frames of the range, evenly spread."""
    first, last = round(frame_range[0]), round(frame_range[1])
    count = min(most, last - first + 1)
    return np.unique(np.linspace(first, last, count).round().astype(int)).tolist()


def shared_out(most: int, ranges: Sequence[Sequence[float]]) -> list[int]:
    """The frames chosen from each clip, evenly spaced over all clips in sequence."""
    lengths = np.array([max(1, round(r[1]) - round(r[0]) + 1) for r in ranges])
    picks = np.unique(np.linspace(0, lengths.sum() - 1, min(most, lengths.sum())).round())
    clip = np.searchsorted(np.cumsum(lengths), picks, side="right")
    return np.bincount(clip, minlength=len(lengths)).tolist()
