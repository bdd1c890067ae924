"""The options and the summary of Deform With, which chooses the deformer of meshes in Blender."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.option_table import OptionTable, option
from ..reports.report import names_in_line
from ..skeleton.skeleton import Skeleton

ARMATURE, DUAL_QUATERNIONS, CENTERS = "ARMATURE", "DUAL_QUATERNIONS", "CENTERS"
STRETCH_TWIST = "STRETCH_TWIST"
DEFORMERS = (
    (ARMATURE, "Armature", "The Armature modifier, which all other programs know"),
    (
        DUAL_QUATERNIONS,
        "Dual Quaternions",
        "Geometry Nodes that deform as the Armature modifier does with Preserve Volume",
    ),
    (
        CENTERS,
        "Centers of Rotation",
        "Geometry Nodes that rotate every vertex about the center of the vertices with similar "
        "weights. Choose this again after the weights have changed",
    ),
    (
        STRETCH_TWIST,
        "Stretchable-Twistable Bones",
        "Geometry Nodes that distribute twist evenly along bones, and stretch the mesh only "
        "between the ends of stretchable bones",
    ),
)
SAME_JOINT = 0.01  # distance between a tail and a head at one joint, relative to the bone's length


@dataclass(frozen=True)
class DeformWithOptions(OptionTable):
    """The options of Deform With. Raises BadOption for an unknown deformer."""

    deformer: str = option(
        CENTERS, "Deformer", "The method by which the bones move the vertices", choices=DEFORMERS
    )


def deform_with_summary(report: dict[str, Any]) -> str:
    """The sentence that reports the deformer of the meshes."""
    label = next(label for name, label, _about in DEFORMERS if name == report["deformer"])
    names = names_in_line([f"'{ob['name']}'" for ob in report["objects"]])
    return f"{names}: deformed with {label}"


@dataclass(frozen=True)
class SharedTwists:
    """How stretchable-twistable bones twist and stretch.

    Every twist of a deform bone relative to the deform bone above it is shared out once: along the
    bone above, if its tail is the head of this bone alone, and otherwise along the bone itself.
    above, below (m,): the bones relative to which a bone twists at its head and at its tail, the
    bone itself for none. exponents (m,): the stretch of a bone is its length relative to its width
    to this power; 0: the bone does not stretch.
    """

    above: Integers
    below: Integers
    exponents: Floats

    @classmethod
    def of(cls, skeleton: Skeleton, rigid: Bools) -> "SharedTwists":
        """rigid (m,): bones that neither twist nor stretch."""
        m, parents = len(skeleton.names), skeleton.deform_ancestors
        children = np.flatnonzero(skeleton.deform & (parents >= 0))
        gaps = skeleton.heads[children] - skeleton.tails[parents[children]]
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)[parents[children]]
        at_tail = children[np.linalg.norm(gaps, axis=1) <= SAME_JOINT * lengths]
        count = np.bincount(parents[at_tail], minlength=m)
        above, below = np.arange(m), np.arange(m)
        for b in children:
            p = parents[b]
            if b in at_tail and count[p] == 1 and not rigid[p]:
                below[p] = b
            elif not rigid[b]:
                above[b] = p
        # With preserved volume, the width is the root of the inverse stretch.
        powers = np.where(skeleton.volume, 2 / 3, 1)
        return cls(above, below, np.where(skeleton.own_stretch & ~rigid, powers, 0))
