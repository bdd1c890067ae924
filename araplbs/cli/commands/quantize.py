"""araplbs quantize: quantizes weights to the integer steps that game engines store."""

from __future__ import annotations

from ...features.quantize import QuantizeOptions, summary_of_quantized
from ...gltf.changes import quantize_character
from ...gltf.character import characters_of
from ...gltf.file.container import read_document, save_document
from ..command import Command, Job, Outcome


def _work(job: Job) -> Outcome:
    document, outcome = read_document(job.source), Outcome()
    for character in characters_of(document):
        report = quantize_character(character, job.options)
        job.say(f"  {character.name}: {summary_of_quantized(report)}")
        outcome.characters.append(report)
    job.save(document, save_document)
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
    page=False,
)
