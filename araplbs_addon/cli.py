"""The command line: blender -c araplbs weight IN.blend ... --output OUT.blend|FOLDER

A file is weighted and saved beside its place first, and moved there as a whole: whatever fails,
or ends the process, neither the input nor an older output is touched.
"""

import os
import shutil
import stat
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

import bpy

from .arguments import COMMAND, make_parser, read_options
from .blender.again import command as this_blender
from .blender.opened_file import blocked_drivers, enter_edit_mode, leave_edit_mode
from .blender.targets import find_in_file, share_meshes
from .blender.transfer_targets import find_transfer_in_file
from .core.blend_file import is_whole
from .core.files import (
    identity,
    placed,
    refuse_input,
    refuse_output,
    remove_leftovers,
    whole_file,
    write_json,
)
from .core.native_module import engine_errors, version
from .core.refusal import Refused
from .core.report import notes, warnings
from .core.stop import Stop, Stopped
from .farm import commands as farm
from .farm import tasks
from .farm.reports import merge, write_report

MAGIC = (b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # plain, gzip, zstd

# What ends the work on one file, as errors of the engine do; RuntimeError is how Blender's
# operators fail.
FAILURES = (Refused, MemoryError, OSError, RuntimeError, ValueError)

_handles = []  # what Blender gave for the registered command


def _tets(options):
    """The file of tets that the options name, or nothing."""
    return getattr(options, "tet_file", "")


def plan_outputs(inputs, output):
    """[(input, output)], where nothing is saved with None for the output. Raises Refused when one
    output would hold several inputs."""
    if output is None:
        return [(path, None) for path in inputs]
    target = Path(output)
    into_folder = len(inputs) > 1 or target.is_dir() or output.endswith(("/", os.sep))
    if not into_folder:
        if target.suffix != ".blend":
            raise Refused(f"--output {output}: not a folder, and no name of a .blend file")
        return [(inputs[0], target)]
    names = [path.name for path in inputs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused(f"several inputs are called {', '.join(twice)}: give them other outputs")
    return [(path, target / path.name) for path in inputs]


def check_plan(plan, report=None, tets=""):
    """Raises Refused when what is written would replace something else that is read or written,
    under whatever name."""
    read = {}
    for source, _ in plan:
        read.setdefault(identity(source), []).append(source)
    taken = {identity(tets): f"the tets {tets}"} if tets else {}
    for stream in (1, 2):  # where what is printed goes to a file
        with suppress(OSError):
            found = os.fstat(stream)
            if stat.S_ISREG(found.st_mode):
                taken[found.st_dev, found.st_ino] = "the file that this command prints to"
    for source, target in plan:
        if target is None:
            continue
        key = identity(target)
        others = [other for other in read.get(key, []) if other != source]
        if others:
            raise Refused(f"the output {target} would replace the input {others[0]}")
        if key in taken:
            raise Refused(f"the output {target} would replace {taken[key]}")
        taken[key] = f"the output {target}"
    if report:
        key = identity(report)
        what = f"the input {read[key][0]}" if key in read else taken.get(key)
        if what:
            raise Refused(f"the report {report} would replace {what}")
        if not Path(report).exists() or Path(report).is_dir() or Path(report).is_file():
            refuse_output(report)


def run(argv, results=None):
    """The command; returns the exit code: 0 all is done, 1 a file failed or none could be
    started, 2 wrong arguments, 3 `check` has found what it shall fail on, 128 + the signal that
    stopped it. `results` gets what the report says of each file."""
    try:
        arguments = make_parser().parse_args(argv)
    except SystemExit as end:  # help was printed, or what is wrong with the arguments
        return end.code or 0
    if "apart" in arguments:
        try:
            return arguments.apart(arguments, run)
        except (Refused, OSError) as error:
            return _fail(error)
    results = [] if results is None else results
    try:
        tasks.check(arguments)
        options = read_options(arguments)
        saves = "conclude" not in arguments
        plan = plan_outputs(arguments.input, arguments.output if saves else None)
        check_plan(plan, arguments.json, _tets(options))
    except (Refused, OSError, ValueError) as error:
        return _fail(error)
    if arguments.plan:
        return farm.print_plan(plan, arguments)
    try:
        with Stop() as stop:
            return _weight_files(plan, options, arguments, stop, results)
    except Stopped as end:
        _fail(end)
        return 128 + end.number


def _weight_files(plan, options, arguments, stop, results):
    for path in filter(None, [*(target for _, target in plan), arguments.json]):
        for folder in {placed(path).parent, Path(os.path.realpath(path)).parent}:
            remove_leftovers(folder)
    plan = farm.left_to_do(plan, arguments)
    if arguments.jobs:
        results += farm.run_jobs(plan, arguments, this_blender(COMMAND), _fail, stop.check)
    else:
        _weight_here(plan, options, arguments, stop, results)
    failures = sum("error" in result for result in results)
    try:
        if arguments.report and arguments.merge and (plan or Path(arguments.report).is_dir()):
            merge(arguments.report)
        if arguments.json and failures < max(len(plan), 1):
            content = {"version": version(), "fingerprint": tasks.fingerprint(arguments)}
            write_json(arguments.json, content | {"files": results})
        if failures:
            return 1
        return arguments.conclude(arguments, results) if "conclude" in arguments else 0
    except (Refused, OSError) as error:
        return _fail(error)


def _weight_here(plan, options, arguments, stop, results):
    """One file after the other in this process."""
    for source, target in plan:
        stop.check()
        result = {"input": str(source)}
        if target:
            result["output"] = str(target)
        try:
            print(f"{source}", flush=True)
            result |= weight_file(source, target, options, arguments, stop)
        except Exception as error:  # the other files are done all the same
            if not isinstance(error, (*FAILURES, *engine_errors("SolverError"))):
                traceback.print_exc()
            result["error"] = str(error) or type(error).__name__
            _fail(f"{source}: {result['error']}")
        if arguments.report:
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                result["error"] = f"its report: {error}"
                _fail(f"{source}: {result['error']}")
        results.append(result)
        stop.release()


def _fail(error):
    print(f"araplbs: {error}", file=sys.stderr, flush=True)
    return 1


def weight_file(source, target, options, arguments, stop):
    """Weights one file; what the report says of it. Nothing is written when it raises, nor where
    there is no target."""
    if target:
        refuse_output(target)
    compressed = _open(source)
    _refuse_used(_tets(options), target, arguments.json)
    view_layer = bpy.context.view_layer
    left = leave_edit_mode(view_layer)
    view_layer.update()
    lines, reports = _warn(blocked_drivers()), []
    for targets in _find(arguments, view_layer):
        start = time.perf_counter()
        task = arguments.make_task(options, arguments.threads)
        task.read(targets, view_layer)
        task.solve(_Lines(targets.armature.name, stop, arguments.command == "compare"))
        report = task.apply()
        report["total_seconds"] = time.perf_counter() - start
        weights = {"weight": report, "joints": report.get("weights")}.get(arguments.command)
        for line in notes(weights):
            print(f"  {targets.armature.name}: {line}")
        report["warnings"] = task.warnings + warnings(weights)
        for line in report["warnings"]:
            print(f"  {targets.armature.name}: warning: {line}")
        print(f"  {targets.armature.name}: {arguments.summary(report)}", flush=True)
        reports.append(report)
    if not target:
        return {"armatures": reports, "warnings": lines}
    lines += _warn(enter_edit_mode(view_layer, left))
    if arguments.resume and tasks.done_before(source, target, arguments):
        print(f"  {target} was made by another meanwhile", flush=True)
        return {"armatures": reports, "warnings": lines}
    _save(target, compressed, stop)
    print(f"  saved {target}", flush=True)
    return {"armatures": reports, "warnings": lines}


def _find(arguments, view_layer):
    """What the tasks of a command read: an item for each."""
    if arguments.command == "transfer":
        return [find_transfer_in_file(view_layer, arguments.source, arguments.target)]
    found = find_in_file(view_layer, arguments.armature, arguments.mesh)
    if "conclude" in arguments:  # nothing is written that others share
        return found
    return share_meshes(found, view_layer)


def _warn(lines):
    for line in lines:
        print(f"  warning: {line}", flush=True)
    return lines


def _refuse_used(tets, *written):
    """Raises Refused when a library, picture... that the opened file uses would be replaced."""
    paths = [*bpy.utils.blend_paths(absolute=True), *([bpy.path.abspath(tets)] if tets else [])]
    used = {identity(path): path for path in paths}
    for path in filter(None, written):
        if identity(path) in used:
            raise Refused(f"{path} would replace {used[identity(path)]}, which the file uses")


class _Lines:
    """Progress as lines: a new one for each stage, the later ones by tens of percent. named: all
    stages count, by their names."""

    def __init__(self, name, stop, named=False):
        self.name, self.stop, self.named, self.last = name, stop, named, None

    def __call__(self, stage, fraction, _energy):
        self.stop.check()
        early = self.named or fraction < 0.25
        step = (stage if early else "optimization", int(10 * fraction))
        if step != self.last:
            self.last = step
            print(f"  {self.name}: {100 * fraction:3.0f} % {step[0]}", flush=True)


def _open(path):
    """Opens a file; whether it is compressed. Raises Refused for what is no .blend file."""
    refuse_input(path)
    with open(path, "rb") as file:
        start = file.read(7)
    if not start.startswith(MAGIC):
        raise Refused("not a .blend file")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(placed(path)), load_ui=False)
    except RuntimeError as error:
        raise Refused(str(error).strip().removeprefix("Error: ")) from None
    return not start.startswith(b"BLENDER")


def _save(target, compress, stop):
    stop.check()
    with whole_file(target) as temporary:
        try:
            bpy.ops.wm.save_as_mainfile(
                filepath=str(temporary), copy=True, check_existing=False, compress=compress
            )
        except RuntimeError as error:  # of a full disk Blender does not say that it is full
            raise _not_saved(
                target, temporary, str(error).strip().removeprefix("Error: ")
            ) from None
        if not is_whole(temporary):
            raise _not_saved(target, temporary, "a part of the file is missing")
        stop.hold()  # until the report is there, too; Blender swallows what handlers raise


def _not_saved(target, temporary, reason):
    free = shutil.disk_usage(temporary.parent).free
    return Refused(f"{target} could not be saved: {reason} (free there: {free / 1e6:.1f} MB)")


def register():
    _handles.append(bpy.utils.register_cli_command(COMMAND, run))


def unregister():
    bpy.utils.unregister_cli_command(_handles.pop())
