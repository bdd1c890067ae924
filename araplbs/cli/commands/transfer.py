"""araplbs transfer: transfers weights from some meshes to others on the same skeleton."""

from __future__ import annotations

from functools import partial

from ...base.refusal import Refused
from ...features.transfer.options import TransferOptions
from ...features.transfer.transfer import transfer_summary, transfer_warnings
from ...gltf.changes import transfer_in_character
from ...gltf.character import Character
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job
from ..own_arguments import add_sources_and_targets


def _work(job: Job) -> None:
    arguments, document = job.arguments, job.read()
    character = _with_mesh(job.characters(document), arguments.source[0])
    rows, report = transfer_in_character(
        character,
        arguments.source,
        arguments.target,
        job.options,
        arguments.threads,
        job.progress,
    )
    report |= {"vertices": sum(each["vertices"] for each in report["objects"])}
    report["warnings"] = transfer_warnings(report)
    warnings = [f"warning: {line}" for line in report["warnings"]]
    job.add(character, report, [*warnings, transfer_summary(report)])
    job.draw(character, Options(), rows)
    job.save(document)


def _with_mesh(characters: list[Character], name: str) -> Character:
    for character in characters:
        if any(name in mesh.names for mesh in character.skinned):
            return character
    raise Refused(f"has no skinned mesh '{name}'")


COMMAND = Command(
    "transfer",
    "Gives target meshes the weights of source meshes with the same skeleton: for example, "
    "clothes get the weights of the body, or a simplified mesh those of the original.",
    """examples:
  araplbs transfer in.glb -o out.glb --source Body --target Shirt --target Skirt
  araplbs transfer in.glb -o out.glb --source Body --target Shirt --picture out.png""",
    TransferOptions,
    _work,
    also_reads=USD_SUFFIXES,
    without=frozenset(("sources", "bones")),
    draws=True,
    add=partial(add_sources_and_targets, what="a mesh, or its node,"),
)
