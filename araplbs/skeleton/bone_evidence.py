"""Weighs the evidence, apart from positions, for whether a bone is a deform or a control bone.

Each kind of evidence is a function of BoneFacts. A value above 0 is evidence for a control, and a
value below 0 is evidence for skin. A value of 1 is a single indication, and 2 is almost certain.
The engine (control_bones.py) combines the sum with the evidence of the skeleton and the mesh,
because neither is sufficient alone. Animations are read only if the other evidence about a bone
leaves a doubt. Animations reveal leaf bones that are never turned, and bones that move separately
from all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Bools, Floats, Index
from .bone_facts import BoneFacts, leaf_bones, strays
from .bone_names import is_control_name
from .generators import Generator, recognize, says_control, says_skin
from .skeleton import Skeleton, hanging

SURE, SKIN = 2, -1  # sums that are equivalent to the evidence required by the engine
FEW = 0.5  # a mark on more of the deform bones does not distinguish any
MOST = 0.5  # share of the deform bones; a bone that carries more of them moves the body


@dataclass(frozen=True)
class Kind:
    """One kind of evidence. words: text for the user that explains why a bone is excluded."""

    identifier: str
    weight: float
    words: str
    find: Callable[[BoneFacts], Bools]  # (m,) bool of BoneFacts


def _fact(name: str) -> Callable[[BoneFacts], Bools]:
    return lambda facts: facts.known(name)


def _of_few(marked: Bools, facts: BoneFacts) -> Bools:
    """`marked`, if it distinguishes some deform bones from the others."""
    few = np.count_nonzero(marked & facts.deform) <= FEW * np.count_nonzero(facts.deform)
    return marked & few


def targets(name: str) -> Callable[[BoneFacts], Bools]:
    """Targets that are not constrained in turn, unlike the two ends of a piston."""
    return lambda facts: facts.known(name) & ~facts.known("pulled")


def set_apart(facts: BoneFacts) -> Bools:
    """Bones that are shaped, colored or visible, if most deform bones are not."""
    marks = [_of_few(facts.known(name), facts) for name in ("shaped", "colored", "visible")]
    return np.any(marks, axis=0)


def of_generator(says: Callable[[list[Generator], str], bool]) -> Callable[[BoneFacts], Bools]:
    def find(facts: BoneFacts) -> Bools:
        generators = recognize(facts.names)
        return np.array([bool(generators) and says(generators, n) for n in facts.names], bool)

    return find


KINDS = (
    Kind("POLE", 3, "pole target", _fact("pole_target")),
    Kind("IK", 2, "IK target", targets("ik_target")),
    Kind("GENERATOR", 2, "a control by its generator", of_generator(says_control)),
    Kind("STRAYS", 2, "moves away from all others in its actions", _fact("strays")),
    Kind("NAME", 1, "name", lambda facts: np.array([is_control_name(n) for n in facts.names])),
    Kind("AIM", 1, "others aim at it", targets("aimed_at")),
    Kind("FOLLOWED", 1, "other bones are in the same place", _fact("followed")),
    Kind("CHOICE", 1, "one of several that a bone copies", _fact("choice")),
    Kind("CARRIES", 1, "is the parent of objects", _fact("carries")),
    Kind("COLLECTION", 1, "collection", _fact("control_collection")),
    Kind("APART", 1, "not in the collection of the deform bones", _fact("apart")),
    Kind("SPANNED", 4, "shorter bones run from its head to its tail", _fact("spanned")),
    Kind("LESSER", 10, "another bone there more likely belongs to the skin", _fact("lesser")),
    Kind("POINTS_ASIDE", 1, "a root that does not point at any child", _fact("points_aside")),
    Kind("HANDLE", 0.5, "handle of a bendy bone", _fact("handle")),
    Kind("SET_APART", 0.5, "set apart", set_apart),
    Kind("DRIVES", 0.5, "drives others", _fact("drives")),
    Kind("DEFORM_COLLECTION", -1, "collection of deform bones", _fact("deform_collection")),
    Kind("LOCKED", -1, "locked", _fact("locked")),
    Kind("PULLED", -1, "pulled by a constraint", _fact("pulled")),
    Kind("BENDY", -0.5, "bendy bone", _fact("bendy")),
    Kind("HAS_PARTS", -1, "loose parts of its own", _fact("has_parts")),
    Kind("COPIES", -2, "copies another bone", _fact("copies")),
    Kind("DEFORMS", -3, "deforms by its generator", of_generator(says_skin)),
    Kind("PAINTED", -3, "weights made by hand", _fact("painted")),
)


@dataclass
class Evidence:
    found: np.ndarray  # (m, kinds) bool
    sums: np.ndarray  # (m,)

    def of(self, bone: Index) -> list[Kind]:
        """The Kinds that make a bone a control."""
        return [KINDS[k] for k in np.flatnonzero(self.found[bone]) if KINDS[k].weight > 0]

    def words(self, bone: Index) -> str:
        """The evidence as text, such as 'IK target, name', empty without evidence for a control."""
        return ", ".join(kind.words for kind in self.of(bone))


def weigh(facts: BoneFacts) -> Evidence:
    """Computes the Evidence. Evidence about a bone also counts for its mirror image."""
    kinds = np.array([kind.find(facts) for kind in KINDS], bool).T
    kinds |= kinds[facts.opposite]
    return Evidence(kinds, kinds @ np.array([kind.weight for kind in KINDS], float))


@dataclass(frozen=True)
class Motion:
    """Functions that read animations. The functions are called only when the result could matter.

    own: returns, for at least the queried bones (m,) bool, ((m,) bool: whether an animation
    rotates, moves or scales the bone by itself, (m,) the largest displacement of the bone from its
    rest position along one coordinate). poses: (p, m, 3, 4) of a few frames.
    """

    own: Callable[[Bools], tuple[Bools, Floats]]
    poses: Callable[[], Floats]


def with_motion(facts: BoneFacts, skeleton: Skeleton, points: Floats, motion: Motion) -> BoneFacts:
    """The BoneFacts, extended by facts from the animations. points: (n, 3) the skin at rest."""
    deform, carried = skeleton.deform, hanging(skeleton.parents).T
    sums, leaves = weigh(facts).sums, leaf_bones(skeleton)
    carried_bones = carried & deform & ~np.eye(len(deform), dtype=bool)
    ends = deform & (sums > SKIN) & (sums < SURE) & ~carried_bones.any(axis=1)
    straying = np.zeros(len(deform), bool)
    if leaves.any() or ends.any():
        carriers = np.count_nonzero(carried & deform, axis=1) > MOST * np.count_nonzero(deform)
        turned, displacements = motion.own(leaves | ends | carriers)
        leaves &= ~turned
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        for bone in np.flatnonzero((ends | carriers) & (displacements > lengths)).tolist():
            straying |= ends & (~carried[bone] if carriers[bone] else carried[bone])
    if straying.any():
        straying = strays(motion.poses(), skeleton, points, straying)
    return replace(facts, leaf=leaves, strays=straying)
