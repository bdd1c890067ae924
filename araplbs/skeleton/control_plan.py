"""Plans how a rig's controls move in random poses: rotations, locations, positions of limb targets,
and switches between IK and FK.

The bone data of the rig is read in advance (ControlFacts), and the add-on applies the poses to the
rig, so this file does not use Blender."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.affine import inverse
from ..base.arrays import Bools, Floats, Integers
from ..model.options import Options
from .joint_motion import Joints, Mirror, Motion, complete, square
from .poses import BONE_BY_BONE, BY_CONTROLS, FURTHER, WAYS, Poses
from .rig_poses import (
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
from .rig_reaches import find_reaches
from .rig_relations import Relations, Switch, closure, further_controls
from .skeleton import Skeleton
from .symmetry import Symmetry, reflection

PLACES = 0x51A7C4  # a seed that rotations do not use
REACHES = 0x2E5B19


@dataclass(frozen=True)
class ControlFacts:
    """Data about the m bones of a rig that a plan needs."""

    controls: Bools  # (m,) the posed bones
    rest: Floats  # (m, 4, 4) in armature space
    can_move: Bools  # (m,) freely movable: neither connected nor locked
    bounded: Bools  # (m,) kept in place by limits
    own_axes: Bools  # (m,) moving along their own axes rather than along their parents' axes
    bent_by: list[set[int]]  # (m,) controls that bend a bendy bone


class ControlPlan:
    """The motion of the controls in all poses."""

    bends: Floats | None
    partners: Integers | None
    places: dict[int, Floats]

    def __init__(
        self, skeleton: Skeleton, relations: Relations, options: Options, facts: ControlFacts
    ) -> None:
        self.skeleton, self.relations, self.options = skeleton, relations, options
        self.facts, self.controls = facts, facts.controls.copy()
        self.switches = self._sample_switches()
        self.parents = deform_parents(skeleton)
        self.joints = Joints(skeleton, self.parents)
        self.own_turns = self.joints.own_turns(skeleton, options)
        self.further: set[int] = set()  # joints for which hidden controls were included
        self._arrange()

    def _arrange(self) -> None:
        """Finds the bones that the controls turn and reach, and samples the motion of the controls
        in all poses."""
        skeleton, relations = self.skeleton, self.relations
        reached = {int(b): relations.reached(int(b)) for b in np.flatnonzero(self.controls)}
        whole = self._find_whole()
        movable = self.controls & self.facts.can_move & ~self.facts.bounded
        self.reaches = find_reaches(relations, skeleton, self.controls, movable, whole)
        self.needed = self._find_needed()
        turns = {b: relations.turns(b) for b in reached}
        self.turned = turned_joints(skeleton, self.parents, reached, turns, whole)
        self.stretched = skeleton.own_stretch & self.controls
        self.places = {}  # also those of the previous shares
        every = range(len(self.controls))
        self._sample(np.array([bool(self.turned.get(b)) for b in every], float), anew=True)

    def take_in_further(self, which: range, transforms: Floats, segments: Floats) -> bool:
        """Adds hidden controls that may turn the joints that do not move in these first poses.
        Returns whether any controls were found."""
        motion = self.joints.motion(transforms, segments)
        still = self.joints.still(motion, self.own_turns[which])
        bones = self.joints.bones[still]
        more = further_controls(self.relations, self.parents, self.controls, bones.tolist())
        if more:
            self.controls[more] = True
            self.further = set(bones.tolist())
            self._arrange()
        return bool(more)

    def ease(self, transforms: Floats) -> bool:
        """Reduces rotations if these first poses (p, m, 3, 4) turn joints too far. Returns whether
        any have changed."""
        shares = shares_by_pilot(
            transforms, self.skeleton, self.parents, self.turned, self.options.swing
        )
        is_reduced = (shares > 0) & (shares < 1)
        if is_reduced.any():
            self._sample(shares)
        return bool(is_reduced.any())

    def _sample(self, shares: Floats, anew: bool = False) -> None:
        self.rotations, self.bends, self.partners = control_turns(
            self.skeleton, self.controls, shares, self.options
        )
        self.shifts = self._sample_shifts()
        if anew:
            self.places = self._sample_reaches()
        self.bases = self._find_bases(self.options.pose_count)

    def _find_needed(self) -> set[int]:
        """Indices of all bones that the deform bones follow, including bones to which limbs are
        attached and bones that bend bendy bones."""
        leaders, asked = self.relations.leaders(), self.relations.asked
        for chain in self.relations.together:
            for b in chain:
                leaders[b] |= chain
        for r in self.reaches:
            for b in {r.control, r.pole} - {-1} if r.anchor >= 0 else ():
                leaders[b].add(r.anchor)
        for b, benders in enumerate(self.facts.bent_by):
            leaders[b] |= benders
        return closure(leaders, *np.flatnonzero(self.skeleton.deform).tolist(), *asked)

    def _find_whole(self) -> Bools:
        """Returns (m,) bool: controls that carry the whole rig and do not deform anything
        themselves."""
        deform = np.flatnonzero(self.skeleton.deform)
        carriers = self.controls & ~self.skeleton.deform
        for b in np.flatnonzero(carriers):
            carriers[b] = self.relations.carried(int(b)).issuperset(deform)
        return carriers

    def _sample_shifts(self) -> Floats:
        skeleton, options, can_move = self.skeleton, self.options, self.facts.can_move
        sizes = np.zeros(len(can_move))
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        ends = {b for r in self.reaches for b in (r.control, r.pole)}
        for b, joints in self.turned.items():
            if joints and can_move[b] and not skeleton.deform[b] and b not in ends:
                sizes[b] = SHIFT * lengths[joints].mean()
        u = numbers(options.pose_count, sizes > 0, options.seed ^ PLACES, self.partners)
        return shifts(u, sizes, self.partners)

    def _sample_reaches(self) -> dict[int, Floats]:
        """Transforms {bone: (p, 4, 4)} that move the controls of limbs to their positions."""
        partners, options = self.partners, self.options
        ends = {r.control: r for r in self.reaches}
        is_control = np.zeros(len(self.controls), bool)
        is_control[list(ends)] = True
        u = numbers(options.pose_count, is_control, options.seed ^ REACHES, partners)
        transforms: dict[int, Floats] = {}
        for r in self.reaches:
            transforms[r.control] = np.tile(np.eye(4), (options.pose_count, 1, 1))
            if r.pole >= 0:
                transforms.setdefault(r.pole, transforms[r.control].copy())
        for k in range(options.pose_count):
            for r in self.reaches:
                partner = -1 if partners is None else int(partners[r.control])
                is_image = bool(k % 2) and partner in ends
                of = ends[partner] if is_image else r
                x = u[k, of.control].copy()
                if k % 2 and not is_image:
                    x[1:] = 1 - x[1:]
                pair = reach(of.root, of.end, of.length, x, options.swing)
                moved, turn = (mirrored(each) if is_image else each for each in pair)
                transforms[r.control][k] = moved
                if r.pole >= 0:
                    transforms[r.pole][k] = turn
        return transforms

    def _sample_switches(self) -> list[tuple[Switch, int]]:
        """Returns [(switch, pairs of poses in which it is on: every second pair, or every second
        two)]."""
        groups = sorted({switch.sides for switch in self.relations.switches})
        return [(each, groups.index(each.sides) % 2) for each in self.relations.switches]

    def _find_bases(self, poses: int) -> dict[int, Floats]:
        """Returns {bone: (p, 4, 4) transform in its own rest space}."""
        bases = {}
        for b in np.flatnonzero(self.controls).tolist():
            head, turn = self.skeleton.heads[b], self.rotations[:, b]
            transforms = np.tile(np.eye(4), (poses, 1, 1))
            transforms[:, :3, :3] = turn
            transforms[:, :3, 3] = head - turn @ head + self.shifts[:, b]
            if b in self.places:
                transforms = self.places[b] @ transforms
            bases[b] = self.in_rest(b, transforms)
        return bases

    def in_rest(self, b: int, transforms: Floats) -> Floats:
        """The motion of bone b in its own rest space for transforms (..., 4, 4) in armature
        space."""
        rest = self.facts.rest[b]
        motion = inverse(rest) @ transforms @ rest
        if not self.facts.own_axes[b]:
            parent = self.skeleton.parents[b]
            axes = rest if parent < 0 else inverse(self.facts.rest[parent]) @ rest
            motion[..., :3, 3] = motion[..., :3, 3] @ axes[:3, :3].T
        return motion

    def whole_poses(
        self,
        transforms: Floats,
        segments: Floats,
        which: range,
        symmetry: Symmetry | None,
    ) -> Poses | None:
        """All Poses, in which every joint moves, derived from the motion of a rig in the poses
        `which`; None if no control moves a deform bone. symmetry: a symmetry_plane(), whose mirror
        images complete the poses."""
        joints, names = self.joints, self.skeleton.names
        found = complete(transforms, segments, joints, self.own_turns[which])
        if found is None:
            return None
        motion, alone = found
        all_transforms = np.empty((self.options.pose_count, len(names), 3, 4))
        all_segments = np.empty((len(all_transforms), len(joints.owner), 3, 4))

        def put(poses: range, others: Floats, motion: Motion) -> None:
            posed, parts = joints.composed(motion)
            all_transforms[poses] = others[: len(poses)]
            all_segments[poses] = parts[: len(poses)]
            all_transforms[np.ix_(np.array(poses), joints.bones)] = posed[: len(poses)]

        # Transforms of bones that do not deform:
        others = np.where(np.isfinite(transforms), transforms, np.eye(3, 4))
        put(which, others, motion)
        if symmetry is not None:
            flip = reflection(symmetry)
            others = flip[:3] @ square(others[:, self.skeleton.other_side]) @ flip
            image = Mirror(symmetry[0], joints, flip).image(motion)
            put(range(1, len(all_transforms), 2), others, image)
        posed_by: dict[str, list[str]] = {way: [] for way in WAYS}
        for bone, own in zip(joints.bones.tolist(), alone, strict=True):
            way = BONE_BY_BONE if own else FURTHER if bone in self.further else BY_CONTROLS
            posed_by[way].append(names[bone])
        return Poses(all_transforms, all_segments, whole=True, posed_by=posed_by)
