"""The operators of the Result box: show weights, keep them, and select the objects of a note."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.rigid_parts import loose_parts
from bpy.props import EnumProperty, IntProperty
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.read.read_mesh import group_entries, read_topology
from ...blender.read.targets import find_targets
from ...blender.write.deform_flags import deform_on_again
from ...blender.write.select_bones import select_bones
from ...blender.write.select_region import select_region
from ...languages.translate import inform
from ...operators.session import refuse_session
from .originals import originals_of
from .outcome import AFTER, BEFORE, ORIGINAL, OfOutcome, outcome_at_hand

SHOW = "object.araplbs_show_weights"
BACK = "object.araplbs_original_weights"
KEEP = "object.araplbs_keep_shown_weights"
SELECT = "object.araplbs_select_note"


class OBJECT_OT_araplbs_show_weights(OfOutcome, Operator):
    """Switch between the earlier weights and the new ones. Strokes painted in between stay with \
the set they were painted on"""

    bl_idname = SHOW
    bl_label = "Show Weights"

    which: EnumProperty(
        name="Weights",
        items=(
            (ORIGINAL, "Original", "The weights from before the first Auto-weight in this file"),
            (BEFORE, "Before", "The weights that the meshes had before the last Auto-weight"),
            (AFTER, "After", "The weights that Auto-weight made"),
        ),
    )

    def execute(self, context):
        outcome = outcome_at_hand(context)
        _refuse_empty(outcome, self.which)
        outcome.show(self.which)
        redraw_views()
        return {"FINISHED"}


def _refuse_empty(outcome, which):
    if outcome.slots[which]:
        return
    if outcome.slots[BEFORE]:
        raise Refused("The earlier weights are the original ones")
    raise Refused("The meshes had no weights before")


class OBJECT_OT_araplbs_keep_shown_weights(OfOutcome, Operator):
    """Continue with these weights. The Result box closes, and the other sets of weights are \
discarded"""

    bl_idname = KEEP
    bl_label = "Keep These Weights"

    which: EnumProperty(
        name="Weights",
        items=(
            ("SHOWN", "Shown", "The current weights of the meshes"),
            *OBJECT_OT_araplbs_show_weights.__annotations__["which"].keywords["items"],
        ),
    )

    def execute(self, context):
        outcome = outcome_at_hand(context)
        if self.which != "SHOWN":
            _refuse_empty(outcome, self.which)
            outcome.show(self.which)
        if outcome.shown() == ORIGINAL:
            for slot in outcome.slots[ORIGINAL]:
                deform_on_again(outcome.armature.get(), slot.names)
        for each in outcome.objects:
            each.get().data.araplbs.weighting = ""
        redraw_views()
        return {"FINISHED"}


class OBJECT_OT_araplbs_original_weights(Operator):
    """Restore the weights that the meshes had before their first Auto-weight"""

    bl_idname = BACK
    bl_label = "Back to Original Weights"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        refuse_session()
        if not with_originals(context):
            raise Refused("The meshes have no original weights")
        return True

    def execute(self, context):
        objects, armature = with_originals(context), find_targets(context, posing=True).armature
        for ob, slot in zip(objects, originals_of(objects), strict=True):
            slot.put()
            deform_on_again(armature, slot.names)
            ob.data.araplbs.weighting, ob.data.araplbs.made = "", ""
        redraw_views()
        return {"FINISHED"}


def with_originals(context):
    """Returns the [mesh objects] that the buttons work on if all of them have original weights,
    otherwise []."""
    try:
        meshes = find_targets(context, posing=True).meshes
    except Refused:
        return []
    return meshes if originals_of(meshes) else []


class OfNote(OfOutcome):
    """Mix-in for an operator on the note `index`."""

    def note(self, outcome):
        if self.index >= len(outcome.notes):
            raise Refused(f"There is no note {self.index}: there are {len(outcome.notes)}")
        return outcome.notes[self.index]


INDEX = IntProperty(name="Index", description="Number of the note", min=0)


class OBJECT_OT_araplbs_select_note(OfNote, Operator):
    """Select the bones, objects or vertices of this note"""

    bl_idname = SELECT
    bl_label = "Select"

    index: INDEX

    def execute(self, context):
        outcome = outcome_at_hand(context)
        note = self.note(outcome)
        if note.bones:
            select_bones(context, outcome.armature.get(), note.bones)
        elif note.selects:
            self._select_vertices(context, outcome, note)
        inform(self, note.text)
        return {"FINISHED"}

    @staticmethod
    def _select_vertices(context, outcome, note):
        chosen = {}
        for reference in outcome.objects:
            ob = reference.get()
            vertices = (
                vertices_above(ob, note.above, outcome.bones)
                if note.above
                else vertices_of(ob, note.places)
            )
            if len(vertices):
                chosen[ob] = vertices
        if not chosen:
            raise Refused("It no longer exists")
        from_object_mode = context.mode == "OBJECT"
        for ob, vertices in chosen.items():
            select_region(context, ob, vertices)
        if from_object_mode:
            show_selected(context, list(chosen))


def show_selected(context, objects):
    """Enters Edit mode with these meshes, because the selection is visible there."""
    for ob in context.selected_objects:
        ob.select_set(ob in objects)
    context.view_layer.objects.active = objects[0]
    context.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.object.mode_set(mode="EDIT")


def vertices_of(ob, places):
    """The vertices of the loose parts that contain these vertices; None: all vertices."""
    parts = [vertex for name, vertex in places if name == ob.name_full]
    if None in parts:
        return np.arange(len(ob.data.vertices))
    if not parts:
        return np.zeros(0, int)
    label = loose_parts(read_topology(ob))
    return np.flatnonzero(np.isin(label, label[parts]))


def vertices_above(ob, most, bones):
    """The vertices with more than `most` influences."""
    is_bone = np.array([group.name in bones for group in ob.vertex_groups] + [False])
    vertices, groups, weights = group_entries(ob.data)
    take = is_bone[np.minimum(groups, len(is_bone) - 1)] & (weights > 0)
    return np.flatnonzero(np.bincount(vertices[take], minlength=len(ob.data.vertices)) > most)


CLASSES = (
    OBJECT_OT_araplbs_show_weights,
    OBJECT_OT_araplbs_keep_shown_weights,
    OBJECT_OT_araplbs_original_weights,
    OBJECT_OT_araplbs_select_note,
)
