"""araplbs weight: computes new weights for all skinned meshes of a file."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.refusal import Refused, naming
from ...disk.inputs import read_input_text
from ...disk.outputs import CHOICES, write_json
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ...usd.stage import is_usd
from ..command import Command, Job, Outcome
from ..errors import FINDINGS, WrongArguments
from ..files import OBJ, RIGS, is_obj, refuse_input
from ..options import preset_given
from ..twist_bones import add_twist_bones_argument, refuse_with_twist_bones, with_twist_bones
from ..worse import FAIL, KEEP, add_if_worse, is_worse

if TYPE_CHECKING:
    from ...gltf.character import Character
    from ...gltf.file.container import Document
    from ...gltf.several import Joined
    from ...model.sparse_weights import SparseWeights

# Panel options for data that glTF files cannot contain.
WITHOUT = frozenset(
    ("volume", "tet_file", "tet_space", "use_joint_limits", "through_rig", "deformer")
)
AGAINST_USD = ("skeleton", "predicted", "together", "lod", "twist_bones")
ANIMATIONS = ("NONE", "ALL")
# Arguments that replace all weights, or change how they are stored.
AGAINST_PART = {"skeleton": "--skeleton", "predicted": "--from", "float_weights": "--float-weights"}
WORSE_THAN_BEFORE = (
    "the new weights are worse than the earlier ones (see the warnings): --if-worse keep keeps "
    "all earlier weights, --keep-bones those of some joints"
)
MOST_BYTES = 1 << 28  # of a file of --only-selected


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--skeleton",
        metavar="FILE",
        help="use the skeleton of another file, for meshes without a skin",
    )
    parser.add_argument(
        "--from",
        dest="predicted",
        metavar="FILE",
        help="use a rig that a network predicted for this mesh (.glb, .gltf, .vrm, or .txt as "
        "written by RigNet and Puppeteer): its skeleton, and its weights as the start. With "
        "--start-from fresh, its weights are ignored",
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help="use the options of this preset: game-4, unity, unreal, vrchat...; options given "
        "explicitly take precedence",
    )
    parser.add_argument(
        "--rigid-material",
        action="append",
        default=[],
        metavar="NAME",
        help="keep the shape of parts with this material; repeatable",
    )
    parser.add_argument(
        "--rigid-mesh",
        action="append",
        default=[],
        metavar="NAME",
        help="keep the shape of the mesh or node with this name; repeatable",
    )
    parser.add_argument(
        "--parts",
        metavar="FILE",
        help="give loose parts to the bones in this file, as written by --save-parts",
    )
    parser.add_argument(
        "--save-parts",
        metavar="FILE",
        help="write a .json file with the loose parts that another bone fits as well: to choose "
        "the other bone, replace the value of bone, and weight the file again with --parts",
    )
    parser.add_argument(
        "--float-weights",
        action="store_true",
        help="store weights as floats even if the file has integers",
    )
    add_twist_bones_argument(parser)
    add_if_worse(parser)
    _add_part(parser)
    group = parser.add_argument_group("a character in several files")
    group.add_argument(
        "--together",
        action="store_true",
        help="the files are parts of one character with the same skeleton, and are weighted as one",
    )
    group.add_argument(
        "--lod",
        action="append",
        default=[],
        metavar="FILE",
        help="also give this level of detail the new weights; repeatable",
    )
    group.add_argument(
        "--lod-influences",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="largest number of influences in each level, in the order of --lod; the last number "
        "also applies to all further levels (default: --max-influences)",
    )


def _add_part(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("part of a character; everything else stays to the last bit")
    for flag, metavar, text in (
        ("--only-bones", "NAME", "change only the weights of this joint"),
        ("--keep-bones", "NAME", "keep the weights of this joint"),
        ("--keep-mesh", "NAME", "keep the weights of the mesh or node with this name"),
    ):
        more = "" if flag == "--keep-mesh" else ". Patterns; NAME/: with all joints below it"
        group.add_argument(
            flag, action="append", default=[], metavar=metavar, help=f"{text}; repeatable{more}"
        )
    group.add_argument(
        "--only-selected",
        metavar="FILE",
        help='change only these vertices: a JSON file such as {"Body": [0, 1, 2]}, with the '
        "meshes and vertices named as in the findings of check",
    )


def _read_part(arguments: argparse.Namespace) -> None:
    """Reads the selected vertices into the arguments. Raises WrongArguments."""
    selected = None
    if arguments.only_selected is not None:
        try:
            selected = json.loads(read_input_text(arguments.only_selected, MOST_BYTES))
        except Refused as error:
            raise WrongArguments(f"--only-selected: {error}") from None
        except (ValueError, RecursionError):
            selected = []
        if not isinstance(selected, dict) or not all(map(_are_vertices, selected.values())):
            raise WrongArguments(
                f"--only-selected: {arguments.only_selected} must contain names of meshes with "
                'lists of vertices, such as {"Body": [0, 1, 2]}'
            )
    arguments.selected = selected
    arguments.keeps = selected is not None or any(
        (arguments.only_bones, arguments.keep_bones, arguments.keep_mesh)
    )
    for name, flag in AGAINST_PART.items() if arguments.keeps else ():
        if getattr(arguments, name):
            raise WrongArguments(f"{flag} cannot be used if some of the weights are kept")


def _check_several(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for arguments that do not suit a character in several files."""
    given = [name for name in ("together", "lod") if getattr(arguments, name)]
    if len(given) > 1:
        raise WrongArguments("--together and --lod cannot be used together")
    if arguments.lod_influences and not arguments.lod:
        raise WrongArguments("--lod-influences needs --lod")
    numbers, levels = arguments.lod_influences, len(arguments.lod)
    if len(numbers) > levels:
        raise WrongArguments(f"--lod-influences has {len(numbers)} numbers for {levels} levels")
    most = next(each.metadata["max"] for each in fields(Options) if each.name == "max_influences")
    for number in numbers:
        if not 1 <= number <= most:
            raise WrongArguments(f"--lod-influences is {number}: must be from 1 to {most}")
    for path in arguments.lod:
        refuse_input(path)
    for name in given:
        for other in ("resume", "plan", "timeout", *(AGAINST_PART if name == "together" else ())):
            if getattr(arguments, other) not in (None, False):
                flag = AGAINST_PART.get(other, f"--{other}")
                if flag != "--float-weights":
                    raise WrongArguments(f"--{name} and {flag} cannot be used together")
    if arguments.together and any(is_obj(name) for name in arguments.input):
        raise WrongArguments("--together cannot be used with .obj files")


