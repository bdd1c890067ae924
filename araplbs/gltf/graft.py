"""Copies the skeleton of another file into a file whose meshes have no skin."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.refusal import Refused
from .armature import find_armatures, read_skins
from .file.accessors import FLOAT, add_accessor, new_accessor
from .file.container import Document
from .nodes import ROOT, Nodes


def graft(document: Document, other: Document) -> None:
    """Binds all meshes of the document to the only skeleton of the other document, in the
    skeleton's rest pose. Both files are assumed to share one space. Raises Refused."""
    bodies = [n for n, node in enumerate(document.items("nodes")) if "mesh" in node]
    if not bodies:
        raise Refused("has no mesh that can be bound to a skeleton")
    skinned = [n for n in bodies if "skin" in document.item("nodes", n)]
    if skinned:
        name = Nodes(document).names[skinned[0]]
        raise Refused(f"'{name}' already has a skin: omit --skeleton")
    source = Nodes(other)
    found = find_armatures(other, source, read_skins(other))
    if not found:
        raise Refused(f"{other.path} has no skin with joints to use")
    if len(found) > 1:
        names = ", ".join(f"'{armature.name}'" for armature in found)
        raise Refused(f"{other.path} has {len(found)} skeletons ({names}): there must be only one")
    armature = found[0]
    joints = {joint for skin in armature.skins for joint in skin.joints}
    world = armature.rest
    if armature.node != ROOT:
        world = source.world(armature.node) @ world
    taken = _add_nodes(document, source, armature.node, armature.bones, armature.rest)
    own = Nodes(document)
    order = [bone for bone, node in enumerate(armature.bones) if node in joints]
    for body in bodies:
        matrices = np.linalg.inv(world[order]) @ own.world(body)
        columns = matrices.swapaxes(1, 2).reshape(-1, 16)
        number = add_accessor(
            document, new_accessor(document, columns, FLOAT, kind="MAT4", target=None)
        )
        skins = document.json.setdefault("skins", [])
        skins.append(
            {
                "name": armature.name,
                "inverseBindMatrices": number,
                "joints": [taken[bone] for bone in order],
            }
        )
        document.item("nodes", body)["skin"] = len(skins) - 1


def _add_nodes(
    document: Document, source: Nodes, top: int, bones: list[int], rest: Floats
) -> list[int]:
    """Adds one node for each bone, below a node for the armature, and returns the numbers of the
    new nodes."""
    nodes = document.json["nodes"]
    first, place = len(nodes) + 1, {node: bone for bone, node in enumerate(bones)}
    children: dict[int, list[int]] = {}
    made: list[dict[str, Any]] = []
    roots = []
    for bone, node in enumerate(bones):
        parent = place.get(source.parents[node], -1)
        above = rest[parent] if parent >= 0 else np.eye(4)
        if parent >= 0:
            children.setdefault(parent, []).append(first + bone)
        else:
            roots.append(first + bone)
        local = np.linalg.inv(above) @ rest[bone]
        made.append(
            {  # not as a matrix, which could not be animated
                "name": source.names[node],
                "translation": local[:3, 3].tolist(),
                "rotation": _quaternion(local[:3, :3]).tolist(),
            }
        )
    for bone, below in children.items():
        made[bone]["children"] = below
    armature: dict[str, Any] = {"name": "Armature" if top == ROOT else source.names[top]}
    if top != ROOT:
        armature["matrix"] = source.world(top).T.ravel().tolist()
    nodes.append(armature | {"children": roots})
    nodes += made
    for scene in document.items("scenes"):
        scene["nodes"] = [*scene.get("nodes", []), first - 1]
    return list(range(first, first + len(bones)))


def _quaternion(turn: Floats) -> Floats:
    """Converts a rotation matrix to a quaternion (x, y, z, w)."""
    # The eigenvector with the largest eigenvalue of a symmetric matrix whose entries are sums of
    # the entries of the rotation.
    (a, b, c), (d, e, f), (g, h, i) = turn
    matrix = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    found = np.linalg.eigh(matrix)[1][:, -1]
    return found if found[3] >= 0 else -found
