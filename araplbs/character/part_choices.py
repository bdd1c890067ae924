"""Gives loose parts to the bones that an artist has chosen for them, as pinned weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..model.edits import Pairs
from ..skeleton.skeleton import Skeleton
from .mesh import Mesh
from .rigid_parts import loose_parts


def with_choices(
    meshes: Sequence[Mesh], skeleton: Skeleton, choices: Sequence[Mapping[str, Any]]
) -> list[Mesh]:
    """The Meshes with these choices, each of which gives the loose part with a vertex to a bone:
    {"object": name of the mesh, "vertex": index, "bone": name or index}. Other keys are ignored, so
    the list `doubtful_parts` of a report can be used. "object" may be missing if there is only one
    mesh. Raises ValueError."""
    found = list(meshes)
    labels: dict[int, Any] = {}
    for k, choice in enumerate(choices):
        mesh, vertex, bone = _read(f"parts[{k}]", choice, found, skeleton)
        if mesh not in labels:
            labels[mesh] = loose_parts(found[mesh])
        part = np.flatnonzero(labels[mesh] == labels[mesh][vertex])
        edits = found[mesh].edits
        kept = edits.constraints.of(~np.isin(edits.constraints.vertices, part))
        pins = kept + Pairs(part, np.full(len(part), bone), np.ones(len(part)))
        found[mesh] = replace(found[mesh], edits=replace(edits, constraints=pins))
    return found


def _read(
    where: str, choice: Any, meshes: Sequence[Mesh], skeleton: Skeleton
) -> tuple[int, int, int]:
    """Returns (number of the mesh, vertex, bone)."""
    if not isinstance(choice, Mapping) or not {"vertex", "bone"} <= set(choice):
        raise ValueError(f'{where} is {choice!r}: must have a "vertex" and a "bone"')
    names = [mesh.name for mesh in meshes]
    name = choice.get("object", names[0] if len(names) == 1 else None)
    if name not in names:
        raise ValueError(f"{where} names the object {name!r}, but there are {', '.join(names)}")
    mesh, vertex, bone = names.index(name), choice["vertex"], choice["bone"]
    count = len(meshes[mesh].vertices)
    if not _is_index(vertex, count):
        raise ValueError(f"{where} has the vertex {vertex!r}, but there are {count} vertices")
    if isinstance(bone, str) and bone in skeleton.names:
        bone = skeleton.names.index(bone)
    if not _is_index(bone, len(skeleton.names)):
        raise ValueError(f"{where} names the bone {bone!r}, which does not exist")
    if not skeleton.deform[bone]:
        raise ValueError(f"{where} names the bone '{skeleton.names[bone]}', which does not deform")
    return mesh, int(vertex), int(bone)


def _is_index(value: Any, count: int) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and 0 <= value < count
