"""Finds out what else uses an accessor or its bytes, so that only bytes with one use are replaced.

All uses are collected once, because a file can have thousands of primitives. Accessors are sorted
by their first byte. An accessor can only overlap those before it until the highest end so far is
at or before its first byte."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import Any

from ...base.refusal import Refused
from .accessors import add_accessor, number_of, shape_of, view_range
from .container import Document

Range = tuple[int, int, int, int, int]  # buffer, first byte, end, step, bytes of an element


class Uses:
    """The uses of accessors and buffer views. The document's attributes, accessors and bind
    matrices must only be changed through its methods while it is in use."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.primitives: dict[int, Counter[tuple[int, str]]] = {}  # by accessor: (id, attribute)
        self.others: Counter[object] = Counter()  # by accessor
        for mesh in document.items("meshes"):
            for primitive in mesh.get("primitives", []):
                for name, number in primitive.get("attributes", {}).items():
                    self._count(primitive, name, number, 1)
                self.others[primitive.get("indices")] += 1
                for target in primitive.get("targets", []):
                    self.others.update(target.values())
        self.matrices: Counter[object] = Counter(
            skin.get("inverseBindMatrices") for skin in document.items("skins")
        )
        for animation in document.items("animations"):
            for sampler in animation.get("samplers", []):
                self.others.update((sampler.get("input"), sampler.get("output")))
        self.views: Counter[object] = Counter()
        for accessor in document.items("accessors"):
            self._count_views(accessor, 1)
        self.views.update(i["bufferView"] for i in document.items("images") if "bufferView" in i)
        self._ranges: list[Range | None] = [
            self._range(k) for k in range(len(document.items("accessors")))
        ]
        self._sort()

    def _count(self, primitive: dict[str, Any], name: str, number: int, by: int) -> None:
        self.primitives.setdefault(number, Counter())[id(primitive), name] += by

    def attribute(self, primitive: dict[str, Any], name: str, number: int | None) -> None:
        """Gives a primitive another accessor as an attribute, or removes the attribute."""
        attributes = primitive["attributes"]
        if name in attributes:
            key, own = (id(primitive), name), self.primitives[attributes.pop(name)]
            del own[key]
        if number is not None:
            attributes[name] = number
            self._count(primitive, name, number, 1)

    def _count_views(self, accessor: dict[str, Any], by: int) -> None:
        """Adds or removes the uses of buffer views by an accessor."""
        sparse = accessor.get("sparse", {})
        for part in (accessor, sparse.get("indices", {}), sparse.get("values", {})):
            if "bufferView" in part:
                self.views[part["bufferView"]] += by

    def elsewhere(self, number: int, primitives: list[dict[str, Any]], name: str) -> bool:
        """Whether an accessor is used other than as this attribute of these primitives."""
        if self.others[number] or self.matrices[number]:
            return True
        own = {(id(primitive), name) for primitive in primitives}
        return any(use not in own for use in self.primitives.get(number, ()))

    def add(self, accessor: dict[str, Any]) -> int:
        """Adds an accessor to the list and returns its number."""
        number = add_accessor(self.document, accessor)
        self._count_views(accessor, 1)
        self._ranges.append(self._range(number))
        return number

    def replace(self, number: int, accessor: dict[str, Any]) -> None:
        """Gives an accessor other entries, with bytes of its own."""
        old = self.document.item("accessors", number)
        self._count_views(old, -1)
        old.clear()
        old.update(accessor)
        self._count_views(old, 1)
        self._ranges[number] = self._range(number)

    def overlaps(self, number: int) -> bool:
        """Whether any other accessor shares bytes with this one. Accessors that were added or
        replaced have bytes of their own."""
        own = self._ranges[number]
        if own is None:
            return False
        order, begins, highest = self._sorted.get(own[0], ([], [], []))
        place = bisect_left(begins, own[2])
        while place and highest[place - 1] > own[1]:
            place -= 1
            if order[place] != number and _meet(own, self._ranges[order[place]]):
                return True
        return False

    def _sort(self) -> None:
        """For each buffer: the accessors by their first byte, these bytes, and the highest end so
        far."""
        found: dict[int, list[tuple[int, int, int]]] = {}
        for number, own in enumerate(self._ranges):
            if own is not None:
                found.setdefault(own[0], []).append((own[1], number, own[2]))
        self._sorted: dict[int, tuple[list[int], list[int], list[int]]] = {}
        for buffer, each in found.items():
            each.sort()
            highest = list(accumulate((end for _begin, _number, end in each), max))
            numbers, begins = [number for _b, number, _e in each], [begin for begin, _n, _e in each]
            self._sorted[buffer] = numbers, begins, highest

    def _range(self, number: int) -> Range | None:
        document = self.document
        accessor, what = document.item("accessors", number), f"accessor {number}"
        if "bufferView" not in accessor:
            return None
        view = document.item("bufferViews", accessor["bufferView"])
        if view.get("extensions"):
            return None
        buffer, begin, _length, step = view_range(document, accessor["bufferView"])
        try:
            count, width, component = shape_of(accessor, what)
        except Refused:  # a type that no skin has
            return None
        size = width * component.itemsize
        begin += number_of(accessor, "byteOffset", what, 0)
        step = step or size
        return buffer, begin, begin + (count - 1) * step + size, step, size


def _meet(one: Range | None, other: Range | None) -> bool:
    if one is None or other is None or one[0] != other[0]:
        return False
    if one[1] >= other[2] or other[1] >= one[2]:
        return False
    if one[3] != other[3]:
        return True
    apart = (other[1] - one[1]) % one[3]  # interleaved: they never share bytes
    return not (apart >= one[4] and one[3] - apart >= other[4])
