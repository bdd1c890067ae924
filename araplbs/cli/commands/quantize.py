"""araplbs quantize: quantizes weights to the integer steps that game engines store."""

from __future__ import annotations

from typing import Any

from ...features.quantize import QuantizeOptions, summary_of_quantized
from ...gltf.changes import quantize_character
from ...gltf.character import Character
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job, on_each_character


def _change(job: Job, character: Character) -> tuple[dict[str, Any], list[str]]:
    report = quantize_character(character, job.options)
    return report, [summary_of_quantized(report)]


COMMAND = Command(
    "quantize",
    "Rounds the weights of each file to whole steps that sum to exactly 1, and stores them in "
    "this form.",
    """examples:
  araplbs quantize in.glb -o out.glb
  araplbs quantize in.glb -o out.glb --bits 16 --platform mobile""",
    QuantizeOptions,
    on_each_character(_change),
    also_reads=USD_SUFFIXES,
)
