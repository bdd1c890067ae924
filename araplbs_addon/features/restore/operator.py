"""The operator "Restore Weights"."""

from araplbs.features.restore.report import restore_summary
from araplbs.features.restore.restore import RestoreOptions
from bpy.types import Operator

from ...operators.command import WHICH, Command
from ...operators.properties import ListedOptions, option_names
from ...operators.work import WorkOperator
from .read import find_keepable
from .task import RestoreTask

IDNAME = "object.araplbs_restore_weights"


class OBJECT_OT_araplbs_restore_weights(WorkOperator, ListedOptions, Operator):
    """Restore the kept weights of the selected meshes, even if the meshes have since been \
remeshed, decimated, reimported, joined or split. They must be in the same place relative to the \
armature"""

    bl_idname = IDNAME
    bl_label = "Restore Weights"
    places = (("VIEW3D_MT_make_links", 40),)

    option_table = RestoreOptions
    own_options = tuple(option_names(RestoreOptions))  # not in the panel
    task_kind = RestoreTask
    summary = staticmethod(restore_summary)
    doing = "Restoring"
    find = staticmethod(find_keepable)


CLASSES = (OBJECT_OT_araplbs_restore_weights,)
COMMAND = Command(
    "restore",
    "restore the kept weights of meshes of .blend files",
    "Restores the weights of every armature's meshes that were kept with `keep`, even if the "
    f"meshes were remeshed since: {WHICH}",
    RestoreTask,
    RestoreOptions,
    restore_summary,
)
