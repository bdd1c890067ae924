"""The argument --twist-bones, which adds joints to limbs of the weighted characters."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..base.refusal import Refused
from .errors import WrongArguments

if TYPE_CHECKING:
    from ..gltf.character import Character
    from ..model.sparse_weights import SparseWeights
    from .command import Job

CHOICES = ("gain", "upper-arms", "forearms", "thighs")


def add_twist_bones_argument(parser: argparse.ArgumentParser) -> None:
    """Adds the argument."""
    parser.add_argument(
        "--twist-bones",
        action="append",
        default=[],
        choices=CHOICES,
        metavar="LIMBS",
        help="also add joints that take half of the twist of these limbs, with keys in all "
        "animations: gain (where the skin then stretches less), upper-arms, forearms or thighs; "
        "repeatable",
    )


def refuse_with_twist_bones(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for arguments and files that cannot be used with --twist-bones."""
    if arguments.twist_bones and (arguments.keeps or arguments.together or arguments.lod):
        raise WrongArguments(
            "--twist-bones cannot be used with --together and --lod, or if some of the weights "
            "are kept"
        )


def with_twist_bones(
    job: Job, character: Character, rows: list[SparseWeights], report: dict[str, Any]
) -> tuple[Character, list[SparseWeights]]:
    """The character and its weights, with the twist bones that are asked for."""
    from ..gltf.twist_bones import add_twist_bones

    kinds = job.arguments.twist_bones
    if not kinds:
        return character, rows
    most, threads = job.options.max_influences, job.arguments.threads
    try:
        character, rows, names = add_twist_bones(character, rows, kinds, most, threads)
    except Refused as reason:
        job.say(f"  {character.name}: no twist bones added: {reason}")
        return character, rows
    report["twist_bones"] = names
    job.say(f"  {character.name}: twist bones added: {', '.join(names)}")
    return character, rows
