"""The command line: the arguments of each command, and the options that they set."""

import argparse
import math
import textwrap
from dataclasses import fields
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from araplbs.cli.errors import WrongArguments
from araplbs.cli.options import flags_of, warn_old_flags
from araplbs.cli.parser import Parser
from araplbs.disk.presets import FOLDER, preset_named
from araplbs.farm import commands as farm
from araplbs.farm import tasks
from araplbs.model.options import Options

from .features import modules
from .native_module import own_version

COMMAND = "araplbs"
COMMANDS = tuple(module.COMMAND for module in modules() if hasattr(module, "COMMAND"))
# In the order of the help, which omits commands that only programs call.
GROUPS = (
    ("make weights", ("weight", "transfer", "copies", "bake", "joints")),
    ("look at weights", ("check", "repair", "compare", "motion")),
    ("fit weights to an engine", ("reduce-bones", "quantize")),
    ("keep what a mesh has", ("keep", "restore", "shapes")),
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
    "exit codes: 0 done, 1 a file failed, 2 wrong arguments, 3 check has found something, or "
    "weights\nare worse than before (--if-worse fail)"
)


def read_arguments(argv, prog=f"blender -c {COMMAND}"):
    """The arguments, with all options. Raises WrongArguments, and SystemExit after help."""
    parser = make_parser(prog)
    names = [name for _title, names in GROUPS for name in names]
    if not argv:
        parser.print_help()
        raise SystemExit(0)
    first = argv[0]
    if not first.startswith("-") and first not in (*names, *tasks.NO_TASKS):
        raise WrongArguments(f"{first} is not a command: must be {', '.join(names)}")
    arguments = parser.parse_args(argv)
    if not arguments.apart:
        _settle(arguments)
    warn_old_flags(argv)
    return arguments


def make_parser(prog=f"blender -c {COMMAND}"):
    helps = {command.name: command.help for command in COMMANDS} | farm.HELPS
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
        + f"\n\n{EXIT_CODES}\n'{prog} COMMAND --help' has the options of a command.",
    )
    shown = f"araplbs {own_version()}"
    parser.add_argument("--version", action="version", version=shown)
    parsers = parser.add_subparsers(
        dest="command", required=True, prog=prog, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for command in COMMANDS:
        _add_command(parsers, command, prog)
    farm.add_commands(parsers)
    return parser


def _add_command(parsers, command, prog):
    examples = [f"  {prog} {command.name} {words}" for words in EXAMPLES[command.name]]
    parser = parsers.add_parser(
        command.name,
        usage=f"{prog} {command.name} {_usage(command)} [options]",
        description=textwrap.fill(command.description, WIDTH),
        epilog="\n".join(["examples:", *examples, "", EXIT_CODES]),
    )
    parser.set_defaults(apart=None, does=command, parser=parser, in_place=False)
    if command.also_writes and not command.saves:  # a page each for the characters of one file
        parser.add_argument("input", nargs=1, metavar="IN.blend", help="the file to read")
        parser.add_argument(
            "--output", "-o", required=True, type=Path, metavar="FOLDER", help="folder of the page"
        )
        parser.set_defaults(json=None)
    else:
        parser.add_argument(
            "input", nargs="+", metavar="IN.blend", help="files to read; patterns such as *.blend"
        )
        parser.add_argument(
            "--json",
            metavar="REPORT.json|-",
            help="write a report for programs; -: to standard output, without other lines",
        )
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="0: all processors")
    parser.add_argument("--quiet", "-q", action="store_true", help="print errors only")
    if command.saves:
        parser.add_argument(
            "--output",
            "-o",
            metavar="OUT.blend|FOLDER",
            help="file to write, or the folder for files of the same names",
        )
        parser.add_argument(
            "--in-place", action="store_true", help="replace the inputs instead of --output"
        )
        tasks.add_arguments(parser)
    else:
        parser.set_defaults(**tasks.NO_BATCH)
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
            help="options of this preset, of those that come with the extension or of yours: "
            "game-4, unity, unreal, vrchat...; options that you give take precedence",
        )
    _add_options(parser, command)


