"""Collects all names in a file, because Report a Problem must leave them out."""

import threading
from contextlib import suppress
from pathlib import PurePath, PureWindowsPath

import bpy

# Named items in data of these kinds, in addition to the data itself.
PARTS = {
    "Object": ("vertex_groups", "modifiers", "constraints", "particle_systems"),
    "Armature": ("bones", "edit_bones", "collections_all", "collections"),
    "Mesh": ("uv_layers", "color_attributes"),
    "Key": ("key_blocks",),
    "Scene": ("view_layers", "timeline_markers", "keying_sets"),
    "Action": ("pose_markers", "groups", "slots", "layers"),
}
LEAST_FOLDER = 3  # characters: shorter folder names are not hidden by themselves


def all_names():
    """Returns {name}. In a thread other than Blender's own, the function does not access Blender's
    data."""
    names = set()
    if threading.current_thread() is not threading.main_thread():
        return names
    _add_path(names, bpy.data.filepath)
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            for data in getattr(bpy.data, prop.identifier):
                with suppress(
                    Exception
                ):  # data that cannot be read at this moment cannot reveal a name
                    _add(names, data)
    return names


def _add(names, data):
    for prop in data.bl_rna.properties:
        if prop.type == "STRING":
            value = getattr(data, prop.identifier)
            if prop.subtype in {"FILE_PATH", "DIR_PATH", "FILE_NAME"}:
                _add_path(names, value)
            elif prop.identifier in {"name", "name_full"}:
                names.add(value)
    for key, value in data.items():
        names.add(key)
        if isinstance(value, str):
            names.add(value)
    for parts in PARTS.get(data.bl_rna.identifier, ()):
        _add_names(names, getattr(data, parts, ()))
    _add_animation(names, getattr(data, "animation_data", None))
    if isinstance(data, bpy.types.Object) and data.pose:
        for bone in data.pose.bones:
            _add_names(names, bone.constraints)
    elif isinstance(data, bpy.types.Mesh):
        own = [each.name for each in data.attributes if not each.is_required]
        names.update(name for name in own if not name.startswith("."))
        for edit in data.araplbs.edits:
            names.update((edit.name, edit.bone))
    elif isinstance(data, bpy.types.Armature):
        _add_names(names, data.araplbs_kept)
    tree = data if isinstance(data, bpy.types.NodeTree) else getattr(data, "node_tree", None)
    if tree:
        for node in tree.nodes:
            names.update((node.name, node.label))
        names.add(tree.name)


def _add_animation(names, animation):
    for track in animation.nla_tracks if animation else ():
        names.add(track.name)
        _add_names(names, track.strips)


def _add_names(names, items):
    names.update(item.name for item in items if hasattr(item, "name"))  # see constraints_of()


def _add_path(names, path):
    for kind in (PurePath, PureWindowsPath) if path else ():
        parts = kind(path)
        names.update((path, parts.name, parts.stem))
        names.update(part for part in parts.parts if len(part) >= LEAST_FOLDER)
