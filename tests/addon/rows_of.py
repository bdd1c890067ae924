"""Records what is drawn into a layout: rows, words, elements and buttons."""

from functools import partial
from types import SimpleNamespace

import bpy


class Rows:
    """Replaces a UILayout. The tallest part of a row counts, and all parts of a column do.

    For all parts: `words`: texts; `seen`: (what, name or text, text) of elements; `buttons`:
    (idname, text, its options)."""

    def __init__(self, kind="column", columns=1, above=None):
        names = ("words", "seen", "buttons")
        lists = {name: getattr(above, name) if above else [] for name in names}
        self.__dict__.update(lists, kind=kind, columns=columns, parts=[])

    def __setattr__(self, _name, _value):
        """scale_y, alignment, enabled..."""

    def __getattr__(self, name):
        if name in {"row", "split"}:
            return lambda **_options: self._part("row")
        if name in {"column", "box"}:
            return lambda **_options: self._part()
        if name == "grid_flow":
            return lambda columns=1, **_options: self._part("grid", columns)
        if name == "template_list":
            return lambda *_arguments, rows=5, **_options: self.parts.append(rows)
        if name == "template_icon":
            return lambda scale=1.0, **_options: self.parts.append(scale)
        return partial(self._element, name)

    def _part(self, *kind):
        self.parts.append(Rows(*kind, above=self))
        return self.parts[-1]

    def _element(self, what, *arguments, text=None, **_options):
        self.parts.append(1)
        self.words.append(text)
        if what == "prop":
            owner, name = arguments[:2]
            own = text is None and hasattr(owner, "bl_rna")
            self.seen.append((what, name, owner.bl_rna.properties[name].name if own else text))
        elif what in {"label", "operator", "menu"}:
            self.seen.append((what, arguments[0] if arguments else "", text or ""))
        if what == "operator":
            self.buttons.append((arguments[0], text, SimpleNamespace()))
            return self.buttons[-1][2]
        return Rows(above=self)

    @property
    def count(self):
        counts = [part if isinstance(part, (int, float)) else part.count for part in self.parts]
        if self.kind == "row":
            return max(counts, default=0)
        if self.kind == "grid":
            return -(-len(counts) // self.columns)
        return sum(counts)


def drawn(panel):
    """The layout into which a panel has drawn in the present context."""
    own = {name: getattr(panel, name) for name in dir(panel) if name.startswith("_draw")}
    stand_in = type("Panel", (), {**own, "layout": Rows()})()
    stand_in.split_layout = lambda: stand_in.layout
    panel.draw(stand_in, bpy.context)
    return stand_in.layout
