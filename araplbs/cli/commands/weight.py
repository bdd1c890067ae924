"""araplbs weight: computes new weights for all skinned meshes of a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base.refusal import Refused, naming
from ...disk.inputs import read_input_text
from ...disk.outputs import CHOICES, write_json
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ...usd.stage import is_usd
from ..command import Command, Job
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
AGAINST_PART = ("skeleton", "predicted", "float_weights")  # they change weights that are kept
ALONE = ("resume", "plan", "timeout")  # for files that are processed one by one
ANIMATIONS = ("NONE", "ALL")
WORSE_THAN_BEFORE = (
    "the new weights are worse than the earlier ones (see the warnings): --if-worse keep keeps "
    "all earlier weights, --keep-bones those of some joints"
)
MOST_BYTES = 1 << 28  # of a file of --only-selected or --parts
MOST_INFLUENCES = next(o.metadata["max"] for o in fields(Options) if o.name == "max_influences")

# The help of arguments that name a file, and of repeatable ones with names.
FILES = {
    "--skeleton": "use the skeleton of another file, for meshes without a skin",
    "--parts": "give loose parts to the bones in this file, as written by --save-parts",
    "--save-parts": "write a .json file with the loose parts that another bone fits as well: to "
    "choose the other bone, replace the value of bone, and weight the file again with --parts",
}
RIGID = {
    "--rigid-material": "keep the shape of parts with this material; repeatable",
    "--rigid-mesh": "keep the shape of the mesh or node with this name; repeatable",
}
PATTERNS = "repeatable. Patterns; NAME/: with all joints below it"
PART = {
    "--only-bones": f"change only the weights of this joint; {PATTERNS}",
    "--keep-bones": f"keep the weights of this joint; {PATTERNS}",
    "--keep-mesh": "keep the weights of the mesh or node with this name; repeatable",
}


def _add(parser: argparse.ArgumentParser) -> None:
    for flag, text in FILES.items():
        parser.add_argument(flag, metavar="FILE", help=text)
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
    _add_names(parser, RIGID)
    parser.add_argument(
        "--float-weights",
        action="store_true",
        help="store weights as floats even if the file has integers",
    )
    add_twist_bones_argument(parser)
    add_if_worse(parser)
    group = parser.add_argument_group("part of a character; everything else stays to the last bit")
    _add_names(group, PART)
    group.add_argument(
        "--only-selected",
        metavar="FILE",
        help='change only these vertices: a JSON file such as {"Body": [0, 1, 2]}, with the '
        "meshes and vertices named as in the findings of check",
    )
    group = parser.add_argument_group("a character in several files")
    group.add_argument(
        "--together",
        action="store_true",
        help="the files are parts of one character with the same skeleton, and are weighted as one",
    )
    _add_names(
        group, {"--lod": "also give this level of detail the new weights; repeatable"}, "FILE"
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


def _add_names(
    group: argparse._ActionsContainer, helps: Mapping[str, str], metavar: str = "NAME"
) -> None:
    for flag, text in helps.items():
        group.add_argument(flag, action="append", default=[], metavar=metavar, help=text)


def _check(arguments: argparse.Namespace) -> None:
    for name in ("parts", "save_parts"):
        if getattr(arguments, name) is not None and len(arguments.input) > 1:
            raise WrongArguments(f"{_flag(name)} is for one file, but there are several")
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
    arguments.selected = _read_selected(arguments.only_selected)
    arguments.keeps = arguments.selected is not None or any(
        (arguments.only_bones, arguments.keep_bones, arguments.keep_mesh)
    )
    for name in AGAINST_PART if arguments.keeps else ():
        if getattr(arguments, name):
            raise WrongArguments(f"{_flag(name)} cannot be used if some of the weights are kept")
    refuse_with_twist_bones(arguments)
    for path in filter(is_usd, [*arguments.input, *arguments.lod]):
        for name in AGAINST_USD:
            if getattr(arguments, name):
                raise WrongArguments(f"{path}: {_flag(name)} does not apply to USD files")
    refuse_animation(arguments)


def _flag(name: str) -> str:
    return "--from" if name == "predicted" else "--" + name.replace("_", "-")


def _check_several(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for arguments that do not suit a character in several files."""
    if arguments.together and arguments.lod:
        raise WrongArguments("--together and --lod cannot be used together")
    if arguments.lod_influences and not arguments.lod:
        raise WrongArguments("--lod-influences needs --lod")
    numbers, levels = arguments.lod_influences, len(arguments.lod)
    if len(numbers) > levels:
        raise WrongArguments(f"--lod-influences has {len(numbers)} numbers for {levels} levels")
    for number in numbers:
        if not 1 <= number <= MOST_INFLUENCES:
            raise WrongArguments(
                f"--lod-influences is {number}: must be from 1 to {MOST_INFLUENCES}"
            )
    for path in arguments.lod:
        refuse_input(path)
    for name, others in (("together", (*ALONE, "skeleton", "predicted")), ("lod", ALONE)):
        for other in others if getattr(arguments, name) else ():
            if getattr(arguments, other) not in (None, False):
                raise WrongArguments(f"--{name} and {_flag(other)} cannot be used together")
    if arguments.together and any(is_obj(name) for name in arguments.input):
        raise WrongArguments("--together cannot be used with .obj files")


