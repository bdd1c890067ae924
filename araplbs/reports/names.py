"""Names in sentences."""

from collections.abc import Sequence

MOST_NAMES = 5


def names_in_line(names: Sequence[str]) -> str:
    """'A, B, C and 4 more'."""
    shown = ", ".join(names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
