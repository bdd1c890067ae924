"""araplbs joints: finds better joint positions."""

from __future__ import annotations

from typing import Any

from ...features.joints.joints import joint_summary
from ...features.joints.options import JointOptions
from ...gltf.character import Character
from ...gltf.joints import improve_joints
from ..command import Command, Job, on_each_character
from .weight import WITHOUT, refuse_animation


def _change(job: Job, character: Character) -> tuple[dict[str, Any], list[str]]:
    report = improve_joints(character, job.options, job.arguments.threads, job.progress)
    return report, [joint_summary(report)]


COMMAND = Command(
    "joints",
    "Moves the joints of each file to the positions at which the posed mesh is most rigid, and "
    "optimizes the weights with them. Animations are kept: their curves move with the joints.",
    """examples:
  araplbs joints in.glb -o out.glb
  araplbs joints in.glb -o out.glb --anchor 1 --no-also-weights""",
    JointOptions,
    on_each_character(_change),
    without=WITHOUT,
    check=refuse_animation,
)
