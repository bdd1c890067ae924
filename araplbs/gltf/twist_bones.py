"""Adds twist bones to a character in a glTF file. glTF has no constraints, so the twist is baked
into the nodes' rotations and into keys of each animation that rotates the source of the twist."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..measures.new_twist_bones import (
    BEGIN,
    FOREARM,
    THIGH,
    UPPER_ARM,
    NewTwistBone,
    helpful,
    missing_twist_bones,
    shared_weights,
)
from ..model.sparse_weights import SparseWeights, join_sparse_weights, make_sparse_weights
from ..skeleton.skeleton import of_weighted
from ..skeleton.twist_bones import twist_about
from .animations import FRAMES_PER_SECOND, read_curve
from .armature import AXES, Armature
from .character import Character, characters_of
from .file.accessors import FLOAT, add_accessor, new_accessor
from .file.container import Document
from .file.uses import Uses
from .meshes import join_meshes
from .nodes import turn_of
from .write_skin import set_matrices

UP = np.array([0.0, 0.0, 1.0])  # the axes of the skeleton are Blender's
GAIN = "gain"  # leaves out limbs whose skin would not stretch less with twist bones
KINDS = {"upper-arms": UPPER_ARM, "forearms": FOREARM, "thighs": THIGH}
CHOICES = (GAIN, *KINDS)


def add_twist_bones(
    character: Character,
    rows: Sequence[SparseWeights],
    kinds: Collection[str],
    most: int = 0,
    threads: int = 0,
) -> tuple[Character, list[SparseWeights], list[str]]:
    """Returns (the Character with twist bones, the weights of each mesh, the names of the new
    bones). rows: the weights of each mesh without twist bones. kinds: see KINDS; GAIN: only those
    that help. most: the limit of influences, 0 for none. The nodes, joints and keys are stored in
    the document, and the weights are not. Raises Refused, and then changes nothing."""
    meshes, m = character.meshes, len(character.skeleton.names)
    every = join_sparse_weights(rows)
    skeleton = of_weighted(character.skeleton, every)
    chosen = [KINDS[kind] for kind in kinds if kind != GAIN] or KINDS.values()
    bones = missing_twist_bones(skeleton, UP, chosen, character.nodes.names)
    if GAIN in kinds:
        points, triangles, _first = join_meshes(meshes)
        bones = helpful(points, triangles, every, skeleton, bones, most, threads)
    pairs = zip(meshes, rows, strict=True)
    found = [shared_weights(mesh.vertices, own, bones, m, most) for mesh, own in pairs]
    made = [_add_joint(character, bone) for bone in bones]
    nodes = [*character.armature.bones, *made]
    again = next(
        each for each in characters_of(character.document) if made[0] in each.armature.bones
    )
    place = np.array([again.armature.places[node] for node in nodes])
    found = [
        make_sparse_weights(each.count, each.vertices, place[each.bones], each.weights)
        for each in found
    ]
    return again, found, [bone.name for bone in bones]


def _add_joint(character: Character, bone: NewTwistBone) -> int:
    """Adds the node of a twist bone, as a joint of all skins with its limb, and its keys. Returns
    its number."""
    document, armature = character.document, character.armature
    limb, source = armature.bones[bone.limb], armature.bones[bone.source]
    axis = armature.rest[bone.limb, :3, :3].T @ AXES[:3, :3].T @ (bone.end - bone.root)
    axis /= np.linalg.norm(axis)
    twist = _Twist(armature, bone, axis)
    item: dict[str, Any] = {"name": bone.name}
    _move, turn, _scale = character.nodes.place(source)
    if bone.kind == FOREARM:
        item["translation"] = (BEGIN * character.nodes.place(source)[0]).tolist()
    item["rotation"] = twist.of(turn[None])[0].tolist()
    number = len(document.json["nodes"])
    document.json["nodes"].append(item)
    parent = document.item("nodes", limb)
    parent["children"] = [*parent.get("children", []), number]
    uses = Uses(document)
    for skin in [skin for skin in armature.skins if limb in skin.joints]:
        to_joint = skin.to_joint[skin.joints.index(limb)]
        if bone.kind == FOREARM:
            to_joint = to_joint.copy()
            to_joint[:3] -= BEGIN * _place_of(armature, skin, source, limb)[:, None] * to_joint[3]
        skin.joints = [*skin.joints, number]
        skin.to_joint = np.concatenate([skin.to_joint, to_joint[None]])
        document.item("skins", skin.number)["joints"] = list(skin.joints)
        set_matrices(uses, skin.number, skin.to_joint)
    _add_keys(document, source, number, twist)
    return number


def _place_of(armature: Armature, skin: Any, source: int, limb: int) -> Floats:
    """The position of a joint in the space of another one, in the bind pose of a skin."""
    if source in skin.joints:
        to_source, to_limb = (skin.to_joint[skin.joints.index(n)] for n in (source, limb))
        return (to_limb @ np.linalg.inv(to_source))[:3, 3]
    rest = armature.rest[[armature.places[node] for node in (limb, source)]]
    return (np.linalg.inv(rest[0]) @ rest[1])[:3, 3]


class _Twist:
    """The rotations of a twist bone for rotations of its source."""

    def __init__(self, armature: Armature, bone: NewTwistBone, axis: Floats) -> None:
        up = armature.skeleton.parents[bone.source]
        above = np.eye(3) if up < 0 else armature.rest[up, :3, :3]
        self.rest = above.T @ armature.rest[bone.source, :3, :3]
        self.bone, self.axis = bone, axis

    def of(self, turns: Floats) -> Floats:
        """Quaternions (t, x y z w) for local rotations (t, 3, 3) of the source."""
        # Relative to rest, in the axes of the limb.
        turns = turns @ self.rest.T if self.bone.kind == FOREARM else self.rest.T @ turns
        half = self.bone.share * twist_about(turns, self.axis) / 2
        return np.column_stack([np.sin(half)[:, None] * self.axis, np.cos(half)])


def _add_keys(document: Document, source: int, node: int, twist: _Twist) -> None:
    for number, animation in enumerate(document.items("animations")):
        samplers, channels = animation.get("samplers", []), animation.get("channels", [])
        own = {"node": source, "path": "rotation"}
        for channel in [each for each in channels if own.items() <= each.get("target", {}).items()]:
            what = f"animation {number}"
            curve = read_curve(document, source, "rotation", samplers[channel["sampler"]], what)
            if curve is None:
                continue
            times = curve.times.astype(np.float32)
            if not curve.steps:  # twists do not follow the arcs between keys
                first, last = np.array([times[0], times[-1]]) * FRAMES_PER_SECOND
                frames = np.arange(np.ceil(first), last) / FRAMES_PER_SECOND
                times = np.unique(np.concatenate([times, frames]).astype(np.float32))
            turns = _continuous(twist.of(turn_of(curve.at(times.astype(np.float64)))))
            bounds = {"min": [float(times.min())], "max": [float(times.max())]}
            begin = new_accessor(document, times[:, None], FLOAT, kind="SCALAR", target=None)
            end = new_accessor(document, turns, FLOAT, target=None)
            samplers.append(
                {
                    "input": add_accessor(document, begin | bounds),
                    "output": add_accessor(document, end),
                    "interpolation": "STEP" if curve.steps else "LINEAR",
                }
            )
            channels.append(
                {"sampler": len(samplers) - 1, "target": {"node": node, "path": "rotation"}}
            )


def _continuous(turns: Floats) -> Floats:
    """The same rotations, with each quaternion on the side of the one before it."""
    flips = (turns[1:] * turns[:-1]).sum(axis=1) < 0
    return turns * np.cumprod(np.concatenate([[1], np.where(flips, -1, 1)]))[:, None]
