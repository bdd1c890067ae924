"""The motion of a rig's controls in random poses: their rotations and locations, the places of
limb targets, and the switches between IK and FK."""

import numpy as np
from araplbs.base.affine import inverse
from araplbs.skeleton.joint_motion import Joints
from araplbs.skeleton.poses import BENDY
from araplbs.skeleton.rig_poses import (
    SHIFT,
    control_turns,
    deform_parents,
    mirrored,
    numbers,
    reach,
    shares_by_pilot,
    shifts,
    turned_joints,
)
from mathutils import Matrix

from ..poses.flexible_bones import flex
from .rig_copy import NotDrivable
from .rig_frames import Frames
from .rig_reaches import find_reaches
from .rig_relations import closure, controls, further_controls, owner_of

PLACES = 0x51A7C4  # apart from the seeds of turns
REACHES = 0x2E5B19


class ControlPlan:
    """The motion of the controls in all poses."""

    broken = None  # a list for paths of drivers that do not run; None: such a rig is refused

    def __init__(self, armature, skeleton, relations, options):
        self.skeleton, self.relations, self.options = skeleton, relations, options
        self.rest = [bone.matrix_local.copy() for bone in armature.data.bones]
        self.posed = [armature.pose.bones.get(name) for name in skeleton.names]
        if None in self.posed:
            raise NotDrivable("it has new bones that were not posed yet")
        self.controls = controls(armature, relations, skeleton.deform)
        if not self.controls.any():
            raise NotDrivable("it has no controls")
        self.locked = {
            i for i, p in enumerate(self.posed) if any(p.lock_location) or any(p.lock_rotation)
        }
        self.switches = self._sample_switches()
        self.parents = deform_parents(skeleton)
        self.joints = Joints(skeleton, self.parents)
        self.own_turns = self.joints.own_turns(skeleton, options)
        self.further = set()  # joints that hidden controls were taken in for
        self._arrange()

    def _arrange(self):
        """The bones that the controls turn and reach, and their motion in all poses."""
        skeleton, relations = self.skeleton, self.relations
        reached = {int(b): relations.reached(int(b)) for b in np.flatnonzero(self.controls)}
        whole = self._find_whole()
        movable = self.controls & [_can_move(p) and not _is_bounded(p) for p in self.posed]
        self.reaches = find_reaches(relations, skeleton, self.controls, movable, whole)
        self.needed = self._find_needed()
        turns = {b: relations.turns(b) for b in reached}
        self.turned = turned_joints(skeleton, self.parents, reached, turns, whole)
        self.stretched = skeleton.own_stretch & self.controls
        self.places = None  # those of the shares of before, too
        self._sample(np.array([bool(self.turned.get(b)) for b in range(len(self.posed))], float))

    def take_in_further(self, which, transforms, segments):
        """Adds hidden controls that may turn joints which these first poses leave still; returns
        whether any were found."""
        motion = self.joints.motion(transforms, segments)
        still = self.joints.still(motion, self.own_turns[which])
        bones = self.joints.bones[still]
        more = further_controls(self.relations, self.parents, self.controls, bones.tolist())
        if more:
            self.controls[more] = True
            self.further = set(bones.tolist())
            self._arrange()
        return bool(more)

    def ease(self, transforms):
        """Makes turns smaller where these first poses (p, m, 3, 4) turn joints too far; returns
        whether any have changed."""
        shares = shares_by_pilot(
            transforms, self.skeleton, self.parents, self.turned, self.options.swing
        )
        changed = (shares > 0) & (shares < 1)
        if changed.any():
            self._sample(shares)
        return bool(changed.any())

    def _sample(self, shares):
        options = self.options
        self.rotations, self.bends, self.partners = control_turns(
            self.skeleton, self.controls, shares, options
        )
        self.shifts = self._sample_shifts()
        if self.places is None:
            self.places = self._sample_reaches()
        self.bases = self._find_bases([each.bone for each in self.posed], options.pose_count)

    def _find_needed(self):
        """Places of all that the deform bones follow: what limbs are tied to, and what bends bendy
        bones, too."""
        leaders, asked = self.relations.leaders(), self.relations.asked
        for chain in self.relations.together:
            for b in chain:
                leaders[b] |= chain
        for r in self.reaches:
            for b in {r.control, r.pole} - {-1} if r.anchor >= 0 else ():
                leaders[b].add(r.anchor)
        place = {name: i for i, name in enumerate(self.skeleton.names)}
        for b, posed in enumerate(self.posed):
            bone = posed.bone
            if bone.bbone_segments > 1:
                handles = [bone.bbone_custom_handle_start, bone.bbone_custom_handle_end]
                handles += [child for child in bone.children if child.use_connect]
                leaders[b] |= {place[handle.name] for handle in handles if handle}
        return closure(leaders, *np.flatnonzero(self.skeleton.deform).tolist(), *asked)

    def _find_whole(self):
        """(m,) bool: controls that carry all of the rig, and nothing that deforms by itself."""
        deform, whole = np.flatnonzero(self.skeleton.deform), self.controls & ~self.skeleton.deform
        for b in np.flatnonzero(whole):
            whole[b] = self.relations.carried(int(b)).issuperset(deform)
        return whole

    def _sample_shifts(self):
        skeleton, options, posed = self.skeleton, self.options, self.posed
        sizes = np.zeros(len(posed))
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        ends = {b for r in self.reaches for b in (r.control, r.pole)}
        for b, joints in self.turned.items():
            if joints and _can_move(posed[b]) and not skeleton.deform[b] and b not in ends:
                sizes[b] = SHIFT * lengths[joints].mean()
        u = numbers(options.pose_count, sizes > 0, options.seed ^ PLACES, self.partners)
        return shifts(u, sizes, self.partners)

    def _sample_reaches(self):
        """{bone: (p, 4, 4)} functions that take the controls of limbs to their places."""
        partners, options = self.partners, self.options
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
            found[b] = self.in_rest(b, transforms, bones[b].use_local_location)
        return found

    def in_rest(self, b, transforms, own_axes):
        """The motion of bone b in its own rest space by transforms (..., 4, 4) in armature space.
        own_axes: it is moved along them, not along those of its parent."""
        rest = np.array(self.rest[b])
        own = inverse(rest) @ transforms @ rest
        if not own_axes:
            up = self.skeleton.parents[b]
            axes = rest if up < 0 else inverse(np.array(self.rest[up])) @ rest
            own[..., :3, 3] = own[..., :3, 3] @ axes[:3, :3].T
        return own

    def frames(self, copy, which):
        """Frames of these poses of a copy of the armature object that is at rest; None if an
        action cannot move all of it."""
        switches = [(switch.owner, switch.name) for switch, _bit in self.switches]
        if not Frames.can_play(switches):
            return None
        names, kinds = self.skeleton.names, self.skeleton.kinds
        bones = {names[b]: kinds[b] == BENDY for b in self.bases}
        frames = Frames(copy, bones, switches)
        for k in which:
            self.pose(copy, k)
            frames.add(k, bones)
        return frames

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
                keep_locked(each)
        copy.update_tag()


def _can_move(posed):
    connected = posed.bone.use_connect and posed.parent is not None
    return not connected and not all(posed.lock_location)


def _is_bounded(posed):
    """Limits keep it at its place, to all sides: a slider, or what rolls a foot, takes no limb
    along."""
    return any(
        c.type == "LIMIT_LOCATION"
        and c.owner_space.startswith("LOCAL")
        and not c.mute
        and c.influence > 0
        and all(getattr(c, f"use_{end}_{axis}") for end in ("min", "max") for axis in "xyz")
        for c in posed.constraints
    )


def keep_locked(posed):
    """Keeps exactly the range that the limits of the turns keep approximately."""
    if any(posed.lock_location):
        posed.location = [
            0.0 if lock else x for lock, x in zip(posed.lock_location, posed.location, strict=True)
        ]
    if any(posed.lock_rotation) and posed.rotation_mode not in ("QUATERNION", "AXIS_ANGLE"):
        posed.rotation_euler = [
            0.0 if lock else x
            for lock, x in zip(posed.lock_rotation, posed.rotation_euler, strict=True)
        ]
