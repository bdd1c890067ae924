"""Operators that fix the cause of a note in the Result box and have no button elsewhere: "Unlock
Groups", "Make Rigid", "Parent at Joint" and "Move Limbs", whose changes take effect in the next
Auto-weight, and "Give Part", which also changes the weights."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.rigid_parts import loose_parts
from araplbs.features.joints.misplaced import shifted_start
from araplbs.features.joints.moved_joints import moved_bones, pinned_ends
from araplbs.features.joints.options import JointOptions
from araplbs.reports.doubts import bone_at_joint
from araplbs.reports.report import names_in_line
from araplbs.skeleton.limb_shift import LimbShift
from bpy.props import IntProperty
from bpy.types import Operator

from ...blender.data.edits import add_rigid_part
from ...blender.data.views import redraw_views
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import read_topology, refuse_linked
from ...blender.write.edit_bones import editing
from ...blender.write.part_bone import toggle
from ...languages.translate import inform
from ..joints.data import read_joint_settings
from ..joints.effects import effects, refuse_armature
from ..joints.write import write_joints
from .outcome import AFTER, OfOutcome, outcome_at_hand
from .result import INDEX, OfNote, vertices_of

UNLOCK = "object.araplbs_unlock_groups"
RIGID = "object.araplbs_make_rigid"
PARENT = "object.araplbs_parent_at_joint"
SHIFT = "object.araplbs_move_limbs"
GIVE_PART = "object.araplbs_give_part"


class OBJECT_OT_araplbs_unlock_groups(OfOutcome, Operator):
    """Unlock the vertex groups of bones, so that the next Auto-weight may change them"""

    bl_idname = UNLOCK
    bl_label = "Unlock Groups"

    def execute(self, context):
        outcome, count = outcome_at_hand(context), 0
        for each in outcome.objects:
            for group in each.get().vertex_groups:
                if group.lock_weight and group.name in outcome.bones:
                    group.lock_weight = False
                    count += 1
        if not count:
            raise Refused("No vertex group of a bone is locked")
        which = "1 group" if count == 1 else f"{count} groups"
        inform(self, f"{which} unlocked: press Auto-weight again")
        return {"FINISHED"}


class OBJECT_OT_araplbs_make_rigid(OfNote, Operator):
    """Mark the parts of this note as rigid: each keeps its shape with the next Auto-weight"""

    bl_idname = RIGID
    bl_label = "Make Rigid"

    index: INDEX

    def execute(self, context):
        outcome, count = outcome_at_hand(context), 0
        note = self.note(outcome)
        for ob in [each.get() for each in outcome.objects]:
            vertices = vertices_of(ob, note.places)
            label = loose_parts(read_topology(ob))[vertices] if len(vertices) else vertices
            for part in np.unique(label):
                add_rigid_part(ob.data, vertices[label == part])
                count += 1
        if not count:
            raise Refused("It no longer exists")
        redraw_views()
        which = "1 rigid part" if count == 1 else f"{count} rigid parts"
        inform(self, f"{which} marked: press Auto-weight again")
        return {"FINISHED"}


class OBJECT_OT_araplbs_parent_at_joint(OfNote, Operator):
    """Parent the bones of this note to the bone at their joint, without moving them"""

    bl_idname = PARENT
    bl_label = "Parent at Joint"

    index: INDEX

    def execute(self, context):
        outcome = outcome_at_hand(context)
        names, armature = self.note(outcome).bones, outcome.armature.get()
        refuse_linked(armature)
        skeleton, pairs = read_armature(armature, use_joint_limits=False), {}
        for name in names:
            if name not in skeleton.names:
                raise Refused(f"The bone '{name}' no longer exists")
        torn = [skeleton.names.index(name) for name in names]
        for name, bone in zip(names, torn, strict=True):
            above = bone_at_joint(skeleton, bone, torn)
            if above is not None:
                pairs[name] = skeleton.names[above]
        if not pairs:
            raise Refused("There is no other bone at these joints")
        with editing(armature) as bones:
            for name, above in list(pairs.items()):
                if bones[name] in bones[above].parent_recursive:  # already attached to this bone
                    del pairs[name]
                    continue
                bones[name].use_connect = False
                bones[name].parent = bones[above]
            if not pairs:
                raise Refused(f"'{above}' is already a descendant of '{name}'")
        redraw_views()
        for name, above in pairs.items():
            inform(self, f"'{name}' is now a child of '{above}': press Auto-weight again")
        return {"FINISHED"}


class OBJECT_OT_araplbs_move_limbs(OfOutcome, Operator):
    """Move the limbs that are off their bones to the middle of their skin: the bones move, and \
the mesh stays"""

    bl_idname = SHIFT
    bl_label = "Move Limbs"

    def execute(self, context):
        outcome = outcome_at_hand(context)
        armature, meshes = outcome.armature.get(), [each.get() for each in outcome.objects]
        refuse_armature(armature, meshes)
        skeleton = read_armature(armature, use_joint_limits=False)
        names = skeleton.names
        limbs = [
            LimbShift(names.index(bone), np.array(shift), np.zeros(0, int))
            for bone, shift in outcome.shifts.items()
            if bone in names
        ]
        locked = pinned_ends(skeleton, read_joint_settings(armature, names)[0])
        start = shifted_start(skeleton, limbs, locked, JointOptions().max_shift)
        if not start:
            raise Refused("There is no limb to move, or its joints are locked")
        moved = moved_bones(skeleton, start.skeleton)
        told = effects(armature, meshes, skeleton, start.skeleton, moved)
        write_joints(armature, skeleton, start.skeleton)
        redraw_views()
        for line in told:
            self.report({"WARNING"}, line)
        bones = names_in_line([names[bone] for bone in start.bones])
        inform(self, f"Moved to the skin: {bones}. Press Auto-weight again")
        return {"FINISHED"}


class OBJECT_OT_araplbs_give_part(OfOutcome, Operator):
    """Give this loose part to this bone, also on the other side if weights are symmetric. \
The next Auto-weight keeps this choice. Click again to take it back"""

    bl_idname = GIVE_PART
    bl_label = "Give Part"

    index: IntProperty(name="Index", description="Number of the part", min=0)
    other: IntProperty(name="Other Bone", description="Number of the other bone", min=0)

    def execute(self, context):
        outcome = outcome_at_hand(context)
        if self.index >= len(outcome.parts):
            raise Refused(f"There is no part {self.index}: there are {len(outcome.parts)}")
        outcome.show(AFTER)
        first = outcome.parts[self.index]
        mirrored = [outcome.parts[first["mirror"]]] if first["mirror"] >= 0 else []
        choices = [outcome.choice(each) for each in (first, *mirrored)]
        if not all(choices):
            raise Refused("It no longer exists")
        bones = toggle(choices, self.other, outcome.bones, outcome.given)
        redraw_views()
        inform(self, f"'{first['name']}' is moved by {names_in_line(bones)}")
        return {"FINISHED"}


CLASSES = (
    OBJECT_OT_araplbs_give_part,
    OBJECT_OT_araplbs_unlock_groups,
    OBJECT_OT_araplbs_make_rigid,
    OBJECT_OT_araplbs_parent_at_joint,
    OBJECT_OT_araplbs_move_limbs,
)
