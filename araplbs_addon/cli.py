"""The command line: blender -c araplbs weight IN.blend ... --output OUT.blend|FOLDER
(python -m araplbs.blender weight ... without an executable).

A file is weighted and saved next to its destination first, and then moved there as a whole. If
anything fails or ends the process, input and older output stay unchanged.
"""

import shutil
import sys
import time
from pathlib import Path

import bpy
from araplbs.base.faults import sentence
from araplbs.base.printed import complain, say
from araplbs.base.refusal import NothingNew, Refused
from araplbs.base.stop import Stop, Stopped
from araplbs.cli.errors import FAILED, WRONG, WrongArguments
from araplbs.disk.blend_file import is_whole
from araplbs.disk.files import placed, refuse_input, remove_leftovers
from araplbs.disk.outputs import (
    BLEND,
    RESULTS,
    carries,
    json_text,
    refuse_foreign,
    replaced,
    write_json,
)
from araplbs.farm import commands as farm
from araplbs.farm import tasks
from araplbs.farm.inputs import inputs_of
from araplbs.farm.outputs import all_outputs, plan_outputs
from araplbs.farm.reports import write_pictures, write_report
from araplbs.reports.report import notes, warnings

from .arguments import COMMAND, read_arguments, read_command
from .blender.data.opened_file import blocked_drivers, enter_edit_mode, leave_edit_mode
from .blender.data.references import reason_of, references_of
from .blender.data.restart import command as this_blender
from .native_module import own_version
from .standard_output import StandardOutput

SCHEMA = 1  # of what --json writes: docs/manual/agents.md
_handles = []  # Blender's handle of the registered command


def run(argv, results=None, prog=f"blender -c {COMMAND}"):
    """The command; returns the exit code: 0 all is done, 1 a file failed or could not be
    started, 2 wrong arguments, 3 `check` or --if-worse has found something to fail on, 128 + the
    signal that stopped it. `results` gets what the report says of each file."""
    results = [] if results is None else results
    _print_any_name()
    try:
        return _run(argv, results, prog)
    except WrongArguments as error:
        _refuse(error, results)
        return WRONG
    except Exception as error:
        return _refuse(sentence("The command", error), results)


def _run(argv, results, prog):
    try:
        arguments = read_arguments(argv, prog)
    except SystemExit:  # help was printed
        return 0
    if arguments.apart:
        try:
            return arguments.apart(arguments, run)
        except WrongArguments:
            raise
        except (Refused, OSError) as error:
            return _fail(error)
    try:
        with Stop() as stop:
            try:
                tasks.check(arguments)
                arguments.input = inputs_of(arguments.input)
                command, options = read_command(arguments)
                plan = [(path, None) for path in arguments.input]
                if command.saves:
                    plan = plan_outputs(arguments.input, arguments.output, arguments.in_place)
                elif len(plan) > 1 and command.also_writes:
                    raise WrongArguments(f"one file at a time, not {len(plan)}")
                with StandardOutput(arguments) as output:
                    plan = farm.left_to_do(plan, arguments)
                    outputs = all_outputs(plan, arguments)
                    if arguments.plan:
                        return farm.print_plan(plan, arguments)
                    given = command, plan, options, arguments, stop, outputs
                    return _do_files(*given, results, output)
            except Refused as error:
                raise WrongArguments(str(error)) from None
            except OSError as error:
                return _refuse(error, results)
    except Stopped as end:
        _fail(end)
        return 128 + end.number


