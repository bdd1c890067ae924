"""Stores kept weights on an armature, as a packed Kept for each mesh, so they are saved with the
file."""

import secrets

import bpy
from araplbs.base.refusal import Refused
from araplbs.features.restore.stored import MOST, pack, unpack

from ...blender.data.edits import PREFIX, restore_edits


class ARAPLBS_kept(bpy.types.PropertyGroup):
    """The kept weights of one mesh. name: the name of the mesh."""

    content: bpy.props.StringProperty(subtype="BYTE_STRING", options={"HIDDEN"})


def keep_on(armature, kept):
    """Stores these Kept, and replaces older ones with the same mesh names."""
    items, contents = armature.data.araplbs_kept, [pack([each]) for each in kept]
    for each, content in zip(kept, contents, strict=True):
        item = items.get(each.name) or items.add()
        item.name = each.name
        item.content = content


def kept_on(armature):
    """Returns [Kept]. Raises Refused if nothing was stored."""
    items = armature.data.araplbs_kept
    if not items:
        raise Refused(
            f"'{armature.name}' has no kept weights: press Keep Weights first, or specify a file"
        )
    if sum(len(item.content) for item in items) > MOST:
        raise Refused(
            f"'{armature.name}' is damaged: its kept weights are larger than {MOST} bytes"
        )
    left, kept = MOST, []
    for item in items:
        kept += unpack(item.content, f"'{armature.name}'", left)
        left = max(left - sum(each.bytes for each in kept), 0)
    return kept


def refuse_linked(armature):
    """Raises Refused if nothing can be stored on an armature."""
    data = armature.data
    if data.library or data.override_library:
        raise Refused(
            f"'{armature.name}' is linked from another file: specify a file for the weights"
        )


def write_edits(ob, edits):
    """Writes these KeptEdits to a mesh as its edits."""
    items = [
        (each.name, each.kind, each.bone, each.use, PREFIX + secrets.token_hex(4), each.values)
        for each in edits
    ]
    restore_edits(ob.data, (items, 0))


CLASSES = (ARAPLBS_kept,)
PROPERTIES = (
    (bpy.types.Armature, "araplbs_kept", bpy.props.CollectionProperty(type=ARAPLBS_kept)),
)