def _refuse_for_usd(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for arguments that do not apply to USD files."""
    for path in filter(is_usd, [*arguments.input, *arguments.lod]):
        for name in AGAINST_USD:
            if getattr(arguments, name):
                flag = "from" if name == "predicted" else name.replace("_", "-")
                raise WrongArguments(f"{path}: --{flag} does not apply to USD files")


def _are_vertices(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)


def _defaults(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the preset, combined with the effect of --from."""
    return preset_given(arguments) | ({"start_from": "PRESENT"} if arguments.predicted else {})


def _check(arguments: argparse.Namespace) -> None:
    for name in ("parts", "save_parts"):
        if getattr(arguments, name) is not None and len(arguments.input) > 1:
            option = name.replace("_", "-")
            raise WrongArguments(f"--{option} is for one file, but there are several")
    arguments.choices = _read_choices(arguments.parts) if arguments.parts else []
    if arguments.skeleton is not None:
        refuse_input(arguments.skeleton)
    if arguments.predicted is not None:
        refuse_input(arguments.predicted, RIGS)
        if arguments.skeleton is not None:
            raise WrongArguments("--from and --skeleton cannot be used together")
    elif arguments.skeleton is None and any(is_obj(name) for name in arguments.input):
        raise WrongArguments("an .obj file has no skeleton: specify one with --from or --skeleton")
    _check_several(arguments)
    _read_part(arguments)
    refuse_with_twist_bones(arguments)
    _refuse_for_usd(arguments)
    refuse_animation(arguments)


def _read_choices(path: str) -> list[dict[str, Any]]:
    """The choices in a file of --save-parts."""
    try:
        found = json.loads(read_input_text(path, MOST_BYTES))["parts"]
    except Refused as error:
        raise WrongArguments(f"--parts: {error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise WrongArguments(f"--parts {path}: is not a list of parts as JSON") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise WrongArguments(f'--parts {path}: "parts" must be a list of objects')
    return found


def _choices_of(job: Job, characters: list[Character]) -> list[list[dict[str, Any]]]:
    """The choices for each character. Raises Refused for an object that none of them has."""
    owned = [{mesh.name for mesh in character.meshes} for character in characters]
    for choice in job.arguments.choices:
        name = choice.get("object")
        if name not in set().union(*owned):
            raise Refused(f"--parts {job.arguments.parts}: there is no mesh {name!r}")
    every = job.arguments.choices
    return [[choice for choice in every if choice["object"] in own] for own in owned]


def refuse_animation(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for animation options that do not apply to these files."""
    asked = getattr(arguments, "animation", None)
    if asked and asked.upper() not in ANIMATIONS:
        known = " or ".join(name.lower() for name in ANIMATIONS)
        raise WrongArguments(f"--my-animation is {asked}: must be {known} for these files")


def _work(job: Job) -> Outcome:
    # These load NumPy, which the main process of --jobs does not need.
    from ...character.part import Part
    from ...gltf.file.accessors import FLOAT
    from ...gltf.graft import graft
    from ...gltf.obj import read_obj
    from ...gltf.predicted import Predicted
    from ...gltf.work import weigh_character
    from ...reports.report import notes, summary, warnings

    arguments, outcome = job.arguments, Outcome()
    part = Part(arguments.only_bones, arguments.keep_bones, arguments.keep_mesh, arguments.selected)
    document, numbers = read_obj(job.source) if is_obj(job.source) else (job.read(), None)
    predicted = None
    if arguments.skeleton is not None:
        graft(document, job.read(Path(arguments.skeleton)))
    elif arguments.predicted is not None:
        with naming(arguments.predicted, job.source):
            predicted = Predicted(arguments.predicted)
        job.refuse_used(predicted.document)
        predicted.give_skeleton(document)
    characters = job.characters(document)
    joined = _join(job, characters) if arguments.together else None
    characters = [joined] if joined else characters
    choices = _choices_of(job, characters)
    first: list[tuple[Character, list[SparseWeights]]] = []  # with their final weights
    for character, parts in zip(characters, choices, strict=True):
        if predicted and job.options.start_from == "PRESENT":
            predicted.give_weights(character, numbers)
        rigid = character.parts_of(arguments.rigid_material, arguments.rigid_mesh)
        found, report = weigh_character(
            *(character, job.options, rigid, arguments.threads, job.progress, True),
            part=part,
            parts=parts,
        )
        if is_worse(report) and arguments.if_worse == FAIL:
            outcome.code = FINDINGS
        if is_worse(report) and arguments.if_worse == KEEP:
            report["kept"] = True
            first.append((character, character.weights))
        else:
            first.append((character, found.rows))
            changed = character.changed(found.rows) if arguments.keeps else None
            changing, rows = with_twist_bones(job, character, found.rows, report)
            changing.write(rows, FLOAT if arguments.float_weights else None, changed)
        report["notes"], report["warnings"] = notes(report), warnings(report)
        outcome.characters.append(report)
        for line in report["notes"]:
            job.say(f"  {character.name}: {line}")
        for line in report["warnings"]:
            job.say(f"  {character.name}: warning: {line}")
        job.say(f"  {character.name}: {summary(report)}")
        job.draw(character, job.options, found.rows)
    levels = [] if joined else _carry(job, document, first, outcome)
    job.save(document)
    others = [member.document for member in joined.members[1:]] if joined else levels
    for each, other in zip(job.others, others, strict=True):
        with naming(each.source, job.source):
            each.save(other)
    if arguments.save_parts:
        found_parts = [part for report in outcome.characters for part in report["doubtful_parts"]]
        write_json(arguments.save_parts, CHOICES, {"parts": found_parts})
    if any(is_worse(report) and "kept" not in report for report in outcome.characters):
        job.say(f"{job.source}: {WORSE_THAN_BEFORE}")
    return outcome


def _join(job: Job, first: list[Character]) -> Joined:
    """The characters of all files as one."""
    from ...gltf.several import joined

    members = []
    for each in [job, *job.others]:
        with naming(each.source, job.source):
            found = first if each is job else each.characters(each.read())
        if len(found) > 1:
            raise Refused(f"{each.source} has {len(found)} skeletons: --together needs one")
        members += found
    return joined(members)


def _carry(
    job: Job,
    document: Document,
    first: list[tuple[Character, list[SparseWeights]]],
    outcome: Outcome,
) -> list[Document]:
    """Gives the levels of detail the weights of the first level. Returns their documents."""
    from ...features.transfer.options import TransferOptions
    from ...features.transfer.transfer import transfer_summary, transfer_warnings
    from ...gltf.graft import graft
    from ...gltf.several import carry_to_level

    limits = job.arguments.lod_influences or [job.options.max_influences]
    found = []
    for number, level in enumerate(job.others):
        options = TransferOptions(max_influences=limits[min(number, len(limits) - 1)])
        with naming(level.source, job.source):
            other = level.read()
            if not any("skin" in node for node in other.items("nodes")):
                graft(other, document)
            characters = level.characters(other)
        for character in characters:
            report = carry_to_level(first, character, options, job.arguments.threads, job.progress)
            report["warnings"] = transfer_warnings(report)
            report["input"] = str(level.source)
            for line in [*(f"warning: {w}" for w in report["warnings"]), transfer_summary(report)]:
                job.say(f"  {level.source.name}: {character.name}: {line}")
            outcome.characters[0].setdefault("levels", []).append(report)
        found.append(other)
    return found


COMMAND = Command(
    "weight",
    "compute new weights for the skinned meshes of a file",
    "Computes new weights for all skinned meshes of each file. All other data stays the same: "
    "textures, animations and other arrays byte for byte, and the JSON in its values.",
    """examples:
  araplbs weight in.glb -o out.glb
  araplbs weight in.glb -o out.glb --max-influences 8 --report page.html
  araplbs weight in.glb -o out.glb --preset unity
  araplbs weight in.glb -o out.glb --picture out.png
  araplbs weight characters/*.glb -o weighted/ --jobs 4
  araplbs weight in.glb -o out.glb --save-parts parts.json
  araplbs weight in.glb -o out.glb --parts parts.json
  araplbs weight body.glb -o rigged.glb --skeleton skeleton.glb
  araplbs weight mesh.obj -o rigged.glb --from rig.txt
  araplbs weight in.glb -o out.glb --twist-bones gain
  araplbs weight in.glb -o out.glb --only-bones LeftArm/
  araplbs weight in.glb -o out.glb --keep-mesh Face --keep-bones Jaw
  araplbs weight --together body.glb hair.glb -o out/
  araplbs weight hero.glb -o out/ --lod hero_lod1.glb --lod hero_lod2.glb""",
    Options,
    _work,
    without=WITHOUT,
    also_reads=(OBJ, *USD_SUFFIXES),
    draws=True,
    add=_add,
    check=_check,
    defaults=_defaults,
)
