"""Quantizes weights to the form that game engines store: whole 8-bit or 16-bit steps that sum to
exactly 1.

Every weight is rounded down to a step. The missing steps go to the weights with the largest
remainders, one step each. No other steps with the same sum are closer to the weights. If influences
are limited, the largest ones are kept and normalized, although Auto-weight with the same limit
finds better weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers, ranks
from ..base.option_table import OptionTable, option
from ..character.mesh import places_of
from ..model.sparse_weights import SparseWeights

STEPS = {"8": 255, "16": 65535, "NONE": 0}
PLATFORMS = {"MOBILE": 2, "GAME": 4, "FILM": 0}
MOST_STEPS = 255  # number of influences that fit into 8 bits


@dataclass(frozen=True)
class QuantizeOptions(OptionTable):
    """The options of quantizing. Raises BadOption for a value outside its limits."""

    bits: str = option(
        "8",
        "Bits",
        "How the engine stores a weight",
        choices=(
            ("8", "8 Bits", "Steps of 1/255"),
            ("16", "16 Bits", "Steps of 1/65535"),
            ("NONE", "Float", "No steps. Weights sum to 1 within floating-point precision"),
        ),
    )
    platform: str = option(
        "GAME",
        "Platform",
        "How many bones may move one vertex. A material can have its own limit",
        choices=(
            ("MOBILE", "Mobile (2)", "2 bones"),
            ("GAME", "Game (4)", "4 bones"),
            ("FILM", "Film (Any)", "Any number of bones"),
            ("CUSTOM", "Custom", "The number set in Max Influences"),
        ),
    )
    max_influences: int = option(
        8,
        "Max Influences",
        "Maximum number of bones that move a vertex on the Custom platform; 0 for no limit",
        min=0,
        max=MOST_STEPS,
        soft_max=16,
    )
    threshold: float = option(
        0.0,
        "Threshold",
        "Smaller weights are removed, but the largest weight of a vertex is always kept",
        min=0.0,
        max=1.0,
        soft_max=0.1,
    )

    @property
    def limit(self) -> int:
        """The maximum number of influences per vertex; 0: unlimited."""
        return PLATFORMS.get(self.platform, self.max_influences)


def vertex_limits(
    points: Floats, faces: tuple[Integers, Integers], limits: Sequence[int] | Integers, usual: int
) -> Integers:
    """The maximum number of influences of each vertex, (n,); 0: unlimited.

    points: (n, 3). faces: (vertices, materials) of all corners of faces. limits: for each material,
    where 0 stands for `usual`. If vertices with several materials are at one place, all of them get
    the smallest limit.
    """
    most = np.iinfo(np.int64).max
    of_material = np.where(np.asarray(limits) > 0, limits, usual or most)
    place = places_of(points)
    found = np.full(len(points), most)
    vertices, materials = place[faces[0]], faces[1]
    np.minimum.at(found, vertices, of_material[materials])
    bare = np.ones(len(points), bool)
    bare[vertices] = False
    found[bare] = usual or most
    return np.where(found == most, 0, found)[place]


def quantize(
    rows: SparseWeights, steps: int, limits: Integers, threshold: float = 0.0
) -> SparseWeights:
    """Rounds these SparseWeights to whole steps that sum to exactly 1: the values round(weight *
    steps) of a row are integers that sum to `steps`. Empty rows stay empty.

    steps: 0 for floats that sum to 1. limits (n,): maximum number of influences, 0 for unlimited.
    threshold: weights below it, relative to a sum of 1, are removed.
    """
    rows = rows.of(rows.weights > 0).normalized()
    rank, most = ranks(rows.vertices, -rows.weights, rows.bones), limits[rows.vertices]
    is_allowed = (most == 0) | (rank < most)
    rows = rows.of(is_allowed & ((rows.weights >= threshold) | (rank == 0))).normalized()
    if not steps:
        return rows
    wanted = rows.weights * steps
    whole = np.floor(wanted).astype(np.int64)
    missing = steps - np.bincount(rows.vertices, whole, rows.count).astype(np.int64)
    rank = ranks(rows.vertices, whole - wanted, -rows.weights, rows.bones)
    whole += rank < missing[rows.vertices]
    return rows._replace(weights=whole / steps).of(whole > 0)


def summary_of_quantized(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    steps = STEPS[report["options"]["bits"]]
    how = f"multiples of 1/{steps} that sum to exactly 1" if steps else "floats that sum to 1"
    changed = sum(each["changed"] + each["removed"] for each in report["objects"])
    most = max(each["most_influences"] for each in report["objects"])
    largest = max(each["largest_change"] for each in report["objects"])
    return (
        f"Weights are {how}, with at most {most} influences: {changed:,} entries changed "
        f"by at most {largest:.4f}"
    )


def quantized(before: SparseWeights, after: SparseWeights) -> dict[str, Any]:
    """The part of a report about one mesh, with these weights before and after."""
    return {
        "most_influences": int(np.diff(after.start).max()),
        "largest_change": float(before.differences(after)[1].max(initial=0)),
    }
