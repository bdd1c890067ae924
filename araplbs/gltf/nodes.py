"""Represents the node tree of a glTF file, with the transforms of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..base.arrays import Array, Floats
from ..base.refusal import Refused
from .file.container import Document

ROOT = -1  # above all nodes


class Nodes:
    """parents, children: of each node and of `ROOT`. names: the names in the file, or names based
    on the node's number."""

    def __init__(self, document: Document) -> None:
        self.items = document.items("nodes")
        count = len(self.items)
        self.parents = [ROOT] * count
        self.children: dict[int, list[int]] = {}
        for number, node in enumerate(self.items):
            below = node.get("children", [])
            for child in below:
                document.item("nodes", child)
                if self.parents[child] != ROOT:
                    raise Refused(f"node {child} is a child of two nodes")
                self.parents[child] = number
            self.children[number] = list(below)
        self.children[ROOT] = [n for n in range(count) if self.parents[n] == ROOT]
        self.tops = [ROOT] * count  # the ancestor without a parent, or the node itself
        reached = 0
        for number in self.below(ROOT):
            above = self.parents[number]
            self.tops[number] = number if above == ROOT else self.tops[above]
            reached += 1
        if reached < count:
            raise Refused("has nodes that are their own ancestors")
        self.names = [str(node.get("name") or f"Node_{n}") for n, node in enumerate(self.items)]

    def below(self, node: int) -> Iterator[int]:
        """All descendants of this node, parents first, in the order of the file."""
        stack = self.children[node][::-1]
        while stack:
            node = stack.pop()
            yield node
            stack += self.children[node][::-1]

    def above(self, node: int) -> Iterator[int]:
        """The node itself, its parent and so on, without ROOT."""
        while node != ROOT:
            yield node
            node = self.parents[node]

    def common_ancestor(self, nodes: Iterable[int]) -> int:
        """The lowest node that is, or is an ancestor of, each of these nodes. Otherwise ROOT."""
        first, *rest = nodes
        path = [ROOT, *list(self.above(first))[::-1]]
        joins = {node: depth for depth, node in enumerate(path)}  # where its path meets this one
        lowest = len(path) - 1
        for node in rest:
            passed = []
            while node not in joins:
                passed.append(node)
                node = self.parents[node]
            joins |= dict.fromkeys(passed, joins[node])
            lowest = min(lowest, joins[node])
        return path[lowest]

    def local(self, node: int) -> Floats:
        """The transform in the space of the parent, (4, 4)."""
        if "matrix" in self.items[node]:
            return self._numbers(node, "matrix", np.eye(4).ravel()).reshape(4, 4).T
        return composed(*self.place(node))

    def place(self, node: int) -> tuple[Floats, Floats, Floats]:
        """Returns (translation, rotation matrix, scale) in the space of the parent."""
        if "matrix" in self.items[node]:
            return decomposed(self.local(node))
        translation = self._numbers(node, "translation", (0, 0, 0))
        rotation = self._numbers(node, "rotation", (0, 0, 0, 1))
        return translation, turn_of(rotation), self._numbers(node, "scale", (1, 1, 1))

    def world(self, node: int) -> Floats:
        """The transform in world space, (4, 4)."""
        found = np.eye(4)
        for each in self.above(node):
            found = self.local(each) @ found
        return found

    def _numbers(self, node: int, name: str, default: Sequence[float] | Floats) -> Floats:
        value = self.items[node].get(name, default)
        try:
            found = np.array(value, np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (len(default),) or not np.isfinite(found).all():
            raise Refused(f"node {node} has '{name}' {value!r}")
        return found


def composed(translation: Array, turn: Array, scale: Array) -> Floats:
    """Composes transforms (..., 4, 4) from translations (..., 3), rotation matrices (..., 3, 3) and
    scales (..., 3)."""
    found = np.zeros((*np.shape(translation)[:-1], 4, 4))
    found[..., :3, :3] = np.asarray(turn) * np.asarray(scale)[..., None, :]
    found[..., :3, 3] = translation
    found[..., 3, 3] = 1
    return found


def turn_of(quaternions: Array) -> Floats:
    """Converts quaternions (..., x y z w) to rotation matrices (..., 3, 3). Zero gives the
    identity."""
    length = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    unit = np.where(length > 0, quaternions / np.where(length > 0, length, 1), (0, 0, 0, 1))
    x, y, z, w = np.moveaxis(unit, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def decomposed(matrix: Array) -> tuple[Floats, Floats, Floats]:
    """Decomposes a matrix (4, 4) into (translation, rotation matrix, scale), ignoring shear."""
    axes = np.asarray(matrix, np.float64)[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    turn = axes / np.where(scale > 0, scale, 1)
    if np.linalg.det(turn) < 0:
        turn, scale = -turn, -scale
    # The nearest rotation, which distributes shear over all axes.
    u, _s, vt = np.linalg.svd(turn)
    return (
        matrix[:3, 3].copy(),
        u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt)) or 1]) @ vt,
        scale,
    )
