"""Range of Motion creates poses of single joints, an action from these poses, and a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Array, Bools, Floats
from ..base.option_table import OptionTable, option, option_of
from ..body.acts import between
from ..body.body import find_body
from ..body.chains import Tree
from ..model.options import Options
from ..reports.report import names_in_line

if TYPE_CHECKING:
    from ..skeleton.skeleton import Skeleton

LEAST_TURN = math.radians(0.5)  # limits with a smaller range lock an axis
PARTS = ("Arms", "Legs", "Spine", "Fingers", "Others", "All Bones")
SAME = 1e-6  # smallest change of a value that is keyed


@dataclass(frozen=True)
class MotionOptions(OptionTable):
    """The options of Range of Motion."""

    swing: float = option_of(Options, "swing")
    twist: float = option_of(Options, "twist")
    limb_twist: float = option_of(Options, "limb_twist")
    use_joint_limits: bool = option_of(Options, "use_joint_limits")
    combinations: int = option(
        12,
        "Combinations",
        "Number of random poses of all joints together, after the poses of single joints. The "
        "default gives the poses that Check Weights uses",
        min=0,
        max=10000,
        soft_max=100,
    )
    acts: bool = option(
        True,
        "Walk and Reach",
        "If legs are found, include a walk in place, reaching arms and steps up, and for "
        "animals the neck, tail and back",
    )
    spacing: int = option(
        10, "Spacing", "Number of frames from one pose to the next", min=1, max=1000, soft_max=50
    )
    seed: int = option_of(Options, "seed")
    symmetric: bool = option_of(Options, "symmetric")
    reach_poses: float = option_of(Options, "reach_poses")

    def options(self) -> Options:
        """The Options with which combinations are sampled."""
        return Options(
            pose_count=max(self.combinations, 2),
            swing=self.swing,
            twist=self.twist,
            limb_twist=self.limb_twist,
            use_joint_limits=self.use_joint_limits,
            seed=self.seed,
            symmetric=self.symmetric,
            reach_poses=self.reach_poses,
        )


def joint_turns(
    skeleton: Skeleton, bone: int, swing: float, twist: float, rest: Floats
) -> list[tuple[str, Floats]]:
    """Returns [(name, (4, 4) turn in the bone's own rest space)] for a joint. The turns are
    rotations about each axis to both limits or, without limits, by swing and twist (about Y). If
    the tail of a bone is meaningless, the axes follow the direction to the next joint. rest: (4,
    4), the bone's rest transform."""
    found: list[tuple[str, Floats]] = []
    axes = np.eye(4)
    if skeleton.directions == "JOINTS":
        along = rest[:3, :3].T @ (skeleton.tails[bone] - skeleton.heads[bone])
        axes[:3, :3] = between(np.array([0.0, 1.0, 0.0]), along)
    for axis, usual in enumerate((swing, twist, swing)):
        low, high = skeleton.limits[bone, axis]
        low, high = (-usual, usual) if np.isnan(low) else (low, high)
        for angle in (high, low):
            if abs(angle) >= LEAST_TURN:
                name = f"{skeleton.names[bone]} {'XYZ'[axis]} {math.degrees(angle):+.0f}"
                found.append((name, axes @ about(axis, float(angle)) @ axes.T))
    return found


def about(axis: int, angle: float) -> Floats:
    """A rotation about X, Y or Z, (4, 4)."""
    found, (i, j) = np.eye(4), [k for k in (0, 1, 2) if k != axis]
    sine = math.sin(angle) * (-1 if axis == 1 else 1)
    found[i, i] = found[j, j] = math.cos(angle)
    found[i, j], found[j, i] = -sine, sine
    return found


def chained(
    moved: Mapping[int, Floats], rest: Sequence[Floats], parents: Sequence[int] | Array
) -> dict[int, Floats]:
    """Converts transforms from rest in armature space to {bone: (4, 4) transform in its own rest
    space}. All other bones follow their parents. rest: (4, 4) each."""
    found: dict[int, Floats] = {}
    for bone, wanted in moved.items():
        above = int(parents[bone])
        while above >= 0 and above not in moved:
            above = int(parents[above])
        carried = np.eye(4) if above < 0 else moved[above]
        own = np.asarray(rest[bone])
        found[bone] = np.linalg.inv(own) @ np.linalg.inv(carried) @ wanted @ own
    return found


Snapshot = dict[tuple[str, str], tuple[float, ...]]  # (bone, property) -> its values
Played = tuple[str, str, Snapshot]  # body part or name of an act, name of the pose, its values


def curves(
    poses: Sequence[Snapshot], rest: Mapping[tuple[str, str], tuple[float, ...]]
) -> list[tuple[str, str, int, Array, Floats]]:
    """Returns [(bone, property, index, (k,) keyed poses, (k,) values)] for every channel that any
    pose changes. A pose has no key if the value is the same in the poses before and after it."""
    moved = sorted({key for pose in poses for key in pose})
    found = []
    for bone, name in moved:
        usual = rest[bone, name]
        values = np.array([pose.get((bone, name), usual) for pose in poses], float)
        if np.abs(values - usual).max() <= SAME:
            continue
        if name == "rotation_quaternion":
            values *= _signs(values)[:, None]
        for index, column in enumerate(values.T):
            steps = np.abs(np.diff(column)) > SAME
            keyed = np.concatenate([[True], steps]) | np.concatenate([steps, [True]])
            which = np.flatnonzero(keyed)
            found.append((bone, name, index, which, column[which]))
    return found


def _signs(quaternions: Floats) -> Floats:
    """Signs (p,), 1 or -1, that put each quaternion on the same side as the previous one."""
    turned = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0
    return np.concatenate([[1], np.where(np.cumsum(turned) % 2, -1, 1)])


def in_turn(motion: Motion, skeleton: Skeleton, up: Floats, only: str = "") -> list[Played]:
    """The poses in the order of PARTS, in which both sides move at once, and so do all fingers.
    Poses that are not of single joints, such as a walk, follow. only: name of a bone whose poses
    are returned alone. up (3,): in armature space."""
    places, own = _places(skeleton, up), {name: k for k, name in enumerate(skeleton.names)}
    deform = np.flatnonzero(skeleton.deform)
    together: dict[tuple[int, int, int], tuple[str, Snapshot]] = {}
    turns: dict[int, int] = {}
    acts: list[Played] = []
    for name, pose in motion.poses:
        joint = own.get((name or "").rpartition(" ")[0].rpartition(" ")[0], -1)
        if joint < 0:
            acts += [(name, name, pose)] if name and not only else []
            continue
        away = np.linalg.norm(skeleton.heads[deform] - skeleton.heads[joint], axis=1)
        bone = joint if skeleton.deform[joint] else int(deform[away.argmin()])
        if only in ("", skeleton.names[bone]):
            turns[joint] = turns.get(joint, -1) + 1
            key = *places[bone], turns[joint]
            first, snapshot = together.get(key, (name or "", {}))
            together[key] = first, snapshot | pose
    return [(PARTS[key[0]], *together[key]) for key in sorted(together)] + acts


def _places(skeleton: Skeleton, up: Floats) -> dict[int, tuple[int, int]]:
    """For each deform bone, the index of its part in PARTS, and a number that is equal for bones
    that move at once."""
    tree = Tree(skeleton.heads, skeleton.tails, skeleton.parents, skeleton.deform)
    body = find_body(tree, tree.chains(), up)
    if body is None:
        return {bone: (PARTS.index("All Bones"), bone) for bone in tree.bones}
    found = {bone: (PARTS.index("Others"), 0) for bone in tree.bones}
    legs = [leg for pair in body.legs for leg in pair]
    for part, limbs in (("Arms", body.arms or ()), ("Legs", legs)):
        for bones in (tree.limb(limb.bones[0]) for limb in limbs):
            beyond = "Fingers" if part == "Arms" else "Others"
            found |= {bone: (PARTS.index(beyond), 0) for bone in tree.below(bones[0])}
            above = len(tree.lineage(bones[0]))
            found |= {b: (PARTS.index(part), len(tree.lineage(b)) - above) for b in bones}
    spine = [*body.spine, *body.neck, *body.tail]
    for arm in body.arms or ():
        trunk = tree.lineage(tree.limb(arm.bones[0])[0])[1:]
        chest = tree.children[trunk[0]] if trunk else []
        necks = [tree.chain(b) for b in chest if found[b][0] == PARTS.index("Others")]
        neck = max(necks, key=lambda chain: chain.length, default=None)
        spine += [*trunk, *(neck.bones if neck else ())]
    return found | {bone: (PARTS.index("Spine"), bone) for bone in spine}


def unmoved(skeleton: Skeleton, moved: Bools) -> list[str]:
    """Names of deform bones with a parent that no control turns."""
    still = skeleton.deform & ~moved & (skeleton.parents >= 0)
    return [skeleton.names[b] for b in np.flatnonzero(still)]


@dataclass
class Motion:
    """poses: [(name or None, {(bone, property): values})]; bones that are not listed are at
    rest."""

    poses: list[tuple[str | None, Snapshot]]
    rest: Snapshot
    joints: int
    combinations: int
    acts: bool
    moved: np.ndarray  # (m,) bool: deform bones that some joint turns
    broken: list[str]  # paths of drivers that do not run, so their bones do not move

    def markers(self, frames: Sequence[int]) -> list[tuple[str, int]]:
        """Returns [(name, frame)] of the poses that have a name."""
        pairs = zip(self.poses, frames, strict=True)
        return [(name, int(frame)) for (name, _pose), frame in pairs if name]


def motion_report(
    armature: str,
    action: str,
    motion: Motion,
    frames: Sequence[int],
    skeleton: Skeleton,
    seconds: float,
    options: MotionOptions,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """The report of an action with these poses in these frames."""
    return {
        "armature": armature,
        "action": action,
        "joints": motion.joints,
        "combinations": motion.combinations,
        "acts": motion.acts,
        "frames": [int(frames[0]), int(frames[-1])],
        "markers": [[name, frame] for name, frame in motion.markers(frames)],
        "unmoved": unmoved(skeleton, motion.moved),
        "seconds": seconds,
        "options": options.as_dict(),
        "warnings": list(warnings),
    }


def motion_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    parts = [f"{report['joints']} joints alone"]
    if report["combinations"]:
        parts.append(f"{report['combinations']} combinations")
    if report["acts"]:
        parts.append("walk and reach")
    first, last = report["frames"]
    return (
        f"'{report['action']}', frames {first} to {last}: {', '.join(parts)}, "
        f"{len(report['markers'])} markers, in {report['seconds']:.1f} s"
    )


def motion_warnings(
    still: Iterable[str], before: str | None, acts: bool, broken: Sequence[str] = ()
) -> list[str]:
    """Lines that an artist should read. still: unmoved(); before: the name of the action that was
    active until now; acts: whether a requested walk was not possible; broken: paths of drivers."""
    lines, names = [], list(still)
    if broken:
        what = "driver does not run, so its target stays unchanged" if len(broken) == 1 else ""
        what = what or "drivers do not run, so their targets stay unchanged"
        lines.append(f"{len(broken)} {what}: {names_in_line(list(broken))}")
    if names:
        what = "deform bone is" if len(names) == 1 else "deform bones are"
        lines.append(f"{len(names)} {what} not rotated by any control: {names_in_line(names)}")
    if before:
        lines.append(f"'{before}', the action that was active before, is kept with a fake user")
    if acts:
        lines.append("No walk or reaching poses were added because no legs were found")
    return lines
