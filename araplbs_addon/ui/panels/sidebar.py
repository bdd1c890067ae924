"""What all panels of the tab "Auto-weight" have in common."""

import textwrap

from ...live.session import current_session

TAB = "Auto-weight"
LETTER = 6.5  # pixels, about
LEAST_LETTERS = 24
POPOVER = 280  # pixels: the width of a panel that is not in the sidebar


class InTab:
    """To be mixed into a panel; own_modes: where there is something to do, by context.mode."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    own_modes = ("OBJECT", "PAINT_WEIGHT", "POSE")

    @classmethod
    def poll(cls, context):
        return context.mode in cls.own_modes

    def split_layout(self):
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout


class Closed(InTab):
    """One that is closed at first, and gives way to a session: its settings would do nothing."""

    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return super().poll(context) and not current_session()


def wrapped(text, letters):
    """Lines of at most so many letters."""
    return textwrap.wrap(text, max(letters, LEAST_LETTERS))


def draw_wrapped(layout, context, text, icon="NONE", indent=4):
    """A text in as many lines as the width of the panel asks for."""
    region, scale = context.region, context.preferences.system.ui_scale
    width = region.width if region and region.type == "UI" else POPOVER * scale
    letters = width / (LETTER * scale)
    column = layout.column(align=True)
    for number, line in enumerate(wrapped(text, int(letters) - indent)):
        follows = "BLANK1" if icon != "NONE" else "NONE"
        column.label(text=line, icon=follows if number else icon)


def draw_large(layout, operator, **more):
    """A button that is what the panel is for."""
    row = layout.row(align=True)
    row.scale_y = 1.5
    row.operator_context = "INVOKE_DEFAULT"
    return row, row.operator(operator, **more)