def _print_any_name():
    """Lets names be printed that the terminal has no letters for, or that are not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _do_files(command, plan, options, arguments, stop, outputs, results, output):
    for folder in outputs.folders():
        remove_leftovers(folder)
    if arguments.jobs:
        results += farm.run_jobs(plan, arguments, this_blender(COMMAND), _fail, stop)
    else:
        _do_here(command, plan, options, arguments, stop, outputs, results)
    failures = sum("error" in result for result in results)
    code = 1 if failures else 0
    try:
        content = {"schema": SCHEMA, "version": own_version(), "command": arguments.command}
        content |= {"fingerprint": tasks.fingerprint(arguments), "files": results}
        if arguments.json == "-":
            output.write(json_text(RESULTS, content))
        elif arguments.json and failures < max(len(plan), 1):
            write_json(arguments.json, RESULTS, content)
    except (Refused, OSError) as error:
        code = _fail(error)
    try:
        if arguments.report and arguments.merge and (plan or Path(arguments.report).is_dir()):
            farm.merge_and_warn(arguments.report)
        if not code and (command.finish or command.code_of):
            return (command.finish or command.code_of)(arguments, results)
    except (Refused, OSError) as error:
        code = _fail(error)
    return code


def _do_here(command, plan, options, arguments, stop, outputs, results):
    """One file after the other in this process."""
    for source, target in plan:
        stop.check()
        result = {"input": str(source)}
        if target:
            result["output"] = str(target)
        try:
            say(f"{source}")
            result |= do_file(command, source, target, options, arguments, stop, outputs)
        except Exception as error:  # the other files are done all the same
            of_blender = type(error) is RuntimeError  # how its operators fail
            result["error"] = str(error) if of_blender else sentence("The work", error)
            if isinstance(error, FileNotFoundError) and error.filename == str(source):
                result["error"] = "no such file"
            _fail(f"{source}: {result['error']}")
        if arguments.report:
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                result["error"] = f"its report: {error}"
                _fail(f"{source}: {result['error']}")
        results.append(result)
        stop.release()


def _refuse(error, results):
    """Where no file has a result the reason is the only one."""
    if not results:
        results.append({"error": str(error)})
    return _fail(error)


def _fail(error):
    complain(f"araplbs: {error}")
    return FAILED


def do_file(command, source, target, options, arguments, stop, outputs):
    """The work on one file; returns its entry in the report. Nothing is written when it raises, nor
    where there is no target."""
    if target:
        refuse_foreign(target, BLEND)
    refuse_input(source)
    known = {"contents": tasks.contents_read(source, arguments)} if arguments.report else {}
    compressed = _open(source)
    used = tasks.files_read(source, arguments)
    del used["input"]
    outputs.refuse_used([*bpy.utils.blend_paths(absolute=True), *used.values()], target)
    view_layer = bpy.context.view_layer
    left = leave_edit_mode(view_layer)
    view_layer.update()
    lines, reports, pictures, done = _warn(blocked_drivers()), [], [], []
    found = command.find(arguments, view_layer)
    if command.also_writes:
        names = [targets.armature.name for targets in found]
        outputs.add_all(command.also_writes(arguments, names))
    for targets in found:
        start = time.perf_counter()
        name = command.subject(targets).name
        task = command.task(options, arguments.threads)
        references = references_of(targets)
        try:
            task.read(targets, view_layer)
            task.solve(_Lines(name, stop, command.names_stages))
            report = task.apply()
        except NothingNew as reason:
            say(f"  {name}: {reason}")
            reports.append({"armature": name, "nothing_new": str(reason), "warnings": []})
            pictures.append(None)
            continue
        except Exception as error:
            raise reason_of(error, references) from None
        done.append(task)
        report["total_seconds"] = time.perf_counter() - start
        weights = command.weights_of(report)
        for line in notes(weights):
            say(f"  {name}: {line}")
        report["warnings"] = task.warnings + warnings(weights)
        for line in report["warnings"]:
            say(f"  {name}: warning: {line}")
        say(f"  {name}: {command.summary(report)}")
        reports.append(report)
        wanted = arguments.report and command.has_pictures
        pictures.append(task.picture() if wanted else None)
    if command.conclude:
        command.conclude(done)
    if not target:
        return {"armatures": reports, "warnings": lines}
    lines += _warn(enter_edit_mode(view_layer, left))
    if arguments.resume and tasks.done_before(source, target, arguments):
        say(f"  {target} was made by another process in the meantime")
        return known | {"armatures": reports, "warnings": lines}
    _save(target, compressed, stop)
    say(f"  saved {target}")
    if arguments.report:
        write_pictures(arguments.report, target, reports, pictures)
    return known | {"armatures": reports, "warnings": lines}


def _warn(lines):
    for line in lines:
        say(f"  warning: {line}")
    return lines


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
            say(f"  {self.name}: {100 * fraction:3.0f} % {step[0]}")


def _open(path):
    """Opens a file; whether it is compressed. Raises Refused for what is no .blend file."""
    if not carries(path, BLEND):
        raise Refused("not a .blend file")
    with open(path, "rb") as file:
        compressed = not file.read(7).startswith(b"BLENDER")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(placed(path)), load_ui=False)
    except RuntimeError as error:
        raise Refused(str(error).strip().removeprefix("Error: ")) from None
    return compressed


def _save(target, compress, stop):
    stop.check()
    with replaced(target, BLEND) as temporary:
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
