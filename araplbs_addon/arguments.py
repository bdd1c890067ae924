"""What the command line takes: the arguments of each command, and the options that they ask for."""

import argparse
import math
from dataclasses import fields
from functools import partial
from pathlib import Path

from .core.bake import BakeOptions, bake_summary
from .core.compare import CompareOptions
from .core.compare_files import refuse_folder
from .core.compare_methods import METHODS, find_methods
from .core.compare_report import compare_summary
from .core.findings import KINDS, LEVELS, check_summary
from .core.joints import JointOptions, joint_summary
from .core.native_module import version
from .core.options import Options
from .core.quantize import QuantizeOptions, summary_of_quantized
from .core.refusal import Refused
from .core.report import summary, summary_of_new
from .core.transfer import TransferOptions, transfer_summary
from .farm import commands as farm
from .farm import tasks
from .tasks.baking import BakeTask
from .tasks.checking import CHECKED, CheckTask, check_exit_code
from .tasks.comparing import CompareTask, write_pages
from .tasks.joints import JointTask
from .tasks.new_weights import NewWeightsTask
from .tasks.quantizing import QuantizeTask
from .tasks.repairing import RepairTask, repair_lines
from .tasks.transfer import TransferTask
from .tasks.weighting import WeightingTask

COMMAND = "araplbs"


def make_parser():
    parser = argparse.ArgumentParser(
        prog=f"blender -c {COMMAND}",
        description="Skinning weights that make the posed mesh as rigid as possible.",
    )
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(dest="command", required=True)
    which = (
        "those with its Armature modifier or parented to it, or, where there is one armature and "
        "nothing hangs on it, all visible ones. The input is left as it is unless it is also the "
        "output."
    )
    weight = commands.add_parser(
        "weight",
        help="weight the meshes of .blend files",
        description=f"Weights every armature's meshes: {which}",
    )
    weight.add_argument(
        "--only-new",
        action="store_true",
        help="weight the vertices without weights alone: all others stay as they are",
    )
    _add_arguments(weight, Options)
    weight.set_defaults(make_task=WeightingTask, summary=summary, table=Options, parser=weight)
    joints = commands.add_parser(
        "joints",
        help="optimize the joints of the armatures of .blend files",
        description="Moves the joints of every armature to where its meshes deform best, and "
        f"weights these: {which}",
    )
    _add_arguments(joints, JointOptions)
    joints.set_defaults(
        make_task=JointTask, summary=joint_summary, table=JointOptions, parser=joints
    )
    bake = commands.add_parser(
        "bake",
        help="bake what modifiers do into weights",
        description="Gives every armature's meshes the weights with which bones alone come "
        f"nearest to what all modifiers do: {which}",
    )
    _add_arguments(bake, BakeOptions)
    bake.set_defaults(make_task=BakeTask, summary=bake_summary, table=BakeOptions, parser=bake)
    transfer = commands.add_parser(
        "transfer",
        help="transfer weights between meshes of .blend files",
        description="Gives meshes the weights of others on the same armature where they lie close "
        "to these, and fills in and optimizes the rest. The input is left as it is unless it is "
        "also the output.",
    )
    for name, text in (("source", "mesh that has weights"), ("target", "mesh that gets them")):
        transfer.add_argument(
            f"--{name}", metavar="NAME", action="append", required=True, help=f"{text}; repeatable"
        )
    _add_files(transfer)
    _add_options(transfer, TransferOptions, without=("sources",))
    transfer.set_defaults(
        make_task=TransferTask, summary=transfer_summary, table=TransferOptions, parser=transfer
    )
    quantize = commands.add_parser(
        "quantize",
        help="make the weights of .blend files what game engines store",
        description=f"Quantizes the weights of every armature's meshes: {which}",
    )
    _add_arguments(quantize, QuantizeOptions)
    quantize.set_defaults(
        make_task=QuantizeTask, summary=summary_of_quantized, table=QuantizeOptions, parser=quantize
    )
    check = commands.add_parser(
        "check",
        help="say what is wrong with the weights of .blend files",
        description="Prints findings about the weights of every armature's meshes, the worst "
        "first, and writes no .blend file. Exit codes: 0 nothing is as bad as --fail-on, 3 "
        "something is, 1 a file could not be checked.",
    )
    _add_inputs(check)
    _add_names(check)
    check.add_argument(
        "--fail-on",
        choices=[*LEVELS, "never"],
        default="high",
        help="end with exit code 3 for findings of this severity or above (default: high)",
    )
    _add_options(check, Options, only=CHECKED)
    _reads_only(check, check_exit_code)
    check.set_defaults(make_task=CheckTask, summary=check_summary, table=Options, parser=check)
    repair = commands.add_parser(
        "repair",
        help="repair what is wrong with the weights of .blend files",
        description="Solves the weights of every armature's meshes again where `check` finds "
        f"something, and nowhere else: {which}",
    )
    repair.add_argument(
        "--kind",
        choices=[kind.lower() for kind, _name, _about in KINDS],
        action="append",
        default=[],
        help="only findings of this kind; repeatable",
    )
    _add_arguments(repair, Options)
    repair.set_defaults(make_task=RepairTask, summary=repair_lines, table=Options, parser=repair)
    _add_compare(commands)
    farm.add_commands(commands)
    return parser


