"""Counts the rows of a panel with a layout that records what is drawn into it."""


class Rows:
    """Replaces a UILayout. The tallest part of a row counts, and all parts of a column do."""

    def __init__(self, kind="column", columns=1):
        self.__dict__.update(kind=kind, columns=columns, parts=[], words=[])

    def __setattr__(self, _name, _value):
        """scale_y, alignment, enabled..."""

    def __getattr__(self, name):
        if name in {"row", "split"}:
            return lambda **_options: self._in(Rows("row"))
        if name in {"column", "box"}:
            return lambda **_options: self._in(Rows())
        if name == "grid_flow":
            return lambda columns=1, **_options: self._in(Rows("grid", columns))
        if name == "template_list":
            return lambda *_arguments, rows=5, **_options: self.parts.append(rows)
        if name == "template_icon":
            return lambda scale=1.0, **_options: self.parts.append(scale)
        return self._element

    def _in(self, layout):
        self.parts.append(layout)
        layout.__dict__["words"] = self.words
        return layout

    def _element(self, *_arguments, text=None, **_options):
        self.parts.append(1)
        self.words.append(text)
        return Rows()

    @property
    def count(self):
        counts = [part if isinstance(part, (int, float)) else part.count for part in self.parts]
        if self.kind == "row":
            return max(counts, default=0)
        if self.kind == "grid":
            return -(-len(counts) // self.columns)
        return sum(counts)