def _read_json(option: str, path: str) -> Any:
    """The content of the file of an option; None if it is not JSON. Raises WrongArguments."""
    try:
        return json.loads(read_input_text(path, MOST_BYTES))
    except Refused as error:
        raise WrongArguments(f"{option}: {error}") from None
    except (ValueError, RecursionError):
        return None


def _read_selected(path: str | None) -> dict[str, list[int]] | None:
    """The vertices of --only-selected, by mesh."""
    if path is None:
        return None
    selected = _read_json("--only-selected", path)
    if not isinstance(selected, dict) or not all(map(_are_vertices, selected.values())):
        raise WrongArguments(
            f"--only-selected: {path} must contain names of meshes with lists of vertices, such as "
            '{"Body": [0, 1, 2]}'
        )
    return selected


def _are_vertices(value: object) -> bool:
    return isinstance(value, list) and all(type(each) is int for each in value)


def _read_choices(path: str) -> list[dict[str, Any]]:
    """The choices in a file of --save-parts."""
    content = _read_json("--parts", path)
    if not isinstance(content, dict) or "parts" not in content:
        raise WrongArguments(f"--parts {path}: is not a list of parts as JSON")
    choices = content["parts"]
    if not isinstance(choices, list) or not all(isinstance(each, dict) for each in choices):
        raise WrongArguments(f'--parts {path}: "parts" must be a list of objects')
    return choices


