"""The command line: the arguments of each command, and the options that they ask for."""

import argparse
import math
from dataclasses import fields
from pathlib import Path

from .farm import commands as farm
from .farm import tasks
from .native_module import version
from .operators import modules

COMMAND = "araplbs"
COMMANDS = tuple(module.COMMAND for module in modules() if hasattr(module, "COMMAND"))


def make_parser():
    parser = argparse.ArgumentParser(
        prog=f"blender -c {COMMAND}",
        description="Skinning weights that make the posed mesh as rigid as possible.",
    )
    parser.add_argument("--version", action="version", version=version())
    parsers = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        _add_command(parsers, command)
    farm.add_commands(parsers)
    return parser


def _add_command(parsers, command):
    parser = parsers.add_parser(command.name, help=command.help, description=command.description)
    parser.set_defaults(apart=None, does=command, parser=parser)
    if command.also_writes and not command.saves:  # a page each for the characters of one file
        parser.add_argument("input", nargs=1, type=Path, metavar="IN.blend")
        parser.add_argument(
            "--output", "-o", required=True, type=Path, metavar="FOLDER", help="folder of the page"
        )
        parser.set_defaults(json=None)
    else:
        parser.add_argument("input", nargs="+", type=Path, metavar="IN.blend")
        parser.add_argument("--json", type=Path, metavar="REPORT.json", help="report to write")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="0: all processors")
    if command.saves:
        parser.add_argument(
            "--output",
            "-o",
            required=True,
            metavar="OUT.blend|FOLDER",
            help="file to write, or the folder for files of the same names",
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
    _add_options(parser, command.table, command.without, command.only)


def _add_options(parser, table, without=(), only=None):
    group = parser.add_argument_group("options, as in the operator")
    for option in fields(table):
        if option.name in without or (only and option.name not in only):
            continue
        about, flag = option.metadata, "--" + option.name.replace("_", "-")
        text = about["description"].replace("%", "%%")
        if isinstance(option.default, bool):
            text += f" (default: {'on' if option.default else 'off'})"
            action = argparse.BooleanOptionalAction
            group.add_argument(flag, action=action, default=option.default, help=text)
        elif "choices" in about:
            names = [name.lower() for name, _label, _tip in about["choices"]]
            text += f" (default: {option.default.lower()})"
            group.add_argument(flag, choices=names, default=option.default.lower(), help=text)
        elif about.get("path"):
            group.add_argument(flag, default=option.default, metavar="FILE", help=text)
        else:
            angle = about.get("angle")
            default = round(math.degrees(option.default), 6) if angle else option.default
            text += f" (default: {default:g}{' degrees' if angle else ''})"
            kind = "DEGREES" if angle else "N"
            group.add_argument(
                flag, type=type(option.default), default=default, metavar=kind, help=text
            )


def read_command(arguments):
    """(Command, options) that the arguments ask for. Raises ValueError for values out of range,
    Refused for those that exclude each other."""
    command, values = arguments.does, {}
    for option in fields(command.table):
        if not hasattr(arguments, option.name):
            continue
        value = getattr(arguments, option.name)
        if "choices" in option.metadata:
            value = value.upper()
        elif option.metadata.get("angle"):
            value = math.radians(value)
        values[option.name] = value
    options = command.table(**values)
    return command.choose(command, arguments) if command.choose else command, options
