"""The options of Transfer Weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...base.option_table import OptionTable, option, option_of, setting
from ...model.options import Options

# Share of the source's size: a vertex within this distance matches regardless of its direction.
NEAR = 0.01


REFINING_POSES = 32


@dataclass(frozen=True)
class TransferOptions(OptionTable):
    """The options of Transfer Weights."""

    sources: str = option(
        "AUTOMATIC",
        "Sources",
        "The meshes whose weights are taken",
        choices=(
            ("ACTIVE", "Active Object", "From the active mesh to all other selected meshes"),
            (
                "WEIGHTED",
                "Weighted Objects",
                "From all selected meshes with weights to those without, or to those that got "
                "their weights from the others",
            ),
            (
                "AUTOMATIC",  # last, because files contain the numbers of the others
                "Automatic",
                "From the active mesh. If it has no weights, or got its weights from another "
                "selected mesh, from that mesh",
            ),
        ),
    )
    distance: float = setting(
        "MATCH",
        "distance",
        "Distance",
        "Largest distance from the source at which a vertex matches, as a fraction of "
        "the source's size",
        max=10.0,
        soft_max=0.2,
    )
    angle: float = setting(
        "MATCH",
        "angle",
        "Angle",
        "Largest angle between the two surfaces at which a vertex matches",
        max=math.pi,
        angle=True,
    )
    two_sided: bool = setting(
        "MATCH",
        "two_sided",
        "Both Sides",
        "Also match the inside of thick or doubled cloth: normals may point in opposite directions",
        default=True,
    )
    refine: bool = option(
        True,
        "Refine",
        "Optimize, as Auto-weight does, the weights that were filled in or taken from farther "
        "away. Close matches stay unchanged",
    )
    bones: str = option(
        "ALL",
        "Bones",
        "The bones whose weights are written",
        choices=(
            ("ALL", "All", "All deform bones"),
            ("SELECTED", "Selected", "Deform bones selected in Pose mode"),
        ),
    )
    mix: float = option(
        1.0,
        "Mix",
        "Fraction of the new weights in vertices that already have weights",
        min=0.0,
        max=1.0,
    )
    force: bool = option(
        False,
        "Force",
        "Also transfer to meshes of which few vertices match, without asking",
    )
    max_influences: int = option_of(Options, "max_influences")
    iterations: int = option_of(Options, "iterations")

    def refining(self) -> Options:
        """The Options of the refinement, without widening, because the interpolated regions are
        already wide."""
        return Options(
            max_influences=self.max_influences,
            iterations=self.iterations,
            expansion_rounds=1,
            start_from="PRESENT",
            symmetric=False,
            bone_spring_stiffness=0.0,
            pose_count=REFINING_POSES,
        )
