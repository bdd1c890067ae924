"""The operator "Give Part to Bone", which gives the loose part of a finding to another bone."""

from araplbs.base.refusal import Refused
from bpy.props import IntProperty
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.write.part_bone import Choice, PartOfMesh, toggle
from ...languages.translate import inform
from .findings_list import found
from .operator import INDEX, OfFinding

IDNAME = "object.araplbs_give_found_part"


def choice(finding):
    """The Choice of a finding about a part that other bones fit, None if its mesh has gone."""
    ob, bones = found.objects[finding.mesh].find(), found.list.bones
    others = [bones[bone] for bone in finding.others]
    part = ob and ob.data and PartOfMesh(ob, int(finding.vertices[0]))
    return Choice(part, bones[finding.bone], others) if part else None


class OBJECT_OT_araplbs_give_found_part(OfFinding, Operator):
    """Give this loose part to this bone, also on the other side if weights are symmetric. The \
next Auto-weight keeps this choice. Click again to take it back"""

    bl_idname = IDNAME
    bl_label = "Give Part to Bone"

    index: INDEX
    other: IntProperty(name="Other Bone", description="Number of the other bone", min=0)

    def work(self, _context, finding, ob):
        if finding.kind != "DOUBTFUL_PART":
            raise Refused("This finding is not about a part that two bones fit")
        pair = [f for f in found.findings if f.pair == finding.pair >= 0 and f is not finding]
        choices = [each for each in map(choice, (finding, *pair)) if each]
        bones = toggle(choices, self.other, found.list.bones, found.list.given)
        redraw_views()
        inform(self, f"The part is moved by '{bones[0]}'")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_give_found_part,)
