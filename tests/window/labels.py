"""Checks whether the words of a panel fit: introspect() of Blender gives the tree of a layout,
which is laid out by Blender's rules, with each word measured in Blender's font."""

import blf
import bpy
import scenes

# In units, the height of a button: the room around a text, the least of it if a row is crowded, an
# icon, the strip of tabs, the edges of a panel and of a box.
AROUND, LEAST, ICON, TABS, EDGES, BOX = 1.5, 0.65, 1.0, 1.0, 1.8, 0.6
BEFORE = 1.3  # units to the left of the text of a label with an icon
with_icon = set()  # lines that have one, of which introspect() says nothing
FIRST_SHARE = 0.4  # of a split in two, as properties have it
OUR_SHARE = scenes.addon("operators.sidebar").NAME_SHARE
columns = {}  # of a grid, by the text of its first button
LEAST_OF_GRID = 0.4
ROWS = {"LAYOUT_ROW", "LAYOUT_ROW_FLOW", "LAYOUT_COLUMN_FLOW"}
CHECK, LABEL, MENU = 6656, 10240, 2048  # kinds of buttons, as introspect() has them


def unit():
    return 20 * bpy.context.preferences.system.ui_scale


def text_width(text):
    style = bpy.context.preferences.ui_styles[0].widget
    blf.size(0, style.points * bpy.context.preferences.system.ui_scale)
    return blf.dimensions(0, text)[0]


def panel_width(region):
    """The width available in a panel of the sidebar."""
    return region.width - (TABS + EDGES) * unit()


def cut_words(tree, width):
    """[text] of those that do not fit into a layout of this width, as introspect() returns it."""
    return [text for item in tree for text in _cut(item, width)]


def _cut(item, width):
    if "items" not in item:
        text = item["draw_string"]
        return [text] if text and text_width(text) + _least(item) > width else []
    parts = [each for each in item["items"] if "items" in each or _is_seen(each)]
    kind = item["type"]
    if kind == "LAYOUT_BOX":
        width -= BOX * unit()
    if kind == "LAYOUT_SPLIT" and len(parts) == 2:
        share = OUR_SHARE if parts[0]["type"] == "LAYOUT_ROW" else FIRST_SHARE
        widths = [width * share, width * (1 - share)]
    elif kind in ROWS or kind == "LAYOUT_SPLIT":
        widths = _shared(parts, width)
    elif kind == "LAYOUT_GRID_FLOW":
        own = width / columns.get(parts[0].get("draw_string"), 1)
        widths = [own + (LEAST - LEAST_OF_GRID) * unit()] * len(parts)
    else:
        widths = [width] * len(parts)
    return [t for each, own in zip(parts, widths, strict=True) for t in _cut(each, own)]


def _is_seen(item):
    return bool(item["draw_string"] or item.get("operator") or item.get("rna"))


def _least(item):
    if item["type"] == LABEL and item["draw_string"] in with_icon:
        return BEFORE * unit()
    return (LEAST + (ICON if item["type"] in {CHECK, MENU} else 0)) * unit()  # a mark, an arrow


def _shared(parts, width):
    """The widths of the items in a row: their natural widths, reduced in proportion."""
    natural = [_natural(each) for each in parts]
    total = sum(natural)
    fixed = [n <= unit() for n in natural]  # icons keep theirs
    left = width - sum(n for n, f in zip(natural, fixed, strict=True) if f)
    free = total - (width - left)
    return [n if f else n * left / free for n, f in zip(natural, fixed, strict=True)]


def _natural(item):
    if "items" not in item:
        text = item["draw_string"]
        return text_width(text) + AROUND * unit() if text else unit()
    widths = [_natural(each) for each in item["items"]] or [0]
    across = item["type"] in ROWS or item["type"] == "LAYOUT_SPLIT"
    return sum(widths) if across else max(widths)
