"""The operator "Weight as One Spine", which divides the weights of a chain of bones in bands."""

import numpy as np
from araplbs.base.affine import moved
from araplbs.base.refusal import Refused
from araplbs.features.bendy.spine import along_chain, as_one_spine
from araplbs.skeleton.poses import BENDY
from bpy.types import Operator

from ...blender.data.bones import chosen_bones
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import (
    coordinates,
    masked_vertices,
    matrix_between,
    present_weights,
    refuse_locked,
    refuse_mesh,
)
from ...blender.read.targets import find_posing
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...languages.translate import inform
from ...operators.menu_entries import Placed
from ...operators.work import poll_bones

IDNAME = "object.araplbs_one_spine"


class OBJECT_OT_araplbs_one_spine(Placed, Operator):
    """Divide the weights of the selected bones, such as vertebrae or a tail, in bands along their \
chain, as if they were one spine. The sum of their weights at each vertex stays the same. All \
other bones keep their weights"""

    bl_idname = IDNAME
    bl_label = "Weight as One Spine"
    bl_options = {"REGISTER", "UNDO"}
    places = (("VIEW3D_MT_pose", 91), ("VIEW3D_MT_paint_weight", 91))
    icon = "CON_SPLINEIK"

    @classmethod
    def poll(cls, context):
        return poll_bones(context)

    def execute(self, context):
        targets = find_posing(context)
        armature = targets.armature
        skeleton = read_armature(armature, use_joint_limits=False)
        chain = _chain(armature, skeleton)
        joints = np.append(skeleton.heads[chain], skeleton.tails[chain[-1:]], axis=0)
        own = np.isin(np.arange(len(skeleton.names)), chain)
        found = []
        for ob in {ob.data: ob for ob in targets.meshes}.values():
            refuse_mesh(ob)
            rows = present_weights(ob, skeleton)
            vertices = rows.of_bones(own).sums() > 0
            masked = masked_vertices(ob.data) if targets.painting else None
            if masked is not None:
                vertices &= ~masked
            if vertices.any():
                refuse_locked(ob, skeleton, own)
                points = moved(coordinates(ob), matrix_between(ob, armature, context.view_layer))
                rows = as_one_spine(rows, chain, *along_chain(points, joints))
                found.append((ob, rows, vertices))
        if not found:
            raise Refused(f"No vertex has weights for the selected bones of '{armature.name}'")
        with all_or_nothing([ob for ob, _rows, _vertices in found], made=None) as present:
            for (ob, rows, vertices), entries in zip(found, present, strict=True):
                used = np.isin(np.arange(len(own)), rows.bones)
                write_weights(ob, rows, skeleton.names, own & used, own, vertices, entries)
        count = sum(np.count_nonzero(vertices) for _ob, _rows, vertices in found)
        inform(self, f"{len(chain)} bones share the weights of {count} vertices as one spine")
        return {"FINISHED"}


def _chain(armature, skeleton):
    """The selected bones (k,), each the parent of the next one. Raises Refused."""
    names, above = skeleton.names, skeleton.parents.tolist()
    bones = np.flatnonzero(chosen_bones(armature)).tolist()
    if len(bones) < 2:
        raise Refused(f"Select two or more bones of '{armature.name}' in Pose mode")
    for bone in bones:
        if not skeleton.deform[bone]:
            raise Refused(f"'{names[bone]}' is not a deform bone")
        if skeleton.kinds[bone] == BENDY:
            raise Refused(f"'{names[bone]}' is a bendy bone, which is a spine already")
    first, *more = [bone for bone in bones if above[bone] not in bones]
    if more:
        raise Refused(
            f"'{names[first]}' and '{names[more[0]]}' are not in one chain: select each parent, too"
        )
    chain = [first]
    while len(chain) < len(bones):
        below = [bone for bone in bones if above[bone] == chain[-1]]
        if len(below) > 1:
            raise Refused(f"'{names[chain[-1]]}' has several selected children: select one chain")
        chain += below
    return np.array(chain)


CLASSES = (OBJECT_OT_araplbs_one_spine,)
