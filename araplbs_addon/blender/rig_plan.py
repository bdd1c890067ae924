"""What the controls of a rig do in random poses: how each turns and is moved, where what limbs
reach for goes, and which switches between IK and FK are on."""

from dataclasses import dataclass

import numpy as np
from mathutils import Matrix

from ..core.rig_poses import (
    SHIFT,
    control_turns,
    mirrored,
    numbers,
    reach,
    shares_by_pilot,
    shifts,
    turned_joints,
)
from .flexible_bones import flex
from .rig_copy import NotDrivable
from .rig_relations import controls, owner_of

PLACES = 0x51A7C4  # apart from the seeds of turns
REACHES = 0x2E5B19


@dataclass
class _Reach:
    """A limb whose end a control moves."""

    control: int
    pole: int  # or -1
    anchor: int  # the bone that the limb hangs on and both shall follow, or -1
    root: np.ndarray  # (3,)
    end: np.ndarray  # (3,)
    length: float


class ControlPlan:
    """What the controls do in all poses."""

    def __init__(self, armature, skeleton, relations, options):
        self.skeleton, self.relations = skeleton, relations
        self.rest = [bone.matrix_local.copy() for bone in armature.data.bones]
        posed = [armature.pose.bones.get(name) for name in skeleton.names]
        if None in posed:
            raise NotDrivable("it has new bones that were not posed yet")
        self.controls = controls(armature, relations, skeleton.deform)
        if not self.controls.any():
            raise NotDrivable("it has no controls")
        reached = {int(b): relations.reached(int(b)) for b in np.flatnonzero(self.controls)}
        self.reaches = self._find_reaches(posed, reached)
        turns = {b: relations.turns(b) for b in reached}
        self.joints = turned_joints(skeleton, reached, turns, self._find_whole())
        self.locked = {
            i for i, p in enumerate(posed) if any(p.lock_location) or any(p.lock_rotation)
        }
        self.stretched = skeleton.own_stretch & self.controls
        self.switches = self._sample_switches()
        self.options, self.posed = options, posed
        self._sample(np.array([bool(self.joints.get(b)) for b in range(len(posed))], float))

    def ease(self, transforms):
        """Makes turns smaller where these first poses (p, m, 3, 4) turn joints too far; have any
        changed?"""
        options = self.options
        shares = shares_by_pilot(transforms, self.skeleton, self.joints, options.swing)
        changed = (shares > 0) & (shares < 1)
        if changed.any():
            self._sample(shares)
        return bool(changed.any())

    def _sample(self, shares):
        options = self.options
        self.rotations, self.bends, partners = control_turns(
            self.skeleton, self.controls, shares, options
        )
        self.shifts = self._sample_shifts(self.posed, partners, options)
        self.places = self._sample_reaches(partners, options)
        self.bases = self._find_bases([each.bone for each in self.posed], options.pose_count)

    def _find_whole(self):
        """(m,) bool: controls that carry all of the rig, and nothing that deforms by itself."""
        deform, whole = np.flatnonzero(self.skeleton.deform), self.controls & ~self.skeleton.deform
        for b in np.flatnonzero(whole):
            whole[b] = self.relations.carried(int(b)).issuperset(deform)
        return whole

    def _sample_shifts(self, posed, partners, options):
        skeleton, sizes = self.skeleton, np.zeros(len(posed))
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        ends = {b for r in self.reaches for b in (r.control, r.pole)}
        for b, joints in self.joints.items():
            if joints and _can_move(posed[b]) and not skeleton.deform[b] and b not in ends:
                sizes[b] = SHIFT * lengths[joints].mean()
        u = numbers(options.pose_count, sizes > 0, options.seed ^ PLACES, partners)
        return shifts(u, sizes, partners)

    def _find_reaches(self, posed, reached):
        carriers, whole = self.relations.carriers, self._find_whole()

        def control_of(bone):
            """The nearest control that takes the bone along, but not the whole rig."""
            seen, row = {bone}, [bone]
            while row:
                for b in row:
                    if self.controls[b] and _can_move(posed[b]) and not whole[b]:
                        return b
                row = sorted(set().union(*(carriers[b] for b in row)) - seen)
                seen.update(row)
            return -1

        found = {}
        for limb in self.relations.chains:
            control = control_of(limb.target)
            root = limb.bones[-1]
            if control in (-1, root):
                continue
            anchor = self.skeleton.parents[root]
            while anchor >= 0 and anchor in reached[control]:
                anchor = self.skeleton.parents[anchor]
            pole = -1 if limb.pole < 0 else control_of(limb.pole)
            if pole >= 0 and (pole in reached[control] or anchor in reached[pole]):
                pole = -1
            start, end = self.skeleton.heads[root], self.skeleton.heads[limb.target]
            if np.linalg.norm(end - start) < 1e-3 * limb.reach:
                continue
            before = found.get(control)
            if before is None or before.pole < 0:
                found[control] = _Reach(control, pole, anchor, start, end, limb.reach)
        for r in found.values():
            if r.anchor >= 0 and r.control in self.relations.reached(r.anchor):
                r.anchor = -1
        return list(found.values())

    def _sample_reaches(self, partners, options):
        """{bone: (p, 4, 4)} what takes the controls of limbs to their places."""
        ends = {r.control: r for r in self.reaches}
        which = np.zeros(len(self.rest), bool)
        which[list(ends)] = True
        u = numbers(options.pose_count, which, options.seed ^ REACHES, partners)
        found = {}
        for r in self.reaches:
            found[r.control] = np.tile(np.eye(4), (options.pose_count, 1, 1))
            if r.pole >= 0:
                found.setdefault(r.pole, found[r.control].copy())
        for k in range(options.pose_count):
            for r in self.reaches:
                partner = -1 if partners is None else partners[r.control]
                is_image = k % 2 and partner in ends
                of = ends[partner] if is_image else r
                x = u[k, of.control].copy()
                if k % 2 and not is_image:
                    x[1:] = 1 - x[1:]
                pair = reach(of.root, of.end, of.length, x, options.swing)
                moved, turn = (mirrored(each) if is_image else each for each in pair)
                found[r.control][k] = moved
                if r.pole >= 0:
                    found[r.pole][k] = turn
        return found

    def _sample_switches(self):
        """[(switch, which of the pairs of poses has it on: every second, or every second two)]."""
        groups = sorted({switch.sides for switch in self.relations.switches})
        return [(each, groups.index(each.sides) % 2) for each in self.relations.switches]

    def _find_bases(self, bones, poses):
        """{bone: (p, 4, 4) what it does in its own rest space}."""
        found = {}
        for b in np.flatnonzero(self.controls).tolist():
            head, turn = self.skeleton.heads[b], self.rotations[:, b]
            transforms = np.tile(np.eye(4), (poses, 1, 1))
            transforms[:, :3, :3] = turn
            transforms[:, :3, 3] = head - turn @ head + self.shifts[:, b]
            if b in self.places:
                transforms = self.places[b] @ transforms
            rest = np.array(self.rest[b])
            own = np.linalg.inv(rest) @ transforms @ rest
            if not bones[b].use_local_location:  # it is moved along the axes of its parent
                up = self.skeleton.parents[b]
                axes = rest if up < 0 else np.linalg.inv(np.array(self.rest[up])) @ rest
                own[:, :3, 3] = own[:, :3, 3] @ axes[:3, :3].T
            found[b] = own
        return found

    def pose(self, copy, k):
        """Sets pose k on a copy of the armature object that is at rest."""
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
                _keep_locked(each)
        copy.update_tag()


def _can_move(posed):
    connected = posed.bone.use_connect and posed.parent is not None
    return not connected and not all(posed.lock_location)


def _keep_locked(posed):
    """Exactly, what the limits of the turns keep about."""
    if any(posed.lock_location):
        posed.location = [
            0.0 if lock else x for lock, x in zip(posed.lock_location, posed.location, strict=True)
        ]
    if any(posed.lock_rotation) and posed.rotation_mode not in ("QUATERNION", "AXIS_ANGLE"):
        posed.rotation_euler = [
            0.0 if lock else x
            for lock, x in zip(posed.lock_rotation, posed.rotation_euler, strict=True)
        ]
