"""Checks the shape of the JSON entries that are read from a glTF file: lists, objects and numbers.
Files are untrusted, so their shape is checked once, before any other code reads the entries."""

from __future__ import annotations

from typing import Any

from ...base.refusal import Refused

TEXT, WHOLE, ANY = "a text", "a whole number that is not negative", "anything"
DRACO = "KHR_draco_mesh_compression"
OBJECT = {"": ANY}  # with any entries

# The shape of each entry, if present: [shape of each item] for a list, {name: shape} for an object,
# with "" for all other names.
SPARSE_PART = {"bufferView": WHOLE, "byteOffset": WHOLE, "componentType": WHOLE}
ATTRIBUTES = {"": WHOLE}
SHAPE: dict[str, Any] = {
    "asset": {"version": TEXT},
    "extensionsUsed": [TEXT],
    "extensionsRequired": [TEXT],
    "buffers": [{"uri": TEXT, "byteLength": WHOLE, "extensions": OBJECT}],
    "bufferViews": [
        {
            "buffer": WHOLE,
            "byteOffset": WHOLE,
            "byteLength": WHOLE,
            "byteStride": WHOLE,
            "extensions": OBJECT,
        }
    ],
    "accessors": [
        {
            "bufferView": WHOLE,
            "byteOffset": WHOLE,
            "componentType": WHOLE,
            "count": WHOLE,
            "type": TEXT,
            "sparse": {"count": WHOLE, "indices": SPARSE_PART, "values": SPARSE_PART},
        }
    ],
    "images": [{"uri": TEXT, "bufferView": WHOLE}],
    "materials": [OBJECT],
    "meshes": [
        {
            "primitives": [
                {
                    "attributes": ATTRIBUTES,
                    "indices": WHOLE,
                    "material": WHOLE,
                    "mode": WHOLE,
                    "targets": [ATTRIBUTES],
                    "extensions": {DRACO: {"bufferView": WHOLE, "attributes": ATTRIBUTES}},
                }
            ]
        }
    ],
    "nodes": [{"children": [WHOLE], "mesh": WHOLE, "skin": WHOLE}],
    "scenes": [{"nodes": [WHOLE]}],
    "skins": [{"joints": [WHOLE], "inverseBindMatrices": WHOLE, "skeleton": WHOLE}],
    "animations": [
        {
            "samplers": [{"input": WHOLE, "output": WHOLE, "interpolation": TEXT}],
            "channels": [{"sampler": WHOLE, "target": {"node": WHOLE, "path": TEXT}}],
        }
    ],
}


def refuse_shape(value: Any, shape: Any = SHAPE, place: str = "") -> None:
    """Raises Refused, naming the first entry of the wrong shape."""
    if shape == ANY:
        return
    if shape == WHOLE:
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53
    elif shape == TEXT:
        good = isinstance(value, str)
    else:
        good = isinstance(value, type(shape))
    if not good:
        wanted = "a list" if isinstance(shape, list) else shape
        wanted = "an object" if isinstance(shape, dict) else wanted
        what = f"{place} {_short(value)}" if place else f"{_short(value)} at the top"
        raise Refused(f"its JSON has {what}: must be {wanted}")
    if isinstance(shape, list):
        for number, each in enumerate(value):
            refuse_shape(each, shape[0], f"{place}[{number}]")
    elif isinstance(shape, dict):
        for name, each in value.items():
            inner = shape.get(name, shape.get("", ANY))
            if inner != ANY:
                refuse_shape(each, inner, f"{place}.{name}" if place else name)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
