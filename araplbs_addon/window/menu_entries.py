"""Lets operators declare their own entries in menus and panels."""


class Placed:
    """Mix-in for an operator or a menu that has entries.

    places: ((name of a menu or panel, order), ...); in each place the lowest order comes first.
    icon: of the entries."""

    places = ()
    icon = "NONE"

    @classmethod
    def draw_entry(cls, layout):
        layout.operator(cls.bl_idname, icon=cls.icon)

    @classmethod
    def draw_row(cls, layout):
        """Draws its entry in a panel of the tab, if it differs from the menu entry."""
        cls.draw_entry(layout)


def entries(classes, place):
    """The classes with entries in that place, in their order."""
    orders = [(dict(each.places).get(place), each) for each in classes if issubclass(each, Placed)]
    found = [(order, each) for order, each in orders if order is not None]
    return [each for _order, each in sorted(found, key=lambda pair: pair[0])]
