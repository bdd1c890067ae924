"""Reads the arrays of a glTF file in every form that glTF 2.0 allows (interleaved, normalized,
sparse, 8 and 16 bit), replaces arrays in place, and adds new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.arrays import Array, Floats
from ...base.refusal import Refused
from .container import Document

COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
COMPRESSED = ("EXT_meshopt_compression", "KHR_meshopt_compression")
UNPACK = "unpack it first, for example with gltf-transform"
VERTEX_DATA = 34962  # target of a buffer view
BYTE, SHORT, FLOAT = 5121, 5123, 5126


def number_of(item: dict[str, Any], name: str, what: str, default: int | None = None) -> int:
    """Reads a nonnegative whole number from the JSON. Raises Refused."""
    value = item.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Refused(f"{what} has '{name}' {value!r}")
    return value


def shape_of(accessor: dict[str, Any], what: str) -> tuple[int, int, np.dtype[Any]]:
    """Returns (count, width, component type)."""
    kind, component = accessor.get("type"), accessor.get("componentType")
    if kind not in WIDTHS:
        raise Refused(f"{what} has type {kind!r}")
    if component not in COMPONENTS:
        raise Refused(f"{what} has component type {component!r}")
    return number_of(accessor, "count", what), WIDTHS[kind], np.dtype(COMPONENTS[component])


def read_accessor(document: Document, number: object, kind: str | None = None) -> Array:
    """Returns the values of an accessor, (count, width): as floats if the accessor is normalized,
    otherwise in its own type.

    kind: the required type ("VEC3"). Raises Refused.
    """
    accessor, what = document.item("accessors", number), f"accessor {number}"
    shape_of(accessor, what)
    if kind and accessor["type"] != kind:
        raise Refused(f"{what} has type {accessor['type']!r}: must be {kind}")
    values = read_stored(document, number)
    if not accessor.get("normalized") or values.dtype.kind == "f":
        return values
    return np.maximum(values / np.iinfo(values.dtype).max, -1.0)


def read_stored(document: Document, number: object) -> Array:
    """Returns the stored values of an accessor, (count, width), as whole numbers even if it is
    normalized."""
    accessor, what = document.item("accessors", number), f"accessor {number}"
    count, width, component = shape_of(accessor, what)
    if "bufferView" in accessor:
        place = number_of(accessor, "byteOffset", what, 0)
        view = accessor["bufferView"]
        values = _strided(document, view, place, count, width, component, what).copy()
    else:
        stored = sum(map(len, document.buffers))
        if count > stored:
            raise Refused(
                f"{what} has {count:,} elements without data, but the file has only {stored:,} "
                "bytes of data"
            )
        values = np.zeros((count, width), component)
    if "sparse" in accessor:
        _replace_sparse(document, accessor["sparse"], values, what)
    return values


def read_floats(document: Document, number: object, kind: str) -> Floats:
    """Returns the values as 64-bit floats, (count, width). Raises Refused if a value is not
    finite."""
    values = read_accessor(document, number, kind).astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise Refused(f"accessor {number} has a value that is not finite (first: element {row})")
    return values


def _replace_sparse(document: Document, sparse: dict[str, Any], values: Array, what: str) -> None:
    count = number_of(sparse, "count", what)
    parts = sparse.get("indices"), sparse.get("values")
    if not all(isinstance(part, dict) for part in parts):
        raise Refused(f"{what} is sparse, but has no indices or values")
    where, new = parts
    component = where.get("componentType")
    if component not in (5121, 5123, 5125):
        raise Refused(f"{what} has sparse indices of the component type {component!r}")
    arguments = []
    for part, width, kind in ((where, 1, COMPONENTS[component]), (new, values.shape[1], None)):
        place = number_of(part, "byteOffset", what, 0)
        dtype = values.dtype if kind is None else np.dtype(kind)
        view = part.get("bufferView")
        arguments.append(_strided(document, view, place, count, width, dtype, what))
    indices = arguments[0].ravel()
    if len(indices) and int(indices.max()) >= len(values):
        raise Refused(f"{what} has a sparse index {indices.max()}, but only {len(values)} elements")
    values[indices] = arguments[1]


def _strided(
    document: Document,
    view_number: object,
    offset: int,
    count: int,
    width: int,
    component: np.dtype[Any],
    what: str,
) -> Array:
    """Returns an array (count, width) that views these bytes of a buffer, for reading and
    writing."""
    buffer, begin, length, step = view_range(document, view_number)
    own = width * component.itemsize
    step = step or own
    if step < own:
        raise Refused(f"{what} has elements of {own} bytes at intervals of {step} bytes")
    needed = offset + (count - 1) * step + own if count else 0
    content = document.buffers[buffer]
    if needed > length or begin + needed > len(content):
        raise Refused(f"{what} extends beyond the end of bufferView {view_number}")
    if not count:
        return np.zeros((0, width), component)
    strides = step, component.itemsize
    return np.ndarray((count, width), component, content, begin + offset, strides)


def view_range(document: Document, number: object) -> tuple[int, int, int, int]:
    """Returns (buffer, first byte, bytes, step or 0) of a buffer view. Raises Refused if the view
    is compressed."""
    view, what = document.item("bufferViews", number), f"bufferView {number}"
    for name in COMPRESSED:
        if name in view.get("extensions", {}):
            raise Refused(f"is compressed by {name}: {UNPACK}")
    buffer = number_of(view, "buffer", what)
    document.item("buffers", buffer)
    begin = number_of(view, "byteOffset", what, 0)
    return (
        buffer,
        begin,
        number_of(view, "byteLength", what),
        number_of(view, "byteStride", what, 0),
    )


def writable(document: Document, number: int) -> Array | None:
    """Returns the bytes of an accessor as a writable array (count, width); None if some of its
    values are stored elsewhere, as sparse values or in a separate file."""
    accessor, what = document.item("accessors", number), f"accessor {number}"
    if "sparse" in accessor or "bufferView" not in accessor:
        return None
    if view_range(document, accessor["bufferView"])[0] in document.outside:
        return None
    count, width, component = shape_of(accessor, what)
    place = number_of(accessor, "byteOffset", what, 0)
    return _strided(document, accessor["bufferView"], place, count, width, component, what)


def new_accessor(
    document: Document,
    values: Array,
    component: int,
    normalized: bool = False,
    kind: str = "VEC4",
    view: int | None = None,
    target: int | None = VERTEX_DATA,
) -> dict[str, Any]:
    """Creates an accessor, not yet in the list, for values (count, width) that are added to a
    buffer. view: a buffer view that nothing else needs, which is redirected to the new values.
    target: of the buffer view; None for data that is not of vertices or their indices."""
    values = np.ascontiguousarray(values, COMPONENTS[component])
    buffer = _buffer_to_grow(document)
    content = document.buffers[buffer]
    content.extend(bytes(-len(content) % 4))
    found = {"buffer": buffer, "byteOffset": len(content), "byteLength": values.nbytes}
    content.extend(values.tobytes())
    document.json["buffers"][buffer]["byteLength"] = len(content)
    if target is not None:
        found["target"] = target
    views = document.json.setdefault("bufferViews", [])
    if view is None:
        views.append(found)
        view = len(views) - 1
    else:
        kept = {key: views[view][key] for key in ("name", "extras") if key in views[view]}
        views[view] = found | kept
    accessor: dict[str, Any] = {"bufferView": view, "componentType": component}
    if normalized:
        accessor["normalized"] = True
    return accessor | {"count": len(values), "type": kind}


def add_accessor(document: Document, accessor: dict[str, Any]) -> int:
    """Adds an accessor to the list and returns its number."""
    accessors = document.json.setdefault("accessors", [])
    accessors.append(accessor)
    return len(accessors) - 1


def _buffer_to_grow(document: Document) -> int:
    """The first buffer stored in the file itself, or else a new one."""
    buffers = document.json.setdefault("buffers", [])
    for number, buffer in enumerate(buffers):
        inside = document.buffers[number] or (number == 0 and "uri" not in buffer)
        if number not in document.outside and inside and "extensions" not in buffer:
            return number
    buffers.append({"byteLength": 0})
    document.buffers.append(bytearray())
    return len(buffers) - 1
