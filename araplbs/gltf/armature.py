"""Reads the skeletons of a glTF file. As in Blender's importer, skins with connected joints form
one skeleton. Its rest pose is the bind pose of the meshes, as far as the file defines a bind pose.

The axes are Blender's, so rules based on positions give the same result as in Blender after import.
A joint is only a point with axes. The bone of a joint points along the local Y axis, as Blender
draws it, and its length is the distance to the nearest child. The engine decides whether such tails
are meaningful (character/directions.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import Array, Bools, Floats
from ..base.refusal import Refused
from ..base.sentence import names_in_line
from ..skeleton.skeleton import Skeleton
from .file.accessors import read_accessor
from .file.container import Document
from .nodes import ROOT, Nodes, decomposed

# In glTF, Y is up; in Blender, Z is up.
AFFINE = 1e-4  # a last row of a matrix that differs by more from 0 0 0 1 is not affine
AXES = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
LEAST_LENGTH = 0.004  # nearer children do not determine the length of a bone


@dataclass
class Skin:
    """joints: node indices. to_joint (j, 4, 4): the transforms from a mesh in the bind pose to each
    joint."""

    number: int
    name: str
    joints: list[int]
    to_joint: np.ndarray
    doubts: list[str] = field(default_factory=list)  # about the matrices, for the user
    root: int | None = None  # the node named by its `skeleton`, or the parent of such a joint
    armature: int = ROOT  # the parent node of the bones


@dataclass
class Armature:
    """bones: nodes, parents first, in the order of Blender's importer. rest (m, 4, 4): rest
    transforms of the bones, in the space of `node` and in glTF axes, without scale."""

    node: int
    skins: list[Skin]
    bones: list[int]
    rest: np.ndarray
    skeleton: Skeleton
    name: str  # of the first skin, or of the node

    @property
    def places(self) -> dict[int, int]:
        """Maps each node to its bone, {node: bone}."""
        return {node: bone for bone, node in enumerate(self.bones)}


def to_blender(matrices: Array) -> Floats:
    """Converts transforms (..., 4, 4) to Blender's axes."""
    return AXES @ matrices @ AXES.T


def read_skins(document: Document) -> list[Skin]:
    """Reads all skins. Raises Refused for joints without a node, and for matrices without volume or
    of the wrong shape."""
    found = []
    for number, item in enumerate(document.items("skins")):
        joints, name = item.get("joints"), str(item.get("name") or "")
        if not isinstance(joints, list) or not joints:
            raise Refused(f"skin {number} has no joints")
        names = [str(document.item("nodes", n).get("name") or f"Node_{n}") for n in joints]
        if len(set(joints)) < len(joints):
            raise Refused(f"skin {number} contains a joint twice")
        to_joint, doubts = _bind_matrices(document, number, names)
        found.append(Skin(number, name, joints, to_joint, doubts))
    return found


def _bind_matrices(document: Document, number: int, names: list[str]) -> tuple[Floats, list[str]]:
    """Returns (inverse bind matrices (j, 4, 4), doubts about them). names: of the joints."""
    item = document.item("skins", number)
    if "inverseBindMatrices" not in item:
        doubt = (
            f"skin {number} has no inverse bind matrices, so its joints lie at one point of the "
            f"mesh: {names_in_line(names)}"
        )
        return np.tile(np.eye(4), (len(names), 1, 1)), [doubt]
    columns = read_accessor(document, item["inverseBindMatrices"], "MAT4")[: len(names)]
    if len(columns) < len(names):
        raise Refused(f"skin {number} has {len(columns)} bind matrices for {len(names)} joints")
    to_joint = columns.astype(np.float64).reshape(-1, 4, 4).swapaxes(1, 2)
    with np.errstate(all="ignore"):
        infinite = ~np.isfinite(to_joint).all(axis=(1, 2))
        flat = ~(np.abs(np.linalg.det(to_joint[:, :3, :3])) >= 1e-30)
    for wrong, what in ((infinite, "that is not finite"), (flat, "without volume")):
        if wrong.any():
            joint = names[int(np.flatnonzero(wrong)[0])]
            raise Refused(f"skin {number} has a bind matrix {what} (joint '{joint}')")
    odd = np.abs(to_joint[:, 3] - (0, 0, 0, 1)).max(axis=1) > AFFINE
    to_joint[:, 3] = 0, 0, 0, 1
    if not odd.any():
        return to_joint, []
    which = names_in_line([names[k] for k in np.flatnonzero(odd).tolist()])
    return to_joint, [
        f"skin {number} has inverse bind matrices that are not affine, of which the last row is "
        f"ignored: {which}"
    ]


