"""The operator "Give Back": bones that have lost their skin get the earlier weights there."""

from typing import NamedTuple

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.features.check.lost import given_back
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.read.read_mesh import present_weights
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.weight_slots import WeightSlot
from ...blender.write.write_weights import write_weights
from ...languages.translate import translated
from .counting import count_again
from .outcome import AFTER, BEFORE, OfOutcome, outcome_at_hand

IDNAME = "object.araplbs_give_back"


class _Bones(NamedTuple):
    """What present_weights() asks of a skeleton."""

    names: list[str]
    deform: np.ndarray


class OBJECT_OT_araplbs_give_back(OfOutcome, Operator):
    """Give the bones that have lost their skin the weights that they had before, and blend these \
into the new ones around"""

    bl_idname = IDNAME
    bl_label = "Give Back"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context):
        outcome = outcome_at_hand(context)
        lost = [outcome.bones[bone] for bone in outcome.facts.get("lost", ())]
        if not lost or not outcome.slots[BEFORE]:
            raise Refused("No bone has lost its skin")
        outcome.show(AFTER)
        objects = [slot.object() for slot in outcome.slots[BEFORE]]
        with all_or_nothing(objects, made=None):
            counts = [
                _give_back(ob, slot.read(), outcome.bones, lost)
                for ob, slot in zip(objects, outcome.slots[BEFORE], strict=True)
            ]
        outcome.rewritten([WeightSlot(ob) for ob in objects], lost)
        count_again(outcome, context)
        redraw_views()
        self.report({"INFO"}, translated(f"Earlier weights are back on {sum(counts)} vertices"))
        return {"FINISHED"}


def _give_back(ob, earlier, names, lost):
    """Writes the weights of one object; on how many vertices."""
    bones = _Bones(names, np.ones(len(names), bool))
    before, after = (present_weights(ob, bones, read) for read in (earlier, None))
    locks = {group.name for group in ob.vertex_groups if group.lock_weight}
    locked = np.array([name in locks for name in names])
    wanted = np.array([name in lost for name in names])
    rows, where = given_back(before, after, wanted, locked)
    used = np.zeros(len(names), bool)
    used[rows.bones[where[rows.vertices]]] = True
    write_weights(ob, rows, names, used & ~locked, ~locked, where)
    return int(where.sum())


CLASSES = (OBJECT_OT_araplbs_give_back,)
