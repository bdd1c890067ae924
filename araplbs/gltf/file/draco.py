"""Decompresses the meshes of a glTF file that are compressed with Draco, by the package DracoPy,
which is loaded on first use. The primitives of the document become plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.arrays import Array
from ...base.refusal import Refused
from .accessors import UNPACK, add_accessor, new_accessor, shape_of, view_range
from .container import Document
from .shape import DRACO

NEEDED = f"needs the package DracoPy: run pip install 'araplbs[draco]', or {UNPACK}"
INDICES, WHOLE = 34963, 5125  # target of a buffer view; component type


def decompress(document: Document) -> None:
    """Replaces all compressed primitives. Without DracoPy, they stay, and the meshes that are read
    are refused. Raises Refused."""
    meshes = document.items("meshes")
    parts = [p for m in meshes for p in m.get("primitives", []) if DRACO in p.get("extensions", {})]
    if not parts:
        return
    try:
        import DracoPy
    except ImportError:
        return
    used = {
        each.get("bufferView") for kind in ("accessors", "images") for each in document.items(kind)
    }
    views: list[Any] = []  # only of compressed data
    sources: dict[object, object] = {}
    decoded: dict[object, tuple[Array, dict[object, Array]]] = {}
    for part in parts:
        compressed = part["extensions"].pop(DRACO)
        if not part["extensions"]:
            del part["extensions"]
        view = compressed.get("bufferView")
        if view not in decoded:
            buffer, begin, length, _step = view_range(document, view)
            try:
                mesh = DracoPy.decode(bytes(document.buffers[buffer][begin : begin + length]))
                arrays = {each["unique_id"]: each["data"] for each in mesh.attributes}
                decoded[view] = mesh.faces.reshape(-1, 1), arrays
            except Exception as error:  # its own kinds, of several modules
                raise Refused(f"has data of {DRACO} that cannot be read: {error}") from None
            views += {view} - used
        faces, arrays = decoded[view]
        if "indices" not in part:
            item = {"componentType": WHOLE, "type": "SCALAR", "count": len(faces)}
            part["indices"] = add_accessor(document, item)
        found: dict[Any, Array | None] = {part["indices"]: faces}
        for name, key in compressed.get("attributes", {}).items():
            found[part.get("attributes", {}).get(name)] = arrays.get(key)
        for number, values in found.items():
            if number not in sources:
                _store(document, number, values, views, number == part["indices"])
            elif sources[number] != view:
                raise Refused(f"accessor {number} belongs to two meshes compressed by {DRACO}")
            sources[number] = view
    document.decompressed = True
    for key in ("extensionsUsed", "extensionsRequired"):
        left = [name for name in document.json.pop(key, []) if name != DRACO]
        if left:
            document.json[key] = left


def _store(
    document: Document, number: int, values: Array | None, views: list[Any], indices: bool
) -> None:
    """Gives an accessor its values, in one of the views that are free."""
    accessor, what = document.item("accessors", number), f"accessor {number}"
    count, width, component = shape_of(accessor, what)
    stored = np.zeros((0, 0)) if values is None else values.astype(component)
    whole = component.kind in "iu"
    if stored.shape != (count, width) or (whole and not np.array_equal(stored, values)):
        found = "nothing" if values is None else f"{values.shape} of {values.dtype}"
        raise Refused(
            f"{what} has {count:,} elements of {accessor['type']}, but {DRACO} has {found}"
        )
    step = width * component.itemsize
    more = 0 if indices else -step % 4 // component.itemsize  # vertices begin at multiples of 4
    padded = np.pad(stored, ((0, 0), (0, more)))
    new = new_accessor(
        document, padded, accessor["componentType"], view=views.pop() if views else None
    )
    view = document.item("bufferViews", new["bufferView"])
    if indices:
        view["target"] = INDICES
    elif more:
        view["byteStride"] = step + more * component.itemsize
    accessor["bufferView"] = new["bufferView"]
    accessor.pop("byteOffset", None)
    for bound, of in (("min", np.min), ("max", np.max)):
        if bound in accessor and count:
            accessor[bound] = of(stored, axis=0).tolist()
