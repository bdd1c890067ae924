"""Removes joints that no vertex uses from the skins of a glTF file, because engines limit the
number of joints of a skin. The nodes of these joints, and everything that refers to nodes, stay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.arrays import Integers
from .file.accessors import new_accessor, read_floats, read_stored, writable
from .file.container import Document
from .file.uses import Uses
from .meshes import read_sets
from .write_skin import set_matrices


@dataclass
class _Group:
    """Skins whose meshes share joint indices, and the attributes of these meshes."""

    skins: set[int] = field(default_factory=set)
    arrays: set[int] = field(default_factory=set)  # accessors of joint indices
    attributes: list[dict[str, Any]] = field(default_factory=list)


def drop_unused_joints(document: Document, skins: Collection[int]) -> dict[int, int]:
    """Removes unused joints from these skins and from skins that share arrays of joint indices with
    them. Every skin keeps at least one joint. Returns {skin: number of its joints}."""
    uses = Uses(document)
    for group in _groups(document):
        if group.skins & set(skins):
            _drop(uses, group)
    return {number: len(document.item("skins", number)["joints"]) for number in skins}


def _groups(document: Document) -> list[_Group]:
    found: list[_Group] = []
    for node in document.items("nodes"):
        if "skin" not in node or "mesh" not in node:
            continue
        own = _Group({node["skin"]})
        for primitive in document.item("meshes", node["mesh"]).get("primitives", []):
            attributes = primitive.get("attributes", {})
            own.attributes.append(attributes)
            own.arrays |= {n for name, n in attributes.items() if name.startswith("JOINTS_")}
        for other in [each for each in found if each.skins & own.skins or each.arrays & own.arrays]:
            found.remove(other)
            own.skins |= other.skins
            own.arrays |= other.arrays
            own.attributes += other.attributes
        found.append(own)
    return found


def _drop(uses: Uses, group: _Group) -> None:
    document, used = uses.document, set[int]()
    for attributes in group.attributes:
        for joints, weights in read_sets(document, attributes, "mesh"):
            used |= set(np.unique(joints[weights > 0]).tolist())
    skins = {number: document.item("skins", number) for number in sorted(group.skins)}
    count = max(len(skin["joints"]) for skin in skins.values())
    kept = np.array(sorted(used or {0}))
    if len(kept) == count or kept[-1] >= min(len(skin["joints"]) for skin in skins.values()):
        return  # nothing to do, or an invalid file
    place = np.zeros(count, np.int64)
    place[kept] = np.arange(len(kept))
    for number in sorted(group.arrays):
        _renumber(uses, number, place)
    for number, skin in skins.items():
        skin["joints"] = [skin["joints"][joint] for joint in kept]
        if "inverseBindMatrices" in skin:
            columns = read_floats(document, skin["inverseBindMatrices"], "MAT4")
            set_matrices(uses, number, columns[kept].reshape(-1, 4, 4).swapaxes(1, 2))


def _renumber(uses: Uses, number: int, place: Integers) -> None:
    """Replaces the indices in an array of joints, at a new place if other arrays share its
    bytes."""
    document = uses.document
    values = read_stored(document, number)
    values = place[np.minimum(values, len(place) - 1)].astype(values.dtype)
    accessor, content = document.item("accessors", number), writable(document, number)
    for bound in ("min", "max"):
        accessor.pop(bound, None)
    if content is not None and not uses.overlaps(number):
        content[:] = values
        return
    kept = {key: accessor[key] for key in ("name", "extras") if key in accessor}
    uses.replace(number, kept | new_accessor(document, values, accessor["componentType"]))
