"""Names of data that survive undo and the event loop, where Python references do not."""

from dataclasses import dataclass
from typing import NamedTuple

import bpy

from ...core.base.refusal import Changed, Refused


class Reference(NamedTuple):
    """An object, its data, and the size that the solved problem was made for."""

    name: str
    uid: int
    data_uid: int
    size: int  # vertices of a mesh, bones of an armature

    @classmethod
    def to(cls, ob):
        return cls(ob.name, ob.session_uid, ob.data.session_uid, _size(ob))

    def find(self):
        """The object, whatever it is by now, or None when it was deleted."""
        return next((ob for ob in bpy.data.objects if ob.session_uid == self.uid), None)

    def get(self):
        """The object. Raises Refused when it was deleted or changed meanwhile."""
        ob = self.find()
        if not ob:
            raise Refused(f"'{self.name}' was deleted meanwhile")
        if not ob.data or ob.data.session_uid != self.data_uid or _size(ob) != self.size:
            raise Refused(f"'{ob.name}' was changed meanwhile")
        return ob


@dataclass(frozen=True)
class Subjects:
    """An armature and meshes as they were when they were read, to be found again for writing."""

    armature: Reference
    meshes: tuple[Reference, ...]
    bones: tuple[str, ...]
    in_edit_mode: tuple[bool, ...]  # of the meshes

    @classmethod
    def of(cls, armature, meshes):
        return cls(
            Reference.to(armature),
            tuple(Reference.to(ob) for ob in meshes),
            tuple(bone.name for bone in armature.data.bones),
            tuple(ob.mode == "EDIT" for ob in meshes),
        )

    def find(self):
        """(armature, [meshes]). Raises Refused where they are not what they were."""
        armature = self.armature.get()
        meshes = [reference.get() for reference in self.meshes]
        if tuple(bone.name for bone in armature.data.bones) != self.bones:
            raise Changed(armature.name)
        for ob, edited in zip(meshes, self.in_edit_mode, strict=True):
            if (ob.mode == "EDIT") != edited:
                raise Changed(ob.name, "has left Edit mode" if edited else "is in Edit mode")
        return armature, meshes


def _size(ob):
    return len(ob.data.bones) if ob.type == "ARMATURE" else len(ob.data.vertices)
