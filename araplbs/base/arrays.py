"""Short names for the types of NumPy arrays, and operations on indices. Docstrings give the
shapes."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Integers: TypeAlias = NDArray[np.integer[Any]]
Bools: TypeAlias = NDArray[np.bool_]
Array: TypeAlias = NDArray[Any]  # one of several types
Index: TypeAlias = int | np.integer[Any]


def ranges(begins: Integers, counts: Integers) -> Integers:
    """The numbers begin, begin + 1, ... of several ranges, one range after another."""
    return np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)


def ranks(owners: Integers, *keys: Array) -> Integers:
    """The rank of each entry among those of its owner, in ascending order of these keys, (k,)."""
    order, counts = np.lexsort((*keys[::-1], owners)), np.bincount(owners)
    rank = np.empty(len(order), np.int64)
    rank[order] = ranges(np.zeros_like(counts), counts)
    return rank


def components(count: int, pairs: Integers) -> Integers:
    """For each of `count` numbers, the lowest one that these pairs (k, 2) connect it to."""
    label = np.arange(count)
    while len(pairs):
        ends, before = label[pairs], label.copy()
        low = ends.min(axis=1)
        np.minimum.at(label, ends[:, 0], low)
        np.minimum.at(label, ends[:, 1], low)
        label = label[label]
        if np.array_equal(label, before):
            break
    return label


def found_in(keys: Integers, ordered: Integers) -> tuple[Integers, Bools]:
    """Returns (index of each key in the ascending keys `ordered`, whether it is there). The index
    of a key that is not there is arbitrary."""
    places = np.minimum(np.searchsorted(ordered, keys), max(len(ordered) - 1, 0))
    return places, ordered[places] == keys if len(ordered) else np.zeros(keys.shape, bool)