def _usage(command):
    """The arguments without which a command does nothing."""
    if not command.saves:
        return "IN.blend -o FOLDER" if command.also_writes else "IN.blend..."
    return "IN.blend... -o OUT.blend|FOLDER"


def _options(command):
    for option in fields(command.table):
        if option.name not in command.without and not (
            command.only and option.name not in command.only
        ):
            yield option


def _add_options(parser, command):
    """usual: the value of an option that is not given. It is not argparse's default, so that a
    preset can tell."""
    group = parser.add_argument_group("options, as in the panel")
    for option in _options(command):
        about, flags = option.metadata, flags_of(option)
        text = dict(command.texts).get(option.name, about["description"]).replace("%", "%%")
        usual = as_argument(option, option.default)
        settings = {"dest": option.name, "default": argparse.SUPPRESS}
        if isinstance(usual, bool):
            text += f" (default: {'on' if usual else 'off'})"
            settings["action"] = argparse.BooleanOptionalAction
        elif "choices" in about:
            settings["choices"] = [name.lower() for name, _label, _tip in about["choices"]]
            settings["metavar"] = "NAME"
            text += ". One of " + ", ".join(settings["choices"]) + f" (default: {usual})"
        elif about.get("path"):
            settings["metavar"] = "FILE"
        else:
            angle = about.get("angle")
            text += f" (default: {usual:g}{' degrees' if angle else ''})"
            settings |= {"type": type(option.default), "metavar": "DEGREES" if angle else "N"}
        for (
            flag
        ) in flags:  # the panel's name, and that of older versions, which the help leaves out
            shown = text if flag == flags[0] else argparse.SUPPRESS
            group.add_argument(flag, help=shown, **settings).usual = usual


def preset_values(name):
    """{option: value} of a preset, of those that come with the add-on or the user's. Raises
    Refused."""
    known = {option.name for option in fields(Options)}
    return {
        k: value
        for k, value in preset_named(name, bpy.utils.preset_paths(FOLDER)).items()
        if k in known
    }


def as_argument(option, value):
    """A value of an option in the form that the command line takes."""
    if "choices" in option.metadata:
        return value.lower()
    return round(math.degrees(value), 6) if option.metadata.get("angle") else value


def _settle(arguments):
    """Gives every option a value: the one that was given, that of the preset, or the usual one.
    Raises WrongArguments for one out of range, under the name and in the unit of the argument."""
    values = {}
    if getattr(arguments, "preset", None) is not None:
        try:
            values = preset_values(arguments.preset)
        except Refused as error:
            raise WrongArguments(f"--preset: {error}") from None
    for option in _options(arguments.does):
        if not hasattr(arguments, option.name):
            value = as_argument(option, values.get(option.name, option.default))
            setattr(arguments, option.name, value)
        elif "min" in option.metadata:
            _refuse_range(option, getattr(arguments, option.name))


def _refuse_range(option, value):
    about, unit = option.metadata, ""
    least, most = about["min"], about["max"]
    if about.get("angle"):
        least, most, unit = math.degrees(least), math.degrees(most), " degrees"
    if not least <= value <= most:
        raise WrongArguments(
            f"{flags_of(option)[0]} is {value:g}{unit}: must be from {least:g} to {most:g}{unit}"
        )


def read_command(arguments):
    """(Command, options) that the arguments ask for. Raises Refused for values out of range, and
    for those that exclude each other."""
    command, values = arguments.does, {}
    for option in _options(command):
        value = getattr(arguments, option.name)
        if "choices" in option.metadata:
            value = value.upper()
        elif option.metadata.get("angle"):
            value = math.radians(value)
        values[option.name] = value
    options = command.table(**values)
    return command.choose(command, arguments) if command.choose else command, options
