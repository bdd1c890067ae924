"""The operator "Mirror Painted Side", which copies weights that were painted on one side to the
other side."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.mirror_images import (
    SAME,
    beside_locked,
    distances,
    images_of,
    mirrored,
    painted,
)
from bpy.props import EnumProperty
from bpy.types import Operator

from ...blender.data.mesh_shape import points_of
from ...blender.read.read_armature import opposite_bone, read_armature
from ...blender.read.read_mesh import locked_bones, masked_vertices, present_weights, refuse_mesh
from ...blender.read.targets import find_posing
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.write_weights import write_weights
from ...languages.translate import inform, translated
from ...operators.work import poll_targets
from .outcome import outcome_at_hand

IDNAME = "object.araplbs_mirror_painted"
AUTO, PLUS, MINUS = "AUTO", "PLUS", "MINUS"
SIDES = (
    (AUTO, "Painted Side", "The side that was painted after Auto-weight"),
    (PLUS, "+X to -X", "Copy from the side with positive X to the other one"),
    (MINUS, "-X to +X", "Copy from the side with negative X to the other one"),
)


class OBJECT_OT_araplbs_mirror_painted(Operator):
    """Copy the weights that you painted on one side of the mesh, after Auto-weight, to the \
vertices and bones of the other side. A question appears where both sides were painted. All other \
weights stay unchanged"""

    bl_idname = IDNAME
    bl_label = "Mirror Painted Side"
    bl_options = {"REGISTER", "UNDO"}

    side: EnumProperty(name="Side", items=SIDES, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        return poll_targets(context, find_posing)

    def invoke(self, context, _event):
        if self.side == AUTO and any(part.unclear.any() for part in _parts(context)):
            context.window_manager.popup_menu(_draw_question, title="Which side?")
            return {"INTERFACE"}
        return self._mirror(context)

    def execute(self, context):
        return self._mirror(context)

    def _mirror(self, context):
        parts = _parts(context)
        if self.side == AUTO and any(part.unclear.any() for part in parts):
            raise Refused("Both sides may have been painted: choose a side")
        for part in parts:
            part.choose(self.side)
        count = sum(int(part.to.sum()) for part in parts)
        if not count:
            raise Refused("No painted weights differ from those of the other side")
        with all_or_nothing([part.ob for part in parts], made=None, stroke=True):
            for part in parts:
                part.write()
        inform(self, f"{count} vertices have the weights of the other side")
        return {"FINISHED"}


def _draw_question(menu, _context):
    menu.layout.label(text="Both sides may have been painted")
    menu.layout.operator_context = "EXEC_DEFAULT"
    for side, name, _about in SIDES[1:]:
        menu.layout.operator(IDNAME, text=translated(name)).side = side


def _parts(context):
    targets = find_posing(context)
    skeleton = read_armature(targets.armature, False)
    opposite = [opposite_bone(targets.armature, name) for name in skeleton.names]
    index = {name: b for b, name in enumerate(skeleton.names)}
    opposite = np.array([index.get(name, b) for b, name in enumerate(opposite)])
    outcome = outcome_at_hand(context)
    known = {}
    if outcome:
        slots = outcome.slots[outcome.shown()]
        known = {e.uid: slot for e, slot in zip(outcome.objects, slots, strict=True)}
    parts = []
    for ob in targets.meshes:
        refuse_mesh(ob)
        slot = known.get(ob.session_uid)
        earlier = slot.rows(skeleton) if slot else None
        parts.append(_Part(ob, skeleton, opposite, earlier, targets.painting))
    return parts


class _Part:
    """A mesh. to, unclear (n,) bool: vertices that are written, and vertices that may be a source
    as well as a target."""

    def __init__(self, ob, skeleton, opposite, before, painting):
        self.ob, self._skeleton = ob, skeleton
        self._rows = present_weights(ob, skeleton)
        self._points = points_of(ob.data)
        self._masked = masked_vertices(ob.data) if painting else None
        for known in (before, None) if before is not None else (None,):
            self._images = self._pairs(known)
            self._wanted = mirrored(self._rows, self._images, opposite)
            found = painted(self._rows, self._wanted, known, self._images)
            self._sources, self.unclear = found
            if (self._sources | self.unclear).any():
                break

    def _pairs(self, earlier):
        """The image of each vertex that may have been painted, and of its image, (n,)."""
        vertices = np.arange(self._rows.count)
        if earlier is not None:
            vertices = np.flatnonzero(distances(self._rows, earlier) > SAME)
        images = np.full(self._rows.count, -1)
        pairs = images_of(self._points, vertices)
        sources, targets = vertices[pairs[:, 0]], pairs[:, 1]
        _targets, first = np.unique(targets, return_index=True)
        sources, targets = sources[first], targets[first]
        sources, targets = sources[sources != targets], targets[sources != targets]
        images[sources], images[targets] = targets, sources
        return images

    def choose(self, side):
        plus = self._points[:, 0] > 0
        sources = self._sources | (self.unclear & (plus == (side == PLUS)))
        if side != AUTO:
            sources &= plus == (side == PLUS)
        self.to = np.zeros(len(plus), bool)
        self.to[self._images[sources]] = True
        if self._masked is not None:
            self.to &= ~self._masked

    def write(self):
        skeleton = self._skeleton
        locked = locked_bones(self.ob, skeleton)
        rows = beside_locked(self._rows, self._wanted, locked)
        free = skeleton.deform & ~locked
        write_weights(self.ob, rows, skeleton.names, free, free, self.to)


CLASSES = (OBJECT_OT_araplbs_mirror_painted,)
