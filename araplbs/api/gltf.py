"""Functions that read, weight and save the characters in .glb, .gltf and .vrm files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias, Unpack

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.progress import Listener
from ..base.refusal import Refused
from ..character.part import Part
from ..disk.outputs import PICTURE
from ..gltf.character import Character, characters_of
from ..gltf.file.container import NO_PATH, Document, document_of, read_document
from ..gltf.graft import graft
from ..gltf.meshes import join_meshes
from ..gltf.picture import character_sheet
from ..gltf.twist_bones import CHOICES, add_twist_bones
from ..gltf.work import weigh_character
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, join_sparse_weights
from ..reports.pictures import png
from ..skeleton.skeleton import Skeleton
from .option_types import FileOptions
from .options import options_of
from .rows import Rows, rows_of
from .weights import Weights, weights_of

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]


class GltfCharacter:
    """A skeleton from a file together with all meshes bound to it. Vertices and bones are in the
    rest pose and share one space, with Z up as in Blender.

    vertices (n, 3), triangles (f, 3): the concatenated arrays of all meshes. mesh_names, first: the
    name and the first vertex of each mesh. weights: the weights for the m joints, as Rows. doubts:
    sentences about joints without valid inverse bind matrices.

    weigh() raises Refused or ValueError if the character or an option cannot be used, and Cancelled
    if `progress` returns False. set_weights() raises ValueError.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        meshes = character.meshes
        self.doubts = character.doubts
        self.mesh_names = [mesh.name for mesh in meshes]
        self.first = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} {self.name!r} of {self.first[-1]:,} vertices, "
            f"{len(self.mesh_names)} meshes and {len(self.skeleton.names)} bones"
        )

    @property
    def name(self) -> str:
        """The name of the armature, as assigned by Blender's importer."""
        return self._character.name

    @property
    def skeleton(self) -> Skeleton:
        """The m joints in the rest pose, in the space of the vertices."""
        return self._character.skeleton

    @property
    def vertices(self) -> Floats:
        """The vertices, (n, 3). Each access returns a new array."""
        return np.concatenate([mesh.vertices for mesh in self._character.meshes])

    @property
    def triangles(self) -> Integers:
        """The triangles, (f, 3). Each access returns a new array."""
        return join_meshes(self._character.meshes)[1]

    @property
    def weights(self) -> Rows:
        """The weights from the file, or those passed to set_weights()."""
        joined = join_sparse_weights(self._character.weights)
        return Rows(*joined, bone_count=len(self.skeleton.names))

    def weigh(
        self,
        *,
        only_bones: Sequence[str] = (),
        keep_bones: Sequence[str] = (),
        keep_meshes: Sequence[str] = (),
        only_vertices: Mapping[str, Any] | None = None,
        preset: str | None = None,
        threads: int = 0,
        progress: Listener | None = None,
        **options: Unpack[FileOptions],
    ) -> Weights:
        """Compute new weights, like `araplbs weight`, with the options of araplbs.weights. The
        weights are not stored in the file until set_weights() is called.

        only_bones, keep_bones: names of bones, patterns such as "*Hand*", or "LeftArm/" for a bone
        and all bones below it. keep_meshes: names of meshes. only_vertices: {name of a mesh: its
        vertices}. All other weights stay the same, also in the file, to the last bit."""
        table = options_of(options, preset=preset)
        part = Part(only_bones, keep_bones, keep_meshes, only_vertices)
        found, _report = weigh_character(self._character, table, (), threads, progress, part=part)
        return weights_of(found, table, self.name)

    def picture(
        self,
        weights: Any = None,
        *,
        before: Any = None,
        threads: int = 0,
        progress: Listener | None = None,
    ) -> bytes:
        """Draw the character with these weights, below those in the file or those of `before`. With
        no weights, draw only those in the file. Returns the bytes of a PNG file, like
        araplbs.picture(), which describes the forms of weights. Raises ValueError, and Refused if
        the character has no surface."""
        earlier = None if before is None else self._parts("before", before)
        after = None if weights is None else self._parts("weights", weights)
        own = self._character
        sheet = character_sheet(own, Options(), after, earlier, threads, progress)
        if sheet is None:
            raise Refused(f"{self.name} has no surface to draw")
        return png(sheet, PICTURE.generator)

    def _parts(self, name: str, weights: Any) -> list[SparseWeights]:
        """The weights of each mesh. Raises ValueError."""
        rows = rows_of(name, weights, int(self.first[-1]), len(self.skeleton.names))
        return [rows.slice(a, b) for a, b in zip(self.first, self.first[1:], strict=False)]

    def set_weights(self, weights: Any) -> None:
        """Store weights in the loaded file: Weights, Rows, an array (n, m) or a sparse matrix of
        SciPy. Weights that are the same as in the file keep their bytes. Raises ValueError."""
        parts = self._parts("weights", weights)
        changed = self._character.changed(parts)
        for part, own, first in zip(parts, changed, self.first, strict=False):
            off = np.flatnonzero(~(np.abs(part.sums() - 1) <= 1e-6) & own)
            if len(off):
                raise ValueError(f"the weights of vertex {first + off[0]} do not sum to 1")
        self._character.write(parts, changed=changed)
        for each, part in zip(self._character.skinned, parts, strict=True):
            each.mesh.weights = part

    def add_twist_bones(
        self,
        kinds: Sequence[str] = ("gain",),
        *,
        max_influences: int = 4,
        threads: int = 0,
    ) -> list[str]:
        """Add joints that take half of the twist of limbs, like `araplbs weight --twist-bones`, and
        share the limbs' weights in the loaded file with them. All animations get keys for them.
        Call set_weights() before. kinds: "upper-arms", "forearms", "thighs"; "gain" leaves out
        limbs whose skin would not stretch less. Returns the names of the joints. Raises Refused if
        nothing is to be added, and ValueError."""
        wrong = sorted(set(kinds) - set(CHOICES))
        if wrong or not kinds:
            known = ", ".join(CHOICES)
            raise ValueError(f"kinds is {list(kinds)}: must be some of {known}")
        own = self._character
        found, rows, names = add_twist_bones(own, own.weights, kinds, max_influences, threads)
        found.write(rows)
        for each, part in zip(found.skinned, rows, strict=True):
            each.mesh.weights = part
        self._character = found
        return names


