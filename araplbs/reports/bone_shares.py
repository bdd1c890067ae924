"""Lists the bones that move one vertex, with their shares of its weight."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 4  # bones that are listed
LEAST = 0.005  # smallest share that rounds to 1 %


def shares(weights: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Returns [(bone, fraction of the total weight)] for the [(bone, weight)] of a vertex, the
    largest share first."""
    positive = [(name, weight) for name, weight in weights if weight > 0]
    total = sum(weight for _name, weight in positive)
    listed = [(name, weight / total) for name, weight in positive if weight / total >= LEAST]
    return sorted(listed, key=lambda each: (-each[1], each[0]))


def share_lines(found: Sequence[tuple[str, float]]) -> list[str]:
    """Lines such as ['upper_arm.L 62 %', ...]; the last one gives the total of the remaining
    bones."""
    lines = [f"{name}  {100 * share:.0f} %" for name, share in found[:MOST]]
    remainder = sum(share for _name, share in found[MOST:])
    return lines + ([f"+{len(found) - MOST}  {100 * remainder:.0f} %"] if remainder else [])
