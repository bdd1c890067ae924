"""Lets operators declare their own entries in menus and panels."""

from ..languages.translate import translated
from .sidebar import in_narrow


class Placed:
    """Mix-in for an operator or a menu that has entries.

    places: ((name of a menu or panel, order), ...); in each place, the lowest order comes first.
    icon: the icon of the entries. row_text: the text in a panel of the tab, if it differs from the
    text in the menu. row_short: a short text for a narrow tab."""

    places = ()
    icon = "NONE"
    row_text = row_short = ""

    @classmethod
    def draw_entry(cls, layout):
        layout.operator(cls.bl_idname, icon=cls.icon)

    @classmethod
    def draw_row(cls, layout):
        """Draws the entry of the class in a panel of the tab."""
        layout, text, icon = cls.row_parts(layout)
        layout.operator(cls.bl_idname, text=translated(text), icon=icon)

    @classmethod
    def row_parts(cls, layout, arrow=0.0):
        """See in_narrow()."""
        return in_narrow(layout, cls.row_text or cls.bl_label, cls.icon, cls.row_short, arrow)


def entries(classes, place):
    """The classes with entries in this place, in their order."""
    orders = [(dict(kind.places).get(place), kind) for kind in classes if issubclass(kind, Placed)]
    placed = [(order, kind) for order, kind in orders if order is not None]
    return [kind for _order, kind in sorted(placed, key=lambda pair: pair[0])]
