"""The operator "Mend Mesh": fixes mesh faults at a finding that no weights can repair. The operator
merges split edges, removes shells and islands, and smooths rough surfaces."""

import bmesh
import numpy as np
from araplbs.base.extent import size_of
from araplbs.base.refusal import Refused
from araplbs.character.mesh_faults import SEAM
from araplbs.features.check.kinds import OF_MESH
from bpy.types import Operator

from ...blender.data.mesh_shape import values_of
from ...blender.read.read_mesh import coordinates, refuse_edited, refuse_linked
from ...languages.translate import inform
from .findings_list import found
from .operator import INDEX, OfFinding

IDNAME = "object.araplbs_mend_mesh"
ROUNDS = 5  # of smoothing
HALF = 0.5


class OBJECT_OT_araplbs_mend_mesh(OfFinding, Operator):
    """Mend the mesh at this finding: merge split edges, remove a shell or islands, or smooth a \
rough surface. The remaining vertices keep their weights"""

    bl_idname = IDNAME
    bl_label = "Mend Mesh"

    index: INDEX

    def work(self, _context, finding, ob):
        found.refuse_out_of_date()
        if finding.kind not in OF_MESH:
            raise Refused("This finding is not about the mesh: Repair solves its weights again")
        refuse_linked(ob)
        refuse_edited(ob)
        if ob.data.users > 1:
            raise Refused(f"'{ob.name}' shares its mesh with other objects")
        mesh = bmesh.new()
        try:
            mesh.from_mesh(ob.data)
            mesh.verts.ensure_lookup_table()
            chosen = [mesh.verts[k] for k in finding.vertices.tolist()]
            _mend(mesh, finding.kind, chosen, ob)
            gone = len(ob.data.vertices) - len(mesh.verts)
            if not gone and finding.kind != "NOISE":
                raise Refused("No vertices are close enough to merge")
            mesh.to_mesh(ob.data)
        finally:
            mesh.free()
        ob.data.update()
        words = (
            f"'{ob.name}' now has {gone} fewer vertices" if gone else f"'{ob.name}' is now smoother"
        )
        inform(self, words)
        return {"FINISHED"}


def _mend(mesh, kind, chosen, ob):
    if kind == "SPLIT_EDGES":
        edges = values_of(ob.data.edges, "vertices", np.int32, 2).reshape(-1, 2)
        bmesh.ops.remove_doubles(
            mesh, verts=chosen, dist=SEAM * size_of(coordinates(ob), edges=edges)
        )
    elif kind == "NOISE":
        for _round in range(ROUNDS):
            bmesh.ops.smooth_vert(
                mesh, verts=chosen, factor=HALF, use_axis_x=True, use_axis_y=True, use_axis_z=True
            )
    else:
        bmesh.ops.delete(mesh, geom=chosen, context="VERTS")


CLASSES = (OBJECT_OT_araplbs_mend_mesh,)
