"""Stores the edits of a mesh in the mesh, so they are saved with the file.

Each edit is an item of the list `mesh.araplbs.edits` and a float attribute on the vertices. The
values of an edit therefore stay with their vertices when the mesh changes, and new vertices have no
values:
  WEIGHT     0 for none, else 1 + the target weight
  INFLUENCE  0 for none, 1 for an added bone, -1 for a removed one
  RELEASE    0 for none, 1 where nothing ties the vertex to the bone
  LINK       0 for none, 1 for its two ends
  SMOOTH     0 for none, else how firmly the weights of all bones are kept smooth, up to 1
  RIGID      0 for none, 1 for the vertices of the part; each part is an edit of its own
LINK, SMOOTH and RIGID edits belong to no bone.
"""

import secrets

import bpy
import numpy as np
from araplbs.model.edits import Edits

KINDS = (
    ("WEIGHT", "Pinned Weight", "The bone's weight is pinned to a target value", "PINNED", 0),
    ("INFLUENCE", "Influence", "Whether the bone may move these vertices", "BONE_DATA", 1),
    ("RELEASE", "Release", "The skin does not follow the bone here", "SNAP_OFF", 2),
    ("LINK", "Link", "Two vertices move together, as if an edge joined them", "LINKED", 3),
    ("SMOOTH", "Smooth", "The weights of all bones vary smoothly here", "MOD_SMOOTH", 4),
    ("RIGID", "Rigid", "These vertices have the same weights: the part keeps its shape", "CUBE", 5),
)
SEVERAL = {"LINK", "RIGID"}  # any number of these kinds; of other kinds, one for each bone
OF_NO_BONE = {*SEVERAL, "SMOOTH"}
PREFIX = ".araplbs."
LINK_TITLE, SMOOTH_TITLE, RIGID_TITLE = "Link", "All Bones", "Rigid Part"


def _attribute(mesh, item):
    """The attribute of an item, or None if the item has none. A foreign file may name any other
    attribute, such as the vertex positions. Such an attribute is never touched."""
    attribute = mesh.attributes.get(item.layer) if item.layer.startswith(PREFIX) else None
    good = attribute and attribute.data_type == "FLOAT" and attribute.domain == "POINT"
    return attribute if good else None


def read_values(mesh, item):
    """(n,) float32 values of an edit; all 0 if the attribute of the edit was removed."""
    values = np.zeros(len(mesh.vertices), np.float32)
    attribute = _attribute(mesh, item)
    if attribute and len(attribute.data) == len(values):
        attribute.data.foreach_get("value", values)
    return values


def write_values(mesh, item, values):
    attribute = _attribute(mesh, item)
    if not attribute:
        if not item.layer.startswith(PREFIX) or item.layer in mesh.attributes:
            item.layer = PREFIX + secrets.token_hex(4)
        attribute = mesh.attributes.new(item.layer, "FLOAT", "POINT")
        item.layer = attribute.name
    attribute.data.foreach_set("value", np.ascontiguousarray(values, np.float32))
    _changed(mesh)


def _changed(mesh):
    mesh.araplbs.changes += 1
    mesh.update_tag()


def find_edit(mesh, kind, bone):
    """The item of this kind and bone, or None."""
    for item in mesh.araplbs.edits:
        if item.kind == kind and item.bone == bone:
            return item
    return None


def _name(item, name):
    """Names an item, with a number if another item of its kind has the name: no two rows of the
    list look the same."""
    item.name = ""
    taken = {each.name for each in item.id_data.araplbs.edits if each.kind == item.kind}
    found = (f"{name} ({number})" for number in range(2, len(taken) + 2))
    item.name = name if name not in taken else next(each for each in found if each not in taken)


def ensure_edit(mesh, kind, bone):
    """The item of this kind and bone, created if it is missing."""
    item = None if kind in SEVERAL else find_edit(mesh, kind, bone)
    if item:
        return item
    item = mesh.araplbs.edits.add()
    item.kind, item.bone = kind, bone
    _name(item, bone or (SMOOTH_TITLE if kind == "SMOOTH" else LINK_TITLE))
    item.layer = PREFIX + secrets.token_hex(4)
    mesh.araplbs.active = len(mesh.araplbs.edits) - 1
    return item


def _add(mesh, kind, name, vertices):
    """Adds an edit of one of the kinds in SEVERAL."""
    item = ensure_edit(mesh, kind, "")
    _name(item, name)
    values = np.zeros(len(mesh.vertices), np.float32)
    values[vertices] = 1
    write_values(mesh, item, values)


def add_link(mesh, first, second):
    _add(mesh, "LINK", f"{LINK_TITLE} {first} - {second}", [first, second])


def add_rigid_part(mesh, vertices, name=""):
    """Makes these vertices a rigid part and removes them from their previous rigid parts."""
    erase_edits(mesh, "RIGID", vertices)
    _add(mesh, "RIGID", f"{RIGID_TITLE} {name}" if name else RIGID_TITLE, vertices)


def paint_edit(mesh, kind, bone, vertices, values):
    """Assigns values of an edit to these vertices. Edits that become empty are removed."""
    item = ensure_edit(mesh, kind, bone)
    present = read_values(mesh, item)
    present[vertices] = values
    write_values(mesh, item, present)
    drop_empty_edits(mesh)


