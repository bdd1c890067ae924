"""The operator "Bake Modifiers to Weights (ARAP)"."""

from araplbs.features.bake import BakeOptions, bake_summary
from araplbs.reports.last_lines import bake_line
from bpy.types import Operator

from ...languages.translate import inform
from ...operators.command import WHICH, Command
from ...operators.properties import (
    BoneChoice,
    OptionProperties,
    option_names,
    split,
)
from ...operators.sidebar import ARROW
from ...operators.work import WorkOperator, tell
from .task import BakeTask

IDNAME = "object.araplbs_bake"

# Options for only one source of frames:
RANDOM = ("swing", "twist", "limb_twist", "reach_poses", "seed", "use_joint_limits")
NOT_RANDOM = ("new_bones",)


class OBJECT_OT_araplbs_bake(WorkOperator, BoneChoice, OptionProperties, Operator):
    """Compute weights that let bones alone best reproduce the effect of all modifiers of \
the selected meshes: Corrective Smooth, Preserve Volume, shape keys, lattices, cloth, caches"""

    bl_idname = IDNAME
    bl_label = "Bake Modifiers to Weights (ARAP)"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    places = (
        ("VIEW3D_MT_object_parent", 40),
        ("VIEW3D_MT_paint_weight", 40),
        ("VIEW3D_PT_araplbs_export", 30),
    )
    icon = "MOD_MESHDEFORM"
    row_text, row_short = "Bake Modifiers to Weights", "Poses"

    option_table = BakeOptions
    task_kind = BakeTask
    doing = "Baking"

    @classmethod
    def draw_row(cls, layout):
        layout, text, icon = cls.row_parts(layout, ARROW)
        layout.operator_menu_enum(cls.bl_idname, "poses", text=text, icon=icon)

    def draw(self, _context):
        layout = split(self.layout)
        for name in option_names(BakeOptions):
            if name not in (NOT_RANDOM if self.poses == "RANDOM" else RANDOM):
                layout.prop(self, name)

    def tell(self, report, task):
        inform(self, bake_summary(report))
        return tell(self, None, task, bake_line(report))


CLASSES = (OBJECT_OT_araplbs_bake,)
COMMAND = Command(
    "bake",
    "bake the effect of modifiers into weights",
    "Computes weights of every armature's meshes that let bones alone best reproduce the "
    f"effect of all modifiers: {WHICH}",
    BakeTask,
    BakeOptions,
    bake_summary,
)
