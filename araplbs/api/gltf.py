"""Characters of .glb, .gltf and .vrm files for programs: reading, weighting, saving."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.progress import Listener
from ..gltf.character import Character, characters_of
from ..gltf.file.container import Document, read_document, save_document
from ..gltf.graft import graft
from ..gltf.work import weigh_character
from ..model.sparse_weights import SparseWeights, join_sparse_weights, sparse_of
from ..skeleton.skeleton import Skeleton
from .options import options_of
from .rows import Rows
from .weights import Weights, weights_of


class GltfCharacter:
    """A skeleton of a file and all meshes on it, as one character: vertices and bones at rest, in
    one space, Z up as in Blender.

    vertices (n, 3), triangles (f, 3): those of all meshes in sequence. mesh_names, first: the name
    and the first vertex of each mesh. weights: Rows for the m joints of the skeleton.

    weigh() raises Refused or ValueError if the character or an option cannot be used, Cancelled if
    `progress` returns False; set_weights() raises ValueError.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        meshes = character.meshes
        self.mesh_names = [mesh.name for mesh in meshes]
        self.first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])

    def __repr__(self) -> str:
        return (
            f"GltfCharacter {self.name!r} of {self.first[-1]:,} vertices, {len(self.mesh_names)} "
            f"meshes and {len(self.skeleton.names)} bones"
        )

    @property
    def name(self) -> str:
        """The name of the armature, as Blender's importer gives it."""
        return self._character.name

    @property
    def skeleton(self) -> Skeleton:
        """The m joints at rest, in the space of the vertices."""
        return self._character.skeleton

    @property
    def vertices(self) -> Floats:
        """(n, 3); a new array at each access."""
        return np.concatenate([mesh.vertices for mesh in self._character.meshes])

    @property
    def triangles(self) -> Integers:
        """(f, 3); a new array at each access."""
        parts = zip(self._character.meshes, self.first, strict=False)
        return np.concatenate([mesh.triangles + begin for mesh, begin in parts])

    @property
    def weights(self) -> Rows:
        """The weights of the file, or the ones set by set_weights()."""
        joined = join_sparse_weights(self._character.weights)
        return Rows(*joined, bone_count=len(self.skeleton.names))

    def weigh(
        self, *, threads: int = 0, progress: Listener | None = None, **options: Any
    ) -> Weights:
        """Computes new weights, like `araplbs weight`; the options are those of araplbs.weights.
        They are not in the file until set_weights() is called."""
        table = options_of(options)
        found, _report = weigh_character(self._character, table, (), threads, progress)
        return weights_of(found, table, self.name)

    def set_weights(self, weights: Any) -> None:
        """Puts weights into the loaded file: Weights, Rows, or an array (n, m). Raises
        ValueError."""
        rows = weights.rows if isinstance(weights, Weights) else weights
        n, m = int(self.first[-1]), len(self.skeleton.names)
        if not isinstance(rows, tuple):
            dense = np.asarray(rows, np.float64)
            if dense.shape != (n, m):
                raise ValueError(f"weights has shape {dense.shape}: expected ({n}, {m})")
            rows = sparse_of(dense)
        rows = SparseWeights(*rows)
        if rows.count != n:
            raise ValueError(f"weights has {rows.count} rows: there are {n} vertices")
        sums = rows.sums()
        off = np.flatnonzero(~(np.abs(sums - 1) <= 1e-6))
        if len(off) or (rows.weights < 0).any():
            raise ValueError(f"the weights of vertex {off[0] if len(off) else 0} do not sum to 1")
        parts = [rows.slice(a, b) for a, b in zip(self.first, self.first[1:], strict=False)]
        self._character.write(parts)
        for each, part in zip(self._character.skinned, parts, strict=True):
            each.mesh.weights = part


class GltfFile:
    """A .glb, .gltf or .vrm file that load_gltf() has read. characters: a list of GltfCharacter,
    one for each skeleton with meshes. save() raises what save_gltf() does.
    """

    def __init__(self, characters: Sequence[Character]) -> None:
        self._document: Document = characters[0].document
        self.characters = [GltfCharacter(each) for each in characters]

    def __repr__(self) -> str:
        return f"GltfFile {self._document.path.name!r}: {self.characters}"

    def save(self, path: str | Path) -> None:
        """Writes the file with the weights that its characters were given, whole or not at all."""
        save_document(self._document, path)


def load_gltf(path: str | Path, *, skeleton: str | Path | None = None) -> GltfFile:
    """Reads the characters of a .glb, .gltf or .vrm file. skeleton: another file, whose skeleton
    meshes without a skin get. Raises araplbs.Refused (a sentence) for files that cannot be used:
    compressed meshes, no skin, truncated files."""
    document = read_document(path)
    if skeleton is not None:
        graft(document, read_document(skeleton))
    return GltfFile(characters_of(document))


def save_gltf(file: GltfFile, path: str | Path) -> None:
    """Writes a file that load_gltf() has read, with the weights that its characters were given; the
    same as file.save(path). It is written whole or not at all. Raises Refused if that would replace
    a file of another kind, OSError if the file cannot be written."""
    file.save(path)
