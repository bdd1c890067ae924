"""Computes how an armature's controls move in Range of Motion: each joint alone, all joints
together, and hands and feet along their paths.

If constraints or drivers move deform bones, the poses are applied to the rig's controls and tested
on a hidden copy. A control that turns no deform bone is not a joint. An IK/FK switch is set to the
side that turns more bones. Without constraints or drivers, the bones turn directly.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from araplbs.base.affine import inverse
from araplbs.body.acts import acts_of, turns_to, within_reach
from araplbs.body.body import find_body
from araplbs.body.chains import Chain, Tree
from araplbs.features.range_of_motion import Motion, chained, joint_turns
from araplbs.skeleton.poses import BENDY, sample
from araplbs.skeleton.rig_poses import deform_parents, nearest_rotations, rotation_vectors
from araplbs.skeleton.rig_reaches import trials_together
from araplbs.skeleton.rig_relations import drives_itself
from araplbs.skeleton.symmetry import bone_partners, symmetry_plane
from mathutils import Matrix

from ...blender.poses.flexible_bones import BENT, NEUTRAL, pose_copy
from ...blender.poses.read_poses import PoseReader
from ...blender.rig.rig_copy import driven_copy, untie
from ...blender.rig.rig_frames import Frames, channels, neutral_of
from ...blender.rig.rig_plan import RigPlan, keep_locked
from ...blender.rig.rig_poses import PILOT, plan_poses_in_steps
from ...blender.rig.rig_relations import owner_of, read_relations

TRIED = 0.3  # radians, and fraction of a limb: the size of a trial motion
SAME_END = 0.2  # share of a limb's length; a control chain that ends closer to its end is the limb
LEAST = 0.02  # radians: a control that turns every deform bone by less is not a joint


def motion_in_steps(armature, skeleton, options, up):
    """The Motion of an armature, as a generator of short steps. up: (3,) in armature space. Raises
    NotDrivable."""
    relations = read_relations(armature)
    kind = _OfRig if drives_itself(relations, skeleton) else _OfBones
    made = kind(armature, skeleton, relations, options)
    yield from made.prepare_in_steps()
    yield from made.make_in_steps(up)
    return made.motion()


class _Maker(ABC):
    """Collects the poses of a copy."""

    def __init__(self, armature, skeleton, relations, options):
        self.armature, self.skeleton, self.relations = armature, skeleton, relations
        self.options, self.own = options, options.options()
        self.rest = [bone.matrix_local.copy() for bone in armature.data.bones]
        self.rest_arrays = [np.array(each) for each in self.rest]
        self.poses, self.neutral = [(None, {})], {}
        self.joints, self.acts, self.combinations = [], False, 0
        self.posed = set()  # bones posed on the copy
        self.moved = np.zeros(len(skeleton.names), bool)

    @abstractmethod
    def prepare_in_steps(self):
        """Sets `plan` to the form that driven_copy() expects."""

    def make_in_steps(self, up):
        work = [*self._alone(), *self._together(), *(self._acts(up) if self.options.acts else ())]
        while work:
            with driven_copy(self.armature, self.plan) as (copy, view_layer, goes_on):
                while work and goes_on():
                    name, pose = work.pop(0)
                    self.poses.append((name, pose(copy, view_layer) if pose else {}))
                    self.put_back(copy)
            yield
        self.poses.append((None, {}))

    def motion(self):
        return Motion(
            self.poses,
            self.neutral,
            len(self.joints),
            self.combinations,
            self.acts,
            self.moved,
            self.plan.broken,
        )

    def _alone(self):
        for bone, sides in self.joints:
            turns = self.turns_of(bone)
            for name, turn in turns:
                yield name, self._posing({bone: turn}, sides)
            if turns:
                yield None, None

    def _together(self):
        self.combinations = self.options.combinations
        if self.combinations:
            for number, pose in enumerate(self.combined(), 1):
                yield f"Combination {number}", pose
            yield None, None

    @abstractmethod
    def combined(self):
        """The functions that pose all joints of a copy together."""

    def turns_of(self, bone):
        swing, twist = self.options.swing, self.skeleton.twists(self.options)[bone]
        return joint_turns(self.skeleton, bone, swing, twist, self.rest_arrays[bone])

    def _posing(self, bases, sides=None):
        def pose(copy, _view_layer):
            self.set(copy, bases, sides)
            return self.read(copy, bases, sides is not None)

        return pose

    def set(self, copy, bases, sides=None):
        """Sets the pose of a copy. sides: 0 or 1, the value of each switch; None: unchanged."""
        for b, own in bases.items():
            posed = copy.pose.bones[self.skeleton.names[b]]
            posed.matrix_basis = Matrix(np.asarray(own).tolist())
            keep_locked(posed)
        self.posed.update(bases)
        self.switch(copy, sides)
        copy.update_tag()

    def put_back(self, copy):
        """Returns all posed bones of a copy to rest. Only posed bones are reset, because setting a
        bone is slow in Blender."""
        identity = Matrix()
        for b in self.posed:
            posed = copy.pose.bones[self.skeleton.names[b]]
            posed.matrix_basis = identity
            if self.skeleton.kinds[b] == BENDY:
                for name in BENT:
                    setattr(posed, name, NEUTRAL[name])
        self.posed = set()
        copy.update_tag()

    def switch(self, copy, sides):
        for each in self.relations.switches if sides is not None else ():
            owner = owner_of(copy, each.owner)
            owner[each.name] = type(owner[each.name])(sides)

    def read(self, copy, bones, switches=False):
        """Returns {(bone, property): values} for the bones of a copy and for the switches."""
        values_of = {}
        for b in bones:
            name = self.skeleton.names[b]
            posed = copy.pose.bones[name]
            for each in channels(posed, self.skeleton.kinds[b] == BENDY):
                value = getattr(posed, each)
                values_of[name, each] = (value,) if isinstance(value, float) else tuple(value)
                if (name, each) not in self.neutral:
                    self.neutral[name, each] = neutral_of(each, len(values_of[name, each]))
        for each in self.relations.switches if switches else ():
            key = each.owner, f'["{each.name}"]'
            values_of[key] = (float(owner_of(copy, each.owner)[each.name]),)
            self.neutral.setdefault(key, (float(owner_of(self.armature, each.owner)[each.name]),))
        return values_of

    def _acts(self, up):
        body = find_body(*self.chains(), up)
        if body is None:
            return
        self.acts = True
        for act in acts_of(body, self.skeleton.heads):
            bases = chained(act.turns, self.rest_arrays, self.skeleton.parents)
            for limb, goal in act.goals:
                bases.update(self.reaching(body, limb, goal))
            yield act.name, self._posing(bases, self.sides_of(body))
        yield None, None

    def reaching(self, body, limb, goal):
        """Returns {bone: (4, 4) in its rest space}, the transforms that move the end of a limb to
        the goal."""
        turns = turns_to(body, limb, goal)
        return chained(turns, self.rest_arrays, self.skeleton.parents)


class _OfBones(_Maker):
    """An armature in which constraints and drivers move no bones."""

    def prepare_in_steps(self):
        skeleton = self.skeleton
        self.plan = _Plan(self.relations, skeleton, np.zeros(len(skeleton.names), bool))
        self.joints = [(int(b), None) for b in np.flatnonzero(skeleton.deform)]
        self.moved[:] = skeleton.deform
        yield

    def combined(self):
        symmetry = symmetry_plane(self.skeleton) if self.own.symmetric else None
        transforms, bends = sample(self.skeleton, self.own, symmetry)
        if bends is None:
            bends = np.zeros((len(transforms), len(self.skeleton.names), 4))
        return [self._sampled(transforms[k], bends[k]) for k in range(self.combinations)]

    def _sampled(self, transforms, bends):
        def pose(copy, _view_layer):
            pose_copy(copy, self.skeleton, self.rest, transforms, bends)
            self.posed = set(range(len(self.rest)))
            return self.read(copy, np.flatnonzero(self.skeleton.deform).tolist())

        return pose

    def chains(self):
        s = self.skeleton
        tree = Tree(s.heads, s.tails, s.parents, s.deform)
        return tree, tree.chains()

    def sides_of(self, _body):
        return None


@dataclass
class _Plan:
    """The part of a RigPlan that driven_copy() needs, for bones that nothing else moves."""

    relations: object
    skeleton: object
    stretched: np.ndarray
    reaches: tuple = ()
    rest: tuple = ()
    broken: list = field(default_factory=list)

    @property
    def needed(self):
        return range(len(self.skeleton.names))


class _OfRig(_Maker):
    """A rig whose controls move its deform bones."""

    def prepare_in_steps(self):
        self.plan = RigPlan(self.armature, self.skeleton, self.relations, self.own)
        self.plan.broken = []
        yield
        paired = self.own.symmetric and bone_partners(self.skeleton) is not None
        which = range(0, self.own.pose_count, 2 if paired else 1)  # as in rig_poses_in_steps()
        yield from plan_poses_in_steps(self.armature, self.plan, which[:PILOT])
        self.up = deform_parents(self.skeleton)
        self.reader = PoseReader(self.armature, self.skeleton)
        self.from_rest = inverse(np.array(self.rest_arrays))[:, :3, :3]
        yield from self._try_in_steps()

    def _try_in_steps(self):
        """Sets `joints` to the controls that turn deform bones in trials. If a control moves the
        end of a limb, the switch of the limb is set to the side that turns more deform bones."""
        plan, skeleton, names = self.plan, self.skeleton, self.skeleton.names
        ends = {r.control: r for r in plan.reaches}
        work = sorted({b for b, turned in plan.turned.items() if turned} | set(ends))
        sides = (0, 1) if self.relations.switches else (None,)
        bones = {names[b]: skeleton.kinds[b] == BENDY for b in work}
        switches = [(each.owner, each.name) for each in self.relations.switches]
        trials = [(b, end) for b in work for end in {False, b in ends}]
        together = trials_together(trials, self.relations, plan.reaches, skeleton.deform, self.up)
        poses = [(trials, side) for trials in ({}, *together) for side in sides]
        tried, still, played = {}, {}, []

        def prepare(copy, made):
            if not Frames.can_play(switches):
                return
            frames = Frames(copy, bones, switches if sides[0] is not None else [])
            for trials, side in poses:
                moved = self._set_trials(copy, trials, side, ends)
                frames.add((*trials, side), [names[b] for b in moved])
                self.put_back(copy)
            made.append(frames.play())
            played[:] = [frames]

        while poses:
            with driven_copy(self.armature, plan, prepare) as (copy, view_layer, goes_on):
                while poses and goes_on():
                    trials, side = poses.pop(0)
                    if played:
                        played[0].show((*trials, side), view_layer)
                    else:
                        self._set_trials(copy, trials, side, ends)
                        view_layer.update()
                    turns = self._turns(copy, view_layer)
                    self.put_back(copy)
                    if not trials:
                        still[side] = turns
                        continue
                    angles = self._angles(still[side], turns)
                    for trial, joints in trials.items():
                        angle = float(angles[joints].max(initial=0))
                        if angle > tried.setdefault(trial, (0.0, sides[0]))[0] + 1e-4:
                            tried[trial] = angle, side
            yield
        self.joints, self.ends = [], {}
        for (b, as_end), (angle, side) in sorted(tried.items(), key=lambda item: item[0]):
            if angle >= LEAST and as_end:
                self.ends[b] = side
            elif angle >= LEAST and self.turns_of(b):
                self.joints.append((b, side))

    def _set_trials(self, copy, trials, side, ends):
        """Sets trial poses for the bones in trials, [(bone, whether its limb reaches)], and returns
        these bones."""
        bases = {}
        for b, as_end in trials:
            own = np.eye(4)
            if as_end:
                own[:3, 3] = TRIED * (ends[b].root - ends[b].end)
                own = self.plan.in_rest(b, own)
            else:
                for axis in range(3):
                    own = own @ self._trial(b, axis)
            bases[b] = own
        self.set(copy, bases, side)
        return bases

    def _angles(self, still, turns):
        """The angles (d,), in radians, by which deform bones turn relative to their parents."""
        vectors = rotation_vectors(np.swapaxes(still, -1, -2) @ turns)
        angles = np.linalg.norm(vectors, axis=-1)
        self.moved[np.flatnonzero(self.skeleton.deform)[angles >= LEAST]] = True
        return angles

    def _trial(self, b, axis):
        low, high = self.skeleton.limits[b, axis]
        low, high = (-TRIED, TRIED) if np.isnan(low) else (low, high)
        return _about(axis, max(low, min(high, TRIED)) if high > -low else max(low, -TRIED))

    def _turns(self, copy, view_layer):
        """The rotations (d, 3, 3) of the deform bones relative to their parents."""
        poses = self.reader.read_bones(copy, view_layer.depsgraph)[:, :3, :3]
        deform = np.flatnonzero(self.skeleton.deform)
        turns = np.tile(np.eye(3), (len(poses) + 1, 1, 1))
        turns[deform] = nearest_rotations(poses[deform] @ self.from_rest[deform])
        return np.swapaxes(turns[self.up[deform]], -1, -2) @ turns[deform]

    def combined(self):
        return map(self._planned, range(self.combinations))

    def _planned(self, k):
        def pose(copy, view_layer):
            self.plan.pose(copy, k)
            self.posed.update(self.plan.bases)
            tied = {b for r in self.plan.reaches if r.anchor >= 0 for b in (r.control, r.pole)}
            if tied - {-1}:
                view_layer.update()
                untie(copy, view_layer, [self.skeleton.names[b] for b in tied - {-1}])
            return self.read(copy, self.plan.bases, True)

        return pose

    def chains(self):
        """The Chains of controls that move the ends of limbs, and the chains of controls that end
        elsewhere."""
        found = []
        for r in self.plan.reaches:
            if r.control in self.ends and r.length:
                ends = np.array([r.root, r.end])
                found.append(Chain(ends, control=r.control, reach=r.length))
        s, joints = self.skeleton, np.zeros(len(self.skeleton.names), bool)
        joints[[b for b, _side in self.joints]] = True
        tree = Tree(s.heads, s.tails, s.parents, joints)
        for chain in tree.chains():
            away = [
                np.linalg.norm(chain.joints - reach.joints[-1], axis=1).min() / reach.length
                for reach in found
                if reach.control >= 0
            ]
            if min(away, default=1.0) >= SAME_END:
                found.append(chain)
        return tree, found

    def sides_of(self, body):
        for limb in body.limbs:
            if limb.control >= 0:
                return self.ends[limb.control]
        return dict(self.joints).get(body.legs[0][0].bones[0])

    def reaching(self, body, limb, goal):
        if limb.control < 0:
            return super().reaching(body, limb, goal)
        shift = np.eye(4)
        shift[:3, 3] = within_reach(limb, goal) - limb.end
        return {limb.control: self.plan.in_rest(limb.control, shift)}


def _about(axis, angle):
    return np.array(Matrix.Rotation(angle, 4, "XYZ"[axis]))