def _defaults(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the preset, combined with the effect of --from."""
    return preset_given(arguments) | ({"start_from": "PRESENT"} if arguments.predicted else {})


def refuse_animation(arguments: argparse.Namespace) -> None:
    """Raises WrongArguments for animation options that do not apply to these files."""
    asked = getattr(arguments, "animation", None)
    if asked and asked.upper() not in ANIMATIONS:
        known = " or ".join(name.lower() for name in ANIMATIONS)
        raise WrongArguments(f"--my-animation is {asked}: must be {known} for these files")


def _work(job: Job) -> None:
    from ...gltf.character import rigid_parts  # loads NumPy

    arguments = job.arguments
    document, characters = _read(job)
    joined = _join(job, characters) if arguments.together else None
    characters = [joined] if joined else characters
    lacks = "no file has a" if joined else "has no"
    rigid = rigid_parts(characters, arguments.rigid_material, arguments.rigid_mesh, lacks)
    choices = _choices_of(job, characters)
    weighted = [
        (character, _weigh(job, character, parts, own))
        for character, parts, own in zip(characters, rigid, choices, strict=True)
    ]
    levels = [] if joined else _carry(job, document, weighted)
    job.save(document)
    others = [member.document for member in joined.members[1:]] if joined else levels
    for other_job, other in zip(job.others, others, strict=True):
        with naming(other_job.source, job.source):
            other_job.save(other)
    if arguments.save_parts:
        doubtful = [part for report in job.reports for part in report["doubtful_parts"]]
        write_json(arguments.save_parts, CHOICES, {"parts": doubtful})
    if any(is_worse(report) and "kept" not in report for report in job.reports):
        job.say(f"{job.source}: {WORSE_THAN_BEFORE}")


def _read(job: Job) -> tuple[Any, list[Character]]:
    """The document of the file and its characters, with the skeleton of another file and predicted
    weights if they are asked for."""
    # These load NumPy, which the main process of --jobs does not need.
    from ...gltf.graft import graft
    from ...gltf.obj import read_obj
    from ...gltf.predicted import Predicted

    arguments = job.arguments
    document, numbers = read_obj(job.source) if is_obj(job.source) else (job.read(), None)
    if arguments.skeleton is not None:
        graft(document, job.read(Path(arguments.skeleton)))
    if arguments.predicted is None:
        return document, job.characters(document)
    with naming(arguments.predicted, job.source):
        predicted = Predicted(arguments.predicted)
    job.refuse_used(predicted.document)
    predicted.give_skeleton(document)
    characters = job.characters(document)
    for character in characters if job.options.start_from == "PRESENT" else ():
        predicted.give_weights(character, numbers)
    return document, characters


def _choices_of(job: Job, characters: list[Character]) -> list[list[dict[str, Any]]]:
    """The choices for each character. Raises Refused for an object that none of them has."""
    owned = [[mesh.name for mesh in character.meshes] for character in characters]
    choices = job.arguments.choices
    for choice in choices:
        name = choice.get("object")
        if not any(name in names for names in owned):
            raise Refused(f"--parts {job.arguments.parts}: there is no mesh {name!r}")
    return [[choice for choice in choices if choice["object"] in names] for names in owned]


def _weigh(
    job: Job, character: Character, rigid: list[Any], choices: list[Any]
) -> list[SparseWeights]:
    """Weights a character, stores the weights in its document, and adds its report. Returns its
    final weights."""
    from ...character.part import Part
    from ...gltf.file.accessors import FLOAT
    from ...gltf.work import weigh_character
    from ...reports.report import notes, summary, warnings

    arguments = job.arguments
    part = Part(arguments.only_bones, arguments.keep_bones, arguments.keep_mesh, arguments.selected)
    found, report = weigh_character(
        *(character, job.options, rigid, arguments.threads, job.progress, True),
        part=part,
        parts=choices,
    )
    rows = found.rows
    if is_worse(report) and arguments.if_worse == FAIL:
        job.code = FINDINGS
    if is_worse(report) and arguments.if_worse == KEEP:
        report["kept"] = True
        rows = character.weights
    else:
        changed = character.changed(rows) if arguments.keeps else None
        changing, written = with_twist_bones(job, character, rows, report)
        changing.write(written, FLOAT if arguments.float_weights else None, changed)
    report["notes"], report["warnings"] = notes(report), warnings(report)
    lines = [f"warning: {line}" for line in report["warnings"]]
    job.add(character, report, [*report["notes"], *lines, summary(report)])
    job.draw(character, job.options, found.rows)
    return rows


def _join(job: Job, first: list[Character]) -> Joined:
    """The characters of all files as one."""
    from ...gltf.several import joined

    members = []
    for part in [job, *job.others]:
        with naming(part.source, job.source):
            characters = first if part is job else part.characters(part.read())
        if len(characters) > 1:
            raise Refused(f"{part.source} has {len(characters)} skeletons: --together needs one")
        members += characters
    return joined(members)


def _carry(
    job: Job, document: Document, first: list[tuple[Character, list[SparseWeights]]]
) -> list[Document]:
    """Gives the levels of detail the weights of the first level. Returns their documents."""
    from ...features.transfer.options import TransferOptions
    from ...features.transfer.transfer import transfer_summary, transfer_warnings
    from ...gltf.graft import graft
    from ...gltf.several import carry_to_level

    limits = job.arguments.lod_influences or [job.options.max_influences]
    documents = []
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
            job.reports[0].setdefault("levels", []).append(report)
        documents.append(other)
    return documents


COMMAND = Command(
    "weight",
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
    page=True,
    add=_add,
    check=_check,
    defaults=_defaults,
)
