"""Digests of bones and of mesh shapes, which show whether a result is out of date. The digest of a
mesh is recomputed only if the mesh has changed."""

import hashlib

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...blender.read.read_mesh import coordinates

_shapes: dict[int, bytes] = {}  # by session_uid of the mesh


def bones_digest(armature):
    """A digest of the deform bones and their rest positions."""
    bones = armature.data.bones
    deform, ends = np.zeros(len(bones), bool), np.zeros((2, 3 * len(bones)), np.float32)
    bones.foreach_get("use_deform", deform)
    bones.foreach_get("head_local", ends[0])
    bones.foreach_get("tail_local", ends[1])
    return hashlib.blake2b(deform.tobytes() + ends.tobytes(), digest_size=8).digest()


def shape_digest(ob):
    """A digest of the rest positions of the vertices of a mesh object."""
    uid = ob.data.session_uid
    if uid not in _shapes:
        _shapes[uid] = hashlib.blake2b(coordinates(ob).tobytes(), digest_size=8).digest()
    return _shapes[uid]


@persistent
def _after_update(_scene, depsgraph):
    for update in depsgraph.updates if _shapes else ():
        if isinstance(update.id, bpy.types.Mesh):
            _shapes.pop(update.id.original.session_uid, None)


@persistent
def _forget(*_arguments):
    _shapes.clear()


HANDLERS = (
    ("depsgraph_update_post", _after_update),
    ("undo_post", _forget),
    ("redo_post", _forget),
    ("load_pre", _forget),
)

unregister = _forget
