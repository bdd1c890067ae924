"""Packs the weights of a mesh into bytes that a file can store. The compressed bytes contain JSON
with "version", "vertices", "names" and "entries", a zero byte, and three arrays."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.arrays import Array

VERSION = 1
LARGEST = 1 << 30  # bytes of one mesh; larger data does not come from this module
KINDS: tuple[Any, ...] = (np.int32, np.int32, np.float32)  # types of vertices, groups, weights
Entries = tuple[Array, Array, Array]


def pack(size: int, names: Sequence[str], entries: Entries) -> bytes:
    """size: the number of vertices. names: the group names."""
    head = {"version": VERSION, "vertices": size, "names": list(names)}
    head["entries"] = len(entries[0])
    arrays = [np.ascontiguousarray(a, k).tobytes() for a, k in zip(entries, KINDS, strict=True)]
    return zlib.compress(b"".join([json.dumps(head).encode(), b"\0", *arrays]), 1)


def unpack(data: bytes, size: int) -> tuple[tuple[str, ...], Entries] | None:
    """Returns (names, entries); None if the bytes are damaged or describe a different number of
    vertices."""
    try:
        decompressor = zlib.decompressobj()
        text, _end, body = decompressor.decompress(data, LARGEST).partition(b"\0")
        head = json.loads(text)
        count = int(head["entries"])
        whole = decompressor.eof and len(body) == 12 * count
        if head["version"] != VERSION or head["vertices"] != size or not whole:
            return None
        parts = (body[4 * count * k : 4 * count * (k + 1)] for k in range(3))
        vertices, groups, weights = map(np.frombuffer, parts, KINDS)
        names = tuple(map(str, head["names"]))
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError):
        return None
    good = (vertices >= 0) & (vertices < size) & (groups >= 0) & (groups < len(names))
    if not (good & (weights >= 0) & (weights <= 1)).all():
        return None
    return names, (vertices.copy(), groups.copy(), weights.copy())
