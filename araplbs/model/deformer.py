"""Deformation by an Armature modifier beyond linear blending: Preserve Volume and Bone
Envelopes."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Envelopes:
    """Of m bones, in armature space."""

    multiply: np.ndarray  # (m,) bool: vertex groups count as much as the envelope says
    head_radius: np.ndarray  # (m,)
    tail_radius: np.ndarray  # (m,)
    distance: np.ndarray  # (m,) from the envelope to where it ends
    weight: np.ndarray  # (m,) where there is no vertex group


@dataclass
class Deformer:
    """An Armature modifier."""

    envelopes: Envelopes
    preserve_volume: bool = False
    use_groups: bool = True
    use_envelopes: bool = False  # for vertices that are in no group of a deform bone
