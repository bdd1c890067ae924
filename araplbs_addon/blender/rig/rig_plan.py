"""The ControlPlan of a rig: reads the rig's data, and poses copies of the rig accordingly."""

import numpy as np
from araplbs.skeleton.control_plan import ControlFacts, ControlPlan
from araplbs.skeleton.poses import BENDY
from mathutils import Matrix

from ..data.object_targets import constraints_of
from ..poses.flexible_bones import flex
from .rig_copy import NotDrivable
from .rig_frames import Frames
from .rig_relations import controls, owner_of


class RigPlan(ControlPlan):
    broken = None  # a list that collects paths of drivers that do not run; None: refuse such a rig

    def __init__(self, armature, skeleton, relations, options):
        """Prepares the plan. Raises NotDrivable if the rig cannot be driven."""
        self.rest = [bone.matrix_local.copy() for bone in armature.data.bones]
        posed = [armature.pose.bones.get(name) for name in skeleton.names]
        if None in posed:
            raise NotDrivable("it has new bones that have not been posed yet")
        facts = ControlFacts(
            controls=controls(armature, relations, skeleton.deform),
            rest=np.array(self.rest),
            can_move=np.array([_can_move(each) for each in posed]),
            bounded=np.array([_is_bounded(each) for each in posed]),
            own_axes=np.array([each.bone.use_local_location for each in posed]),
            bent_by=_bent_by([each.bone for each in posed], skeleton.names),
        )
        if not facts.controls.any():
            raise NotDrivable("it has no controls")
        self.locked = {
            i for i, p in enumerate(posed) if any(p.lock_location) or any(p.lock_rotation)
        }
        super().__init__(skeleton, relations, options, facts)

    def frames(self, copy, numbers):
        """The Frames of these poses for a copy of the armature object at rest; None if an action
        cannot animate all switches."""
        switches = [(switch.owner, switch.name) for switch, _bit in self.switches]
        if not Frames.can_play(switches):
            return None
        names, kinds = self.skeleton.names, self.skeleton.kinds
        bones = {names[b]: kinds[b] == BENDY for b in self.bases}
        frames = Frames(copy, bones, switches)
        for k in numbers:
            self.pose(copy, k)
            frames.add(k, bones)
        return frames

    def pose(self, copy, k):
        """Applies pose k to a copy of the armature object at rest."""
        posed, names = copy.pose.bones, self.skeleton.names
        for switch, bit in self.switches:
            owner = owner_of(copy, switch.owner)
            owner[switch.name] = type(owner[switch.name])(k // 2 >> bit & 1)
        for b, own in self.bases.items():
            each, own = posed[names[b]], Matrix(own[k].tolist())
            if self.bends is not None:
                own = flex(each, own, self.skeleton, b, self.rest[b], self.bends[k, b])
            each.matrix_basis = own
            if b in self.locked:
                keep_locked(each)
        copy.update_tag()


def _bent_by(bones, names):
    index = {name: i for i, name in enumerate(names)}
    handles_of = [set() for _ in names]
    for b, bone in enumerate(bones):
        if bone.bbone_segments > 1:
            handles = [bone.bbone_custom_handle_start, bone.bbone_custom_handle_end]
            handles += [child for child in bone.children if child.use_connect]
            handles_of[b] = {index[handle.name] for handle in handles if handle}
    return handles_of


def _can_move(posed):
    connected = posed.bone.use_connect and posed.parent is not None
    return not connected and not all(posed.lock_location)


def _is_bounded(posed):
    """Whether limits on all sides keep the bone in place, as for a slider or a foot-roll control.
    Such a bone moves no limb."""
    return any(
        c.type == "LIMIT_LOCATION"
        and c.owner_space.startswith("LOCAL")
        and not c.mute
        and c.influence > 0
        and all(getattr(c, f"use_{end}_{axis}") for end in ("min", "max") for axis in "xyz")
        for c in constraints_of(posed)
    )


def keep_locked(posed):
    """Enforces the range of locked and limited axes exactly, because the rotation limits enforce it
    only approximately."""
    if any(posed.lock_location):
        posed.location = [
            0.0 if lock else x for lock, x in zip(posed.lock_location, posed.location, strict=True)
        ]
    if any(posed.lock_rotation) and posed.rotation_mode not in ("QUATERNION", "AXIS_ANGLE"):
        posed.rotation_euler = [
            0.0 if lock else x
            for lock, x in zip(posed.lock_rotation, posed.rotation_euler, strict=True)
        ]
