"""araplbs repair: computes new weights only in regions where `araplbs check` finds a fault."""

from __future__ import annotations

from ...features.repair.report import repair_notes, repair_summary
from ...gltf.changes import repair_character
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job, Outcome
from ..own_arguments import add_kinds, kinds_of
from .weight import WITHOUT, refuse_animation


def _work(job: Job) -> Outcome:
    document, outcome = job.read(), Outcome()
    for character in job.characters(document):
        done, report = repair_character(
            character, job.options, kinds_of(job.arguments), job.arguments.threads, job.progress
        )
        for line in [*repair_notes(report), repair_summary(report)]:
            job.say(f"  {character.name}: {line}")
        outcome.characters.append(report)
        job.draw(character, job.options, done.weights)
    job.save(document)
    return outcome


COMMAND = Command(
    "repair",
    "repair problems with the weights of a file",
    "Solves the weights again where `check` finds a problem. All other weights stay the same, "
    "to the last bit.",
    """examples:
  araplbs repair in.glb -o out.glb
  araplbs repair in.glb -o out.glb --kind speckle --kind bleeding
  araplbs repair in.glb -o out.glb --picture out.png""",
    Options,
    _work,
    also_reads=USD_SUFFIXES,
    without=WITHOUT | {"start_from"},
    add=add_kinds,
    draws=True,
    check=refuse_animation,
    page=False,
)
