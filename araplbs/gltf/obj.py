"""Converts meshes of Wavefront .obj files to glTF documents. Reads positions, faces and texture
coordinates, with all groups and materials as one mesh. Neural networks for rigging read and write
such meshes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.refusal import Refused
from ..disk.inputs import read_input_text
from .file.accessors import FLOAT, add_accessor, new_accessor
from .file.container import Document

MOST_BYTES = 1 << 30
UNSIGNED_INT = 5125


def read_obj(path: str | Path) -> tuple[Document, Integers]:
    """Returns (document, (n,) the vertex of the .obj file for each vertex). Raises Refused with the
    line number."""
    places: list[list[float]] = []
    textured: list[list[float]] = []
    corners: list[tuple[int, int]] = []
    triangles: list[tuple[int, int, int]] = []
    for number, line in enumerate(read_input_text(path, MOST_BYTES).splitlines(), 1):
        words = line.split()
        kind = words[0] if words else ""
        try:
            if kind == "v":
                places.append([float(word) for word in words[1:4]])
                if len(places[-1]) != 3:
                    raise ValueError
            elif kind == "vt":
                u, v = (float(word) for word in words[1:3])
                textured.append([u, 1 - v])  # glTF counts from the top
            elif kind == "f":
                first = len(corners)
                corners += [_corner(word, len(places), len(textured)) for word in words[1:]]
                count = len(corners) - first
                triangles += [(first, first + k, first + k + 1) for k in range(1, count - 1)]
        except ValueError:
            raise Refused(f"{path}, line {number}: not a valid line of an .obj file") from None
    if not triangles:
        raise Refused(f"{path} has no faces")
    points = np.array(places)
    if not np.isfinite(points).all():
        raise Refused(f"{path} has a vertex with a non-finite position")
    # Vertices without a face are omitted because they are invisible.
    pairs, place = np.unique(np.array(corners), axis=0, return_inverse=True)
    faces = place.ravel()[np.array(triangles)]
    texture = None
    if textured and (pairs[:, 1] >= 0).all():
        texture = np.array(textured)[pairs[:, 1]]
    return _document(Path(path), points[pairs[:, 0]], faces, texture), pairs[:, 0]


def _corner(word: str, vertices: int, coordinates: int) -> tuple[int, int]:
    """Returns the vertex and the texture coordinate of a corner, or -1 without one. Raises
    ValueError."""
    parts = word.split("/")
    vertex = _index(parts[0], vertices)
    has_texture = len(parts) > 1 and parts[1]
    return vertex, _index(parts[1], coordinates) if has_texture else -1


def _index(word: str, count: int) -> int:
    number = int(word)
    found = number - 1 if number > 0 else count + number
    if number == 0 or not 0 <= found < count:
        raise ValueError
    return found


def _document(path: Path, points: Floats, faces: Integers, texture: Floats | None) -> Document:
    head = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": path.stem, "mesh": 0}],
    }
    document = Document(path, head, True, [])
    position = new_accessor(document, points, FLOAT, kind="VEC3")
    stored = points.astype(np.float32)
    position |= {"min": stored.min(0).tolist(), "max": stored.max(0).tolist()}
    attributes = {"POSITION": add_accessor(document, position)}
    if texture is not None:
        added = new_accessor(document, texture, FLOAT, kind="VEC2")
        attributes["TEXCOORD_0"] = add_accessor(document, added)
    numbers = new_accessor(document, faces.reshape(-1, 1), UNSIGNED_INT, kind="SCALAR")
    primitive = {"attributes": attributes, "indices": add_accessor(document, numbers)}
    head["meshes"] = [{"name": path.stem, "primitives": [primitive]}]
    return document
