"""Implements Auto-weight for scripts, which need no registered add-on, operator, selection or
window. Scripts use it through araplbs.blender.bind() and python -m araplbs.blender."""

from contextlib import contextmanager

import bpy
from araplbs.api.options import options_of
from araplbs.base.refusal import Refused
from araplbs.cli.options import preset_options
from araplbs.disk.presets import FOLDER
from araplbs.reports.report import notes, warnings

from . import cli, parts
from .blender.data import edits
from .blender.data.references import reason_of, references_of
from .blender.poses import own_motion
from .blender.read import control_bones, read_armature
from .blender.read.targets import Targets, share_meshes
from .blender.write import deform_flags
from .features.auto_weight.tasks import ComparedWeighting
from .features.joints import data as joint_settings
from .features.new_vertices.task import NewVerticesTask
from .features.quantize import engine_limits
from .features.restore import stored as kept_weights

PROG = "python -m araplbs.blender"
# Modules with the data that the add-on stores in files. While the add-on is enabled, all of this
# data is registered.
MODULES = (
    *(read_armature, control_bones, deform_flags, edits, engine_limits, joint_settings),
    *(kept_weights, own_motion),
)


@contextmanager
def data_registered():
    """Makes the corrections and marks in the file readable and writable in this block."""
    if hasattr(bpy.types.Mesh, "araplbs"):
        yield
        return
    parts.register(MODULES)
    try:
        yield
    finally:
        parts.unregister(MODULES)


def bind(meshes, armature, *, only_new, preset, threads, progress, **options):
    """Binds meshes. See araplbs.blender.bind."""
    meshes = _objects(meshes)
    if not _is(armature, "ARMATURE"):
        raise TypeError(f"armature is {_shown(armature)}: must be an armature object")
    folders = bpy.utils.preset_paths(FOLDER)
    values = preset_options(preset, folders) if preset is not None else {}
    table = options_of(options, values, without=())
    view_layer = bpy.context.view_layer
    _refuse_absent([*meshes, armature], view_layer)
    task = (NewVerticesTask if only_new else ComparedWeighting)(table, threads)
    with data_registered():
        (targets,) = share_meshes([Targets(armature, meshes)], view_layer)
        references = references_of(targets)
        try:
            task.read(targets, view_layer, progress)
            task.solve(progress)
            report = task.apply()
        except Exception as error:
            raise reason_of(error, references) from None
    report["notes"] = notes(report)
    report["warnings"] = task.warnings + warnings(report)
    return report


def _objects(meshes):
    """Returns [Object]. Raises TypeError, and Refused for an empty list."""
    found = [meshes] if isinstance(meshes, (bpy.types.Object, str)) else list(meshes)
    for each in found:
        if not _is(each, "MESH"):
            raise TypeError(f"meshes contains {_shown(each)}: must contain only mesh objects")
    if not found:
        raise Refused("meshes is empty: specify at least one mesh object")
    return list(dict.fromkeys(found))


def _is(value, kind):
    """Whether a value is an object of this type. Raises Refused for an object that was removed."""
    try:
        return isinstance(value, bpy.types.Object) and value.type == kind
    except ReferenceError:
        what = "The armature" if kind == "ARMATURE" else "One of the meshes"
        raise Refused(f"{what} is an object that was removed from the file") from None


def _shown(value):
    if isinstance(value, bpy.types.Object):
        return f"'{value.name}', of type {value.type}"
    return repr(value)


def _refuse_absent(objects, view_layer):
    for ob in objects:
        if ob.name not in view_layer.objects or view_layer.objects[ob.name] != ob:
            raise Refused(
                f"'{ob.name}' is not in the view layer '{view_layer.name}': link it to a "
                "collection of the scene that is not excluded"
            )
        if getattr(ob.data, "is_editmode", False):
            raise Refused(f"'{ob.name}' is in Edit mode: exit Edit mode first")


def run(argv):
    """Runs the command line. Returns the exit code."""
    with data_registered():
        return cli.run(argv, prog=PROG)
