"""The operator "Copy Weights"."""

from functools import partial
from operator import attrgetter

from araplbs.cli.own_arguments import add_sources_and_targets
from araplbs.features.copy_weights import CopyOptions, copies_summary
from bpy.types import Operator

from ...blender.read.transfer_targets import (
    find_copy_targets,
    find_one_source_in_file,
    make_copy_targets,
)
from ...operators.command import Command
from ...operators.properties import ListedOptions, option_names
from ...operators.work import WorkOperator
from .task import CopyTask

IDNAME = "object.araplbs_copy_weights"


class OBJECT_OT_araplbs_copy_weights(WorkOperator, ListedOptions, Operator):
    """Copy the exact weights of the active mesh to the other selected meshes: mirrored for the \
other side (the other glove, a mirrored character), or unchanged for copies with the same \
vertices"""

    bl_idname = IDNAME
    bl_label = "Copy Weights"
    places = (("VIEW3D_PT_araplbs_clothes", 30), ("VIEW3D_MT_make_links", 30))
    icon = "MOD_MIRROR"

    option_table = CopyOptions
    own_options = tuple(option_names(CopyOptions))
    task_kind = CopyTask
    summary = staticmethod(copies_summary)
    doing = "Copying"
    find = staticmethod(find_copy_targets)


CLASSES = (OBJECT_OT_araplbs_copy_weights,)
COMMAND = Command(
    "copies",
    "copy weights to mirrored meshes and identical copies in .blend files",
    "Gives meshes the exact weights of another mesh: mirrored, or those of the same bones. The "
    "input stays unchanged unless --in-place is given.",
    CopyTask,
    CopyOptions,
    copies_summary,
    find=partial(find_one_source_in_file, make=make_copy_targets),
    subject=attrgetter("source"),
    own=partial(add_sources_and_targets, several=False),
)
