"""Processes one file for the command line: blender -c araplbs weight IN.blend ... --output
OUT.blend|FOLDER (or python -m araplbs.blender weight ... without an executable)."""

import shutil
import time

import bpy
from araplbs.base.printed import say
from araplbs.base.refusal import NothingNew, Refused
from araplbs.blender import files
from araplbs.blender.arguments import COMMAND
from araplbs.blender.files import Lines, warn
from araplbs.cli.batch import tasks
from araplbs.cli.batch.reports import write_pictures
from araplbs.disk.blend_file import is_whole
from araplbs.disk.files import placed, refuse_input
from araplbs.disk.outputs import BLEND, carries, refuse_foreign, replaced
from araplbs.disk.presets import FOLDER
from araplbs.reports.report import notes, warnings

from .blender.data.opened_file import blocked_drivers, enter_edit_mode, leave_edit_mode
from .blender.data.references import reason_of, references_of, words_of
from .blender.data.restart import command as this_blender
from .features import modules

COMMANDS = tuple(module.COMMAND for module in modules() if hasattr(module, "COMMAND"))
_handles = []  # Blender's handle of the registered command


def run(argv, results=None, prog=f"blender -c {COMMAND}"):
    """Runs the command. See araplbs.blender.files.run."""
    presets = bpy.utils.preset_paths(FOLDER)
    blender = files.Blender(COMMANDS, presets, lambda: this_blender(COMMAND), do_file)
    return files.run(argv, blender, results, prog)


def do_file(command, source, target, arguments, stop, outputs):
    """Processes one file. Returns the file's entry in the report. Nothing is written if an
    exception is raised, or if there is no target."""
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
    lines, reports, pictures, done = warn(blocked_drivers()), [], [], []
    found = command.find(arguments, view_layer)
    if command.also_writes:
        names = [targets.armature.name for targets in found]
        outputs.add_all(command.also_writes(arguments, names))
    for targets in found:
        start = time.perf_counter()
        name = command.subject(targets).name
        task = command.task(arguments.options, arguments.threads)
        references = references_of(targets)
        try:
            task.read(targets, view_layer)
            task.solve(Lines(name, stop, command.names_stages))
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
    lines += warn(enter_edit_mode(view_layer, left))
    if arguments.resume and tasks.done_before(source, target, arguments):
        say(f"  {target} was written by another process in the meantime")
        return known | {"armatures": reports, "warnings": lines}
    _save(target, compressed, stop)
    say(f"  saved {target}")
    if arguments.report:
        write_pictures(arguments.report, target, reports, pictures)
    return known | {"armatures": reports, "warnings": lines}


def _open(path):
    """Opens a file. Returns whether it is compressed. Raises Refused if it is not a .blend file."""
    if not carries(path, BLEND):
        raise Refused("not a .blend file")
    with open(path, "rb") as file:
        compressed = not file.read(7).startswith(b"BLENDER")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(placed(path)), load_ui=False)
    except RuntimeError as error:
        raise Refused(words_of(error)) from None
    return compressed


def _save(target, compress, stop):
    stop.check()
    with replaced(target, BLEND) as temporary:
        try:
            bpy.ops.wm.save_as_mainfile(
                filepath=str(temporary), copy=True, check_existing=False, compress=compress
            )
        except RuntimeError as error:  # Blender does not report that the disk is full
            raise _not_saved(target, temporary, words_of(error)) from None
        if not is_whole(temporary):
            raise _not_saved(target, temporary, "a part of the file is missing")
        stop.hold()  # until the report is written, too; Blender swallows exceptions of handlers


def _not_saved(target, temporary, reason):
    free = shutil.disk_usage(temporary.parent).free
    return Refused(f"{target} could not be saved: {reason} (free there: {free / 1e6:.1f} MB)")


def register():
    _handles.append(bpy.utils.register_cli_command(COMMAND, run))


def unregister():
    bpy.utils.unregister_cli_command(_handles.pop())
