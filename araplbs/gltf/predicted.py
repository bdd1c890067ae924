"""Takes initial weights from another file for the same mesh, such as a rig predicted by a network.
The file may be a .glb, .gltf, .vrm or .txt file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.refusal import Refused
from ..model.sparse_weights import SparseWeights, join_sparse_weights, summed_entries
from .character import Character, characters_of
from .file.container import Document, is_gltf, read_document
from .graft import graft
from .meshes import join_meshes
from .rig_text import RigText, read_rig_text

SAME_PLACE = 0.01  # share of the mesh size; points farther from its surface belong to another mesh


class Predicted:
    """The rig in a file. document: its skeleton as glTF."""

    def __init__(self, path: str | Path) -> None:
        """Reads the rig from a file. Raises Refused."""
        self.path = Path(path)
        self.text: RigText | None = None
        self._characters: list[Character] = []
        if is_gltf(path):
            self.document = read_document(path)
            self._characters = characters_of(self.document)
        else:
            self.text = read_rig_text(path)
            self.document = self.text.document()

    def give_skeleton(self, document: Document) -> None:
        """Binds the meshes of a document to the predicted skeleton, if they are not bound to a
        skeleton yet. Raises Refused."""
        if not any("skin" in node for node in document.items("nodes") if "mesh" in node):
            graft(document, self.document)

    def give_weights(self, character: Character, numbers: Integers | None) -> None:
        """Assigns the predicted weights to the character by joint names. numbers: the number of
        each vertex in the .obj file, if the meshes come from one. Raises Refused."""
        if self.text:
            self._by_number(character, numbers)
        else:
            self._by_place(character)

    def _by_number(self, character: Character, numbers: Integers | None) -> None:
        assert self.text is not None
        count = self.text.count
        if not count:
            raise Refused(f"{self.path} has no weights to start from: add --start-from fresh")
        bones = self._bones(character, self.text.names)
        first = 0
        for k, skinned in enumerate(character.skinned):
            used = np.concatenate([part.used for part in skinned.primitives])
            own = used if numbers is None else numbers[used]
            if numbers is None:
                own, first = first + own, first + skinned.primitives[0].count
            if own.max() >= count:
                raise Refused(
                    f"{self.path} has weights for {count} vertices, but the mesh has more: "
                    "use the .obj file for which the rig was made, or add --start-from fresh"
                )
            rows = self.text.rows(int(own.max()) + 1)
            _give(character, k, rows, own[:, None], np.ones((len(own), 1)), bones)

    def _by_place(self, character: Character) -> None:
        """Takes the weights of the nearest point on the predicted mesh, because the network may
        have used a simpler mesh."""
        other = self._characters[0]
        points, triangles, _first = join_meshes(other.meshes)
        rows = join_sparse_weights(other.weights)
        bones = self._bones(character, other.skeleton.names)
        size = float(np.ptp(points, axis=0).max()) or 1.0
        for k, mesh in enumerate(character.meshes):
            corners, shares, heights, _parts = engine.nearest_points(
                points, triangles, mesh.vertices
            )
            away = np.abs(heights)
            lost = int((away > SAME_PLACE * size).sum())
            if lost:
                raise Refused(
                    f"{self.path} belongs to another mesh: {lost:,} of the {len(away):,} vertices "
                    f"of '{mesh.name}' have no surface there. Add --start-from fresh to take only "
                    "its skeleton"
                )
            _give(character, k, rows, corners, shares, bones)

    def _bones(self, character: Character, names: list[str]) -> Integers:
        """The bone of the character for each of these joints, (m,). Raises Refused."""
        place = {name: bone for bone, name in enumerate(character.skeleton.names)}
        missing = [name for name in names if name not in place]
        if len(missing) == len(names):
            raise Refused(f"{self.path} and {character.name} have no joint of the same name")
        return np.array([place.get(name, -1) for name in names])


def _give(
    character: Character,
    number: int,
    rows: SparseWeights,
    own: Integers,
    shares: Floats,
    bones: Integers,
) -> None:
    """Assigns the weights of one mesh. Each vertex gets the mean of the rows `own` (n, k), weighted
    by `shares` (n, k), with bone numbers mapped by `bones`."""
    skinned, width = character.skinned[number], own.shape[1]
    rows = rows.of_vertices(own.ravel())
    named, values = bones[rows.bones], rows.weights * shares.ravel()[rows.vertices]
    keep = (named >= 0) & (values > 0)
    given = summed_entries(len(own), rows.vertices[keep] // width, named[keep], values[keep])
    character.skinned[number] = replace(skinned, mesh=replace(skinned.mesh, weights=given))
