"""Determines the files that a command reads and writes, before any work begins. Both command lines,
`araplbs` and `blender -c araplbs`, follow these rules."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..base.refusal import Refused
from ..disk.outputs import CHOICES, PICTURE, REPORT_PAGE, RESULTS, Kind, Outputs, same_name
from ..gltf.file.container import GLTF, SUFFIXES, is_gltf
from ..usd.stage import USD, is_usd
from .batch.reports import report_files
from .batch.tasks import Plan, named_files, report_folder
from .errors import WrongArguments

OBJ, PNG = ".obj", ".png"
RIGS = (".txt",)  # extensions of predicted rigs


def is_obj(path: str | Path) -> bool:
    return Path(path).suffix.lower() == OBJ


def gltf_or_usd(path: Path) -> Kind:
    """The kind of an output of `araplbs`."""
    return USD if is_usd(path) else GLTF


def expanded(patterns: Iterable[str]) -> list[str]:
    """The names that these names and patterns stand for, without duplicates, because not every
    shell expands patterns. The name of an existing file, folder or link is not treated as a
    pattern, even if the link is broken. Raises WrongArguments for a pattern that matches nothing.
    The caller decides about names that are not files."""
    names: dict[str, None] = {}
    for pattern in patterns:
        matches = [pattern]
        if not os.path.lexists(pattern) and glob.has_magic(pattern):
            matches = sorted(glob.glob(pattern, recursive=True))
            if not matches:
                raise WrongArguments(f"{pattern}: no file matches this pattern")
        names |= dict.fromkeys(matches)
    return list(names)


def inputs_of(patterns: Sequence[str], also: Sequence[str] = ()) -> list[Path]:
    """The files for these names and patterns. Raises WrongArguments. If only some files are
    missing, these fail later, and the others are processed."""
    names = expanded(patterns)
    some = any(map(os.path.exists, names))
    for name in names:
        if os.path.exists(name) or not some:
            refuse_input(name, also)
    return list(dict.fromkeys(map(Path, names)))


def refuse_input(name: str, also: Sequence[str] = ()) -> None:
    """Raises WrongArguments for a name whose extension is neither one of our own nor in `also`."""
    if not os.path.exists(name):
        raise WrongArguments(f"{name}: no such file")
    if os.path.isdir(name):
        raise WrongArguments(f"{name}: is a folder; specify its files, such as {name}/*.glb")
    if not is_gltf(name) and Path(name).suffix.lower() not in also:
        raise WrongArguments(f"{name}: is not a {_in_words((*SUFFIXES, *also))} file by its name")


def _in_words(suffixes: Sequence[str]) -> str:
    return ", ".join(suffixes[:-1]) + " or " + suffixes[-1]


def plan_of(
    inputs: Sequence[Path],
    output: str | None,
    in_place: bool,
    is_file: Callable[[str], bool],
    known: str,
) -> Plan:
    """Returns [(input, output)]. is_file: whether --output names a file, not a folder. known: the
    kinds of these files in words. Raises WrongArguments."""
    if in_place and output is not None:
        raise WrongArguments("--in-place and --output cannot be used together")
    if output is None and not in_place:
        raise WrongArguments("--output is missing: specify a file or a folder, or use --in-place")
    if output is None:
        return [(path, path) for path in inputs]
    if not output:
        raise WrongArguments("--output is empty: specify a file or a folder")
    plan: Plan = [(path, Path(output, _with_weights(path.name))) for path in inputs]
    if not os.path.isdir(output) and not output.endswith(("/", os.sep)):
        if is_file(output):
            _refuse_several(inputs, "output", output)
            plan = [(inputs[0], Path(output))]
        elif len(inputs) == 1 or Path(output).suffix:
            raise WrongArguments(f"--output {output}: is neither a {known} file nor a folder")
    names = [os.path.normcase(target) for _source, target in plan]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise WrongArguments(f"two inputs would become {plan[number][1]}")
    return plan


def outputs_of(inputs: Sequence[Path], output: str | None, in_place: bool) -> Plan:
    """The plan of a command that is not for .blend files. Raises WrongArguments."""
    if in_place and any(map(is_obj, inputs)):
        raise WrongArguments("--in-place cannot write .obj files: they contain no weights")
    plan = plan_of(
        inputs, output, in_place, lambda name: is_gltf(name) or is_usd(name), _in_words(SUFFIXES)
    )
    for source, target in plan:
        if is_usd(source) != is_usd(target):
            raise WrongArguments(f"{source} cannot become {target}: glTF stays glTF, USD stays USD")
    return plan


def _with_weights(name: str) -> str:
    """The name of an output as a glTF file, because .obj files cannot store weights."""
    return str(Path(name).with_suffix(".glb")) if is_obj(name) else name


def _refuse_several(inputs: Sequence[Path], option: str, name: str) -> None:
    if len(inputs) > 1:
        raise WrongArguments(f"--{option} {name} is one file, but there are {len(inputs)} inputs")


def _pictures(inputs: Sequence[Path], picture: str) -> list[Path]:
    """The files of --picture. Raises WrongArguments."""
    if not picture:
        raise WrongArguments("--picture is empty: specify a .png file or a folder")
    paths = [picture_path(source, picture) for source in inputs]
    if paths[0] == Path(picture):
        _refuse_several(inputs, "picture", picture)
    elif Path(picture).suffix and not os.path.isdir(picture):
        raise WrongArguments(f"--picture {picture}: is neither a {PNG} file nor a folder")
    return paths


def picture_path(source: Path, picture: str) -> Path:
    """The file of --picture for an input: the named file, or a file in the named folder."""
    is_file = Path(picture).suffix.lower() == PNG and not os.path.isdir(picture)
    return Path(picture) if is_file else Path(picture, source.name + PNG)


def all_outputs(
    plan: Plan,
    arguments: argparse.Namespace,
    has_pictures: bool,
    kind_of: Callable[[Path], Kind] = gltf_or_usd,
) -> Outputs:
    """The Outputs of a plan [(input, output)]. has_pictures: whether reports have pictures.
    kind_of: returns the kind of an output. Raises WrongArguments if a file would replace an input,
    another output or a file in a foreign format."""
    inputs = [source for source, _target in plan]
    try:
        outputs = Outputs(inputs, named_files(arguments).items())
        for source, target in plan:
            if target is None:
                continue
            if not arguments.in_place and any(same_name(target, path) for path in inputs):
                raise WrongArguments(
                    f"the output {target} would replace an input: use --in-place to allow this"
                )
            outputs.add(target, kind_of(target), "output", source if arguments.in_place else None)
        if arguments.json and arguments.json != "-":
            outputs.add(arguments.json, RESULTS, "report")
        if folder := report_folder(arguments):
            targets = [target or source for source, target in plan]
            for path, kind, name in report_files(folder, targets, has_pictures, arguments.merge):
                outputs.add(path, kind, name)
        elif arguments.report:
            outputs.add(arguments.report, REPORT_PAGE, "page")
        if getattr(arguments, "save_parts", None):
            outputs.add(arguments.save_parts, CHOICES, "list of parts")
        if getattr(arguments, "picture", None) is not None:
            for path in _pictures(inputs, arguments.picture):
                outputs.add(path, PICTURE, "picture")
    except Refused as error:
        raise WrongArguments(str(error)) from None
    return outputs
