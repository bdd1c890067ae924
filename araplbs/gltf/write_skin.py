"""Writes the weights of the solved vertices into a glTF file (JOINTS_n and WEIGHTS_n) and changes
nothing else. If the new weights fit into the old arrays, only the bytes of these arrays are
replaced, and the JSON stays the same. Otherwise, new arrays are added at the end, and the old
accessors point to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Array, Bools, Floats, Integers
from ..base.refusal import Refused
from ..model.sparse_weights import SparseWeights
from .armature import Armature
from .file.accessors import (
    BYTE,
    FLOAT,
    SHORT,
    new_accessor,
    read_stored,
    shape_of,
    writable,
)
from .file.container import Document
from .file.uses import Uses
from .meshes import SkinnedMesh, read_sets

A_SET = 4


@dataclass
class Stream:
    """The vertices of all primitives that share one array and therefore one set of weights."""

    primitives: list[dict[str, Any]]
    mesh: SkinnedMesh
    joints: np.ndarray  # (count, k) of the skin
    weights: np.ndarray  # (count, k)
    new: np.ndarray  # (count,) bool: all others keep their weights in the file
    held: np.ndarray  # (count, k) bool: weights that are exactly those in the file


def write_weights(
    document: Document,
    armature: Armature,
    meshes: Sequence[SkinnedMesh],
    rows: Sequence[SparseWeights],
    component: int | None = None,
    changed: Sequence[Bools] | None = None,
) -> None:
    """Writes the weights of an armature's meshes. rows: SparseWeights of each mesh, by bone.
    component: the type of the weights in the file, None to keep the current type. changed: for each
    mesh, (n,) bool: the vertices with new weights. All other vertices, and single weights that are
    the same as before, stay the same to the last bit if the type does not change. Joints missing
    from a skin are added to it."""
    most = max((int(np.diff(each.start).max(initial=0)) for each in rows), default=0)
    sets = max(1, -(-most // A_SET))
    uses, streams = Uses(document), []
    for k, (mesh, own) in enumerate(zip(meshes, rows, strict=True)):
        which = np.ones(own.count, bool) if changed is None else changed[k]
        if which.any():
            joint_of = _joints_of(uses, armature, mesh, own)
            held = np.zeros(len(own.bones), bool)
            if changed is not None and mesh.mesh.weights is not None:
                held = own.kept_from(mesh.mesh.weights)
            streams += _streams(document, mesh, own, joint_of, sets, which, held)
    for stream in streams:
        _write(uses, stream, component)


def _joints_of(uses: Uses, armature: Armature, mesh: SkinnedMesh, rows: SparseWeights) -> Integers:
    """The index of each bone in the joints of a mesh's skin, (m,), -1 without one. Joints from
    other skins of the skeleton are added if the rows need them."""
    joints = mesh.skin.joints
    place = {node: number for number, node in enumerate(joints)}
    missing = [bone for bone in np.unique(rows.bones).tolist() if armature.bones[bone] not in place]
    if missing:
        for number in [mesh.skin.number, *mesh.shared_by]:
            _lengthen(uses, armature, mesh, number, missing)
        place = {node: number for number, node in enumerate(joints)}
    return np.array([place.get(node, -1) for node in armature.bones])


def _lengthen(
    uses: Uses, armature: Armature, mesh: SkinnedMesh, number: int, bones: list[int]
) -> None:
    """Adds bones to the joints of a skin, with their bind matrices."""
    skin = next(each for each in armature.skins if each.number == number)
    places = armature.places
    # From the mesh to the rest pose of the skeleton, according to the skin's first joint.
    to_rest = armature.rest[places[skin.joints[0]]] @ skin.to_joint[0]
    more = np.linalg.inv(armature.rest[bones]) @ to_rest
    skin.to_joint = np.concatenate([skin.to_joint, more])
    skin.joints += [armature.bones[bone] for bone in bones]
    item = uses.document.item("skins", number)
    item["joints"] = list(skin.joints)
    set_matrices(uses, number, skin.to_joint)


def set_matrices(uses: Uses, number: int, to_joint: Floats) -> None:
    """Gives a skin new bind matrices (j, 4, 4), which overwrite the old ones if no other skin uses
    the old ones."""
    document = uses.document
    item = document.item("skins", number)
    columns = to_joint.swapaxes(1, 2).reshape(-1, 16)
    old = item.get("inverseBindMatrices")
    if old is not None and uses.matrices[old] < 2 and not uses.overlaps(old):
        place = writable(document, old)
        if place is not None and len(place) >= len(columns):
            place[: len(columns)] = columns
            accessor = document.item("accessors", old)
            accessor["count"] = len(columns)
            for bound in ("min", "max"):
                accessor.pop(bound, None)
            return
    matrices = new_accessor(document, columns, FLOAT, kind="MAT4", target=None)
    item["inverseBindMatrices"] = uses.add(matrices)
    uses.matrices.update({old: -1, item["inverseBindMatrices"]: 1})


def _streams(
    document: Document,
    mesh: SkinnedMesh,
    rows: SparseWeights,
    joint_of: Integers,
    sets: int,
    changed: Bools,
    held: Bools,
) -> list[Stream]:
    """The Streams of a mesh. held (entries,) bool: the weights that are those in the file."""
    found: dict[int, Stream] = {}
    for primitive in mesh.primitives:
        attributes = primitive.item["attributes"]
        place = attributes["POSITION"]
        stream = found.get(place)
        if stream is None:
            # The rows that stay in the file may need more sets than the new ones.
            wide = sets if changed.all() else max(sets, _sets_in(attributes))
            old = _old(document, attributes, primitive.count, wide)
            none = np.zeros(primitive.count, bool)
            stream = Stream([], mesh, *old, none, np.zeros(old[0].shape, bool))
            found[place] = stream
        stream.primitives.append(primitive.item)
        end = primitive.first + len(primitive.used)
        part = rows.slice(primitive.first, end)
        stream.new[primitive.used] = changed[primitive.first : end]
        own = held[rows.start[primitive.first] : rows.start[end]]
        padded = _padded(part, joint_of, own, stream.joints.shape[1])
        for array, values in zip((stream.joints, stream.weights, stream.held), padded, strict=True):
            array[primitive.used] = values
    return list(found.values())


def _sets_in(attributes: dict[str, Any]) -> int:
    return sum(name.startswith("WEIGHTS_") for name in attributes)


def _old(
    document: Document, attributes: dict[str, Any], count: int, sets: int
) -> tuple[Integers, Floats]:
    """The weights in the file, for vertices that are not drawn. Without weights, the first joint
    gets all weight."""
    width = A_SET * sets
    joints, weights = np.zeros((count, width), np.int64), np.zeros((count, width))
    weights[:, 0] = 1
    old = read_sets(document, attributes, "mesh")
    if old and len(old[0][0]) == count:
        all_joints = np.concatenate([each for each, _weights in old], axis=1)
        all_weights = np.concatenate([each for _joints, each in old], axis=1)
        order = np.argsort(-all_weights, axis=1, kind="stable")[:, :width]
        values = np.maximum(np.take_along_axis(all_weights, order, axis=1), 0)
        sums = values.sum(axis=1)
        good = sums > 0
        wide = slice(0, values.shape[1])
        weights[good] = 0
        weights[good, wide] = values[good] / sums[good, None]
        joints[good, wide] = np.take_along_axis(all_joints, order, axis=1)[good]
        joints[weights <= 0] = 0
    return joints, weights


def _padded(
    rows: SparseWeights, joint_of: Integers, held: Bools, width: int
) -> tuple[Integers, Floats, Bools]:
    """Returns (joints (n, width), weights (n, width), held (n, width)), the largest weights first,
    padded with joint 0."""
    shape, slots = (rows.count, width), (rows.vertices, rows.ranks())
    joints, weights, stays = np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape, bool)
    joints[slots], weights[slots], stays[slots] = joint_of[rows.bones], rows.weights, held
    return joints, weights, stays


def _write(uses: Uses, stream: Stream, component: int | None) -> None:
    """Writes the weights of a stream."""
    document, sets = uses.document, stream.joints.shape[1] // A_SET
    first = stream.primitives[0]["attributes"]
    old = first.get("WEIGHTS_0")
    stored = FLOAT if old is None else document.item("accessors", old)["componentType"]
    component = stored if component is None else component
    values = _rounded(stream.weights, component, stream.held)
    joints = np.where(values > 0, stream.joints, 0)
    if component == stored and not stream.new.all():
        _keep(document, stream, sets, joints, values)
    normalized = component != FLOAT
    for k in range(sets):
        part = slice(A_SET * k, A_SET * (k + 1))
        for name, data, kind, as_shares in (
            (f"JOINTS_{k}", joints[:, part], _joint_type(stream), False),
            (f"WEIGHTS_{k}", values[:, part], component, normalized),
        ):
            number = _put(uses, stream, name, data, kind, as_shares)
            for primitive in stream.primitives:
                uses.attribute(primitive, name, number)
    for primitive in stream.primitives:
        for name in list(primitive["attributes"]):
            head, _line, k = name.rpartition("_")
            if head in ("JOINTS", "WEIGHTS") and k.isdigit() and int(k) >= sets:
                uses.attribute(primitive, name, None)


def _keep(document: Document, stream: Stream, sets: int, joints: Array, values: Array) -> None:
    """Restores the unchanged rows from the file. New sets are empty in these rows."""
    attributes, old = stream.primitives[0]["attributes"], ~stream.new
    for k in range(sets):
        part = slice(A_SET * k, A_SET * (k + 1))
        for name, array in ((f"JOINTS_{k}", joints), (f"WEIGHTS_{k}", values)):
            stored = read_stored(document, attributes[name])[old] if name in attributes else 0
            array[old, part] = stored


def _joint_type(stream: Stream) -> int:
    return BYTE if len(stream.mesh.skin.joints) <= 256 else SHORT


def _rounded(weights: Floats, component: int, held: Bools) -> Array:
    """Rounds weights (n, k) to their stored type. Each row sums to 1. The rounding error is
    assigned to the largest weights that are not held."""
    free = (weights > 0) & ~held
    if component == FLOAT:
        values = weights.astype(np.float32)
        row, slot = np.flatnonzero(free.any(axis=1)), free.argmax(axis=1)
        slot = slot[row]
        rest = values[row].astype(np.float64)
        rest[np.arange(len(row)), slot] = 0
        values[row, slot] = np.maximum(1 - rest.sum(axis=1), 0)
        return values
    whole = {BYTE: 255, SHORT: 65535}.get(component)
    if whole is None:
        raise Refused(f"has weights of component type {component!r}")
    shares = weights * whole
    values = np.where(held, np.rint(shares), np.floor(shares))
    left = np.rint(whole - values.sum(axis=1)).astype(int)
    rest = np.where(free, shares - values, -1)
    rank = np.argsort(np.argsort(-rest, axis=1, kind="stable"), axis=1)
    return values + (free & (rank < left[:, None]))


def _put(
    uses: Uses, stream: Stream, name: str, data: Array, component: int, normalized: bool
) -> int:
    """The accessor for these values. If nothing else uses the old accessor, it is kept, and its
    bytes are replaced or it is redirected to new bytes. Otherwise, a new accessor is created."""
    document, old = uses.document, stream.primitives[0]["attributes"].get(name)
    if old is None or uses.elsewhere(old, stream.primitives, name):
        return uses.add(new_accessor(document, data, component, normalized))
    accessor = document.item("accessors", old)
    for bound in ("min", "max"):
        accessor.pop(bound, None)
    fits = shape_of(accessor, f"accessor {old}")[0] == len(data)
    shorts = name.startswith("JOINTS") and accessor["componentType"] == SHORT
    wide = accessor["componentType"] == component or shorts
    same = bool(accessor.get("normalized")) == normalized
    if fits and wide and same and not uses.overlaps(old):
        place = writable(document, old)
        if place is not None:
            place[:] = data
            return old
    kept = {key: accessor[key] for key in ("name", "extras") if key in accessor}
    view = accessor.get("bufferView")
    view = None if view is not None and uses.views[view] > 1 else view
    uses.replace(old, kept | new_accessor(document, data, component, normalized, view=view))
    return old
