"""Describes how an Armature modifier deforms beyond linear blending: Preserve Volume and Bone
Envelopes."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Envelopes:
    """Envelopes of m bones, in armature space."""

    multiply: np.ndarray  # (m,) bool: the envelope scales the weights of vertex groups
    head_radius: np.ndarray  # (m,)
    tail_radius: np.ndarray  # (m,)
    distance: np.ndarray  # (m,) from the envelope to its outer limit
    weight: np.ndarray  # (m,) used for vertices without vertex groups


@dataclass
class Deformer:
    """An Armature modifier."""

    envelopes: Envelopes
    preserve_volume: bool = False
    use_groups: bool = True
    use_envelopes: bool = False  # for vertices in no group of a deform bone
