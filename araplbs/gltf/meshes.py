"""Reads the skinned meshes of a glTF file. The primitives of a mesh become one Mesh in the rest
pose of the skeleton, with a map from weight rows to vertices of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.refusal import Refused
from ..character.mesh import Mesh
from ..model.sparse_weights import SparseWeights, join_sparse_weights, summed_entries
from .armature import AXES, Armature, Skin, to_rest, unique_names
from .file.accessors import read_accessor, read_floats
from .file.container import Document
from .file.draco import NEEDED
from .file.shape import DRACO
from .nodes import Nodes

POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN = range(7)
ALIKE = 1e-4  # share of the size; matrices agree if they place a mesh within this distance


@dataclass
class Primitive:
    """One primitive. used: the vertices that it draws, as accessor elements. first: the mesh vertex
    of the first used element."""

    item: dict[str, Any]
    count: int
    used: np.ndarray
    first: int


@dataclass
class SkinnedMesh:
    """A mesh of the file under one skin, with the core Mesh to solve."""

    number: int
    node: int
    skin: Skin
    primitives: list[Primitive]
    mesh: Mesh
    names: set[str]  # of the mesh and its node, in the file and in Blender
    materials: list[tuple[str, np.ndarray]]  # with the vertices of each
    shared_by: list[int] = field(default_factory=list)  # other skins that the mesh is bound to


def join_meshes(meshes: Sequence[Mesh]) -> tuple[Floats, Integers, Integers]:
    """Returns (vertices, triangles, first) of all meshes as one. first: the first vertex of each
    mesh, and at the end the number of vertices."""
    first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    triangles = [mesh.triangles + k for mesh, k in zip(meshes, first[:-1], strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return vertices, np.concatenate(triangles), first


def skinned_nodes(document: Document, nodes: Nodes, armature: Armature) -> list[int]:
    """The nodes of meshes bound to an armature, in the order of Blender's importer."""
    numbers = {skin.number for skin in armature.skins}
    own = [
        number
        for number, node in enumerate(nodes.items)
        if "mesh" in node and node.get("skin") in numbers
    ]
    children = nodes.children[armature.node]
    return [n for n in children if n in own] + [n for n in own if n not in children]


def read_meshes(document: Document, nodes: Nodes, armature: Armature) -> list[SkinnedMesh]:
    """Reads each mesh of an armature once, with its weights in the file. Raises Refused."""
    found: dict[int, SkinnedMesh] = {}
    skins = {skin.number: skin for skin in armature.skins}
    for node in skinned_nodes(document, nodes, armature):
        number, skin = nodes.items[node]["mesh"], skins[nodes.items[node]["skin"]]
        before = found.get(number)
        if before is None:
            found[number] = _read_mesh(document, nodes, armature, node, skin)
        elif before.skin.number != skin.number:
            if before.skin.joints != skin.joints:  # it has only one set of weights
                raise Refused(
                    f"mesh '{before.mesh.name}' is used with skins {before.skin.number} and "
                    f"{skin.number}, which have different joints: give each skin its own mesh"
                )
            before.shared_by.append(skin.number)
    names = unique_names(each.mesh.name for each in found.values())
    return [
        replace(each, mesh=replace(each.mesh, name=name), names=each.names | {name})
        for each, name in zip(found.values(), names, strict=True)
    ]


def _read_mesh(
    document: Document, nodes: Nodes, armature: Armature, node: int, skin: Skin
) -> SkinnedMesh:
    number = nodes.items[node]["mesh"]
    item = document.item("meshes", number)
    name = str(nodes.items[node].get("name") or item.get("name") or f"Mesh_{number}")
    primitives: list[Primitive] = []
    points, triangles, edges, materials, rows = [], [], [], [], []
    first = 0
    for part in item.get("primitives", []):
        if DRACO in part.get("extensions", {}):
            raise Refused(f"'{name}' is compressed by {DRACO} and {NEEDED}")
        attributes = part.get("attributes", {})
        if "POSITION" not in attributes:
            continue
        places = read_floats(document, attributes["POSITION"], "VEC3")
        faces, lines, used = _shape(document, part, len(places), name)
        primitives.append(Primitive(part, len(places), used, first))
        points.append(places[used])
        triangles.append(faces + first)
        edges.append(lines + first)
        materials.append(np.full(len(used), part.get("material", -1)))
        rows.append(_present(document, attributes, used, skin, armature, name))
        first += len(used)
    if not first:
        raise Refused(f"'{name}' has no vertices")
    weights = join_sparse_weights(rows)
    mesh = Mesh(
        name=name,
        vertices=_at_rest(np.concatenate(points), weights, armature, skin),
        triangles=_sound(np.concatenate(triangles)),
        edges=np.concatenate(edges),
        matrix=np.eye(4),
        weights=weights,
    )
    names = {nodes.names[node], str(item.get("name", ""))} - {""}
    material, known = np.concatenate(materials), document.items("materials")
    named = [
        (str(known[k].get("name", "")), np.flatnonzero(material == k))
        for k in np.unique(material).tolist()
        if 0 <= k < len(known)
    ]
    return SkinnedMesh(number, node, skin, primitives, mesh, names, named)


