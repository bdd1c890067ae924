"""Collects the BoneFacts about the joints of a glTF file, which decide which joints are controls.
The same file has the same facts after import into Blender, so the decision is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..base.arrays import Bools, Floats
from ..skeleton.bone_evidence import Motion, with_motion
from ..skeleton.bone_facts import BoneFacts
from ..skeleton.bone_names import is_socket_name
from ..skeleton.skeleton import Skeleton
from .animations import Clip, own_motion, poses_of
from .armature import Armature
from .nodes import Nodes

FRAMES = 8


def read_facts(
    nodes: Nodes,
    armature: Armature,
    skeleton: Skeleton,
    points: Floats,
    read_clips: Callable[[], Sequence[Clip]],
) -> BoneFacts:
    """The BoneFacts of the armature's joints. points: (n, 3) the skin at rest. skeleton: the
    skeleton of the armature, possibly with other tails. read_clips: called to read the animations
    if they could provide evidence."""
    facts = BoneFacts(skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side)
    facts.carries = _sockets(nodes, armature)
    return with_motion(
        facts,
        skeleton,
        points,
        Motion(
            lambda _asked: own_motion(nodes, armature, read_clips()),
            lambda: poses_of(nodes, armature, read_clips(), FRAMES).transforms,
        ),
    )


def _sockets(nodes: Nodes, armature: Armature) -> Bools:
    """Returns (m,) bool: joints with a node that marks an attachment point."""
    places, found = armature.places, np.zeros(len(armature.bones), bool)
    for bone, node in enumerate(armature.bones):
        for child in nodes.children[node]:
            item = nodes.items[child]
            plain = child not in places and "mesh" not in item and "camera" not in item
            if plain and is_socket_name(nodes.names[child]):
                found[bone] = True
    return found
