"""Compares the measures of two methods of weighting.

A row is a character: {"name", "painted", "ways": {way: {kind of poses: {measure: value}}}}."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Measure:
    key: str
    kind: str  # of poses
    head: str  # of a column
    form: str = ".2f"
    unit: str = ""
    painted: bool = False  # only where the artist's weights owe nothing to bone heat
    geometric: bool = False

    def values(self, rows, way):
        """The values of the measure in the rows, NaN where it is missing. Lower values are
        better."""
        found = []
        for row in rows:
            counts = row["painted"] or not self.painted
            value = row["ways"].get(way, {}).get(self.kind, {}).get(self.key)
            found.append(np.nan if value is None or not counts else value)
        return np.abs(np.array(found, float))  # also of a gained volume

    def mean(self, values):
        if self.geometric:
            return float(np.exp(np.log(np.maximum(values, 1e-12)).mean()))
        return float(values.mean())

    def shown(self, value):
        return f"{100 * value if self.unit == '%' else value:{self.form}}"


def compared(rows, measure, way, base):
    """(names, values of the method, values of the base) for the rows in which both are known."""
    own, other = measure.values(rows, way), measure.values(rows, base)
    known = np.isfinite(own) & np.isfinite(other)
    names = [row["name"] for row, is_known in zip(rows, known, strict=True) if is_known]
    return names, own[known], other[known]


def beside(rows, measure, way, base):
    """A cell of a table of means: the ratio of geometric means, otherwise both means."""
    _, own, other = compared(rows, measure, way, base)
    if not len(own):
        return "-"
    means = measure.mean(own), measure.mean(other)
    if measure.geometric:
        return f"{means[0] / means[1]:.2f}"
    return " / ".join(map(measure.shown, means))
