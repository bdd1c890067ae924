"""Random poses that a rig can take: its controls turn within their limits and locks, what limbs
reach for is moved, and Blender evaluates constraints and drivers on a copy that nobody sees.

The copy looks at itself where the rig looks at itself, and at copies of the objects that hang on
the rig, such as curves with hooks. Like that of flexible_bones.py it is made for each step anew.
"""

import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain

import bpy
import numpy as np
from mathutils import Matrix

from ..core.extent import size_of
from ..core.poses import Poses
from ..core.rig_poses import (
    SHIFT,
    control_turns,
    mirrored,
    moves_something,
    numbers,
    reach,
    shifts,
    turn_shares,
    usable,
)
from .flexible_bones import NEUTRAL, STEP, flex
from .read_armature import is_locked
from .read_poses import PoseReader, stage
from .rig_relations import (
    constraint_objects,
    controls,
    drivers,
    drives_itself,
    object_targets,
    owner_of,
    read_relations,
)

PLACES = 0x51A7C4  # apart from the seeds of turns
REACHES = 0x2E5B19
LEAST_LEFT = 0.5  # of the poses that must be usable


class _Broken(Exception):
    """The rig cannot be driven; why."""


@dataclass
class _Reach:
    """A limb whose end a control moves."""

    control: int
    pole: int  # or -1
    anchor: int  # the bone that the limb hangs on and both shall follow, or -1
    root: np.ndarray  # (3,)
    end: np.ndarray  # (3,)
    length: float


def rig_poses_in_steps(armature, skeleton, options, warnings):
    """Poses, whole, of at most options.pose_count random poses of the controls; None where no
    constraint or driver moves a deform bone, and, with a line more in `warnings`, where the rig
    cannot be driven. A generator of short steps."""
    if not skeleton.deform.any() or not options.pose_count:
        return None
    relations = read_relations(armature)
    if not drives_itself(relations, skeleton):
        return None
    yield
    try:
        plan = _Plan(armature, skeleton, relations, options)
        yield
        read, reader = [], _Reader(armature, skeleton)
        while len(read) < options.pose_count:
            with _driven_copy(armature, plan) as (copy, view_layer, goes_on):
                while len(read) < options.pose_count and goes_on():
                    plan.pose(copy, len(read))
                    view_layer.update()
                    read.append(reader.read(copy, view_layer.depsgraph))
            yield
        return _whole(read, skeleton)
    except _Broken as reason:
        warnings.append(
            f"The rig of '{armature.name}' could not be posed ({reason}): in the random poses "
            "every deform bone turns on its own"
        )
        return None


def _whole(read, skeleton):
    transforms, joints = (np.array(part) for part in zip(*read, strict=True))
    size = size_of(np.vstack([skeleton.heads[skeleton.deform], skeleton.tails[skeleton.deform]]))
    good = usable(transforms, skeleton, size) & np.isfinite(joints).all(axis=(1, 2, 3))
    if good.sum() < LEAST_LEFT * len(good):
        raise _Broken("it tears apart")
    if not moves_something(transforms[good], skeleton, size):
        raise _Broken("no control moves a deform bone")
    return Poses(transforms[good], joints[good], whole=True)


