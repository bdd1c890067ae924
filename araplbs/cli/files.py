"""Determines the files that a command reads and writes, before any work begins."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from ..base.refusal import Refused
from ..disk.files import identity
from ..disk.outputs import CHOICES, PICTURE, REPORT_PAGE, RESULTS, Kind, Outputs
from ..gltf.file.container import GLTF, SUFFIXES, is_gltf
from ..usd.stage import USD, is_usd
from .batch.reports import report_files
from .batch.tasks import report_folder
from .errors import WrongArguments
from .patterns import expanded

KNOWN = ", ".join(SUFFIXES[:-1]) + " or " + SUFFIXES[-1]


OBJ, PNG = ".obj", ".png"
RIGS = (".txt",)  # extensions of predicted rigs


def is_obj(path: str | Path) -> bool:
    return Path(path).suffix.lower() == OBJ


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
        known = ", ".join((*SUFFIXES, *also)[:-1]) + " or " + (*SUFFIXES, *also)[-1]
        raise WrongArguments(f"{name}: is not a {known} file by its name")


def named_output(output: str | None, in_place: bool) -> str | None:
    """The value of --output, None for --in-place. Raises WrongArguments unless there is one of
    them."""
    if in_place and output is not None:
        raise WrongArguments("--in-place and --output cannot be used together")
    if output is None and not in_place:
        raise WrongArguments("--output is missing: specify a file or a folder, or use --in-place")
    if output == "":
        raise WrongArguments("--output is empty: specify a file or a folder")
    return output


def only_input(inputs: Sequence[Path], output: str) -> Path:
    """The input of an output that is one file. Raises WrongArguments if there are several."""
    if len(inputs) > 1:
        raise WrongArguments(f"--output {output} is one file, but there are {len(inputs)} inputs")
    return inputs[0]


def outputs_of(
    inputs: Sequence[Path], output: str | None, in_place: bool
) -> list[tuple[Path, Path]]:
    """Returns [(input, output)]. Raises WrongArguments."""
    output = named_output(output, in_place)
    if output is None:
        if any(is_obj(path) for path in inputs):
            raise WrongArguments("--in-place cannot write .obj files: they contain no weights")
        return [(path, path) for path in inputs]
    folder = os.path.isdir(output) or output.endswith(("/", os.sep))
    if folder:
        plan = [(path, Path(output, _as_gltf(path.name))) for path in inputs]
    elif is_gltf(output) or is_usd(output):
        plan = [(only_input(inputs, output), Path(output))]
    elif len(inputs) > 1 and not Path(output).suffix:
        plan = [(path, Path(output, _as_gltf(path.name))) for path in inputs]
    else:
        raise WrongArguments(f"--output {output}: is neither a {KNOWN} file nor a folder")
    for source, target in plan:
        if is_usd(source) != is_usd(target):
            raise WrongArguments(f"{source} cannot become {target}: glTF stays glTF, USD stays USD")
    names = [os.path.normcase(target) for _source, target in plan]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise WrongArguments(f"two inputs would become {plan[k][1]}")
    return plan


def _pictures(inputs: Sequence[Path], picture: str) -> list[Path]:
    """The files of --picture. Raises WrongArguments."""
    if not picture:
        raise WrongArguments("--picture is empty: specify a .png file or a folder")
    found = [picture_path(source, picture) for source in inputs]
    if len(found) > 1 and found[0] == Path(picture):
        raise WrongArguments(f"--picture {picture} is one file, but there are {len(inputs)} inputs")
    if found[0] != Path(picture) and Path(picture).suffix and not os.path.isdir(picture):
        raise WrongArguments(f"--picture {picture}: is neither a {PNG} file nor a folder")
    return found


def _as_gltf(name: str) -> str:
    """The name of an output as a glTF file, because .obj files cannot store weights."""
    return str(Path(name).with_suffix(".glb")) if is_obj(name) else name


def picture_path(source: Path, picture: str) -> Path:
    """The file of --picture for an input: the named file, or a file in the named folder."""
    is_file = Path(picture).suffix.lower() == PNG and not os.path.isdir(picture)
    return Path(picture) if is_file else Path(picture, source.name + PNG)


def refuse_outputs(
    plan: Sequence[tuple[Path, Path | None]], arguments: argparse.Namespace, has_pictures: bool
) -> None:
    """Raises WrongArguments if a file of this run would replace an input, another output or a file
    in a foreign format."""
    others = [Path(each) for each in getattr(arguments, "reads", ()) if each]
    outputs = Outputs([source for source, _target in plan] + others)
    in_place = getattr(arguments, "in_place", False)
    known = {identity(source) for source, _target in plan}
    files: list[tuple[Path, Kind, str, Path | None]] = [
        (target, USD if is_usd(target) else GLTF, "output", source if in_place else None)
        for source, target in plan
        if target is not None
    ]
    if arguments.json and arguments.json != "-":
        files.append((Path(arguments.json), RESULTS, "report", None))
    folder = report_folder(arguments)
    if folder:
        targets = [target or source for source, target in plan]
        reports = report_files(folder, targets, has_pictures, arguments.merge)
        files += [(*each, None) for each in reports]
    elif arguments.report:
        files.append((Path(arguments.report), REPORT_PAGE, "page", None))
    if getattr(arguments, "save_parts", None):
        files.append((Path(arguments.save_parts), CHOICES, "list of parts", None))
    if getattr(arguments, "picture", None) is not None:
        files += [
            (path, PICTURE, "picture", None)
            for path in _pictures([source for source, _target in plan], arguments.picture)
        ]
    for path, kind, what, source in files:
        if kind in (GLTF, USD) and not in_place and identity(path) in known:
            raise WrongArguments(
                f"the output {path} would replace an input: use --in-place to allow this"
            )
        try:
            outputs.add(path, kind, what, source)
        except Refused as error:
            raise WrongArguments(str(error)) from None
