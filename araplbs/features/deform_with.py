"""The options and the summary of Deform With, which chooses the deformer of meshes in Blender."""

from dataclasses import dataclass
from typing import Any

from ..base.option_table import OptionTable, option
from ..reports.report import names_in_line

ARMATURE, DUAL_QUATERNIONS, CENTERS = "ARMATURE", "DUAL_QUATERNIONS", "CENTERS"
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
)


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
