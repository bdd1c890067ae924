"""araplbs joints: finds better joint positions."""

from __future__ import annotations

from ...features.joints.joints import joint_summary
from ...features.joints.options import JointOptions
from ...gltf.joints import improve_joints
from ..command import Command, Job, Outcome
from .weight import WITHOUT, refuse_animation


def _work(job: Job) -> Outcome:
    document, outcome = job.read(), Outcome()
    for character in job.characters(document):
        _solution, report = improve_joints(
            character, job.options, job.arguments.threads, job.progress
        )
        job.say(f"  {character.name}: {joint_summary(report)}")
        outcome.characters.append(report)
    job.save(document)
    return outcome


COMMAND = Command(
    "joints",
    "move joints to better positions, with new weights",
    "Moves the joints of each file to the positions at which the posed mesh is most rigid, and "
    "optimizes the weights with them. Animations are kept: their curves move with the joints.",
    """examples:
  araplbs joints in.glb -o out.glb
  araplbs joints in.glb -o out.glb --anchor 1 --no-also-weights""",
    JointOptions,
    _work,
    without=WITHOUT,
    check=refuse_animation,
    page=False,
)