def _add_compare(commands):
    compare = commands.add_parser(
        "compare",
        help="compare all methods on the characters of a .blend file",
        description="Weights every armature's meshes by all methods and judges them in poses that "
        "none was optimized in. Writes FOLDER/index.html, a page that needs nothing else, and "
        "FOLDER/report.json; the .blend file is left as it is. Of several armatures each has a "
        "page.",
    )
    compare.add_argument("input", nargs=1, type=Path, metavar="IN.blend")
    compare.add_argument(
        "--output", "-o", required=True, type=Path, metavar="FOLDER", help="folder of the page"
    )
    compare.add_argument("--threads", type=int, default=0, metavar="N", help="0: all processors")
    names = ", ".join(method.identifier.lower().replace("_", "-") for method in METHODS)
    compare.add_argument(
        "--method", metavar="NAME", action="append", help=f"only this; repeatable: {names}"
    )
    _add_names(compare)
    _add_options(compare, CompareOptions)
    _reads_only(compare, write_pages)
    compare.set_defaults(
        make_task=CompareTask,
        summary=compare_summary,
        table=CompareOptions,
        parser=compare,
        json=None,
    )


def _reads_only(parser, conclude):
    """A command that saves no .blend file. conclude(arguments, results): its exit code where all
    files went well."""
    parser.set_defaults(conclude=conclude, **tasks.NO_BATCH)


def _add_inputs(parser):
    parser.add_argument("input", nargs="+", type=Path, metavar="IN.blend")
    parser.add_argument("--json", type=Path, metavar="REPORT.json", help="report to write")
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="0: all processors")


def _add_files(parser):
    _add_inputs(parser)
    parser.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="OUT.blend|FOLDER",
        help="file to write, or the folder for files of the same names",
    )
    tasks.add_arguments(parser)


def _add_names(parser):
    parser.add_argument("--armature", metavar="NAME", help="only this armature")
    parser.add_argument(
        "--mesh", metavar="NAME", action="append", default=[], help="only this mesh; repeatable"
    )


def _add_arguments(parser, table):
    _add_files(parser)
    _add_names(parser)
    _add_options(parser, table)


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


def read_options(arguments):
    """The Options that the arguments ask for. Raises ValueError for values out of range."""
    values = {}
    for option in fields(arguments.table):
        if not hasattr(arguments, option.name):
            continue
        value = getattr(arguments, option.name)
        if "choices" in option.metadata:
            value = value.upper()
        elif option.metadata.get("angle"):
            value = math.radians(value)
        values[option.name] = value
    options = arguments.table(**values)
    if arguments.command == "compare":
        refuse_folder(arguments.output)
        find_methods(arguments.method)
        arguments.make_task = partial(CompareTask, methods=arguments.method)
    if getattr(arguments, "only_new", False):
        for name, usual in (("volume", "NONE"), ("start_from", "FRESH")):
            if values[name] != usual:
                flag = name.replace("_", "-")
                raise Refused(f"--only-new and --{flag} {values[name].lower()} exclude each other")
        arguments.make_task, arguments.summary = NewWeightsTask, summary_of_new
    if getattr(arguments, "kind", None):
        kinds = frozenset(kind.upper() for kind in arguments.kind)
        arguments.make_task = partial(RepairTask, kinds=kinds)
    return options
