"""The common base of all panels of the tab "Auto-weight"."""

import re
from collections import Counter
from functools import lru_cache

import bpy

from ..languages.translate import translated
from .drawing import text_size
from .properties import split
from .session import current_session

TAB = "Auto-weight"
UNIT = 20  # pixels
EDGES = 4.9  # maximum units of tabs, panel, box, icon and label around a text (Blender 4.3)
ICON, BUTTON_ICON = 0.9, 1.0  # units, in a label and in a button
PANEL = 2.8  # units of the width used by tabs and panel edges
AROUND, LEAST_AROUND = 1.5, 0.65  # units around the text of a button, normally and in a full row
LEAST_OF_GRID = 0.4  # the same in a grid
ARROW = 1.0  # unit to the right of the text in a menu or a list
LEAST_NAME = 5  # letters of what is about an item; with less room, only its place is shown
NAME_SHARE = 0.46  # share of a row for the name of a property
AROUND_NAME = 0.5  # units around the name
LIST_EDGES = 1.4  # additional units for the scroll bar of a list and the mark of a row
LETTER = 6.5  # approximate width in pixels
DOTS = "\N{HORIZONTAL ELLIPSIS}"
_WIDE = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef"
WIDE = re.compile(f"[{_WIDE}]")
_NUMBERS = r"[\d.,]+(?: \u2192 [\d.,]+)?(?: %)?"  # "13 → 2", "27.3 → 20.2 %"
# Matches an East Asian character, numbers that belong together, or a word.
PIECES = re.compile(f"[{_WIDE}] *|{_NUMBERS}(?=[ {_WIDE}]|$) *|[^{_WIDE} ]+ *| +")
NEVER_FIRST = "、。，：；）」！？"
NEVER_DRAWN = 100  # pixels: less than the width of any visible sidebar
POPOVER = 14  # units: the width of a panel that is not in the sidebar


class InTab:
    """Mix-in for a panel. own_modes: the modes, named as in context.mode, in which the panel has
    content."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_ui_units_x = POPOVER
    own_modes = ("OBJECT", "PAINT_WEIGHT", "POSE")

    @classmethod
    def poll(cls, context):
        return context.mode in cls.own_modes

    def split_layout(self):
        return split(self.layout)


class Closed(InTab):
    """A panel that is closed at first and hidden during a session, when its settings would have no
    effect."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and not current_session()


def _scale(context):
    return context.preferences.system.ui_scale or 1.0  # 0 if Blender is a module


def unit(context):
    """The height of a button, which is the unit of all measurements."""
    return UNIT * _scale(context)


def text_width(text):
    """The width in pixels in the button font. Approximate if there is no window."""
    preferences = bpy.context.preferences
    scale = _scale(bpy.context)
    letters = len(text) + len(WIDE.findall(text))
    width, _height = text_size(text, preferences.ui_styles[0].widget.points * scale)
    return width or letters * LETTER * scale


def text_room(context):
    """The width in pixels for a label in a box of the panel, next to an icon."""
    region = None if context.region_popup else context.region
    width = region.width if region and region.type == "UI" else 0
    if width < NEVER_DRAWN * _scale(context):
        width = POPOVER * unit(context)
    return width - EDGES * unit(context)


def panel_room(context):
    """The width in pixels for drawing in a panel."""
    return text_room(context) + (EDGES - PANEL) * unit(context)


@lru_cache(maxsize=512)
def wrapped(text, room, width=text_width):
    """Lines of at most this many pixels. A word that is wider is broken. East Asian characters need
    no spaces between them."""
    lines = [""]
    for piece in PIECES.findall(text):
        if lines[-1] and width(lines[-1] + piece.rstrip()) > room and piece not in NEVER_FIRST:
            lines.append("")
        while not lines[-1] and width(piece.rstrip()) > room and len(piece) > 1:
            end = next((k for k in range(len(piece) - 1, 1, -1) if width(piece[:k]) <= room), 1)
            lines[-1], piece = piece[:end], piece[end:]
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def is_broken(text, room, width=text_width):
    """Whether a word of the text is wider than the available width."""
    return any(width(piece.rstrip()) > room for piece in PIECES.findall(text))


