"""Keeps the original weights of meshes: the weights before the first Auto-weight since the file was
opened, or before another of our tools first wrote weights.

Original weights are kept in memory and saved with the file, so they remain available when the file
is opened again. A mesh without weights has no original weights."""

from contextlib import suppress

import bpy
from araplbs.base.refusal import Refused
from araplbs.disk import packed_weights

from ...blender.write.all_or_nothing import on_replaced
from ...blender.write.weight_slots import WeightSlot

_originals: dict[int, WeightSlot | None] = {}  # by session_uid of the object; None: had no weights


def take_originals(objects, before, ours):
    """Returns [WeightSlot] of the original weights of these objects, which have just been weighted.
    before: the slots of the earlier weights, [] if there were none. The result is [] if the earlier
    weights are the original ones. ours: [bool], whether Auto-weight computed the earlier
    weights."""
    found, older = [], False
    for ob, slot, made in zip(objects, before or [None] * len(objects), ours, strict=True):
        first = _originals.get(ob.session_uid)
        if (first is None and not made) or _is_outdated(ob):
            first = _originals[ob.session_uid] = slot
        else:
            older = True
        found.append(first)
    return found if before and older and None not in found else []


def _keep_replaced(ob, names, entries):
    """The function that all_or_nothing() calls as on_replaced. It acts only in a window, because
    scripts and the command line keep no second set of weights."""
    if not is_seen() or not len(entries[0]):
        return
    if _originals.get(ob.session_uid) is None or _is_outdated(ob):
        _originals[ob.session_uid] = WeightSlot(ob, (names, entries))


def is_seen():
    """Whether a user watches the work and may want the earlier weights back."""
    return not bpy.app.background


def originals_of(objects):
    """Returns [WeightSlot] of the original weights; [] if one of the objects has no original
    weights or has changed."""
    slots = [_originals.get(ob.session_uid) for ob in objects]
    if None in slots or any(map(_is_outdated, objects)):
        return []
    return slots


def _is_outdated(ob):
    """Whether vertices were added or removed since then."""
    slot = _originals.get(ob.session_uid)
    return slot is not None and not slot.fits()


def packed(slot):
    """A slot as bytes, for a file."""
    return packed_weights.pack(slot.size, *slot.read())


def unpacked(ob, data):
    """The WeightSlot from bytes that packed() created for this object; None if the bytes are
    damaged or do not match the object's vertices."""
    found = packed_weights.unpack(data, len(ob.data.vertices))
    return found and WeightSlot(ob, found)


def _after_load(*_arguments):
    for ob in bpy.data.objects:
        if ob.type != "MESH" or not ob.data.araplbs.original:
            continue
        slot = unpacked(ob, ob.data.araplbs.original)
        if slot:
            _originals[ob.session_uid] = slot
    _clear()


def _before_save(*_arguments):
    for ob in bpy.data.objects:
        slot = _originals.get(ob.session_uid) if ob.type == "MESH" else None
        if slot and not ob.data.library:
            with suppress(Refused, ReferenceError):
                if slot.fits():
                    ob.data.araplbs.original = packed(slot)


def _clear(*_arguments):
    for mesh in bpy.data.meshes:
        if mesh.araplbs.original and not mesh.library:
            mesh.araplbs.original = b""


HANDLERS = (
    ("load_post", _after_load),
    ("save_pre", _before_save),
    ("save_post", _clear),
    ("save_post_fail", _clear),
)


def register():
    on_replaced.append(_keep_replaced)


def unregister():
    on_replaced.remove(_keep_replaced)


forget = _originals.clear
