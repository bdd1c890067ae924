"""Operators declare their own places in menus and panels."""


class Placed:
    """To be mixed into an operator, or a menu, that has entries.

    places: ((name of a menu or panel, order), ...); in each place the smallest order comes first.
    icon: of the entries."""

    places = ()
    icon = "NONE"

    @classmethod
    def draw_entry(cls, layout):
        layout.operator(cls.bl_idname, icon=cls.icon)

    @classmethod
    def draw_row(cls, layout):
        """Its entry in a panel of the tab, if it differs from that in a menu."""
        cls.draw_entry(layout)


def entries(classes, place):
    """The classes in that place, in their order."""
    orders = [(dict(each.places).get(place), each) for each in classes if issubclass(each, Placed)]
    found = [(order, each) for order, each in orders if order is not None]
    return [each for _order, each in sorted(found, key=lambda pair: pair[0])]
