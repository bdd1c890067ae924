"""araplbs reduce-bones: computes weights for fewer joints."""

from __future__ import annotations

import argparse
from typing import Any

from ...features.reduce_bones.reduce_bones import ReduceBonesOptions, reduce_bones_summary
from ...gltf.changes import reduce_character
from ...gltf.character import Character
from ...reports.report import names_in_line
from ..command import Command, Job, on_each_character
from ..errors import WrongArguments
from .weight import refuse_animation


def _check(arguments: argparse.Namespace) -> None:
    refuse_animation(arguments)
    if getattr(arguments, "which", None) == "selected":
        raise WrongArguments("--remove is selected: must be count or ends for these files")


def _change(job: Job, character: Character) -> tuple[dict[str, Any], list[str]]:
    report = reduce_character(
        character, job.options, job.options.posing(), job.arguments.threads, job.progress
    )
    if "unchanged" in report:
        return report, [f"{report['unchanged']}: unchanged"]
    names = names_in_line([f"'{name}'" for name in report["removed"]])
    skins = names_in_line([f"{count}" for count in report["skin_joints"]])
    return report, [
        f"these joints now move nothing: {names}",
        f"joints in the skin, without unused ones: {skins}",
        reduce_bones_summary(report),
    ]


COMMAND = Command(
    "reduce-bones",
    "Removes the weights of the joints that a character needs least, and solves the weights of the "
    "other joints again. Joints that no vertex uses leave the skin, but their nodes stay.",
    """examples:
  araplbs reduce-bones in.glb -o out.glb --bones 30
  araplbs reduce-bones in.glb -o out.glb --remove ends""",
    ReduceBonesOptions,
    on_each_character(_change),
    check=_check,
)
