"""The common part of all panels of the tab "Auto-weight"."""

import re
import textwrap

from ..languages.translate import translated
from .session import current_session

TAB = "Auto-weight"
LETTER = 6.5  # pixels, about
LEAST_LETTERS = 24
_WIDE = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef"
WIDE = re.compile(f"[{_WIDE}]")
PIECES = re.compile(f"[{_WIDE}] *|[^{_WIDE} ]+ *| +")  # a wide letter, or a word
NEVER_FIRST = "、。，：；）」！？"
POPOVER = 280  # pixels: the width of a panel that is not in the sidebar


class InTab:
    """To be mixed into a panel; own_modes: modes with something to do, by context.mode."""

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
    """A panel that is closed at first and hidden during a session, when its settings would do
    nothing."""

    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return super().poll(context) and not current_session()


def wrapped(text, letters):
    """Lines of at most so many letters; those of East Asia count twice, and need no spaces."""
    most = max(letters, LEAST_LETTERS)
    if not WIDE.search(text):
        return textwrap.wrap(text, most)
    lines, left = [""], most
    for piece in PIECES.findall(text):
        width = len(piece.rstrip()) * (2 if WIDE.match(piece) else 1)
        if width > left and lines[-1] and piece not in NEVER_FIRST:
            lines[-1], left = lines[-1].rstrip(), most
            lines.append("")
        lines[-1] += piece
        left -= width + len(piece) - len(piece.rstrip())
    return lines


def draw_wrapped(layout, context, text, icon="NONE", indent=4):
    """A text, translated, in as many lines as the width of the panel asks for."""
    region, scale = context.region, context.preferences.system.ui_scale
    width = region.width if region and region.type == "UI" else POPOVER * scale
    letters = width / (LETTER * scale)
    column = layout.column(align=True)
    for number, line in enumerate(wrapped(translated(text), int(letters) - indent)):
        follows = "BLANK1" if icon != "NONE" else "NONE"
        column.label(text=line, icon=follows if number else icon)


def draw_large(layout, operator, **more):
    """A button that is what the panel is for."""
    row = layout.row(align=True)
    row.scale_y = 1.5
    row.operator_context = "INVOKE_DEFAULT"
    return row, row.operator(operator, **more)