def hold_on_bone(mesh, bone):
    """Pins all vertices that have no pinned weight to a bone."""
    free = np.ones(len(mesh.vertices), bool)
    for item in mesh.araplbs.edits:
        if item.kind == "WEIGHT" and item.use:
            free &= read_values(mesh, item) == 0
    if free.any():
        item = ensure_edit(mesh, "WEIGHT", bone)
        write_values(mesh, item, np.where(free, 2, read_values(mesh, item)))


def is_pinned(mesh, bone, vertex):
    """Whether all weight of a vertex is pinned to a bone. Reads only this vertex."""
    item = find_edit(mesh, "WEIGHT", bone)
    attribute = _attribute(mesh, item) if item and item.use else None
    values = attribute.data if attribute else ()
    return vertex < len(values) and values[vertex].value >= 2


def erase_edits(mesh, kind, vertices):
    """Removes these vertices from all edits of a kind, and removes edits that become empty. Returns
    the number of edits that affected some of the vertices."""
    count = 0
    for item in mesh.araplbs.edits:
        values = read_values(mesh, item)
        if item.kind == kind and values[vertices].any():
            values[vertices] = 0
            write_values(mesh, item, values)
            count += 1
    drop_empty_edits(mesh)
    return count


def remove_edit(mesh, index):
    """Removes an item and its attribute, unless another item uses the same attribute."""
    item = mesh.araplbs.edits[index]
    attribute = _attribute(mesh, item)
    if attribute and sum(each.layer == item.layer for each in mesh.araplbs.edits) == 1:
        mesh.attributes.remove(attribute)
    mesh.araplbs.edits.remove(index)
    mesh.araplbs.active = max(0, min(mesh.araplbs.active, len(mesh.araplbs.edits) - 1))
    _changed(mesh)


def drop_empty_edits(mesh):
    """Removes the items that no longer affect any vertex."""
    for index in reversed(range(len(mesh.araplbs.edits))):
        if not read_values(mesh, mesh.araplbs.edits[index]).any():
            remove_edit(mesh, index)


def edited_vertices(mesh, item):
    """Indices of the vertices that an edit affects."""
    return np.flatnonzero(read_values(mesh, item))


def read_edits(mesh, bones):
    """The core Edits of a mesh: the edits that are in use and belong to these bones."""
    index = {name: i for i, name in enumerate(bones)}
    return Edits.of(
        (item.kind, index.get(item.bone, -1), read_values(mesh, item))
        for item in mesh.araplbs.edits
        if item.use and (item.kind in OF_NO_BONE or item.bone in index)
    )


def copy_edits(mesh):
    """All data of the edits of a mesh, for restore_edits()."""
    edits = mesh.araplbs.edits
    return [
        (e.name, e.kind, e.bone, e.use, e.layer, read_values(mesh, e)) for e in edits
    ], mesh.araplbs.active


def restore_edits(mesh, copy):
    """Restores the edits of a mesh from copy_edits(), including their attributes."""
    items, active = copy
    kept = {layer for *_rest, layer, _values in items}
    for item in mesh.araplbs.edits:
        attribute = _attribute(mesh, item)
        if attribute and item.layer not in kept:
            mesh.attributes.remove(attribute)
    mesh.araplbs.edits.clear()
    for name, kind, bone, use, layer, values in items:
        item = mesh.araplbs.edits.add()
        item.name, item.kind, item.bone, item.use, item.layer = name, kind, bone, use, layer
        if layer.startswith(PREFIX):  # any other attribute does not belong to an edit
            write_values(mesh, item, values)
    mesh.araplbs.active = active
    _changed(mesh)


class ARAPLBS_edit(bpy.types.PropertyGroup):
    kind: bpy.props.EnumProperty(name="Kind", items=KINDS)
    bone: bpy.props.StringProperty(name="Bone")
    use: bpy.props.BoolProperty(
        name="Use",
        description="Weights are computed with this edit",
        default=True,
        update=lambda item, _context: _changed(item.id_data),
    )
    layer: bpy.props.StringProperty(name="Attribute")


class ARAPLBS_mesh(bpy.types.PropertyGroup):
    edits: bpy.props.CollectionProperty(type=ARAPLBS_edit)
    active: bpy.props.IntProperty(name="Active Edit", options={"SKIP_SAVE"})
    changes: bpy.props.IntProperty(options={"HIDDEN", "SKIP_SAVE"})  # for a session to detect
    session: bpy.props.StringProperty(options={"HIDDEN"})  # see features/auto_weight/live.py
    weighting: bpy.props.StringProperty(options={"HIDDEN"})  # see outcome.py
    made: bpy.props.StringProperty(options={"HIDDEN"})  # see ours.py
    transferred_from: bpy.props.StringProperty(options={"HIDDEN"})  # see transfer_targets.py
    original: bpy.props.StringProperty(subtype="BYTE_STRING", options={"HIDDEN"})  # originals.py


CLASSES = (ARAPLBS_edit, ARAPLBS_mesh)
PROPERTIES = ((bpy.types.Mesh, "araplbs", bpy.props.PointerProperty(type=ARAPLBS_mesh)),)
