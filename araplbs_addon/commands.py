"""The commands that work on the characters of .blend files, one entry of COMMANDS for each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from .blender.read.targets import find_in_file, share_meshes
from .blender.read.transfer_targets import find_shapes_in_file, find_transfer_in_file
from .core.base.refusal import Refused
from .core.character.options import Options
from .core.checks.findings import KINDS, LEVELS, check_summary
from .core.comparison.compare import CompareOptions
from .core.comparison.compare_methods import METHODS, find_methods
from .core.comparison.compare_report import compare_summary
from .core.reports.report import summary, summary_of_new
from .core.solvers.joints import JointOptions, joint_summary
from .core.tools.bake import BakeOptions, bake_summary
from .core.tools.quantize import QuantizeOptions, summary_of_quantized
from .core.tools.shapes import ShapeOptions, shapes_summary
from .core.tools.transfer import TransferOptions, transfer_summary
from .tasks.baking import BakeTask
from .tasks.checking import CHECKED, CheckTask, check_exit_code
from .tasks.comparing import CompareTask, comparison_files, write_pages
from .tasks.joints import JointTask
from .tasks.new_weights import NewWeightsTask
from .tasks.quantizing import QuantizeTask
from .tasks.repairing import RepairTask, repair_lines
from .tasks.shapes import ShapesTask
from .tasks.transfer import TransferTask
from .tasks.weighting import WeightingTask

WHICH = (
    "those with its Armature modifier or parented to it, or, where there is one armature and "
    "nothing hangs on it, all visible ones. The input is left as it is unless it is also the "
    "output."
)


def _found(arguments, view_layer):
    """The Targets of each armature, whose weights are written."""
    return share_meshes(_looked_at(arguments, view_layer), view_layer)


def _looked_at(arguments, view_layer):
    """The same where nothing is written that others share."""
    return find_in_file(view_layer, arguments.armature, arguments.mesh)


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    description: str
    task: Callable  # (options, threads) -> Task
    table: type  # of its options
    summary: Callable[[dict], str]  # of a report, a line or more
    find: Callable = _found  # (arguments, view layer) -> what each task reads
    subject: Callable = attrgetter("armature")  # of that: whose name is printed
    own: Callable | None = None  # adds its own arguments to a parser
    without: tuple[str, ...] = ()  # options that it does not take
    only: Any = None  # those that it takes, None for all
    choose: Callable | None = None  # (this Command, arguments) -> the Command that these mean
    finish: Callable | None = None  # of one that saves no .blend file: (arguments, results) -> code
    also_writes: Callable | None = None  # (arguments, names of armatures) -> [(path, kind)]
    weights_of: Callable[[dict], Any] = lambda _report: None  # the part of a report about weights
    has_pictures: bool = False
    names_stages: bool = False  # its progress is a line for each stage

    @property
    def saves(self):
        """Whether it saves .blend files, and takes many of them."""
        return self.finish is None


def _only_new(parser):
    parser.add_argument(
        "--only-new",
        action="store_true",
        help="weight the vertices without weights alone: all others stay as they are",
    )


def _choose_new(command, arguments):
    if not arguments.only_new:
        return command
    for name, usual in (("volume", "none"), ("start_from", "fresh")):
        value = getattr(arguments, name)
        if value != usual:
            flag = name.replace("_", "-")
            raise Refused(f"--only-new and --{flag} {value} exclude each other")
    return replace(command, task=NewWeightsTask, summary=summary_of_new)


def _source_and_target(parser):
    for name, text in (("source", "mesh that has weights"), ("target", "mesh that gets them")):
        parser.add_argument(
            f"--{name}", metavar="NAME", action="append", required=True, help=f"{text}; repeatable"
        )


def _wearer_and_target(parser):
    parser.add_argument(
        "--source", metavar="NAME", required=True, help="mesh that has the shape keys"
    )
    parser.add_argument(
        "--target",
        metavar="NAME",
        action="append",
        required=True,
        help="mesh that gets them; repeatable",
    )


def _fail_on(parser):
    parser.add_argument(
        "--fail-on",
        choices=[*LEVELS, "never"],
        default="high",
        help="end with exit code 3 for findings of this severity or above (default: high)",
    )


def _kind(parser):
    parser.add_argument(
        "--kind",
        choices=[kind.lower() for kind, _name, _about in KINDS],
        action="append",
        default=[],
        help="only findings of this kind; repeatable",
    )


def _choose_kinds(command, arguments):
    if not arguments.kind:
        return command
    kinds = frozenset(kind.upper() for kind in arguments.kind)
    return replace(command, task=partial(RepairTask, kinds=kinds))


def _method(parser):
    names = ", ".join(method.identifier.lower().replace("_", "-") for method in METHODS)
    parser.add_argument(
        "--method", metavar="NAME", action="append", help=f"only this; repeatable: {names}"
    )


def _choose_methods(command, arguments):
    find_methods(arguments.method)
    return replace(command, task=partial(CompareTask, methods=arguments.method))


COMMANDS = (
    Command(
        "weight",
        "weight the meshes of .blend files",
        f"Weights every armature's meshes: {WHICH}",
        WeightingTask,
        Options,
        summary,
        own=_only_new,
        choose=_choose_new,
        weights_of=lambda report: report,
        has_pictures=True,
    ),
    Command(
        "joints",
        "optimize the joints of the armatures of .blend files",
        "Moves the joints of every armature to where its meshes deform best, and weights these: "
        f"{WHICH}",
        JointTask,
        JointOptions,
        joint_summary,
        weights_of=lambda report: report["weights"],
    ),
    Command(
        "bake",
        "bake what modifiers do into weights",
        "Gives every armature's meshes the weights with which bones alone come nearest to what "
        f"all modifiers do: {WHICH}",
        BakeTask,
        BakeOptions,
        bake_summary,
    ),
    Command(
        "transfer",
        "transfer weights between meshes of .blend files",
        "Gives meshes the weights of others on the same armature where they lie close to these, "
        "and fills in and optimizes the rest. The input is left as it is unless it is also the "
        "output.",
        TransferTask,
        TransferOptions,
        transfer_summary,
        find=lambda arguments, view_layer: [
            find_transfer_in_file(view_layer, arguments.source, arguments.target)
        ],
        own=_source_and_target,
        without=("sources",),
    ),
    Command(
        "shapes",
        "transfer shape keys between meshes of .blend files",
        "Gives meshes the shape keys of another that they lie close to. The input is left as it is "
        "unless it is also the output.",
        ShapesTask,
        ShapeOptions,
        shapes_summary,
        find=lambda arguments, view_layer: [
            find_shapes_in_file(view_layer, arguments.source, arguments.target)
        ],
        subject=attrgetter("source"),
        own=_wearer_and_target,
    ),
    Command(
        "quantize",
        "make the weights of .blend files what game engines store",
        f"Quantizes the weights of every armature's meshes: {WHICH}",
        QuantizeTask,
        QuantizeOptions,
        summary_of_quantized,
    ),
    Command(
        "check",
        "say what is wrong with the weights of .blend files",
        "Prints findings about the weights of every armature's meshes, the worst first, and "
        "writes no .blend file. Exit codes: 0 nothing is as bad as --fail-on, 3 something is, 1 a "
        "file could not be checked.",
        CheckTask,
        Options,
        check_summary,
        find=_looked_at,
        own=_fail_on,
        only=CHECKED,
        finish=check_exit_code,
    ),
    Command(
        "repair",
        "repair what is wrong with the weights of .blend files",
        "Solves the weights of every armature's meshes again where `check` finds something, and "
        f"nowhere else: {WHICH}",
        RepairTask,
        Options,
        repair_lines,
        own=_kind,
        choose=_choose_kinds,
    ),
    Command(
        "compare",
        "compare all methods on the characters of a .blend file",
        "Weights every armature's meshes by all methods and judges them in poses that none was "
        "optimized in. Writes FOLDER/index.html, a page that needs nothing else, and "
        "FOLDER/report.json; the .blend file is left as it is. Of several armatures each has a "
        "page.",
        CompareTask,
        CompareOptions,
        compare_summary,
        find=_looked_at,
        own=_method,
        choose=_choose_methods,
        finish=write_pages,
        also_writes=comparison_files,
        names_stages=True,
    ),
)
