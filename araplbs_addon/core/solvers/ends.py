"""Where weightings have ended: what begins there again, with nothing changed, has nothing to do."""

import hashlib
from collections import deque
from typing import Any

import numpy as np

from ..character.options import Options
from ..character.problem import Problem
from ..character.sparse_weights import SparseWeights

MOST = 2  # that are remembered
SAME = 1e-6  # vertex groups are of single precision
STARTS = ("weights", "start_from_weights")  # arguments that say where to begin, not what is wanted

_ends: deque[tuple[bytes, SparseWeights]] = deque(maxlen=MOST)


def remember_end(problem: Problem, options: Options, rows: SparseWeights) -> None:
    """These SparseWeights are what the solver comes to."""
    _ends.append((_digest(problem, options), rows))


def is_end(problem: Problem, options: Options, rows: SparseWeights) -> bool:
    """Whether a weighting of the same problem, with the same options, has ended with these."""
    digest = _digest(problem, options) if _ends else b""
    return any(known == digest and same_weights(rows, end) for known, end in _ends)


def same_weights(one: SparseWeights, other: SparseWeights) -> bool:
    """Up to the precision of vertex groups; what is 0 may be missing."""
    if one.count != other.count:
        return False
    bones = 1 + max(one.bones.max(initial=0), other.bones.max(initial=0))
    keys = [rows.vertices * bones + rows.bones for rows in (one, other)]
    _keys, place = np.unique(np.concatenate(keys), return_inverse=True)
    apart = np.bincount(place, np.concatenate([one.weights, -other.weights]))
    return not len(apart) or bool(np.abs(apart).max() <= SAME)


def _digest(problem: Problem, options: Options) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    wanted = {k: v for k, v in options.as_dict().items() if k != "start_from"}
    given = {k: v for k, v in problem.arguments.items() if k not in STARTS}
    for name, value in sorted({**wanted, **given}.items()):
        state.update(name.encode())
        _take(state, value)
    return state.digest()


def _take(state: Any, value: object) -> None:
    if isinstance(value, np.ndarray):
        state.update(f"{value.dtype}{value.shape}".encode())
        state.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (tuple, list)):
        state.update(f"({len(value)}".encode())
        for each in value:
            _take(state, each)
    elif isinstance(value, float):
        state.update(np.float32(value).tobytes())  # as properties of operators hold it
    else:
        state.update(repr(value).encode())