class _Plan:
    """What the controls do in all poses."""

    def __init__(self, armature, skeleton, relations, options):
        self.skeleton, self.relations = skeleton, relations
        self.rest = [bone.matrix_local.copy() for bone in armature.data.bones]
        posed = [armature.pose.bones.get(name) for name in skeleton.names]
        if None in posed:
            raise _Broken("it has new bones that were not posed yet")
        self.controls = controls(armature, relations, skeleton.deform)
        if not self.controls.any():
            raise _Broken("it has no controls")
        reached = {int(b): relations.reached(int(b)) for b in np.flatnonzero(self.controls)}
        self.reaches = self._find_reaches(posed, reached)
        locked = np.array([[is_locked(each, axis) for axis in range(3)] for each in posed])
        ends = {r.control for r in self.reaches} | {r.pole for r in self.reaches}
        swinging = ~(locked[:, 0] & locked[:, 2])
        swinging[[b for b in ends if b >= 0]] = False
        whole = self._find_whole()
        shares, turned = turn_shares(skeleton, self.controls, reached, swinging, whole)
        for r in self.reaches:
            shares[r.control] = max(shares[r.control], 0.5)
        self.rotations, self.bends, partners = control_turns(
            skeleton, self.controls, shares, options
        )
        self.shifts = self._sample_shifts(posed, turned, shares, ends, partners, options)
        self.places = self._sample_reaches(partners, options)
        self.switches = self._sample_switches()
        self.stretched = skeleton.own_stretch & self.controls

    def _find_whole(self):
        """(m,) bool: controls that carry all of the rig, and nothing that deforms by itself."""
        deform, whole = np.flatnonzero(self.skeleton.deform), self.controls & ~self.skeleton.deform
        for b in np.flatnonzero(whole):
            whole[b] = self.relations.carried(int(b)).issuperset(deform)
        return whole

    def _sample_shifts(self, posed, turned, shares, ends, partners, options):
        skeleton, sizes = self.skeleton, np.zeros(len(posed))
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        for b, joints in turned.items():
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

    def pose(self, copy, k):
        bones, posed, rest = copy.data.bones, copy.pose.bones, self.rest
        for switch, bit in self.switches:
            owner = owner_of(copy, switch.owner)
            owner[switch.name] = type(owner[switch.name])(k // 2 >> bit & 1)
        for b in np.flatnonzero(self.controls).tolist():
            bone = bones[b]
            each = posed[bone.name]
            transform = np.eye(4)
            transform[:3, :3] = self.rotations[k, b]
            head = self.skeleton.heads[b]
            transform[:3, 3] = head - transform[:3, :3] @ head + self.shifts[k, b]
            if b in self.places:
                transform = self.places[b][k] @ transform
            up, above = self.skeleton.parents[b], {}
            if up >= 0:
                above = {"parent_matrix": rest[up], "parent_matrix_local": rest[up]}
            target = Matrix(transform.tolist()) @ rest[b]
            own = bone.convert_local_to_pose(target, rest[b], invert=True, **above)
            if self.bends is not None:
                own = flex(each, own, self.skeleton, b, rest[b], self.bends[k, b])
            each.matrix_basis = own
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


class _Reader(PoseReader):
    """The same, of rigs with many more bones than deform."""

    def __init__(self, armature, skeleton):
        super().__init__(armature, skeleton)
        place = {posed.name: i for i, posed in enumerate(armature.pose.bones)}
        self.order = [place[name] for name in skeleton.names]

    def read(self, armature, depsgraph):
        posed = armature.evaluated_get(depsgraph).pose.bones
        poses = np.empty(16 * len(posed), np.float32)
        posed.foreach_get("matrix", poses)
        poses = poses.reshape(-1, 4, 4).swapaxes(1, 2)[self.order].astype(np.float64)
        if self.straighten is None:
            self.straighten = [
                np.linalg.inv(self._joints(posed, i, rest=True)) @ self.to_rest[i]
                for i in self.bendy
            ]
        joints = [
            (poses[i] @ self._joints(posed, i, rest=False) @ straighten)[:, :3]
            for i, straighten in zip(self.bendy, self.straighten, strict=True)
        ]
        return (poses @ self.to_rest)[:, :3], np.concatenate([np.zeros((0, 3, 4)), *joints])

    def _joints(self, posed, i, rest):
        matrix = posed[self.skeleton.names[i]].bbone_segment_matrix
        count = self.skeleton.segments[i] + 1
        rows = chain.from_iterable(matrix(k, rest=rest) for k in range(count))
        flat = np.fromiter(chain.from_iterable(rows), np.float64, 16 * count)
        return flat.reshape(count, 4, 4)


@contextmanager
def _driven_copy(armature, plan):
    """(a copy of the object and its data that constraints and drivers move, at rest; the view layer
    that it is evaluated in; a function that says whether there is time left)."""
    start = time.perf_counter()
    made = []
    try:
        copy, helpers = _copy(armature, made)
        _set_up(copy, plan)
        with stage(copy) as scene:
            for helper in helpers:
                scene.collection.objects.link(helper)
            view_layer = scene.view_layers[0]
            view_layer.update()
            _refuse_broken(copy.evaluated_get(view_layer.depsgraph))
            now = time.perf_counter()
            end = now + max(STEP, 4 * (now - start))
            yield copy, view_layer, lambda: time.perf_counter() < end
    finally:
        bpy.data.batch_remove(made)


def _copy(armature, made):
    """(the copy, copies of the objects that hang on it); all new data is appended to `made`."""
    try:
        copy = armature.copy()
        made.append(copy)
        copy.data = armature.data.copy()
        made.append(copy.data)
        new = {armature: copy, armature.data: copy.data}
        for ob in _hanging(armature):
            new[ob] = ob.copy()
            made.append(new[ob])
    except RuntimeError as error:
        raise _Broken(str(error).strip()) from None
    for data in (copy, copy.data):
        if data.animation_data:
            _keep_drivers(data.animation_data, new)
    helpers = [new[ob] for ob in new if ob not in (armature, armature.data)]
    for posed in copy.pose.bones:
        for constraint in posed.constraints:
            _retarget(constraint, new)
    for helper in helpers:
        if helper.parent in new:
            helper.parent = new[helper.parent]
        for each in (*helper.constraints, *helper.modifiers):
            _retarget(each, new)
    return copy, helpers


def _keep_drivers(animation, new):
    animation.action = None
    for track in list(animation.nla_tracks):
        animation.nla_tracks.remove(track)
    for curve in list(animation.drivers):
        if curve.data_path.endswith(".hide"):
            animation.drivers.remove(curve)
            continue
        for variable in curve.driver.variables:
            for target in variable.targets:
                if target.id in new:
                    target.id = new[target.id]


def _retarget(struct, new):
    kept = struct.matrix_inverse.copy() if struct.type == "HOOK" else None
    for name in ("target", "pole_target", "object"):
        if getattr(struct, name, None) in new:
            setattr(struct, name, new[getattr(struct, name)])
    for each in getattr(struct, "targets", ()):
        if each.target in new:
            each.target = new[each.target]
    if kept:  # a hook with a new object takes it from where that is
        struct.matrix_inverse = kept


def _hanging(armature):
    """Objects that constraints of its bones look at and that hang on it themselves."""

    def hangs(ob, seen):
        return ob == armature or any(
            hangs(target, seen | {ob}) for target, _name in object_targets(ob) if target not in seen
        )

    found, work = [], constraint_objects(armature)
    while work:
        ob = work.pop()
        if ob not in found and ob != armature and hangs(ob, {ob}):
            found.append(ob)
            work += [target for target, _name in object_targets(ob)]
    return found


def _set_up(copy, plan):
    """The copy at rest, the ends of limbs tied to what the limbs hang on."""
    copy.hide_viewport = False
    identity = Matrix()
    for posed in copy.pose.bones:
        posed.matrix_basis = identity
        if posed.bone.bbone_segments > 1:
            for name, value in NEUTRAL.items():
                if name != "rotation_mode":
                    setattr(posed, name, value)
    for bone, name in plan.relations.outside:
        copy.pose.bones[bone].constraints[name].mute = True
    names = plan.skeleton.names
    for bone, own in zip(copy.data.bones, plan.stretched, strict=True):
        if own and bone.parent:
            bone.inherit_scale = "NONE"
    for r in plan.reaches:
        if r.anchor < 0:
            continue
        for b in {r.control, r.pole} - {-1}:
            tie = copy.pose.bones[names[b]].constraints.new("CHILD_OF")
            tie.target, tie.subtarget = copy, names[r.anchor]
            tie.inverse_matrix = (copy.matrix_world @ plan.rest[r.anchor]).inverted_safe()


def _refuse_broken(evaluated):
    for curve in drivers(evaluated):
        path = curve.data_path
        if "bones[" in path and not (curve.is_valid and curve.driver.is_valid):
            raise _Broken(f"its driver of {path} does not run")
