"""Operators that mark parts of the active mesh as rigid. They also work in Edit mode."""

from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.rigid_parts import loose_parts
from bpy.props import BoolProperty, EnumProperty
from bpy.types import Operator

from ...blender.data.edits import add_rigid_part, erase_edits
from ...blender.data.mesh_shape import (
    at_corners,
    corner_vertices,
    group_weights,
    values_of,
)
from ...blender.read.read_mesh import read_topology
from ...languages.translate import inform, translated, warn
from ...operators.menu_entries import Placed
from .operator import OfMesh, one_change

MARK = "object.araplbs_mark_rigid"
FACE_SETS = ".sculpt_face_set"
SOURCES = (
    ("SELECTED", "Selected Vertices", "The vertices that are selected"),
    ("GROUP", "Active Vertex Group", "The vertices of the active vertex group"),
    ("MATERIAL", "Active Material", "The vertices of the faces with the active material"),
    (
        "FACE_SETS",
        "Face Sets",
        "The vertices of each face set with a selected face, as one part each",
    ),
)


@contextmanager
def out_of_edit_mode(ob):
    """Leaves Edit mode for the duration of the block, because attributes and selection do not match
    the mesh in Edit mode."""
    edits = ob.mode == "EDIT"
    if edits:
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        if edits:
            bpy.ops.object.mode_set(mode="EDIT")


class OBJECT_OT_araplbs_mark_rigid(OfMesh, Operator):
    """Mark vertices as a part that keeps its shape because all its vertices get the same weights"""

    bl_idname = MARK
    bl_label = "Mark Rigid Part"
    edit_mode = True

    source: EnumProperty(name="Source", items=SOURCES, description="The vertices that become rigid")
    separate: BoolProperty(
        name="One per Loose Part", description="Each loose part becomes a separate rigid part"
    )

    def execute(self, context):
        ob = context.active_object
        with out_of_edit_mode(ob):
            parts = self.find(ob)
            with one_change(self.bl_label, ob):
                for name, vertices in parts:
                    add_rigid_part(ob.data, vertices, name)
        count = sum(len(vertices) for _name, vertices in parts)
        which = "1 rigid part" if len(parts) == 1 else f"{len(parts)} rigid parts"
        inform(self, f"{which} of {count} vertices in '{ob.name}'")
        return {"FINISHED"}

    def find(self, ob):
        """Returns [(name, vertices)] of the parts. Raises Refused if the mesh has no parts."""
        found = {
            "SELECTED": _selected,
            "GROUP": _of_group,
            "MATERIAL": _of_material,
            "FACE_SETS": _of_face_sets,
        }[self.source](ob)
        if not self.separate:
            return found
        loose = loose_parts(read_topology(ob))
        return [
            (name, vertices[loose[vertices] == part])
            for name, vertices in found
            for part in np.unique(loose[vertices])
        ]


def _of_faces(mesh, faces):
    """The vertices of the faces in a mask (faces,), in ascending order."""
    return np.unique(corner_vertices(mesh)[at_corners(mesh, faces)])


def _selected(ob):
    vertices = np.flatnonzero(values_of(ob.data.vertices, "select", bool))
    if not len(vertices):
        raise Refused(f"No vertex of '{ob.name}' is selected")
    return [("", vertices)]


def _of_group(ob):
    group = ob.vertex_groups.active
    if not group:
        raise Refused(f"'{ob.name}' has no active vertex group")
    vertices = np.flatnonzero(group_weights(ob, group) > 0)
    if not len(vertices):
        raise Refused(f"No vertex of '{ob.name}' is in the vertex group '{group.name}'")
    return [(group.name, vertices)]


def _of_material(ob):
    index, mesh = ob.active_material_index, ob.data
    if not ob.material_slots:
        raise Refused(f"'{ob.name}' has no material")
    materials = values_of(mesh.polygons, "material_index", np.int32)
    vertices = _of_faces(mesh, materials == index)
    name = ob.active_material.name if ob.active_material else f"slot {index + 1}"
    if not len(vertices):
        raise Refused(f"No face of '{ob.name}' has the material '{name}'")
    return [(name, vertices)]


def _of_face_sets(ob):
    mesh = ob.data
    attribute = mesh.attributes.get(FACE_SETS)
    if not attribute or attribute.domain != "FACE" or attribute.data_type != "INT":
        raise Refused(f"'{ob.name}' has no face sets")
    sets = values_of(attribute.data, "value", np.int32)
    chosen = np.unique(sets[values_of(mesh.polygons, "select", bool)])
    if not len(chosen):
        raise Refused(f"No face of '{ob.name}' is selected")
    return [(f"Face Set {number}", _of_faces(mesh, sets == number)) for number in chosen]


class OBJECT_OT_araplbs_clear_rigid(OfMesh, Operator):
    """Remove the rigid part marks of the selected vertices, or of all vertices"""

    bl_idname = "object.araplbs_clear_rigid"
    bl_label = "Clear Rigid Parts"
    edit_mode = True

    everything: BoolProperty(name="All", description="All vertices of the mesh", default=False)

    def execute(self, context):
        ob = context.active_object
        with out_of_edit_mode(ob):
            vertices = np.arange(len(ob.data.vertices))
            if not self.everything:
                (_name, vertices), *_none = _selected(ob)
            with one_change(self.bl_label, ob):
                left = erase_edits(ob.data, "RIGID", vertices)
        if not left:
            warn(self, f"'{ob.name}' has no rigid parts to clear")
        return {"FINISHED"}


class VIEW3D_MT_araplbs_rigid(Placed, bpy.types.Menu):
    bl_label = "Rigid Parts"
    places = (("VIEW3D_MT_edit_mesh_vertices", 10),)

    @classmethod
    def draw_entry(cls, layout):
        layout.menu(cls.__name__)

    def draw(self, _context):
        mark = OBJECT_OT_araplbs_mark_rigid.bl_idname
        for identifier, name, _description in SOURCES:
            self.layout.operator(mark, text=translated(f"Mark {name}")).source = identifier
        button = self.layout.operator(mark, text="Mark Each Selected Loose Part")
        button.source, button.separate = "SELECTED", True
        self.layout.separator()
        clear = OBJECT_OT_araplbs_clear_rigid.bl_idname
        self.layout.operator(clear, text="Clear Selected").everything = False
        self.layout.operator(clear, text="Clear All").everything = True


CLASSES = (OBJECT_OT_araplbs_mark_rigid, OBJECT_OT_araplbs_clear_rigid, VIEW3D_MT_araplbs_rigid)
