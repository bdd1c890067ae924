"""araplbs check: reports findings about the weights in a file."""

from __future__ import annotations

from ...features.check.findings import check_summary
from ...gltf.check import check_character
from ...model.options import Options
from ..command import Command, Job, Outcome
from ..own_arguments import add_fail_on, code_of_findings
from .weight import refuse_animation

ONLY = frozenset(
    (
        *("max_influences", "symmetric", "swing", "twist", "limb_twist", "reach_poses", "seed"),
        *("bone_directions", "animation", "animation_frames"),
    )
)


def _work(job: Job) -> Outcome:
    outcome = Outcome()
    for character in job.characters(job.read()):
        found = check_character(character, job.options, job.arguments.threads, job.progress)
        report = found.as_dict(character)
        outcome.characters.append(report)
        job.say(f"{job.source}: {character.name}: {check_summary(report)}")
        if job.arguments.report:
            from ...reports.worst_picture import worst_picture

            problem, threads = found.problem, job.arguments.threads
            outcome.pictures.append(worst_picture(problem, found.rows, job.options, None, threads))
    outcome.code = code_of_findings(job.arguments, outcome.characters)
    return outcome


COMMAND = Command(
    "check",
    "report problems with the weights of a file",
    "Prints findings about the weights of each file, worst first, and changes no file.",
    """examples:
  araplbs check out.glb
  araplbs check *.glb --fail-on medium --json findings.json

exit codes: 0 no finding reaches --fail-on, 3 a finding does, 1 a file could not be checked""",
    Options,
    _work,
    saves=False,
    only=ONLY,
    add=add_fail_on,
    check=refuse_animation,
)
