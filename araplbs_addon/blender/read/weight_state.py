"""Computes short values that change with the shape and weights of a mesh, or with its bones."""

import hashlib

from ..data.bones import rest_digest
from .read_mesh import coordinates, group_entries


def weight_state(ob):
    """The state of a mesh object: vertices, their positions, all weights, and group names."""
    state = hashlib.blake2b(coordinates(ob).tobytes(), digest_size=16)
    for array in group_entries(ob.data):
        state.update(array.tobytes())
    state.update("\n".join(group.name for group in ob.vertex_groups).encode())
    return state.hexdigest()


def bone_state(armature):
    """The state of an armature: names, positions, and which bones deform."""
    return *(bone.name for bone in armature.data.bones), rest_digest(armature)
