"""Facts about the joints of a glTF file: BoneFacts for the decision which ones are controls. Files
in Blender have the same facts after import, so the decision is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..base.arrays import Bools, Floats
from ..character.problem import Skeleton
from ..skeleton.bone_evidence import SKIN, SURE, weigh
from ..skeleton.bone_facts import BoneFacts, leaf_bones, strays
from ..skeleton.bone_names import is_socket_name
from .animations import Clip, own_motion, poses_of
from .armature import Armature
from .nodes import Nodes

MOST = 0.5  # of the deform bones: a bone that carries more of them moves the body
FRAMES = 8


def read_facts(
    nodes: Nodes,
    armature: Armature,
    skeleton: Skeleton,
    points: Floats,
    read_clips: Callable[[], Sequence[Clip]],
) -> BoneFacts:
    """points: (n, 3) the skin at rest. skeleton: that of the armature, its tails perhaps others.
    read_clips: gives the animations, when they could tell something."""
    facts = BoneFacts(skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side)
    facts.carries = _sockets(nodes, armature)
    sums, leaves = weigh(facts).sums, leaf_bones(skeleton)
    asked = skeleton.deform & (sums > SKIN) & (sums < SURE)
    ends = asked & ~(_carried_by(skeleton) & skeleton.deform & _others(asked)).any(axis=1)
    facts.strays = np.zeros(len(asked), bool)
    if leaves.any() or ends.any():
        clips = read_clips()
        turned, away = own_motion(nodes, armature, clips)
        leaves &= ~turned
        ends = _carried_away(skeleton, away, ends)
        if ends.any():
            transforms = poses_of(nodes, armature, clips, FRAMES).transforms
            facts.strays = strays(transforms, skeleton, points, ends)
    facts.leaf = leaves
    return facts


def _sockets(nodes: Nodes, armature: Armature) -> Bools:
    """(m,) bool: joints with a node on them that marks a place where something is held."""
    places, found = armature.places, np.zeros(len(armature.bones), bool)
    for bone, node in enumerate(armature.bones):
        for child in nodes.children[node]:
            item = nodes.items[child]
            plain = child not in places and "mesh" not in item and "camera" not in item
            if plain and is_socket_name(nodes.names[child]):
                found[bone] = True
    return found


def _carried_away(skeleton: Skeleton, away: Floats, ends: Bools) -> Bools:
    """(m,) bool: those of these ends of chains that an animation takes away from the others, or
    from which it takes the others: see read_strays() of the extension."""
    deform, carried = skeleton.deform, _carried_by(skeleton)
    most = MOST * np.count_nonzero(deform)
    carriers = np.count_nonzero(carried & deform, axis=1) > most
    lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
    found = np.zeros(len(away), bool)
    for bone in np.flatnonzero((ends | carriers) & (away > lengths)).tolist():
        found |= ends & (~carried[bone] if carriers[bone] else carried[bone])
    return found


def _others(bones: Bools) -> Bools:
    """(m, m) bool: not the bone itself"""
    return ~np.eye(len(bones), dtype=bool)


def _carried_by(skeleton: Skeleton) -> Bools:
    """(m, m) bool: that bone is this one or hangs on it."""
    own = np.arange(len(skeleton.names))
    found, above = np.zeros((len(own), len(own)), bool), own
    while len(own):
        found[above, own] = True
        above = skeleton.parents[above]
        own, above = own[above >= 0], above[above >= 0]
    return found
