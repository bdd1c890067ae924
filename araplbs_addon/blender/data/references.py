"""Refers to Blender data by name, because Python references do not survive undo and the event
loop."""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import bpy
from araplbs.base.refusal import Changed, Refused


class Reference(NamedTuple):
    """A reference to an object and its data, including the size that the data had when the problem
    was read."""

    name: str
    uid: int
    data_uid: int
    size: int  # vertices of a mesh, bones of an armature

    @classmethod
    def to(cls, ob):
        return cls(ob.name, ob.session_uid, ob.data.session_uid, _size(ob))

    def find(self):
        """The object, even if it has changed since then; None if it was deleted."""
        return next((ob for ob in bpy.data.objects if ob.session_uid == self.uid), None)

    def get(self):
        """The object. Raises Refused if the object was deleted or changed since then."""
        ob = self.find()
        if not ob:
            raise Refused(f"'{self.name}' was deleted after it was read")
        if not ob.data or ob.data.session_uid != self.data_uid or _size(ob) != self.size:
            raise Refused(f"'{ob.name}' has changed since it was read")
        return ob


@dataclass(frozen=True)
class Subjects:
    """An armature, or a mesh with shape keys, and the meshes that receive data from it. The state
    of all these objects is recorded when they are read, and checked when they are found again for
    writing."""

    armature: Reference
    meshes: tuple[Reference, ...]
    parts: tuple[str, ...]  # bones, or shape keys
    in_edit_mode: tuple[bool, ...]  # for each mesh

    @classmethod
    def of(cls, armature, meshes):
        return cls(
            Reference.to(armature),
            tuple(Reference.to(ob) for ob in meshes),
            _parts(armature),
            tuple(ob.mode == "EDIT" for ob in meshes),
        )

    def find(self):
        """Returns (armature, [meshes]). Raises Refused if one of the objects has changed."""
        armature = self.armature.get()
        meshes = [reference.get() for reference in self.meshes]
        if _parts(armature) != self.parts:
            raise Changed(armature.name, "has changed since it was read")
        for ob, edited in zip(meshes, self.in_edit_mode, strict=True):
            if (ob.mode == "EDIT") != edited:
                raise Changed(ob.name, "has left Edit mode" if edited else "is in Edit mode")
        return armature, meshes


def _parts(ob):
    """Names of the parts that are read from the source."""
    if ob.type == "ARMATURE":
        return tuple(bone.name for bone in ob.data.bones)
    return tuple(key.name for key in ob.data.shape_keys.key_blocks) if ob.data.shape_keys else ()


def _size(ob):
    return len(ob.data.bones) if ob.type == "ARMATURE" else len(ob.data.vertices)


def references_of(targets):
    """[Reference] of all objects that Targets of any kind name."""
    found = [getattr(targets, name, None) for name in ("armature", "source")]
    for name in ("sources", "meshes"):
        found += getattr(targets, name, ())
    return [Reference.to(ob) for ob in found if ob and ob.data]


def reason_of(error, references):
    """The error to report. If data of the task has been deleted or changed, perhaps by a handler,
    this change is the reason for the failure. A ReferenceError without such a change concerns a
    copy that the task created."""
    if isinstance(error, Refused):
        return error
    for reference in references:
        try:
            reference.get()
        except Refused as reason:
            return reason
    if isinstance(error, ReferenceError):
        return Refused(
            "Something was deleted or undone while this was running: the result is discarded"
        )
    return error


def words_of(error):
    """The text of an error that one of Blender's operators has reported."""
    return str(error).strip().removeprefix("Error: ")


def remove_made(*made):
    """Removes data that the task created for itself, if it still exists."""
    left = []
    for data in made:
        with suppress(ReferenceError):
            if isinstance(data, bpy.types.Scene):
                bpy.data.scenes.remove(data)
            else:
                left.append((data.session_uid, data))
    bpy.data.batch_remove([data for _uid, data in left])
