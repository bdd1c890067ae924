"""Reads all data of the file that Python can access, as text, to detect the changes that an
operator makes."""

import hashlib

import bpy
import numpy as np
import pytest
from scenes import select

# The user interface, and data that Blender recreates or holds only for a moment.
NOT_DATA = {"window_managers", "screens", "workspaces", "libraries", "brushes", "all_ids"}
SKIPPED = {"rna_type", "depsgraph", "loop_triangles", "loop_triangle_polygons", "is_updated"}
SKIPPED |= {"is_updated_data", "session_uid", "is_evaluated", "preview"}
if bpy.app.version < (4, 4):  # after an undo it points to brushes that are gone
    SKIPPED |= {"tool_settings"}
SKIPPED |= {"uv_layer_clone", "uv_layer_stencil", "storage_type"}
SKIPPED |= {"vertex_selection", "edge_selection", "pin"}  # attributes that reading makes

LONG = 16  # items of plain numbers: from so many on, all values of one property are one hash
PLAIN = ("MeshVertex", "MeshEdge", "MeshLoop", "MeshPolygon", "MeshUVLoop", "MeshLoopColor")
PLAIN += ("AttributeValue", "ShapeKeyPoint", "Keyframe", "FCurveSample")  # ends of type names
NOT_PLAIN = {"vertices"}  # of a polygon: loops say the same
NUMBERS = {"FLOAT": np.float32, "INT": np.int32, "BOOLEAN": bool, "ENUM": np.int32}


class Reader:
    """Reads paths and values of one ID, every struct once."""

    def __init__(self, found):
        self.found, self.seen = found, {}

    def read(self, path, struct):
        key = struct.as_pointer(), struct.bl_rna.identifier
        if key in self.seen:
            self.found[path] = f"-> {self.seen[key]}"
            return
        self.seen[key] = path
        for prop in struct.bl_rna.properties:
            if prop.identifier not in SKIPPED:
                self.read_property(f"{path}.{prop.identifier}", struct, prop)
        if not isinstance(struct, bpy.types.PropertyGroup):
            self.read_custom(path, struct)

    def read_property(self, path, struct, prop):
        try:
            value = getattr(struct, prop.identifier)
        except Exception as error:  # some can be read in some states only
            self.found[path] = f"{type(error).__name__}"
            return
        if prop.type == "COLLECTION":
            self.found[path] = f"{len(value)}"
            if len(value) >= LONG and type(value[0]).__name__.endswith(PLAIN):
                self.read_long(path, value)
                return
            for i, item in enumerate(value):
                self.read_pointer(f"{path}[{i}]", item)
        elif prop.type == "POINTER":
            self.read_pointer(path, value)
        elif prop.type in ("FLOAT", "INT", "BOOLEAN") and prop.is_array:
            self.found[path] = repr(flat(value))
        else:
            self.found[path] = repr(value)

    def read_long(self, path, items):
        for prop in items[0].bl_rna.properties:
            name = prop.identifier
            if name in SKIPPED | NOT_PLAIN:
                continue
            if name == "groups":
                values = [[(g.group, g.weight) for g in item.groups] for item in items]
            elif prop.type in NUMBERS and not getattr(prop, "is_enum_flag", False):
                size = getattr(prop, "array_length", 0) or 1
                values = np.empty(size * len(items), NUMBERS[prop.type])
                items.foreach_get(name, values)
                values = values.tobytes()
            else:
                values = [repr(getattr(item, name)) for item in items]
            content = values if isinstance(values, bytes) else repr(values).encode()
            self.found[f"{path}[:].{name}"] = hashlib.sha1(content).hexdigest()

    def read_pointer(self, path, value):
        if value is None:
            self.found[path] = "None"
        elif isinstance(value, bpy.types.ID) and not value.is_embedded_data:
            self.found[path] = name_of(value)
        else:
            self.read(path, value)

    def read_custom(self, path, struct):
        try:
            keys = struct.keys()
        except (AttributeError, TypeError):  # it can have none
            return
        for key in keys:
            self.found[f"{path}[{key!r}]"] = repr(plain(struct[key]))


def plain(value):
    """A custom property as a Python value, without memory addresses."""
    for method in ("to_dict", "to_list"):
        if hasattr(value, method):
            value = getattr(value, method)()
    if isinstance(value, list):
        return [plain(each) for each in value]
    return name_of(value) if isinstance(value, bpy.types.ID) else value


def flat(value):
    if hasattr(value, "__len__"):
        return [flat(each) for each in value]
    return value


def name_of(data):
    library = f" of {data.library.name}" if data.library else ""
    return f"{type(data).__name__} {data.name!r}{library}"


def deep_snapshot():
    """{path: value as text} of all data in the file, the selection and the modes."""
    found = {}
    for kind in bpy.data.bl_rna.properties:
        if kind.type != "COLLECTION" or kind.identifier in NOT_DATA:
            continue
        collection = getattr(bpy.data, kind.identifier)
        found[kind.identifier] = repr(sorted(name_of(data) for data in collection))
        for data in collection:
            Reader(found).read(name_of(data), data)
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            for ob in layer.objects:
                path = f"{name_of(scene)} {layer.name} {name_of(ob)}"
                found[f"{path} selected"] = repr(ob.select_get(view_layer=layer))
                found[f"{path} hidden"] = repr(ob.hide_get(view_layer=layer))
    found["mode"] = bpy.context.mode
    return found


def difference(before, after):
    """{path: (before, after)} of all values that differ."""
    return {
        path: (before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    }


def refused(operator, *objects, **options):
    """The sentence with which an operator refuses, after a check that nothing was changed."""
    if objects:
        select(*objects)
    bpy.context.view_layer.update()
    before = deep_snapshot()
    with pytest.raises(RuntimeError) as error:
        getattr(bpy.ops.object, f"araplbs_{operator}")("EXEC_DEFAULT", **options)
    text = str(error.value)
    assert "Traceback" not in text and len(text.strip().splitlines()) == 1
    assert difference(before, deep_snapshot()) == {}
    return text


def without_weights(changes, *meshes):
    """The changes without the changes of these objects' vertex groups and their consequences: the
    posed mesh, and the mark of the weighting."""
    skipped = []
    for ob in meshes:
        name = name_of(ob)
        skipped += [f"{name}.vertex_groups", f"{name}.bound_box", f"{name}.dimensions"]
        mesh = name_of(ob.data)
        skipped += [f"{mesh}.araplbs.weighting", f"{mesh}.araplbs.made"]
        skipped += [f"{mesh}['araplbs']", f"{mesh}.vertices["]
    return {
        path: change
        for path, change in changes.items()
        if not (
            path.startswith(tuple(skipped))
            and (not path.startswith(skipped[-1]) or ".groups" in path)
        )
    }


# Data that undo recreates: memory addresses, and data that is evaluated on first access.
NOT_KEPT = (".bound_box", ".dimensions", ".original", ".particle_edit.object")


def without_memory(found):
    return {path: value for path, value in found.items() if not path.endswith(NOT_KEPT)}