def _shape(
    document: Document, part: dict[str, Any], count: int, name: str
) -> tuple[Integers, Integers, Integers]:
    """Returns (triangles (f, 3), edges (e, 2), used vertices). Triangles and edges are indices in
    the used vertices."""
    mode = part.get("mode", TRIANGLES)
    if mode not in range(7):
        raise Refused(f"'{name}' has a primitive of mode {mode!r}")
    if "indices" in part:
        corners = read_accessor(document, part["indices"], "SCALAR").ravel().astype(np.int64)
    else:
        corners = np.arange(count)
    if len(corners) and not 0 <= corners.min() <= corners.max() < count:
        raise Refused(f"'{name}' has a vertex index {corners.max()}, but only {count} vertices")
    used, corners = np.unique(corners, return_inverse=True)
    corners = corners.ravel()
    faces, lines = np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64)
    n = len(corners)
    if mode == TRIANGLES:
        faces = corners[: n - n % 3].reshape(-1, 3)
    elif mode == STRIP and n > 2:
        begin = np.arange(n - 2)
        odd = begin % 2
        faces = corners[np.stack([begin, begin + 1 + odd, begin + 2 - odd], axis=1)]
    elif mode == FAN and n > 2:
        begin = np.arange(1, n - 1)
        faces = corners[np.stack([np.zeros_like(begin), begin, begin + 1], axis=1)]
    elif mode == LINES:
        lines = corners[: n - n % 2].reshape(-1, 2)
    elif mode in (LINE_LOOP, LINE_STRIP) and n > 1:
        lines = np.stack([corners[:-1], corners[1:]], axis=1)
        if mode == LINE_LOOP:
            lines = np.vstack([lines, corners[[-1, 0]][None]])
    return faces, lines, used


def _sound(triangles: Integers) -> Integers:
    """Removes triangles with repeated corners and duplicates, as Blender does."""
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    _each, first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)
    return triangles[np.sort(first)]


def _present(
    document: Document,
    attributes: dict[str, Any],
    used: Integers,
    skin: Skin,
    armature: Armature,
    name: str,
) -> SparseWeights:
    """The weights of these vertices in the file, by bone; empty rows for a mesh without weights."""
    places = armature.places
    bone_of = np.array([places[joint] for joint in skin.joints])
    none = np.zeros(0, np.int64)
    vertices, bones = [none], [none]
    weights: list[Floats] = [np.zeros(0)]
    for joints, values in read_sets(document, attributes, name):
        if len(joints) <= used.max(initial=-1):
            raise Refused(f"'{name}' has weights for only {len(joints)} vertices")
        joints, values = joints[used], values[used]
        at, slot = np.nonzero(values > 0)
        which = joints[at, slot]
        if len(which) and which.max() >= len(bone_of):
            raise Refused(
                f"'{name}' refers to joint {which.max()}, but its skin has {len(bone_of)} joints"
            )
        vertices.append(at)
        bones.append(bone_of[which])
        weights.append(values[at, slot])
    entries = np.concatenate(vertices), np.concatenate(bones), np.concatenate(weights)
    return summed_entries(len(used), *entries)


def read_sets(
    document: Document, attributes: dict[str, Any], name: str
) -> list[tuple[Integers, Floats]]:
    """Reads [(joints (n, 4), weights (n, 4))] from JOINTS_0 and WEIGHTS_0, JOINTS_1 ..."""
    found: list[tuple[Integers, Floats]] = []
    while (joints := attributes.get(f"JOINTS_{len(found)}")) is not None:
        weights = attributes.get(f"WEIGHTS_{len(found)}")
        if weights is None:
            break
        which = read_accessor(document, joints, "VEC4")
        values = read_accessor(document, weights, "VEC4").astype(np.float64)
        values[~np.isfinite(values)] = 0
        if which.dtype.kind not in "iu":
            raise Refused(f"'{name}' has joint indices that are not whole numbers")
        if len(which) != len(values):
            raise Refused(f"'{name}' has {len(which)} joints for {len(values)} weights")
        found.append((which.astype(np.int64), values))
    return found


def _at_rest(points: Floats, weights: SparseWeights, armature: Armature, skin: Skin) -> Floats:
    """The vertices in the rest pose of the skeleton, (n, 3), in Blender's axes. If the joints
    disagree, each vertex is placed according to its weights in the file."""
    by_joint = to_rest(armature, skin)
    places = armature.places
    size = np.ptp(points, axis=0).max(initial=0) or 1.0
    corners = np.vstack([points.min(axis=0), points.max(axis=0)])
    moved = np.einsum("jab,cb->jca", by_joint[:, :3, :3], corners) + by_joint[:, None, :3, 3]
    scale = np.cbrt(np.abs(np.linalg.det(by_joint[0, :3, :3])))
    if np.abs(moved - moved[0]).max() <= ALIKE * size * scale or not len(weights.weights):
        matrices = by_joint[0]
        found = points @ matrices[:3, :3].T + matrices[:3, 3]
        return np.ascontiguousarray(found @ AXES[:3, :3].T)
    by_bone = np.zeros((len(armature.bones), 3, 4))
    by_bone[[places[joint] for joint in skin.joints]] = by_joint[:, :3]
    found = np.zeros((len(points), 3))
    at = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    for axis in range(3):
        terms = (by_bone[weights.bones, axis] * at[weights.vertices]).sum(axis=1)
        found[:, axis] = np.bincount(weights.vertices, terms * weights.weights, len(points))
    sums = weights.sums()
    bare = sums <= 0
    found[~bare] /= sums[~bare, None]
    found[bare] = at[bare] @ by_joint[0, :3].T
    return np.ascontiguousarray(found @ AXES[:3, :3].T)
