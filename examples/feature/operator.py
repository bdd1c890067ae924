"""An operator with a row in the panel *Export*. To try it, copy this folder to
araplbs_addon/features/select_crowded: nothing else has to change. A feature that computes also has
a task (task.py); ARCHITECTURE.md, "Where a new feature goes", lists all parts."""

import numpy as np
from araplbs.base.refusal import Refused
from bpy.types import Operator

from ...blender.read.read_mesh import group_entries
from ...blender.write.select_region import select_vertices
from ...languages.translate import inform
from ...operators.menu_entries import Placed

MOST = 4  # influences


class OBJECT_OT_araplbs_select_crowded(Placed, Operator):
    """Select the vertices of the active mesh that more than four bones move"""

    bl_idname = "object.araplbs_select_crowded"
    bl_label = "Select Crowded Vertices"
    bl_options = {"REGISTER", "UNDO"}
    places = (("VIEW3D_PT_araplbs_export", 50),)

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT" or context.active_object.type != "MESH":
            raise Refused("Available only for a mesh in Object mode")
        return True

    def execute(self, context):
        mesh = context.active_object.data
        vertices, _groups, weights = group_entries(mesh)
        crowded = np.flatnonzero(np.bincount(vertices[weights > 0]) > MOST)
        select_vertices(mesh, crowded)
        inform(self, f"{len(crowded)} vertices with more than {MOST} influences")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_select_crowded,)
