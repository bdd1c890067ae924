"""The operator "Keep Weights"."""

from araplbs.base.refusal import Refused
from araplbs.features.restore.report import keep_summary, kept_path
from araplbs.features.restore.restore import KeepOptions
from araplbs.features.restore.stored import FILE
from bpy.types import Operator

from ...operators.command import WHICH, Command, find_read
from ...operators.properties import OptionProperties
from ...operators.work import WorkOperator
from .read import find_keepable
from .task import KeepOneOfSeveral, KeepTask, keep_together

IDNAME = "object.araplbs_keep_weights"


class OBJECT_OT_araplbs_keep_weights(WorkOperator, OptionProperties, Operator):
    """Keep the weights, vertex groups and corrections of the selected meshes for Restore Weights, \
before you remesh, decimate or export them"""

    bl_idname = IDNAME
    bl_label = "Keep Weights"
    places = (("VIEW3D_MT_make_links", 30),)

    option_table = KeepOptions
    task_kind = KeepTask
    summary = staticmethod(keep_summary)
    doing = "Keeping"
    find = staticmethod(find_keepable)


def _choose(command, arguments):
    if arguments.file and len(arguments.input) > 1:
        raise Refused(
            f"--file {arguments.file} can store the weights of only one file, not of "
            f"{len(arguments.input)}"
        )
    return command


def _file_of(arguments, _names):
    """Returns [(path, kind)], because the file given with --file is an output like any other."""
    if not arguments.file:
        return []
    return [(kept_path(arguments.file, arguments.input[0]), FILE)]


CLASSES = (OBJECT_OT_araplbs_keep_weights,)
COMMAND = Command(
    "keep",
    "keep the weights of .blend files for meshes that will change",
    "Keeps the weights, vertex groups and corrections of every armature's meshes with the "
    f"armature in the output, or in the file given by --file: {WHICH}",
    KeepOneOfSeveral,
    KeepOptions,
    keep_summary,
    find=find_read,
    choose=_choose,
    also_writes=_file_of,
    conclude=keep_together,
)
