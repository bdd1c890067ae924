"""Defines the options of Compare Methods."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.option_table import OptionTable, option, option_of
from ...model.options import Options


@dataclass(frozen=True)
class CompareOptions(OptionTable):
    max_influences: int = option_of(Options, "max_influences")
    judged_poses: int = option(
        24,
        "Test Poses",
        "Number of random test poses. No method was optimized for them",
        min=1,
        max=1000,
        soft_max=100,
    )
    judged_frames: int = option(
        24,
        "Test Frames",
        "Maximum number of frames of the armature's actions used as test poses, evenly "
        "spaced over all of them",
        min=0,
        max=1000,
        soft_max=100,
    )
    seed: int = option_of(Options, "seed")