class GltfFile:
    """A .glb, .gltf or .vrm file read by load_gltf(). characters: a list with one GltfCharacter for
    each skeleton that has meshes. save() raises the same exceptions as save_gltf().
    """

    kind: type[GltfCharacter] = GltfCharacter

    def __init__(self, characters: Sequence[Any]) -> None:
        self._document = characters[0].document
        self.characters = [self.kind(each) for each in characters]

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self._document.path.name!r}: {self.characters}"

    def save(self, path: str | Path) -> None:
        """Write the file with the weights assigned to its characters. The file is written
        completely or not at all."""
        self._document.save(path)


def load_gltf(path: Source, *, skeleton: Source | None = None) -> GltfFile:
    """Read the characters of a .glb, .gltf or .vrm file. path: its path, its bytes, or a file
    opened for reading bytes. skeleton: another file, whose skeleton is assigned to meshes without a
    skin. Raises araplbs.Refused, with a sentence as its message, for files that cannot be used,
    such as files that are truncated, have compressed meshes, or lack a skin. Bytes cannot refer to
    other files. Raises TypeError for a file that is not open for reading bytes."""
    document = _document(path)
    if skeleton is not None:
        graft(document, _document(skeleton))
    return GltfFile(characters_of(document))


def _document(source: Source) -> Document:
    if isinstance(source, (str, os.PathLike)):
        return read_document(Path(source))
    content = source if isinstance(source, (bytes, bytearray, memoryview)) else source.read()
    if isinstance(content, str):
        raise TypeError("the file is open for text: open it with mode 'rb'")
    return document_of(NO_PATH, bytes(content))


def save_gltf(file: GltfFile, path: str | Path) -> None:
    """Write a file that load_gltf() has read, with the weights assigned to its characters. The call
    is equivalent to file.save(path). The file is written completely or not at all. Raises Refused
    if the file at `path` is of a different type, and OSError if the file cannot be written."""
    file.save(path)