def find_armatures(document: Document, nodes: Nodes, skins: list[Skin]) -> list[Armature]:
    """Finds the Armature of each group of skins with connected joints."""
    is_bone = np.zeros(len(nodes.items), bool)
    for skin in skins:
        item, named = document.item("skins", skin.number), list(skin.joints)
        if "skeleton" in item:
            document.item("nodes", item["skeleton"])
            named.append(item["skeleton"])
            root = item["skeleton"]
            skin.root = nodes.parents[root] if root in skin.joints else root
        top = nodes.common_ancestor(named)
        if top in skin.joints:
            top = nodes.parents[top]
        marked = {top}
        for joint in skin.joints:
            for node in nodes.above(joint):
                if node in marked:
                    break
                marked.add(node)
        is_bone[list(marked - {top})] = True
    for skin in skins:
        above = (n for n in nodes.above(skin.joints[0]) if not is_bone[n])
        skin.armature = next(above, ROOT)
    found = []
    for top in dict.fromkeys(skin.armature for skin in skins):
        own = [skin for skin in skins if skin.armature == top]
        for group in _apart(nodes, own) if top == ROOT else [own]:
            roots = {nodes.tops[joint] for skin in group for joint in skin.joints}
            begin = [n for n in nodes.children[top] if top != ROOT or n in roots]
            found.append(_armature(nodes, top, group, _bones_below(nodes, begin, is_bone)))
    return found


def _apart(nodes: Nodes, skins: list[Skin]) -> list[list[Skin]]:
    """Groups skins that have no common node by the joint trees that they depend on."""
    groups: list[tuple[set[int], list[Skin]]] = []
    for skin in skins:
        roots, own = {nodes.tops[joint] for joint in skin.joints}, [skin]
        for group in [group for group in groups if group[0] & roots]:
            groups.remove(group)
            roots, own = roots | group[0], group[1] + own
        groups.append((roots, own))
    return [own for _roots, own in groups]


def _bones_below(nodes: Nodes, begin: list[int], is_bone: Bools) -> list[int]:
    """The bones among these nodes and their descendants, parents first."""
    bones, stack = [], begin[::-1]
    while stack:
        node = stack.pop()
        if is_bone[node]:
            bones.append(node)
            stack += nodes.children[node][::-1]
    return bones


def _armature(nodes: Nodes, top: int, skins: list[Skin], bones: list[int]) -> Armature:
    place = {node: bone for bone, node in enumerate(bones)}
    parents = np.array([place.get(nodes.parents[node], -1) for node in bones], np.int32)
    to_joint = {ROOT: np.eye(4)}
    for skin in skins:
        if skin.root is not None:  # the matrices are relative to it
            to_joint.setdefault(skin.root, np.eye(4))
        to_joint |= dict(zip(skin.joints, skin.to_joint, strict=True))
    rest, steps = np.zeros((len(bones), 4, 4)), np.zeros(len(bones))
    for bone, node in enumerate(bones):
        up = nodes.parents[node]
        local = np.eye(4)
        if node in to_joint and up in to_joint:
            local[:3, 3], local[:3, :3], _scale = decomposed(
                to_joint[up] @ np.linalg.inv(to_joint[node])
            )
        else:
            local[:3, 3], local[:3, :3], _scale = nodes.place(node)
        steps[bone] = np.linalg.norm(local[:3, 3])
        rest[bone] = local if parents[bone] < 0 else rest[parents[bone]] @ local
    turned = to_blender(rest)
    heads = turned[:, :3, 3].copy()
    along, across = (turned[:, :3, :3] @ AXES[:3, axis] for axis in (1, 2))
    # Blender's importer divides them by the scale of the armature, which the engine knows.
    scale = 1.0 if top == ROOT else float(nodes.place(top)[2].max())
    lengths = bone_lengths(parents, steps) / (scale if scale > 0 else 1.0)
    m, joints = len(bones), {joint for skin in skins for joint in skin.joints}
    skeleton = Skeleton(
        names=unique_names(nodes.names[node] for node in bones),
        heads=heads,
        tails=heads + lengths[:, None] * along,
        parents=parents,
        roll_axes=across,
        deform=np.array([node in joints for node in bones]),
        limits=np.full((m, 3, 2), np.nan),
        opposite=np.arange(m),
    )
    name = skins[0].name or ("" if top == ROOT else nodes.names[top]) or f"Skin_{skins[0].number}"
    return Armature(top, skins, bones, rest, skeleton, name)


def bone_lengths(parents: Array, steps: Floats) -> Floats:
    """Bone lengths (m,): the distance to the nearest child that does not coincide with the joint,
    or else the length of the parent."""
    nearest = np.full(len(parents), np.inf)
    far = steps > LEAST_LENGTH
    has_parent = parents >= 0
    np.minimum.at(nearest, parents[has_parent & far], steps[has_parent & far])
    for bone, parent in enumerate(parents.tolist()):
        if not np.isfinite(nearest[bone]):
            own = steps[bone] if far[bone] else 1.0
            nearest[bone] = nearest[parent] if parent >= 0 else own
    return nearest


def unique_names(names: Iterable[str]) -> list[str]:
    """Names that differ. As in Blender, later ones that are the same get a number."""
    found: dict[str, None] = {}
    last: dict[str, int] = {}  # the last number of each name
    for base in names:
        name = base
        while name in found:
            last[base] = last.get(base, 0) + 1
            name = f"{base}.{last[base]:03d}"
        found[name] = None
    return list(found)


def to_rest(armature: Armature, skin: Skin) -> Floats:
    """Transforms (j, 4, 4) from a mesh in the bind pose to the rest pose of the skeleton, one per
    joint. All these transforms are equal if the bind pose is the rest pose, as usual."""
    places = armature.places
    return armature.rest[[places[joint] for joint in skin.joints]] @ skin.to_joint
