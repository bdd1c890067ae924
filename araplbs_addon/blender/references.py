"""Names of data that survive undo and the event loop, where Python references do not."""

from typing import NamedTuple

import bpy

from ..core.refusal import Refused


class Reference(NamedTuple):
    """An object, its data, and the size that the solved problem was made for."""

    name: str
    uid: int
    data_uid: int
    size: int  # vertices of a mesh, bones of an armature

    @classmethod
    def to(cls, ob):
        return cls(ob.name, ob.session_uid, ob.data.session_uid, _size(ob))

    def get(self):
        """The object. Raises Refused when it was deleted or changed meanwhile."""
        for ob in bpy.data.objects:
            if ob.session_uid == self.uid:
                if ob.data.session_uid != self.data_uid or _size(ob) != self.size:
                    raise Refused(f"'{ob.name}' was changed meanwhile: nothing was written")
                return ob
        raise Refused(f"'{self.name}' was deleted meanwhile: nothing was written")


def _size(ob):
    return len(ob.data.bones) if ob.type == "ARMATURE" else len(ob.data.vertices)
