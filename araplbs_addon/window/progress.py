"""Provides the progress of the current work, which the sidebar shows in place of the button that
started the work."""

from typing import NamedTuple

from ..blender.data.views import redraw_sidebars


class Progress(NamedTuple):
    words: str  # such as "Weighting"
    fraction: float

    @property
    def text(self):
        return f"{self.words} {100 * self.fraction:.0f} %" if self.fraction else self.words


_at_hand: list[Progress] = []


def progress_at_hand():
    """The Progress of the work that is running, or None."""
    return _at_hand[0] if _at_hand else None


def show_progress(words, fraction=0.0):
    _at_hand[:] = [Progress(words, fraction)]
    redraw_sidebars()
    return _at_hand[0]


def end_progress():
    _at_hand.clear()
    redraw_sidebars()
