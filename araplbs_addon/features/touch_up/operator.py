"""The operator "Lock Bones", which sets the locks of vertex groups by the selected bones."""

from araplbs.base.refusal import Refused
from bpy.props import EnumProperty
from bpy.types import Operator

from ...blender.data.bones import chosen_bones
from ...blender.read.read_mesh import refuse_linked
from ...blender.read.targets import find_posing
from ...languages.translate import inform
from ...operators.work import poll_targets

IDNAME = "object.araplbs_lock_bones"
SELECTED, OTHERS, NONE = "SELECTED", "OTHERS", "NONE"
WHICH = (
    (SELECTED, "Lock Selected Bones", "Lock the weights of the selected bones"),
    (
        OTHERS,
        "Lock All But Selected",
        "Lock the weights of all bones except the selected ones, which are unlocked",
    ),
    (NONE, "Unlock All", "Unlock the weights of all bones"),
)


class OBJECT_OT_araplbs_lock_bones(Operator):
    """Lock or unlock the vertex groups of bones. No tool changes the weights of a locked group"""

    bl_idname = IDNAME
    bl_label = "Lock Bones"
    bl_options = {"REGISTER", "UNDO"}

    which: EnumProperty(name="Bones", items=WHICH)

    @classmethod
    def description(cls, _context, properties):
        return next(about for each, _name, about in WHICH if each == properties.which)

    @classmethod
    def poll(cls, context):
        return poll_targets(context, find_posing)

    def execute(self, context):
        targets = find_posing(context)
        armature = targets.armature
        names = [bone.name for bone in armature.data.bones]
        chosen = {
            n for n, is_chosen in zip(names, chosen_bones(armature), strict=True) if is_chosen
        }
        if not chosen and self.which != NONE:
            raise Refused(f"Select bones of '{armature.name}' in Pose mode")
        for ob in targets.meshes:
            refuse_linked(ob)
        groups = [g for ob in targets.meshes for g in ob.vertex_groups if g.name in set(names)]
        if not any(group.name in chosen or self.which == NONE for group in groups):
            raise Refused(f"The selected bones of '{armature.name}' have no vertex groups")
        for group in groups:
            if self.which != SELECTED or group.name in chosen:
                group.lock_weight = self.which != NONE and (group.name in chosen) == (
                    self.which == SELECTED
                )
        count = sum(group.lock_weight for group in groups)
        inform(self, f"{count} of {len(groups)} vertex groups are locked")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_lock_bones,)
