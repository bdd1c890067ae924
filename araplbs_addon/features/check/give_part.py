"""The operator "Give Part to Bone", which gives the loose part of a finding to the other bone."""

from araplbs.base.refusal import Refused
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.write.part_bone import PartOfMesh, toggle
from ...languages.translate import inform
from .findings_list import found
from .operator import INDEX, OfFinding

IDNAME = "object.araplbs_give_found_part"


def next_bone(finding):
    """The name of the bone to which the operator will give the part of the chosen finding."""
    ob, bones = found.objects[finding.mesh].find(), found.list.bones
    other = bones[finding.other]
    given = ob and ob.data and PartOfMesh(ob, int(finding.vertices[0])).is_given(other)
    return bones[finding.bone] if given else other


class OBJECT_OT_araplbs_give_found_part(OfFinding, Operator):
    """Give this loose part to the other bone. The next Auto-weight keeps this choice. Click again \
to take it back"""

    bl_idname = IDNAME
    bl_label = "Give Part to Bone"

    index: INDEX

    def work(self, _context, finding, ob):
        if finding.other < 0:
            raise Refused("This finding is not about a part that two bones fit")
        bones = found.list.bones
        part = PartOfMesh(ob, int(finding.vertices[0]))
        bone, other = bones[finding.bone], bones[finding.other]
        to = toggle(part, bones, bone, other, found.list.given)
        redraw_views()
        inform(self, f"The part is moved by '{to}'")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_give_found_part,)
