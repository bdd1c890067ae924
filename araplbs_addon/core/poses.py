"""Poses as the solver takes them, and which bones do more than turn."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .native_module import araplbs

RIGID: Final = "rigid"
BENDY: Final = "bendy"
STB: Final = "stb"

# Of random poses:
CURVE_SHARE = 0.5  # of the swing: how far a bendy bone curves from head to tail
STRETCHES = 0.7, 1.5  # how long a stretchable bone becomes, of its length


@dataclass(frozen=True)
class Poses:
    """Transforms from rest in armature space, of p poses of m bones.

    joints: those of the joints of all bendy bones, one bone after the other. whole: the random
    poses are among them, the solver need not make its own. weights: how often each counts.
    """

    transforms: np.ndarray  # (p, m, 3, 4)
    joints: np.ndarray | None  # (p, j, 3, 4); None: there are no bendy bones
    whole: bool = False
    weights: np.ndarray | None = None  # (p,); None: each once

    def __len__(self):
        return len(self.transforms)

    def __getitem__(self, which):
        """The Poses of a slice."""
        joints = None if self.joints is None else self.joints[which]
        weights = None if self.weights is None else self.weights[which]
        return Poses(self.transforms[which], joints, self.whole, weights)

    @property
    def key(self):
        """Equal for equal poses."""
        return self.transforms.tobytes() + self.joints.tobytes()

    @property
    def all_weights(self):
        """(p,) how often each counts."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def weight_arguments(self):
        """The argument of the engine's functions that says so."""
        return {} if self.weights is None else {"pose_weights": self.weights}

    def weighted(self, factor):
        """The same, each counting so often in place of once."""
        return self if factor == 1 else replace(self, weights=factor * self.all_weights)

    def and_more(self, more):
        plain = self.weights is None and more.weights is None
        return Poses(
            np.concatenate([self.transforms, more.transforms]),
            np.concatenate([self.joints, more.joints]),
            self.whole or more.whole,
            None if plain else np.concatenate([self.all_weights, more.all_weights]),
        )


def no_poses(skeleton):
    return Poses(
        np.zeros((0, len(skeleton.names), 3, 4)), np.zeros((0, skeleton.joint_count, 3, 4))
    )


def sample(skeleton, options, symmetry):
    """(transforms (p, m, 3, 4), bends (p, m, 4)) of random poses: those that the solver makes of
    rigid bones, and how far each bendy one bends from head to tail in them, and how long each
    stretchable one becomes; None where there are no such bones."""
    arguments = {
        "bone_roll_axes": skeleton.roll_axes,
        "bone_deform": skeleton.deform,
        "bone_limits": skeleton.limits,
        "symmetry": symmetry,
        "seed": options.seed,
        "swing": options.swing,
        "twist": options.twist,
        "reach_poses": options.reach_poses,
    }
    place = skeleton.heads, skeleton.tails, skeleton.solver_parents, options.pose_count
    transforms = araplbs.sample_poses(*place, **arguments)
    if not skeleton.flexible:
        return transforms, None
    ranges = np.full((len(skeleton.names), 4, 2), np.nan)
    bendy = np.array([kind == BENDY for kind in skeleton.kinds])
    ranges[:, 2] = np.array([-1, 1]) * CURVE_SHARE * options.swing * bendy[:, None]
    ranges[skeleton.own_stretch, 3] = STRETCHES
    stretching = zip(skeleton.kinds, skeleton.own_stretch, strict=True)
    _poses, bends = araplbs.sample_poses(
        *place,
        **arguments,
        bone_kinds=[STB if kind == RIGID and own else kind for kind, own in stretching],
        bone_segments=skeleton.segments,
        bone_ranges=ranges,
    )
    return transforms, bends
