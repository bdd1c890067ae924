"""The types of all options of weights(), for type checkers, which then see a wrong name."""

from typing import Literal, TypedDict


class GivenOptions(TypedDict, total=False):
    """The options by their names in the panel and in the settings."""

    max_influences: int
    bone_spring_stiffness: float
    firmness: float
    link_parts: bool
    loose_parts_follow: bool
    symmetric: bool
    rigid_parts: Literal["off", "marked", "detected"]
    rigid_influences: int
    bones_per_rigid_part: int
    initial: Literal["heat", "nearest", "boneglow", "bbw", "biharmonic"]
    initial_weights: Literal["heat", "nearest", "boneglow", "bbw", "biharmonic"]
    start_from: Literal["fresh", "present"]
    pose_count: int
    random_poses: int
    swing: float
    twist: float
    limb_twist: float
    reach_poses: float
    seed: int
    my_animation: Literal["none", "active", "all", "pose_library", "markers"]
    animation_frames: int
    frames: int
    pose_weight: float
    animation_weight: float
    control_bones: Literal["leave_out", "include"]
    bone_directions: Literal["automatic", "tails", "joints"]
    deformer: Literal["linear", "dual_quaternions"]
    optimize_for: Literal["linear", "dual_quaternions"]
    min_gain: float
    crispness: float
    edge_power: float
    expansion_rounds: int
    widenings: int
    iterations: int
    prune_sum: float
    prune_ratio: float
    paper_constraints: bool


class FileOptions(GivenOptions, total=False):
    """The options for a character in a file, whose own animations can be poses."""

    animation: Literal["none", "active", "all", "pose_library", "markers"]