@lru_cache(maxsize=512)
def shortened(text, room, width=text_width):
    """The text. If the text does not fit, only its beginning and its end are kept, because they
    distinguish names in a rig."""
    if width(text) <= room:
        return text
    for left in range(len(text) - 1, 1, -1):
        end = left // 2
        short_text = f"{text[: left - end]}{DOTS}{text[-end:]}"
        if width(short_text) <= room:
            return short_text
    return text[:1] + DOTS


def list_room(context):
    """The width in pixels for the text of a row in the list."""
    return text_room(context) - LIST_EDGES * unit(context)


@lru_cache(maxsize=16)
def row_texts(rows, room, width=text_width):
    """The texts of the rows of a list, [(place, about it)] as a tuple, no two of which are equal.
    A place comes first, whole if it fits, otherwise without what most places begin with, and with
    its beginning and its end. What is about it takes the remaining width."""
    seen, named = {}, []
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
        number = f" ({seen[row]})" if seen[row] > 1 else ""
        named.append((row[0] + number, row[1]))
    places = [place for place, _about in named]
    prefix = _common(places)
    texts = {}  # used as an ordered set
    for place, about in named:
        alone = places.count(place) == 1
        ways = (text for text in _row_ways(place, about, prefix, alone, room, width))
        text = next((text for text in ways if text not in texts), None)
        if text is None:
            number = f"{len(texts) + 1}: "
            text = number + shortened(place, room - width(number), width)
        texts[text] = None
    return tuple(texts)


def _common(places):
    """What most places begin with, up to a separator such as the colon of "mixamorig:"."""
    begins = Counter(re.match(r"(.*[:|/])?", place)[0] for place in places)
    return next((begin for begin, count in begins.most_common(1) if 2 * count > len(places)), "")


def _row_ways(place, about, prefix, alone, room, width):
    """Texts of a row that fit, the best first."""
    own = place.removeprefix(prefix)
    wholes = [place] if own == place else [place, DOTS + own]
    for whole in wholes:
        yield from _with_about(whole, about, room, width)
        if alone and width(whole) <= room:
            yield whole
    for letters in (0,) if alone else (LEAST_NAME, 3, 1):
        some = f": {about[:letters]}{DOTS}" if letters else ""
        left = room - width(some)
        if 2 * left >= room or letters <= 1:
            for way in _elided(own, left, width):
                yield from _with_about(way, about, room, width)
                yield f"{way}{some}"


def _with_about(place, about, room, width):
    """The place followed by as much about it as fits, at least LEAST_NAME letters or all of it."""
    if not about:
        return
    for end in range(len(about), 0, -1):
        some = about[:end].rstrip() + DOTS * (end < len(about))
        letters = end + len(WIDE.findall(about[:end]))
        if end < len(about) and letters < LEAST_NAME:
            return
        if width(f"{place}: {some}") <= room:
            yield f"{place}: {some}"
            return


def _elided(text, room, width):
    """The text without some of its middle, in all ways that fit. The first way keeps as much of the
    beginning as of the end, in which the side and the number of a bone stand."""
    if width(text) <= room:
        yield text
        return
    first = shortened(text, room, width).partition(DOTS)[0]
    for head in sorted(range(len(text)), key=lambda head: abs(head - len(first))):
        for tail in range(len(text) - head - 1, 0, -1):
            way = f"{text[:head]}{DOTS}{text[-tail:]}"
            if width(way) <= room:
                yield way
                break


def draw_wrapped(layout, context, text, icon="NONE", beside=""):
    """Draws a translated text in as many lines as the panel width requires. beside: the text of a
    button next to the text, or below it if this takes less height, or the texts of several buttons;
    the returned layout is for these buttons."""
    words = translated(text)
    room = text_room(context) + (ICON * unit(context) if icon == "NONE" else 0)
    lines = wrapped(words, room)
    if beside:
        texts = [beside] if isinstance(beside, str) else beside
        room -= sum(text_width(translated(each)) + AROUND * unit(context) for each in texts)
        narrow = wrapped(words, room)
        if len(narrow) <= len(lines) + 1 and not is_broken(words, room):
            layout, lines = layout.row(), narrow
    column = layout.column(align=True)
    for number, line in enumerate(lines):
        follows = "BLANK1" if icon != "NONE" else "NONE"
        column.label(text=line, icon=follows if number else icon, translate=False)
    if not beside:
        return column
    button = layout.row()
    button.alignment = "RIGHT"
    return button


