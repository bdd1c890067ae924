"""Arguments of the commands that process .blend files, and the options that the arguments set."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from ..base.engine import engine
from ..cli.batch import tasks
from ..cli.errors import WrongArguments
from ..cli.options import add_options, preset_given, read_options
from ..cli.parser import Parser
from ..farm import commands as farm
from .command import Command

COMMAND = "araplbs"
# Listed in the order of the help, which omits the commands intended only for programs.
GROUPS = (
    ("make weights", ("weight", "transfer", "copies", "bake", "joints")),
    ("inspect weights", ("check", "repair", "compare", "motion")),
    ("fit weights to an engine", ("reduce-bones", "quantize")),
    ("keep the data of a mesh", ("keep", "restore", "shapes")),
    ("many files", ("merge",)),
)
EXAMPLES = {
    "weight": (
        "in.blend -o out.blend",
        "in.blend --in-place --preset unity",
        "characters/*.blend -o weighted/ --jobs 4 --report reports/",
        "in.blend -o out.blend --only-new",
    ),
    "transfer": ("in.blend -o out.blend --source Body --target Shirt --target Skirt",),
    "copies": ("in.blend -o out.blend --source Glove.L --target Glove.R",),
    "bake": ("in.blend -o out.blend --turn-off",),
    "joints": ("in.blend -o out.blend",),
    "check": ("in.blend --fail-on medium", "in.blend --json - --quiet"),
    "repair": ("in.blend -o out.blend --kind speckle",),
    "compare": ("in.blend -o comparison/",),
    "motion": ("in.blend -o out.blend",),
    "reduce-bones": ("in.blend -o out.blend --count 30",),
    "quantize": ("in.blend -o out.blend --bits 8 --platform mobile",),
    "keep": ("in.blend -o kept.blend", "in.blend -o kept.blend --file weights.kept"),
    "restore": ("remeshed.blend -o out.blend",),
    "shapes": ("in.blend -o out.blend --source Body --target Shirt",),
}
WIDTH = 98  # of a description
EXIT_CODES = (
    "exit codes: 0 success, 1 a file failed, 2 wrong arguments, 3 check found a problem, or "
    "weights\nare worse than before (--if-worse fail)"
)


def read_arguments(
    argv: list[str],
    commands: Sequence[Command],
    prog: str = f"blender -c {COMMAND}",
    presets: Iterable[str | Path] = (),
) -> argparse.Namespace:
    """Return the parsed arguments. `does` is the command, and `options` are its options. presets:
    the user's preset folders. Raises WrongArguments, and SystemExit after printing help."""
    parser = make_parser(commands, prog)
    names = [name for _title, names in GROUPS for name in names]
    if not argv:
        parser.print_help()
        raise SystemExit(0)
    first = argv[0]
    if not first.startswith("-") and first not in (*names, *tasks.NO_TASKS):
        raise WrongArguments(f"{first} is not a command: must be {', '.join(names)}")
    arguments = parser.parse_args(argv)
    if not arguments.apart:
        command: Command = arguments.does
        values = preset_given(arguments, presets)
        arguments.options = read_options(command.table, _options(command), arguments, values)
    return arguments


def make_parser(commands: Sequence[Command], prog: str = f"blender -c {COMMAND}") -> Parser:
    helps = {command.name: command.help for command in commands} | farm.HELPS
    groups = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:14}{helps[name]}" for name in names)])
        for title, names in GROUPS
    )
    parser = Parser(
        prog=prog,
        usage=f"{prog} COMMAND IN.blend... [options]",
        description="Skinning weights that make the posed mesh as rigid as possible.\n\n" + groups,
        epilog="examples:\n"
        + "\n".join(f"  {prog} weight {words}" for words in EXAMPLES["weight"])
        + f"\n\n{EXIT_CODES}\n'{prog} COMMAND --help' lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"araplbs {engine.__version__}")
    parsers = parser.add_subparsers(
        dest="command", required=True, prog=prog, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for command in commands:
        _add_command(parsers, command, prog)
    farm.add_commands(parsers)
    return parser


def _add_command(parsers: Any, command: Command, prog: str) -> None:
    examples = [f"  {prog} {command.name} {words}" for words in EXAMPLES[command.name]]
    parser = parsers.add_parser(
        command.name,
        usage=f"{prog} {command.name} {_usage(command)} [options]",
        description=textwrap.fill(command.description, WIDTH),
        epilog="\n".join(["examples:", *examples, "", EXIT_CODES]),
    )
    one_by_one = bool(command.also_writes) and not command.saves  # a page for each character
    tasks.add_shared(parser, command.saves, has_json=not one_by_one)
    parser.set_defaults(apart=None, does=command, parser=parser)
    if one_by_one:
        parser.add_argument("input", nargs=1, metavar="IN.blend", help="the file to read")
        parser.add_argument(
            "--output", "-o", required=True, type=Path, metavar="FOLDER", help="folder of the page"
        )
    else:
        parser.add_argument(
            "input", nargs="+", metavar="IN.blend", help="files to read; patterns such as *.blend"
        )
    if command.saves:
        tasks.add_batch(parser)
    if command.name != "transfer":
        parser.add_argument("--armature", metavar="NAME", help="only this armature")
        parser.add_argument(
            "--mesh", metavar="NAME", action="append", default=[], help="only this mesh; repeatable"
        )
    if command.own:
        command.own(parser)
    if command.has_presets:
        parser.add_argument(
            "--preset",
            metavar="NAME",
            help="use the options of this preset, included in the extension or your own: "
            "game-4, unity, unreal, vrchat...; options given explicitly take precedence",
        )
    add_options(parser, _options(command), dict(command.texts))


def _usage(command: Command) -> str:
    """Return the usage text for the required arguments of a command."""
    if not command.saves:
        return "IN.blend -o FOLDER" if command.also_writes else "IN.blend..."
    return "IN.blend... -o OUT.blend|FOLDER"


def _options(command: Command) -> list[Field[Any]]:
    return [
        option
        for option in fields(command.table)
        if option.name not in command.without
        and (command.only is None or option.name in command.only)
    ]
