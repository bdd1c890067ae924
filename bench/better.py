"""Generates lists that state what one method of weighting does better than another.

A row is a character: {"name", "painted", "ways": {way: {kind of poses: {measure: value}}}}."""

from dataclasses import dataclass

import numpy as np

MARGIN = 0.01  # a smaller difference does not count
MOST_NAMED = 3  # characters


@dataclass
class Measure:
    key: str
    kind: str  # of poses
    told: str  # of the better one
    head: str  # of a column
    form: str = ".2f"
    unit: str = ""
    more_is_better: bool = False
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

    def gain(self, own, other):
        """The relative difference, positive if the first value is better."""
        if self.more_is_better:
            own, other = other, own
        return 1 - own / np.maximum(other, 1e-12)

    def shown(self, value):
        return f"{100 * value if self.unit == '%' else value:{self.form}}"

    def shown_with_unit(self, value):
        return f"{self.shown(value)} {self.unit}".rstrip()


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


def clauses(rows, measures, way, base):
    """Returns two lists of clauses: (better in the mean, better only on single characters)."""
    in_mean, on_some = [], []
    for measure in measures:
        names, own, other = compared(rows, measure, way, base)
        if not names:
            continue
        gains = measure.gain(own, other)
        won = np.flatnonzero(gains > MARGIN)
        means = measure.mean(own), measure.mean(other)
        if measure.gain(*means) > MARGIN:
            shown = " against ".join(map(measure.shown_with_unit, means))
            on = f"better on {len(won)} of {len(names)} characters"
            in_mean.append(f"{measure.told}: {shown}, {on}")
        elif len(won):
            best = [names[k] for k in won[np.argsort(-gains[won], kind="stable")][:MOST_NAMED]]
            more = f" and {len(won) - len(best)} more" if len(won) > len(best) else ""
            on = f"{len(won)} of {len(names)} characters"
            on_some.append(f"{measure.told}: {on} ({', '.join(best)}{more})")
    return in_mean, on_some


def bullets(rows, measures, way, base, told):
    """A bullet for the method `way`, with a bullet below it for each measure on which the method is
    better than `base`."""
    in_mean, on_some = clauses(rows, measures, way, base)
    return "\n    - ".join((f"- **{told}**", *(in_mean + on_some or ["nothing"])))