def draw_large(layout, operator, **more):
    """Draws the button for the main purpose of the panel."""
    row = layout.row(align=True)
    row.scale_y = 1.5
    row.operator_context = "INVOKE_DEFAULT"
    return row, row.operator(operator, **more)


def in_narrow(layout, text, icon, short, arrow=0.0):
    """Returns (layout, text, icon) for a button. With too little room, the button has no icon. With
    even less room, the text is drawn above the button, in several lines if necessary, and the
    button has a short text. arrow: units to the right of the text."""
    context = bpy.context
    room, size = panel_room(context) - arrow * unit(context), unit(context)
    needed = text_width(translated(text)) + LEAST_AROUND * size
    if needed + BUTTON_ICON * size > room:
        icon = "NONE"
    if needed > room and short:
        layout = layout.column(align=True)
        draw_wrapped(layout, context, text)
        text = short
    return layout, text, icon


def draw_narrow(layout, operator, text, short, icon="NONE"):
    """Draws a button that has a short text below its own text if its own does not fit. Returns the
    operator's properties."""
    layout, text, icon = in_narrow(layout, text, icon, short)
    return layout.operator(operator, text=translated(text), icon=icon)


def draw_checkbox(layout, properties, name, text):
    """Draws a checkbox whose text takes as many lines as the panel width requires."""
    context = bpy.context
    row, words = layout.row(), translated(text)
    row.use_property_split = False
    room = panel_room(context) - (LEAST_AROUND + BUTTON_ICON) * unit(context)
    lines = wrapped(words, room)
    if len(lines) == 1:
        row.prop(properties, name, text=text)
        return
    row.prop(properties, name, text="")
    column = row.column(align=True)
    for line in lines:
        column.label(text=line, translate=False)


def abreast(layout, *texts, others=0.0, icons=False):
    """A row for buttons with these texts, or a column if the buttons do not fit next to each other
    even when Blender makes them narrower. others: units that other content of the row takes; icons:
    whether the buttons have icons."""
    context = bpy.context
    size, icon = unit(context), BUTTON_ICON if icons else 0.0
    room = panel_room(context) - others * size
    widths = [text_width(translated(text)) for text in texts]
    natural = [width + (AROUND + icon) * size for width in widths]
    share = min(1.0, room / sum(natural))
    fits = all(
        width + (LEAST_AROUND + icon) * size <= share * own
        for width, own in zip(widths, natural, strict=True)
    )
    return layout.row(align=True) if fits else layout.column(align=True)


def grid_columns(texts):
    """The number of buttons with these texts that fit next to each other, at most two."""
    context = bpy.context
    widest = max(text_width(translated(text)) for text in texts) + LEAST_OF_GRID * unit(context)
    return 2 if 2 * widest <= panel_room(context) else 1


def grid_of_two(layout, *texts):
    """A grid for buttons with these texts, in two columns if there is enough room."""
    columns = grid_columns(texts)
    return layout.grid_flow(row_major=True, columns=columns, even_columns=True, align=True)


def draw_named(layout, properties, name, above=False, text="", **more):
    """Draws a property like Blender's use_property_split. above: whether to put the name on a line
    of its own, as in a narrow sidebar. text: a name to show instead of the property's own."""
    about, context = properties.bl_rna.properties[name], bpy.context
    text, whole, size = text or about.name, panel_room(context), unit(context)
    room = NAME_SHARE * whole - AROUND_NAME * size
    above = above or text_width(translated(text)) > room
    if about.type == "ENUM":
        value = about.enum_items[getattr(properties, name)].name
        room = (1 - NAME_SHARE) * whole - (LEAST_AROUND + ARROW) * size
        above = above or text_width(translated(value)) > room
    if above:
        layout = layout.column(align=True)
        layout.label(text=text)
    else:
        layout = layout.split(factor=NAME_SHARE)  # wider than Blender's own
        label = layout.row()
        label.alignment = "RIGHT"
        label.label(text=text)
    layout.use_property_split = False
    layout.prop(properties, name, text="", **more)
