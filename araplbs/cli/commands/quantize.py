"""araplbs quantize: quantizes weights to the integer steps that game engines store."""

from __future__ import annotations

from ...features.quantize import QuantizeOptions, summary_of_quantized
from ...gltf.changes import quantize_character
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job, Outcome


def _work(job: Job) -> Outcome:
    document, outcome = job.read(), Outcome()
    for character in job.characters(document):
        report = quantize_character(character, job.options)
        job.say(f"  {character.name}: {summary_of_quantized(report)}")
        outcome.characters.append(report)
    job.save(document)
    return outcome


COMMAND = Command(
    "quantize",
    "store weights in 8 or 16 bits with an exact sum",
    "Rounds the weights of each file to whole steps that sum to exactly 1, and stores them in "
    "this form.",
    """examples:
  araplbs quantize in.glb -o out.glb
  araplbs quantize in.glb -o out.glb --bits 16 --platform mobile""",
    QuantizeOptions,
    _work,
    also_reads=USD_SUFFIXES,
    page=False,
)
