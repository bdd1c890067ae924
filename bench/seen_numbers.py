"""Computes the numbers of the page *seen* over its characters, from the rows that seen.py measures.

A row: {"name", "painted", "ways": {way: {kind of poses: {measure: value}, "seconds"}}}."""

import numpy as np
from yardstick import FLOORS, regrets


def value(row, way, kind, key):
    """NaN if the value is missing, or the method has failed."""
    found = row["ways"].get(way)
    if found and key == "seconds":
        return np.nan if found["seconds"] is None else found["seconds"]
    if not found or kind not in found or found["random"]["unweighted"]:
        return np.nan
    return found[kind].get(key, np.nan)


def values(rows, way, kind, key):
    return np.array([value(row, way, kind, key) for row in rows])


def shown(number, form, factor=1):
    return "-" if np.isnan(number) else f"{factor * number:{form}}"


def mean_ratio(rows, way, base, kind, key):
    """Geometric mean over the characters in which both are known."""
    ratio = values(rows, way, kind, key) / values(rows, base, kind, key)
    ratio = ratio[np.isfinite(ratio) & (ratio > 0)]
    return np.exp(np.log(ratio).mean()) if len(ratio) else np.nan


def mean(rows, way, kind, key, base="heat"):
    """Arithmetic mean over the characters in which the base is known as well."""
    own, other = values(rows, way, kind, key), values(rows, base, kind, key)
    known = np.isfinite(own) & np.isfinite(other)
    return own[known].mean() if known.any() else np.nan


def worse(rows, way, base, kind, key):
    """How many characters are worse, out of how many."""
    own, other = values(rows, way, kind, key), values(rows, base, kind, key)
    known = np.isfinite(own) & np.isfinite(other)
    return f"{(own[known] > 1.001 * other[known]).sum()} of {known.sum()}" if known.any() else "-"


def regretted(row, way, rival):
    """The measures by which a method is worse than a rival on the character's animation or, without
    one, in random poses; None if one of them has failed."""
    kind = "animation" if "animation" in row["ways"][way] else "random"
    both = [{key: value(row, each, kind, key) for key in FLOORS} for each in (way, rival)]
    return None if any(np.isnan(each["area"]) for each in both) else regrets(*both)


def regretful(rows, way, rival):
    """How many characters have regrets, out of how many."""
    known = [found for row in rows if (found := regretted(row, way, rival)) is not None]
    return f"{sum(map(bool, known))} of {len(known)}" if known else "-"
