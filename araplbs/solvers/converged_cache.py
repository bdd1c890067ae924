"""Caches the final weights of earlier weightings. A new weighting that starts from these weights
without other changes has nothing to do. The weights are stored for each mesh separately, so the
cache also applies to one of several meshes that were weighted together."""

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..character.mesh import Mesh
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton

MOST = 2  # number of remembered weightings
SAME = 1e-6  # vertex groups have single precision
# All data that the weights of each mesh depend on; the rest is derived or only for the report.
OF_MESH = (
    *("vertices", "triangles", "edges", "matrix", "reflections", "edits"),
    *("locked_bones", "locked_vertices"),
)
OF_SKELETON = (
    *("names", "heads", "tails", "parents", "roll_axes", "deform", "limits", "opposite"),
    *("kinds", "segments", "stretch", "own_stretch", "volume", "joint_axes"),
)
OF_POSES = ("transforms", "joints", "whole", "weights")

_ends: deque[dict[bytes, SparseWeights]] = deque(maxlen=MOST)


def remember_end(
    meshes: Sequence[Mesh],
    skeleton: Skeleton,
    poses: Poses | None,
    options: Options,
    rows: Sequence[SparseWeights],
) -> None:
    """Stores these SparseWeights of each mesh as the final weights of the solver."""
    _ends.append(dict(zip(_digests(meshes, skeleton, poses, options), rows, strict=True)))


def is_end(
    meshes: Sequence[Mesh], skeleton: Skeleton, poses: Poses | None, options: Options
) -> bool:
    """Whether an earlier weighting ended with the weights that these Meshes include."""
    if not _ends:
        return False
    digests = _digests(meshes, skeleton, poses, options)
    return any(
        all(
            digest in end and mesh.weights is not None and same_weights(mesh.weights, end[digest])
            for digest, mesh in zip(digests, meshes, strict=True)
        )
        for end in _ends
    )


def same_weights(one: SparseWeights, other: SparseWeights) -> bool:
    """Whether two SparseWeights are equal up to the precision of vertex groups. Zeros may be
    missing."""
    if one.count != other.count:
        return False
    return bool(one.differences(other)[1].max(initial=0) <= SAME)


def _digests(
    meshes: Sequence[Mesh], skeleton: Skeleton, poses: Poses | None, options: Options
) -> list[bytes]:
    common = hashlib.blake2b(digest_size=16)
    _take(common, {k: v for k, v in options.as_dict().items() if k != "start_from"})
    _take(common, [getattr(skeleton, name) for name in OF_SKELETON])
    _take(common, poses and [getattr(poses, name) for name in OF_POSES])
    found = []
    for mesh in meshes:
        state = common.copy()
        for name in OF_MESH:
            value = getattr(mesh, name)
            no_lock = name.startswith("locked") and value is not None and not value.any()
            _take(state, None if no_lock else value)
        found.append(state.digest())
    return found


def _take(state: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        state.update(f"{value.dtype.str}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        _take(state, list(value))
        _take(state, list(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        _take(state, [getattr(value, each.name) for each in fields(value)])
    elif isinstance(value, (tuple, list)) and all(isinstance(each, str) for each in value):
        state.update(repr(value).encode())
    elif isinstance(value, (tuple, list)):
        state.update(f"({len(value)}".encode())
        for each in value:
            _take(state, each)
    elif isinstance(value, float):
        state.update(np.float32(value).tobytes())  # as stored in properties of operators
    else:
        state.update(repr(value).encode())
