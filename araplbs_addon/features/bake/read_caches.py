"""Checks that the caches used by modifiers exist and belong to this mesh. If a cache is
missing, Blender shows an error in the modifier and leaves the mesh unchanged, and the unchanged
mesh would be baked."""

import struct
from pathlib import Path

import bpy
from araplbs.base.refusal import Refused
from araplbs.disk.files import refuse_input


def refuse_caches(ob):
    """Raises Refused if the cache of an enabled modifier does not exist or does not match the
    object."""
    for modifier in ob.modifiers:
        if not modifier.show_viewport:
            continue
        if modifier.type == "MESH_CACHE":
            _refuse_mesh_cache(ob, modifier)
        elif modifier.type == "MESH_SEQUENCE_CACHE":
            _refuse_sequence(ob, modifier)


def _refuse_mesh_cache(ob, modifier):
    path = Path(bpy.path.abspath(modifier.filepath))
    where = f"'{ob.name}': the cache of its modifier '{modifier.name}'"
    try:
        refuse_input(path)
        with path.open("rb") as file:
            head = file.read(20)
    except (Refused, OSError) as error:
        raise Refused(f"{where} cannot be read: {error}") from None
    try:
        if modifier.cache_format == "PC2":
            count = struct.unpack("<12sii", head)[2]
        else:
            count = struct.unpack(">ii", head[:8])[1]
    except struct.error:
        raise Refused(f"{where} is not in the format {modifier.cache_format}: {path}") from None
    if count != len(ob.data.vertices):
        raise Refused(
            f"{where} has {count} vertices, but the mesh has {len(ob.data.vertices)}: the "
            "topology differs"
        )


def _refuse_sequence(ob, modifier):
    where = f"'{ob.name}': its modifier '{modifier.name}'"
    cache = modifier.cache_file
    if not cache:
        raise Refused(f"{where} has no cache file")
    if not Path(bpy.path.abspath(cache.filepath)).exists():
        raise Refused(f"{where}: there is no file {cache.filepath}")
    paths = [path.path for path in cache.object_paths]
    if paths and modifier.object_path not in paths:
        raise Refused(f"{where}: '{modifier.object_path}' is not in {cache.filepath}")
