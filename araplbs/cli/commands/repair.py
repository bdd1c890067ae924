"""araplbs repair: computes new weights only in regions where `araplbs check` finds a fault."""

from __future__ import annotations

from typing import Any

from ...features.repair.report import repair_notes, repair_summary
from ...gltf.changes import repair_character
from ...gltf.character import Character
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job, on_each_character
from ..own_arguments import add_kinds, kinds_of
from .weight import WITHOUT, refuse_animation


def _change(job: Job, character: Character) -> tuple[dict[str, Any], list[str]]:
    done, report = repair_character(
        character, job.options, kinds_of(job.arguments), job.arguments.threads, job.progress
    )
    job.draw(character, job.options, done.weights)
    return report, [*repair_notes(report), repair_summary(report)]


COMMAND = Command(
    "repair",
    "Solves the weights again where `check` finds a problem. All other weights stay the same, "
    "to the last bit.",
    """examples:
  araplbs repair in.glb -o out.glb
  araplbs repair in.glb -o out.glb --kind speckle --kind bleeding
  araplbs repair in.glb -o out.glb --picture out.png""",
    Options,
    on_each_character(_change),
    also_reads=USD_SUFFIXES,
    without=WITHOUT | {"start_from"},
    add=add_kinds,
    draws=True,
    check=refuse_animation,
)
